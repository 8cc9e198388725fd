import { readClusterSources } from '../../clusters/read-sources.ts';
import type { ClusterSources } from '../../clusters/sources.ts';
import { allRoles, catalogueOfCluster } from '../../clusters/tags/of-sources.ts';
import { nodesBehindRoles, tagsAfter } from '../../clusters/tags/role-tag-changes.ts';
import type { NewTagAssignment } from '../../store/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { tagAllocator } from './tag-extension.ts';

type Dependencies = Pick<OpsDependencies, 'store' | 'tagExtensions'>;

/**
 * Everything that determines a cluster's plans; extensions have decided on the tags that changed roles give.
 *
 * @throws StoreError `not-found` for the cluster; `invalid` when an extension refuses
 */
export const readSources = async (deps: Dependencies, cluster: number): Promise<ClusterSources> =>
  withAllocatedTags(deps, await readClusterSources(deps.store, cluster));

/** Asks extensions for the tags that changed roles give to nodes, as for those of new roles. */
export async function withAllocatedTags(deps: Dependencies, sources: ClusterSources): Promise<ClusterSources> {
  const behind = nodesBehindRoles(sources);
  const given = behind.flatMap(({ id, roleTagChanges = [] }) =>
    roleTagChanges.flatMap((change) =>
      change.given.map((tag): NewTagAssignment => ({ nodeId: id, tag, source: 'role', role: change.role })),
    ),
  );
  if (given.length === 0) return sources;
  const { id: cluster } = sources.cluster;
  const unchanged = behind.map((node) => ({ node: node.id, before: allRoles(node), after: allRoles(node) }));
  const allocated = await tagAllocator(deps)(cluster, unchanged, given, catalogueOfCluster(sources));
  if (allocated === given) return sources;
  const assignments = await deps.store.tags.assignments(cluster, { nodeIds: behind.map(({ id }) => id) });
  return {
    ...sources,
    nodes: sources.nodes.map((node) => {
      if (!behind.includes(node)) return node;
      const own = allocated.filter(({ nodeId }) => nodeId === node.id);
      const roleTagChanges = (node.roleTagChanges ?? []).map((change) => ({
        ...change,
        given: own.filter(({ role }) => role === change.role).map(({ tag }) => tag),
      }));
      const held = assignments.filter(({ nodeId }) => nodeId === node.id);
      return { ...node, roleTagChanges, tags: tagsAfter(held, roleTagChanges) };
    }),
  };
}
