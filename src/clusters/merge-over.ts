import { isMapping } from '../core/plain-value.js';
import type { Fields } from '../graph/index.js';

/** `over` on top of `base`: mappings are merged at every depth, everything else is replaced. Neither is changed. */
export function mergeOver(base: Fields, over: Fields): Fields {
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, isMapping(below) && isMapping(value) ? mergeOver(below, value) : value);
  }
  return Object.fromEntries(merged);
}
