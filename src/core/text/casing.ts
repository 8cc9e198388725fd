/** `group_id` as `groupId`: from wire and column names to our fields. */
export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** `groupId` as `group_id`. */
export type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `critical-group-failed` as `CriticalGroupFailed`: turns a kind of failure into its type in Temporal. */
export const pascalCase = (kind: string): string =>
  kind.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase());
