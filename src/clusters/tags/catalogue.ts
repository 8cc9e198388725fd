/** A role as its owner describes it. Other keys are kept and do not affect tags and checks. */
export interface RoleMetadata {
  readonly name?: string;
  /** Tags of the role; default: the role's name. */
  readonly tags?: readonly string[];
  readonly has_primary?: boolean;
  readonly conflicts?: readonly string[] | string;
  readonly restrictions?: readonly unknown[];
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

interface TagMetadata {
  readonly has_primary?: boolean;
  readonly [key: string]: unknown;
}

export type RolesMetadata = Readonly<Record<string, RoleMetadata>>;
export type TagsMetadata = Readonly<Record<string, TagMetadata>>;

/** Roles and tags of one owner. */
interface RolesAndTags {
  readonly roles: RolesMetadata;
  readonly tags: TagsMetadata;
}

/** The owner of a tag or a role. */
type TagOwner =
  | { readonly kind: 'release' | 'cluster' }
  | { readonly kind: 'plugin'; readonly id: number; readonly name: string };

interface OwnedTag {
  readonly name: string;
  readonly meta: TagMetadata;
  readonly owner: TagOwner;
  /** Implied by a role, not described: a role without tags has one with its own name. */
  readonly implied: boolean;
}

/** All tags and roles a cluster may use, by name. */
export interface Catalogue {
  readonly tags: ReadonlyMap<string, OwnedTag>;
  readonly roles: ReadonlyMap<string, { readonly meta: RoleMetadata; readonly owner: TagOwner }>;
}

/** The roles and tags of a cluster: its own, and those of its release and plugins. */
interface CatalogueSources {
  readonly release: RolesAndTags;
  readonly cluster: RolesAndTags;
  readonly plugins: readonly (RolesAndTags & { readonly id: number; readonly name: string })[];
}

/**
 * Merges the tags of release, cluster and plugins: the later owner wins. Of roles, the cluster's copy wins. A role without tags has a tag with its own
 * name, which has a primary node if the role does. The role's name is always a tag, because nodes get it with the role.
 */
export function catalogueOf({ release, cluster, plugins }: CatalogueSources): Catalogue {
  const tags = new Map<string, OwnedTag>();
  const roles = new Map<string, { meta: RoleMetadata; owner: TagOwner }>();
  const add = (part: RolesAndTags, owner: TagOwner): void => {
    for (const [name, meta] of Object.entries(part.tags))
      tags.set(name, { name, meta: meta ?? {}, owner, implied: false });
    for (const [name, meta] of Object.entries(part.roles))
      if (roles.get(name)?.owner.kind !== 'cluster') roles.set(name, { meta: meta ?? {}, owner });
  };
  add(release, { kind: 'release' });
  add(cluster, { kind: 'cluster' });
  for (const plugin of plugins) add(plugin, { kind: 'plugin', id: plugin.id, name: plugin.name });
  for (const [role, { meta, owner }] of roles) {
    for (const name of tagsOfRole(role, meta)) {
      if (tags.has(name)) continue;
      tags.set(name, { name, meta: { has_primary: name === role && meta.has_primary === true }, owner, implied: true });
    }
  }
  return { tags, roles };
}

/** The tags that a role gives a node: its tags and its own name, without duplicates. */
export function tagsOfRole(role: string, meta: RoleMetadata | undefined): string[] {
  const tags = Array.isArray(meta?.tags) ? meta.tags.filter((tag): tag is string => typeof tag === 'string') : [];
  return [...new Set([...tags, role])];
}

/** Roles that use a tag, which therefore cannot be deleted. */
export function rolesHolding(tag: string, roles: RolesMetadata): string[] {
  return Object.entries(roles)
    .filter(([role, meta]) => tagsOfRole(role, meta ?? {}).includes(tag))
    .map(([role]) => role);
}

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
