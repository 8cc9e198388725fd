import { isMapping } from '../data/plain-value.ts';

/** Stands for a secret that is not printed. */
export const HIDDEN = '***';

/** The password of an address. From `://` on, so that a long word is not tried from each of its letters. */
const PASSWORD_IN_ADDRESS = /(:\/\/[^\s:/?#@"\\]*:)[^\s/?#"\\]+@/g;

/** The text without the passwords of addresses in it. */
export const withoutPasswords = (text: string, instead = HIDDEN): string =>
  text.replace(PASSWORD_IN_ADDRESS, `$1${instead}@`);

const SECRET_KEY = /pass|secret|token|credential|private|(^|[_-])key(s)?$|auth_key/i;

/** Whether a key suggests that its value is a secret. */
export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);

/** The same data without texts that seem to be secrets: by their keys, or as settings declared as passwords. */
export function withoutSecretValues(data: unknown, isSecret = false): unknown {
  if (Array.isArray(data)) return data.map((one) => withoutSecretValues(one, isSecret));
  if (!isMapping(data)) return typeof data === 'string' && data !== '' && isSecret ? HIDDEN : data;
  // A setting has a value, and labels that are no secrets.
  const isSetting = Object.hasOwn(data, 'value');
  const hidesValue = isSecret || data.type === 'password';
  return Object.fromEntries(
    Object.entries(data).map(([key, one]) => {
      const isHidden = isSetting ? hidesValue && key === 'value' : isSecret;
      if (isHidden && isSetting && typeof one === 'number') return [key, HIDDEN];
      return [key, withoutSecretValues(one, isHidden || isSecretKey(key))];
    }),
  );
}

/** Whether a text stands where a secret was: what was printed is not what is stored. */
export function holdsHidden(data: unknown): boolean {
  if (Array.isArray(data)) return data.some(holdsHidden);
  return isMapping(data) ? Object.values(data).some(holdsHidden) : data === HIDDEN;
}

/** Whether a piece of YAML or JSON has a key whose value is probably a secret. A `key` alone is mostly none there. */
export const namesSecret = (text: string): boolean =>
  text
    .split(':')
    .slice(0, -1)
    .map((before) => before.trimEnd())
    .map((before) =>
      before
        .slice(lastOf(before, ' {,[\n\t') + 1)
        .replaceAll('"', '')
        .replaceAll("'", ''),
    )
    .some((key) => isSecretKey(key) && key !== 'key' && key !== 'keys');

const lastOf = (text: string, ends: string): number => Math.max(...[...ends].map((end) => text.lastIndexOf(end)));
