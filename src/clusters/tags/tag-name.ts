/** A tag as users name it: letters, digits, `_` and `-`; `TAG:INSTANCE` names one of several instances, as `mysql:1`. */
const TAG_NAME = /^[a-zA-Z0-9_-]+(?::[a-zA-Z0-9_-]+)?$/;

/** More than any name needs; what columns and tables hold. */
const MAX_LENGTH = 100;

/** Why a text cannot be the name of a tag; undefined when it can. */
export function tagNameProblem(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `a tag's name has at most ${MAX_LENGTH} characters`;
  if (!TAG_NAME.test(name)) {
    return `'${name.slice(0, 60)}' does not match '^[a-zA-Z0-9_-]+$', nor TAG:INSTANCE like 'mysql:1'`;
  }
  // `primary-TAG` is what a node has in place of TAG when it is primary for it.
  if (name.startsWith('primary-')) return `'${name}' begins with 'primary-', which marks the primary node of a tag`;
  return undefined;
}

/** Whether a tag names an instance: such a tag is data for the node, and places only tasks that name it exactly. */
export const isInstanceTag = (name: string): boolean => name.includes(':');
