import { isMapping, setKey } from '../../core/plain-value.js';
import { Float } from '../../yaql/index.js';

/** Data with the numbers of JavaScript: what tasks hold, as opposed to what their expressions see. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof Float) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isMapping(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setKey(out, key, plainNumbers(item));
  return out;
}
