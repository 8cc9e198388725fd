import type { ClusterNode, ClusterSources } from '../sources.js';
import { type Catalogue, catalogueOf, type RolesMetadata, type TagsMetadata, tagsOfRole } from './catalogue.js';

/** All tags and roles of a cluster as it is stored. */
export function catalogueOfCluster({ release, cluster, plugins }: ClusterSources): Catalogue {
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

/** Roles of a node and those it is to get, each once. */
export const allRoles = ({ roles, pendingRoles }: ClusterNode): readonly string[] => [
  ...new Set([...roles, ...pendingRoles]),
];

/** The tags that count for a node: those assigned to it, or with the tags engine off those of its roles. */
export function countingTags(node: ClusterNode, { cluster }: ClusterSources, catalogue: Catalogue): readonly string[] {
  return cluster.placesByTags ? node.tags : tagsOfRoles(node, catalogue);
}

/** What the roles of a node give it, those it is to get included. */
export function tagsOfRoles(node: ClusterNode, { roles }: Catalogue): readonly string[] {
  return [...new Set(allRoles(node).flatMap((role) => tagsOfRole(role, roles.get(role)?.meta)))];
}
