/**
 * Readers for MAAS' answers that do not rely on their shape: fields differ between versions, so a
 * missing or odd one becomes an empty value, never an exception.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const asTexts = (value: unknown): readonly string[] =>
  asList(value)
    .map(asText)
    .filter((text) => text !== '');

/** `undefined` unless it is a finite number or the text of one. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export const asFlag = (value: unknown): boolean => value === true;

/** Name of a referenced object, which MAAS sends as an object or sometimes only as its name. */
export const nameOf = (value: unknown): string => (typeof value === 'string' ? value : asText(asObject(value).name));
