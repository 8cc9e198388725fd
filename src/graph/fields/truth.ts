/** Truth by Python's rules, for plain data: zero and everything empty are false. */
export function truthy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== 0n && Boolean(value);
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return Object.getPrototypeOf(value) !== Object.prototype || Object.keys(value).length > 0;
}
