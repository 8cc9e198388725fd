import { filterNodes, GraphProblemError, type NodeRow, type Problems } from '../graph/index.js';
import { type ClusterNode, type ClusterSources, uidOf } from './sources.js';

/** Which nodes a plan is for. */
export interface ChosenNodes {
  /** By id. */
  readonly nodes: readonly ClusterNode[];
  readonly leftOut: readonly NodeLeftOut[];
}

export interface NodeLeftOut {
  readonly node: number;
  readonly reason: string;
}

/**
 * The nodes of a run: never one that is offline; of the others those asked for by id, else what the graph's filter
 * takes, else what has its system and stays. Says of every other node why it is left out.
 *
 * @param ids as a user gave them; one that is no node of the cluster is an error at its place
 */
export function chooseNodes(
  sources: ClusterSources,
  ids: readonly number[] | undefined,
  filter: string | null,
  problems: Problems,
): ChosenNodes {
  const known = new Set(sources.nodes.map(({ id }) => id));
  ids?.forEach((id, at) => {
    if (!known.has(id))
      problems.error(
        ['nodes', at],
        'graph.foreign-node',
        `node ${id} is not in cluster ${sources.cluster.id}`,
        known.size === 0 ? 'The cluster has no nodes yet: assign some.' : `It has ${listOf(known)}.`,
      );
  });
  const choice = { filter, ...(ids === undefined ? {} : { ids }) };
  const rows = sources.nodes.map((node) => nodeRow(sources, node));
  let taken: ReadonlySet<string>;
  try {
    taken = new Set(filterNodes(rows, choice).map(({ id }) => String(id)));
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    problems.error(error.below, error.code, error.message, error.hint);
    taken = new Set();
  }
  const byId = [...sources.nodes].sort((a, b) => a.id - b.id);
  return {
    nodes: byId.filter((node) => taken.has(uidOf(node))),
    leftOut: byId
      .filter((node) => !taken.has(uidOf(node)))
      .map((node) => ({ node: node.id, reason: whyNot(node, ids !== undefined, filter) })),
  };
}

function whyNot(node: ClusterNode, asked: boolean, filter: string | null): string {
  if (!node.online) return 'it is offline';
  if (asked) return 'it was not asked for';
  if (filter !== null) return `the node filter does not take it: ${filter.trim()}`;
  if (node.pendingDeletion) return 'it is to be removed from the cluster';
  if (node.pendingAddition) return 'it is not provisioned yet';
  return `it has no system to work on: its status is ${node.status}`;
}

/** A node as filters see it: the fields of its row in the API. */
function nodeRow(sources: ClusterSources, node: ClusterNode): NodeRow {
  return {
    id: node.id,
    uid: uidOf(node),
    name: node.name,
    hostname: node.hostname,
    fqdn: node.fqdn,
    ip: node.ip,
    cluster: sources.cluster.id,
    status: node.status,
    online: node.online,
    pending_addition: node.pendingAddition,
    pending_deletion: node.pendingDeletion,
    error_type: node.errorType,
    roles: node.roles,
    pending_roles: node.pendingRoles,
    all_roles: [...new Set([...node.roles, ...node.pendingRoles])],
    tags: node.tags,
    primary_tags: node.primaryTags,
    labels: node.labels,
    attributes: node.attributes,
  };
}

const SHOWN = 10;

function listOf(ids: ReadonlySet<number>): string {
  const all = [...ids].sort((a, b) => a - b);
  const more = all.length - SHOWN;
  return `${all.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
