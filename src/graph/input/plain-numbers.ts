import { Float } from '@sitewright/yaql';
import { isMapping, setKey } from '../../core/data/plain-value.ts';

/** Data with plain JavaScript numbers: for the fields of tasks, not for the data of their expressions. */
export function plainNumbers(value: unknown): unknown {
  if (value instanceof Float) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (!isMapping(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) setKey(out, key, plainNumbers(item));
  return out;
}
