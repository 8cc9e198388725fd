/** `critical-group-failed` as `CriticalGroupFailed`: how a kind of failure is spelt as a type in Temporal. */
export const pascalCase = (kind: string): string =>
  kind.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase());
