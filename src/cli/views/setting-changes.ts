interface Change {
  readonly setting: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `common.debug: false -> true`, one after the other. */
export const changesText = (changes: readonly Change[]): string =>
  changes.map(({ setting, before, after }) => `${setting}: ${textOf(before)} -> ${textOf(after)}`).join('; ');

const textOf = (value: unknown): string => (value === null || value === undefined ? 'none' : JSON.stringify(value));
