/** `critical-group-failed` as `CriticalGroupFailed`: turns a kind of failure into its type in Temporal. */
export const pascalCase = (kind: string): string =>
  kind.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase());
