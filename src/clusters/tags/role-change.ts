import { type RoleMetadata, tagsOfRole } from './catalogue.js';

/** Roles of a node before and after a change: those it has and those it is to get, together. */
export interface RoleChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Metadata of the cluster's roles, by name. */
  readonly roles: ReadonlyMap<string, { readonly meta: RoleMetadata }>;
}

/** What a change of roles does to the tags of a node. */
export interface TagsOfRoleChange {
  /** Roles that are gone: what they gave goes, what came from elsewhere stays. */
  readonly lost: readonly string[];
  /** What new roles give: their tags and their own names. */
  readonly given: readonly { readonly tag: string; readonly role: string }[];
}

/**
 * A new role brings its tags and its own name; a role that is taken away takes with it what it brought. Roles that
 * stay change nothing: a tag that a user took away does not come back because another role is assigned.
 */
export function tagsOnRoleChange({ before, after, roles }: RoleChange): TagsOfRoleChange {
  const [had, has] = [new Set(before), new Set(after)];
  return {
    lost: [...had].filter((role) => !has.has(role)).sort(),
    given: [...has]
      .filter((role) => !had.has(role))
      .sort()
      .flatMap((role) => tagsOfRole(role, roles.get(role)?.meta).map((tag) => ({ tag, role }))),
  };
}
