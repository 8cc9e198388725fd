import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../core/data/plain-value.ts';
import { SECRET } from '../core/setting-change-text.ts';
import { isSecretKey } from '../core/text/secrets.ts';
import type { Fields } from '../graph/index.ts';

/** A setting whose value tasks saw last time, and see now; undefined where there was or is none. */
export interface ChangedSetting {
  readonly path: string;
  readonly before: unknown;
  readonly now: unknown;
}

/**
 * The settings that differ between two states of data, each by its path: groups are compared setting by setting.
 *
 * @param passwords paths of settings that are declared as such; others are told by their names
 */
export function changedSettings(before: Fields, now: Fields, passwords: ReadonlySet<string>): ChangedSetting[] {
  const isSecret = (path: string): boolean => passwords.has(path) || path.split('.').some(isSecretKey);
  const within = (below: string, old: Fields, current: Fields): ChangedSetting[] => {
    const names = [...new Set([...Object.keys(old), ...Object.keys(current)])].sort();
    return names.flatMap((name): ChangedSetting[] => {
      const [was, is] = [old[name], current[name]];
      const path = `${below}${name}`;
      if (isDeepStrictEqual(was, is)) return [];
      if (isMapping(was) && isMapping(is)) return within(`${path}.`, was, is);
      const shown = (value: unknown): unknown => withoutSecrets(path, value, isSecret);
      return [{ path, before: shown(was), now: shown(is) }];
    });
  };
  return within('', before, now);
}

function withoutSecrets(path: string, value: unknown, isSecret: (path: string) => boolean): unknown {
  if (value === undefined || value === null) return value;
  if (isSecret(path)) return SECRET;
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(path, one, isSecret));
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withoutSecrets(`${path}.${key}`, one, isSecret)]),
  );
}
