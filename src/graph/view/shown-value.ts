const MAX_SHOWN = 60;

/** A short form of a value: scalars unchanged, others by size, so that nothing long or secret is printed. */
export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).length;
    return keys === 0 ? '{}' : `a mapping of ${keys}`;
  }
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text;
}
