import { mergeOver } from '../../clusters/merge-over.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import type { JsonObject } from '../../store/index.ts';

export const isObject = (value: unknown): value is JsonObject => isMapping(value);

/** The value if it is an object, else an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The strings of a list; a single string counts as a list of one, anything else as an empty list. */
export const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
};

/** `mergeOver` for stored values. */
export const mergeDeep = (base: JsonObject, over: JsonObject): JsonObject => objectOf(mergeOver(base, over));

/** Equal as JSON, whatever the order of keys. */
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
