/** An own value first; a lone `!` unsets an inherited value: null. */
export const inheritValue = (own: string | undefined, parent: string | null | undefined) =>
  own === undefined ? parent : own === '!' ? null : own;

/** Drydock's rule for lists: own values first; `!value` removes an inherited one. */
export function mergeTags(own: readonly string[] | undefined, parent: readonly string[] | undefined) {
  if (!own) return parent;
  const removed = new Set(own.filter((tag) => tag.startsWith('!')).map((tag) => tag.slice(1)));
  const kept = own.filter((tag) => !tag.startsWith('!'));
  return [...new Set([...kept, ...(parent ?? []).filter((tag) => !removed.has(tag))])];
}
