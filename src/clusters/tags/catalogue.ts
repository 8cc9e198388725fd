/** A role as its owner describes it. Keys that are not named here are kept and mean nothing to tags and checks. */
export interface RoleMetadata {
  readonly name?: string;
  /** Tags a node gets with the role; absent: the role's own name. */
  readonly tags?: readonly string[];
  readonly has_primary?: boolean;
  readonly conflicts?: readonly string[] | string;
  readonly restrictions?: readonly unknown[];
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface TagMetadata {
  readonly has_primary?: boolean;
  readonly [key: string]: unknown;
}

export type RolesMetadata = Readonly<Record<string, RoleMetadata>>;
export type TagsMetadata = Readonly<Record<string, TagMetadata>>;

/** Roles and tags of one owner. */
export interface RolesAndTags {
  readonly roles: RolesMetadata;
  readonly tags: TagsMetadata;
}

/** Who brings a tag or a role. */
export type TagOwner =
  | { readonly kind: 'release' | 'cluster' }
  | { readonly kind: 'plugin'; readonly id: number; readonly name: string };

export interface OwnedTag {
  readonly name: string;
  readonly meta: TagMetadata;
  readonly owner: TagOwner;
  /** Made by a role that names it, and described by nobody: a role without tags has one of its own name. */
  readonly implied: boolean;
}

/** All tags and roles a cluster may use, by name. */
export interface Catalogue {
  readonly tags: ReadonlyMap<string, OwnedTag>;
  readonly roles: ReadonlyMap<string, { readonly meta: RoleMetadata; readonly owner: TagOwner }>;
}

/** What may stand in a cluster: its release's and its own roles and tags, and those of its plugins. */
export interface CatalogueSources {
  readonly release: RolesAndTags;
  readonly cluster: RolesAndTags;
  readonly plugins: readonly (RolesAndTags & { readonly id: number; readonly name: string })[];
}

/**
 * Tags of release, cluster and plugins as one set: the later owner wins. A role without tags has one of its own name,
 * which has a primary node if the role has; the role's own name always is a tag, for a node gets it with the role.
 */
export function catalogueOf({ release, cluster, plugins }: CatalogueSources): Catalogue {
  const tags = new Map<string, OwnedTag>();
  const roles = new Map<string, { meta: RoleMetadata; owner: TagOwner }>();
  const add = (part: RolesAndTags, owner: TagOwner): void => {
    for (const [name, meta] of Object.entries(part.tags))
      tags.set(name, { name, meta: meta ?? {}, owner, implied: false });
    for (const [name, meta] of Object.entries(part.roles)) roles.set(name, { meta: meta ?? {}, owner });
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

/** What a node gets with a role: the tags of the role and the role's own name, each once. */
export function tagsOfRole(role: string, meta: RoleMetadata | undefined): string[] {
  const tags = Array.isArray(meta?.tags) ? meta.tags.filter((tag): tag is string => typeof tag === 'string') : [];
  return [...new Set([...tags, role])];
}

/** Roles that name a tag and so hold it: such a tag cannot be deleted. */
export function rolesHolding(tag: string, roles: RolesMetadata): string[] {
  return Object.entries(roles)
    .filter(([role, meta]) => tagsOfRole(role, meta ?? {}).includes(tag))
    .map(([role]) => role);
}
