/** A tag's name: letters, digits, `_` and `-`; `TAG:INSTANCE` is one of several instances, e.g. `mysql:1`. */
const TAG_NAME = /^[a-zA-Z0-9_-]+(?::[a-zA-Z0-9_-]+)?$/;

/** More than any name needs, and short enough for columns and tables. */
const MAX_LENGTH = 100;

/** Why a text is not a valid tag name; undefined if it is valid. */
export function tagNameProblem(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return `a tag name has at most ${MAX_LENGTH} characters`;
  if (!TAG_NAME.test(name)) {
    return `'${name.slice(0, 60)}' does not match '^[a-zA-Z0-9_-]+$', nor TAG:INSTANCE like 'mysql:1'`;
  }
  // `primary-TAG` replaces TAG on its primary node.
  if (name.startsWith('primary-')) return `'${name}' starts with 'primary-', which marks the primary node of a tag`;
  return undefined;
}
