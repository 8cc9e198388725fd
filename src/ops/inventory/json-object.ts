import { isMapping } from '../../core/plain-value.js';
import type { Json, JsonObject } from '../../store/index.js';

export const isObject = (value: unknown): value is JsonObject => isMapping(value);

/** The value as an object; empty when it is none. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The texts of a list; a single text counts as a list of one, anything else as none. */
export const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
};

/** `over` laid on `base`: objects merge at every depth, everything else is replaced. Neither is changed. */
export function mergeDeep(base: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = Object.hasOwn(base, key) ? base[key] : undefined;
    merged[key] = isObject(old) && isObject(value) ? mergeDeep(old, value) : value;
  }
  return merged;
}

/** Equal as JSON: order of keys means nothing. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((one, index) => sameJson(one, right[index]));
  if (isObject(left) && isObject(right)) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
    );
  }
  return Object.is(left, right);
}
