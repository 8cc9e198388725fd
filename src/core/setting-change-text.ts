/** Stands for the value of a secret in changes of settings. */
export const SECRET = '[secret]';

/** `false -> true`, and of a secret only what happened to it. */
export function changeText(before: unknown, after: unknown): string {
  if (before !== SECRET && after !== SECRET) return `${valueText(before)} -> ${valueText(after)}`;
  if (isNone(before)) return 'set (a secret)';
  return isNone(after) ? 'removed (a secret)' : 'changed (a secret)';
}

/** A value as its document has it, in one line. */
export const valueText = (value: unknown): string => (isNone(value) ? 'none' : JSON.stringify(value));

const isNone = (value: unknown): boolean => value === null || value === undefined;
