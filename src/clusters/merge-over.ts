import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';

/** Merges `over` into a copy of `base`: mappings merge at every depth, everything else is replaced. */
export function mergeOver(base: Fields, over: Fields): Fields {
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, isMapping(below) && isMapping(value) ? mergeOver(below, value) : value);
  }
  return Object.fromEntries(merged);
}
