/** A cache key for plain values, the same for equal ones. Unlike JSON it can express every number. */
export const valueKey = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? { $whole: String(item) } : item)) ??
  'undefined';
