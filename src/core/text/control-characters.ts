import type { ValuePath } from '../data/plain-value.ts';

/** Control characters and halves of pairs of UTF-16. No id, name, key or path has one, whatever it comes in. */
export const CONTROL = /[\p{Cc}\p{Cs}]/u;

/** The same without tabs and line ends, which texts of several lines have. */
const CONTROL_IN_TEXT = /(?![\t\n\r])[\p{Cc}\p{Cs}]/u;

interface ControlCharacter {
  /** Of the text, or of the mapping that has the key. */
  readonly path: ValuePath;
  readonly inKey: boolean;
  /** `U+0000` */
  readonly character: string;
}

/** The first control character of a name, as `U+0000`. */
export const controlCharacterOf = (name: string): string | undefined => codePoint(CONTROL.exec(name));

/** The first control character of a text, which may have tabs and line ends. */
export const controlCharacterInText = (text: string): string | undefined => codePoint(CONTROL_IN_TEXT.exec(text));

/**
 * Control characters in JSON data, at most this many: any in its keys, and in its texts any but tabs and line ends.
 *
 * @param names that all texts are names
 */
export function controlCharactersIn(
  value: unknown,
  at: ValuePath,
  { most, names = false }: { readonly most: number; readonly names?: boolean },
): readonly ControlCharacter[] {
  // Almost nothing has one, and paths take longer than looking.
  if (!hasControl(value, names ? CONTROL : CONTROL_IN_TEXT)) return [];
  const found: ControlCharacter[] = [];
  const ofText = names ? controlCharacterOf : controlCharacterInText;
  const look = (inner: unknown, path: ValuePath): void => {
    if (found.length >= most) return;
    if (typeof inner === 'string') {
      const character = ofText(inner);
      if (character !== undefined) found.push({ path, inKey: false, character });
      return;
    }
    if (typeof inner !== 'object' || inner === null) return;
    for (const [key, item] of Object.entries(inner)) {
      const character = controlCharacterOf(key);
      if (character !== undefined) found.push({ path, inKey: true, character });
      // Paths only for values that may have a finding: most texts have none.
      else if (typeof item !== 'string' || ofText(item) !== undefined)
        look(item, [...path, Array.isArray(inner) ? Number(key) : key]);
    }
  };
  look(value, at);
  return found;
}

function hasControl(value: unknown, control: RegExp): boolean {
  if (typeof value === 'string') return control.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasControl(item, control));
  for (const key in value)
    if (CONTROL.test(key) || hasControl((value as Readonly<Record<string, unknown>>)[key], control)) return true;
  return false;
}

const codePoint = (match: RegExpExecArray | null): string | undefined =>
  match === null ? undefined : `U+${match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Keeps control characters of untrusted texts away from terminals and from the lines of a log: one line of text. */
export const printable = (text: string): string =>
  text.replace(/[\t\n\r]+/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');

/** The same for output of several lines: a carriage return of a program starts a new one. */
export const printableLines = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(/(?![\t\n])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
