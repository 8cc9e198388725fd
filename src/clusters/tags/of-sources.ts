import type { ClusterNode, ClusterSources } from '../sources.ts';
import { type Catalogue, catalogueOf, type RolesMetadata, type TagsMetadata, tagsOfRole } from './catalogue.ts';

/** All tags and roles of a stored cluster. */
export function catalogueOfCluster({
  release,
  cluster,
  plugins,
}: Pick<ClusterSources, 'release' | 'cluster' | 'plugins'>): Catalogue {
  const part = ({ roles, tags }: { readonly roles: object; readonly tags: object }) => ({
    roles: roles as RolesMetadata,
    tags: tags as TagsMetadata,
  });
  return catalogueOf({
    release: part(release),
    cluster: part(cluster),
    plugins: plugins.map((plugin) => ({ id: plugin.id, name: plugin.name, ...part(plugin) })),
  });
}

/** Current and pending roles of a node, without duplicates. */
export const allRoles = ({ roles, pendingRoles }: Pick<ClusterNode, 'roles' | 'pendingRoles'>): readonly string[] => [
  ...new Set([...roles, ...pendingRoles]),
];

/**
 * The effective tags of a node: those assigned to it and the names of its roles, which are separate tags that only go with the
 * role (docs/explain/design.md#spec-3, "implicit role name tag"); with the tags engine off, those of its roles.
 */
export function effectiveTags(node: ClusterNode, { cluster }: ClusterSources, catalogue: Catalogue): readonly string[] {
  return cluster.placesByTags ? [...new Set([...node.tags, ...allRoles(node)])] : tagsOfRoles(node, catalogue);
}

/** The tags of a node's current and pending roles. */
export function tagsOfRoles(
  node: Pick<ClusterNode, 'roles' | 'pendingRoles'>,
  { roles }: Pick<Catalogue, 'roles'>,
): readonly string[] {
  return [...new Set(allRoles(node).flatMap((role) => tagsOfRole(role, roles.get(role)?.meta)))];
}
