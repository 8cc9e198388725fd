import { compareKeys } from '../core/text/text.ts';
import type { TaggedNode } from '../graph/index.ts';
import type { ClusterSources } from './sources.ts';
import { catalogueOfCluster } from './tags/of-sources.ts';
import { resolveTaggedNodes } from './tags/tagged-nodes.ts';

interface TaggedCluster {
  readonly nodes: readonly TaggedNode[];
  /** Tag -> id of its primary node, to store so that the choice stays. */
  readonly primaries: Readonly<Record<string, number>>;
}

/** The tags of a run's nodes for matching tasks, by node id. */
export function tagCluster(sources: ClusterSources, run: readonly number[]): TaggedCluster {
  const { cluster } = sources;
  const { nodes, primaryTags } = resolveTaggedNodes({
    nodes: sources.nodes.map((node) => ({ ...node, roles: [...new Set([...node.roles, ...node.pendingRoles])] })),
    run,
    catalogue: catalogueOfCluster(sources),
    tagsEngine: cluster.placesByTags,
    highAvailability: cluster.mode.startsWith('ha'),
  });
  const primaries = [...primaryTags].flatMap(([node, tags]) => tags.map((tag) => [tag, node] as const));
  return { nodes, primaries: Object.fromEntries(primaries.sort(compareKeys)) };
}
