import type { Engine } from '@sitewright/yaql';
import { given } from '../core/data/given.ts';
import { actionOf, type GraphAction, isFor, type NodeStanding, standingOf } from '../core/graph-types.ts';
import { maintenanceText } from '../core/maintenance.ts';
import { calledText } from '../core/names.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { someOf } from '../core/text/text.ts';
import { filterNodes, GraphProblemError, type NodeRow, type Problems } from '../graph/index.ts';
import { type ClusterNode, type ClusterSources, nameOf, uidOf } from './sources.ts';
import { filterRow } from './state/cluster-state.ts';

/** The nodes of a plan. */
interface ChosenNodes {
  /** By id. */
  readonly nodes: readonly ClusterNode[];
  readonly leftOut: readonly NodeLeftOut[];
  /** Those left out that a person expects in the run: requested by name, or of the kind that the graph is for. */
  readonly missed: readonly number[];
  /** Those left out because they have no operating system yet. */
  readonly notProvisioned: readonly number[];
}

export interface NodeLeftOut {
  readonly node: number;
  readonly reason: string;
}

/**
 * The online nodes of a run, among those that a graph of the type is for: the ones requested by id, else the ones that
 * match the graph's filter, else all that are ready for its work. Reports why each other node is left out.
 *
 * @param ids from the user; one outside the cluster is an error at its place
 * @param engine with registered helper functions, which filters may call
 */
export function chooseNodes(
  sources: ClusterSources,
  type: string,
  ids: readonly number[] | undefined,
  filter: string | null,
  problems: Problems,
  engine?: Engine,
): ChosenNodes {
  const known = new Set(sources.nodes.map(({ id }) => id));
  ids?.forEach((id, at) => {
    if (!known.has(id))
      problems.error(
        ['nodes', at],
        'graph.foreign-node',
        `node ${id} is not in ${calledText('cluster', sources.cluster)}`,
        known.size === 0 ? 'The cluster has no nodes yet. Assign some.' : `It has ${namesIn(sources.nodes)}.`,
      );
  });
  // Nodes that leave or are new need no system: the graph is for work on them.
  const whole = NEEDS_NO_SYSTEM.has(actionOf(type)) ? '' : null;
  const choice = { filter: filter ?? whole, ...given({ ids }) };
  const rows = sources.nodes.map((node) => filterRow(sources, node) as NodeRow);
  let matching: ReadonlySet<string>;
  try {
    matching = new Set(filterNodes(rows, choice, engine).map(({ id }) => String(id)));
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    problems.error(error.below, error.code, error.message, error.hint);
    matching = new Set();
  }
  const byId = [...sources.nodes].sort((a, b) => a.id - b.id);
  const isTaken = (node: ClusterNode) =>
    node.maintenance === undefined && matching.has(uidOf(node)) && isFor(type, standingIn(node));
  const left = byId.filter((node) => !isTaken(node));
  const isAsked = (node: ClusterNode): boolean => ids === undefined || ids.includes(node.id);
  const reasonFor = (node: ClusterNode): string =>
    node.maintenance !== undefined && isAsked(node)
      ? `it has been ${maintenanceText(node.maintenance)}`
      : matching.has(uidOf(node))
        ? notFor(type, standingIn(node))
        : whyNot(node, ids !== undefined, filter, type);
  const isMissed = (node: ClusterNode): boolean => {
    if (ids !== undefined) return isAsked(node);
    const isAway = !node.online || node.maintenance !== undefined;
    if (filter !== null && !isAway) return false;
    const standing = standingIn(node);
    return isFor(type, standing) || (standing === 'new' && actionOf(type) === 'deploy');
  };
  return {
    nodes: byId.filter(isTaken),
    leftOut: left.map((node) => ({ node: node.id, reason: reasonFor(node) })),
    missed: left.filter(isMissed).map(({ id }) => id),
    notProvisioned:
      ids !== undefined || filter !== null || whole !== null
        ? []
        : left.filter((node) => node.online && !node.maintenance && standingIn(node) !== 'leaving').map(({ id }) => id),
  };
}

/** What its cluster intends with a node. */
export const standingIn = (node: ClusterNode): NodeStanding =>
  standingOf({
    pending_addition: node.pendingAddition,
    pending_deletion: node.pendingDeletion,
    error_type: node.errorType,
  });

/** The requested nodes that are in maintenance: a plan leaves them out, and who names one is told so before. */
export function requestedInMaintenance(
  { nodes }: Pick<ClusterSources, 'nodes'>,
  ids: readonly number[],
  path: string,
): readonly Diagnostic[] {
  return nodes.flatMap(({ id, name, maintenance }) =>
    maintenance === undefined || !ids.includes(id)
      ? []
      : {
          severity: 'error',
          code: 'graph.node-in-maintenance',
          message: `node ${name ?? id} has been ${maintenanceText(maintenance)}`,
          hint: `Leave it out, or end its maintenance: sitewright node maintenance off ${id}`,
          path,
        },
  );
}

const NEEDS_NO_SYSTEM: ReadonlySet<string> = new Set(['delete', 'provision'] satisfies GraphAction[]);

/** Why a node is not among those that were requested, or that match. */
function whyNot(node: ClusterNode, asked: boolean, filter: string | null, type: string): string {
  if (!node.online) return 'it is offline';
  if (asked) return 'it was not requested';
  if (filter !== null) return `it does not match the node filter: ${filter.trim()}`;
  const standing = standingIn(node);
  return isFor(type, standing) ? `it has no operating system: its status is ${node.status}` : notFor(type, standing);
}

/** Why a graph of the type is not for nodes of this standing. */
function notFor(type: string, standing: NodeStanding): string {
  if (standing === 'leaving') return 'it is pending removal from the cluster';
  if (actionOf(type) === 'delete') return 'it stays in the cluster: this graph is for removed nodes only';
  return standing === 'new'
    ? 'it is not provisioned yet'
    : 'it is provisioned already: this graph is for new nodes only';
}

const SHOWN = 10;

/** The first of them, as people call them. */
export const namesIn = (nodes: readonly Pick<ClusterNode, 'id' | 'name' | 'hostname'>[]): string =>
  someOf([...nodes].sort((a, b) => a.id - b.id).map(nameOf), SHOWN);
