import { type ClusterFacts, type ClusterNode, uidOf } from './sources.js';

/** The two names in a node's task queue, `node.<site>.<node>`. */
export interface AgentAddress {
  readonly site: string;
  readonly node: string;
}

/**
 * How the agent of a cluster's node is called. The site is the cluster's, else `cluster-<id>`; the node's name is the
 * one users gave it, as the site's documents have it, where it can stand in a queue's name, else its id. The host of
 * the orchestrator is `master`.
 */
export function agentAddress(
  cluster: Pick<ClusterFacts, 'id' | 'site'>,
  node: Pick<ClusterNode, 'id' | 'name'> | 'master',
): AgentAddress {
  const site = cluster.site ?? `cluster-${cluster.id}`;
  if (node === 'master') return { site, node };
  return { site, node: node.name !== null && NAME.test(node.name) ? node.name : uidOf(node) };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/;
