/** One text for equal plain values, to remember things by. Unlike JSON it has a form of every number. */
export const valueKey = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? { $whole: String(item) } : item)) ??
  'undefined';
