import type { RoleTagChange } from './apply-role-tags.ts';
import { type RoleMetadata, tagsOfRole } from './catalogue.ts';

/** By role the tags that a node got with it, as the role was then. */
type RoleTags = Readonly<Record<string, readonly string[]>>;

interface NodeOfRoles {
  /** Current and pending roles. */
  readonly roles: readonly string[];
  readonly roleTags: RoleTags;
  readonly assignments: readonly { readonly tag: string; readonly role: string | null }[];
}

type Roles = ReadonlyMap<string, { readonly meta: RoleMetadata }>;

/**
 * Changes in the tags of a node's roles since it got them. Only differences count: a tag that a user removed from the
 * node does not return.
 */
export function roleTagChanges({ roles, roleTags, assignments }: NodeOfRoles, known: Roles): readonly RoleTagChange[] {
  return roles.flatMap((role): readonly RoleTagChange[] => {
    const before = roleTags[role];
    const meta = known.get(role)?.meta;
    if (before === undefined || meta === undefined) return [];
    const now = tagsOfRole(role, meta);
    const gone = before.filter((tag) => !now.includes(tag));
    const given = now.filter((tag) => !before.includes(tag));
    if (gone.length + given.length === 0) return [];
    const own = assignments.filter((one) => one.role === role).map(({ tag }) => tag);
    return [{ role, given, lost: own.filter((tag) => gone.includes(tag.split(':')[0]!)), now }];
  });
}

/** The tags of a node after the changes. */
export function tagsAfter(
  assignments: NodeOfRoles['assignments'],
  changes: readonly Pick<RoleTagChange, 'role' | 'given' | 'lost'>[],
): string[] {
  const stay = assignments.filter(
    ({ tag, role }) => !changes.some((one) => one.role === role && one.lost.includes(tag)),
  );
  return [...new Set([...stay.map(({ tag }) => tag), ...changes.flatMap(({ given }) => given)])].sort();
}

/** The record of a node's role tags after a change of its roles: new roles as they are now, the others as before. */
export const roleTagsAfter = (before: RoleTags, roles: readonly string[], known: Roles): RoleTags =>
  Object.fromEntries(
    roles.flatMap((role) => {
      const tags = before[role] ?? (known.has(role) ? tagsOfRole(role, known.get(role)?.meta) : undefined);
      return tags === undefined ? [] : [[role, tags]];
    }),
  );

/** The nodes to which changed role tags have not been applied yet. */
export const nodesBehindRoles = <Node extends { readonly roleTagChanges?: readonly RoleTagChange[] }>({
  nodes,
}: {
  readonly nodes: readonly Node[];
}): readonly Node[] => nodes.filter(({ roleTagChanges = [] }) => roleTagChanges.length > 0);

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
