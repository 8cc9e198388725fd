import { INSTALLATION } from '../core/site-run/site-name.ts';
import { MASTER } from '../graph/index.ts';
import { type ClusterFacts, type ClusterNode, uidOf } from './sources.ts';

type NamedNode = Pick<ClusterNode, 'id' | 'name' | 'hostname'>;

/** The names in a node's task queue, `node.<site>.<node>`. */
interface AgentAddress {
  readonly site: string;
  readonly node: string;
}

/**
 * The agent's address of a cluster's node, which is also the key of its orders. In a cluster of a site: the site's name
 * and the node's name in the site's documents and MAAS. That is its `name` if it is unique in the cluster and valid in
 * a queue, else its host name. In any other cluster: `cluster-<id>` and the node's id.
 */
export function agentAddress(
  { cluster, nodes }: { readonly cluster: Pick<ClusterFacts, 'id' | 'site'>; readonly nodes: readonly NamedNode[] },
  node: NamedNode,
): AgentAddress {
  const site = agentSite(cluster);
  if (cluster.site === null) return { site, node: uidOf(node) };
  const { name, hostname } = node;
  const own = name !== null && QUEUE_NAME.test(name) && isOnlyOf(node, nodes);
  return { site, node: own ? name : (hostname ?? uidOf(node)) };
}

/** By nodes, the ids under each of their names, worked out once: each of many nodes asks about all of them. */
const idsByName = new WeakMap<readonly NamedNode[], ReadonlyMap<string | null, ReadonlySet<number>>>();

function isOnlyOf({ id, name }: NamedNode, nodes: readonly NamedNode[]): boolean {
  let known = idsByName.get(nodes);
  if (known === undefined) {
    const found = new Map<string | null, Set<number>>();
    for (const one of nodes) found.set(one.name, (found.get(one.name) ?? new Set()).add(one.id));
    known = found;
    idsByName.set(nodes, known);
  }
  const ids = known.get(name);
  return ids === undefined || (ids.size === 1 && ids.has(id));
}

/** The site under which agents of a cluster's nodes are enrolled. */
const agentSite = ({ id, site }: Pick<ClusterFacts, 'id' | 'site'>): string => site ?? `cluster-${id}`;

/** `master` is a node like any other, and one for all clusters: the orchestrator's machine. */
export const MASTER_AGENT: AgentAddress = { site: INSTALLATION, node: MASTER };

/** Where workers carry out what MAAS does for nodes of all clusters. */
export const MAAS_CALLS: AgentAddress = { site: INSTALLATION, node: 'maas' };

const QUEUE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/;
