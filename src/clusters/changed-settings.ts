import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';

/** A setting whose value tasks saw last time, and see now; undefined where there was or is none. */
export interface ChangedSetting {
  readonly path: string;
  readonly before: unknown;
  readonly now: unknown;
}

/** The settings that differ between two states of data, each by its path: groups are compared setting by setting. */
export function changedSettings(before: Fields, now: Fields): ChangedSetting[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name): ChangedSetting[] => {
    const [old, current] = [before[name], now[name]];
    if (isDeepStrictEqual(old, current)) return [];
    if (isMapping(old) && isMapping(current))
      return changedSettings(old, current).map((one) => ({ ...one, path: `${name}.${one.path}` }));
    return [{ path: name, before: old, now: current }];
  });
}
