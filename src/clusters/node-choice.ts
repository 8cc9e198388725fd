import { filterNodes, GraphProblemError, type NodeRow, type Problems } from '../graph/index.js';
import { type ClusterNode, type ClusterSources, uidOf } from './sources.js';
import { filterRow } from './state/cluster-state.js';

/** The nodes of a plan. */
interface ChosenNodes {
  /** By id. */
  readonly nodes: readonly ClusterNode[];
  readonly leftOut: readonly NodeLeftOut[];
  /** Those left out because they have no operating system yet. */
  readonly notProvisioned: readonly number[];
}

export interface NodeLeftOut {
  readonly node: number;
  readonly reason: string;
}

/**
 * The online nodes of a run: those requested by id, else those that match the graph's filter, else those with an
 * operating system that stay. Reports why each other node is left out.
 *
 * @param ids from the user; one outside the cluster is an error at its place
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
        known.size === 0 ? 'The cluster has no nodes yet. Assign some.' : `It has ${listOf(known)}.`,
      );
  });
  const choice = { filter, ...(ids === undefined ? {} : { ids }) };
  const rows = sources.nodes.map((node) => filterRow(sources, node) as NodeRow);
  let taken: ReadonlySet<string>;
  try {
    taken = new Set(filterNodes(rows, choice).map(({ id }) => String(id)));
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    problems.error(error.below, error.code, error.message, error.hint);
    taken = new Set();
  }
  const byId = [...sources.nodes].sort((a, b) => a.id - b.id);
  const left = byId.filter((node) => !taken.has(uidOf(node)));
  return {
    nodes: byId.filter((node) => taken.has(uidOf(node))),
    leftOut: left.map((node) => ({ node: node.id, reason: whyNot(node, ids !== undefined, filter) })),
    notProvisioned:
      ids !== undefined || filter !== null
        ? []
        : left.filter(({ online, pendingDeletion }) => online && !pendingDeletion).map(({ id }) => id),
  };
}

function whyNot(node: ClusterNode, asked: boolean, filter: string | null): string {
  if (!node.online) return 'it is offline';
  if (asked) return 'it was not requested';
  if (filter !== null) return `it does not match the node filter: ${filter.trim()}`;
  if (node.pendingDeletion) return 'it is pending removal from the cluster';
  if (node.pendingAddition) return 'it is not provisioned yet';
  return `it has no operating system: its status is ${node.status}`;
}

const SHOWN = 10;

function listOf(ids: ReadonlySet<number>): string {
  const all = [...ids].sort((a, b) => a - b);
  const more = all.length - SHOWN;
  return `${all.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
