import { type ClusterFacts, type ClusterNode, uidOf } from './sources.js';

type NamedNode = Pick<ClusterNode, 'id' | 'name' | 'hostname'>;

/** The two names in a node's task queue, `node.<site>.<node>`. */
export interface AgentAddress {
  readonly site: string;
  readonly node: string;
}

/**
 * How the agent of a cluster's node is called; also the name its orders are kept under. In a cluster of a site the
 * site's name and the node's, as the site's documents and MAAS have it: its `name` where that can stand in a queue and
 * no other node of the cluster has it, else its host name. In any other cluster `cluster-<id>` and the node's id. The
 * host of the orchestrator is `master`.
 */
export function agentAddress(
  { cluster, nodes }: { readonly cluster: Pick<ClusterFacts, 'id' | 'site'>; readonly nodes: readonly NamedNode[] },
  node: NamedNode | 'master',
): AgentAddress {
  const site = cluster.site ?? `cluster-${cluster.id}`;
  if (node === 'master') return { site, node };
  if (cluster.site === null) return { site, node: uidOf(node) };
  const { name, hostname } = node;
  const own = name !== null && QUEUE_NAME.test(name) && !nodes.some((one) => one.name === name && one.id !== node.id);
  return { site, node: own ? name : (hostname ?? uidOf(node)) };
}

const QUEUE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/;
