import { type Catalogue, catalogueOf } from '../../clusters/tags/catalogue.ts';
import type { JsonObject, Store } from '../../store/index.ts';
import { objectOf } from './json-object.ts';

/** A cluster's own roles, stored with its settings. */
export const clusterRoles = (attributes: JsonObject): JsonObject => objectOf(attributes.roles_metadata);

/** The roles and tags for nodes of a cluster: its own, and those of its release and enabled plugins. */
export async function roleCatalogue(
  store: Pick<Store, 'clusters' | 'releases' | 'plugins' | 'tags'>,
  clusterId: number,
): Promise<Catalogue> {
  const cluster = await store.clusters.get(clusterId);
  const [release, plugins, tags] = await Promise.all([
    store.releases.get(cluster.releaseId),
    store.plugins.ofCluster(clusterId, { enabled: true }),
    store.tags.ofCluster(clusterId),
  ]);
  const tagsOf = (kind: string, id: number) =>
    Object.fromEntries(
      tags
        .filter(({ owner }) => owner.kind === kind && owner.id === id)
        .map(({ name, hasPrimary, metadata }) => [name, { ...metadata, has_primary: hasPrimary }]),
    );
  return catalogueOf({
    release: {
      roles: release.rolesMetadata as never,
      tags: { ...(release.tagsMetadata as object), ...tagsOf('release', release.id) },
    },
    cluster: { roles: clusterRoles(cluster.attributes) as never, tags: tagsOf('cluster', clusterId) },
    plugins: plugins.map(({ plugin }) => ({
      id: plugin.id,
      name: plugin.name,
      roles: objectOf(plugin.metadata.roles_metadata) as never,
      tags: { ...(objectOf(plugin.metadata.tags_metadata) as object), ...tagsOf('plugin', plugin.id) },
    })),
  });
}
