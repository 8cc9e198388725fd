// Data that is a package's own, or a user's: any JSON.

/** Its field, where it has one. */
export const fieldOf = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>)[name] : undefined;

/** Its text, where it is one. */
export const textOf = (data: unknown): string | undefined => (typeof data === 'string' ? data : undefined);

/** Its texts: one, or a list. */
export const textsOf = (data: unknown): string[] =>
  [data].flat().filter((one): one is string => typeof one === 'string' && one !== '');
