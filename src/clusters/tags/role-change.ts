import { type RoleMetadata, tagsOfRole } from './catalogue.ts';

/** Current and pending roles of a node, before and after a change. */
interface RoleChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Metadata of the cluster's roles, by name. */
  readonly roles: ReadonlyMap<string, { readonly meta: RoleMetadata }>;
}

/** How a change of roles affects the tags of a node. */
interface TagsOfRoleChange {
  /** Removed roles: their tags go, tags from other sources stay. */
  readonly lost: readonly string[];
  /** Tags of new roles: their tags and their own names. */
  readonly given: readonly { readonly tag: string; readonly role: string }[];
}

/**
 * A new role adds its tags and its own name; a removed role removes them. Roles that stay change nothing: a tag that
 * a user removed does not return when another role is assigned.
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
