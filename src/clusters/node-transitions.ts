import { isMapping } from '../core/data/plain-value.ts';
import { actionOf, type GraphAction } from '../core/graph-types.ts';
import type { NodeStatus } from '../core/scheduler/status.ts';
import type { GraphRunOutcome } from '../core/words.ts';
import type { Fields } from '../graph/index.ts';
import type { GraphMetadata } from './graph-layers.ts';
import type { ClusterNode } from './sources.ts';

/** The change of a node when a graph ends. Absent fields keep their values. */
export interface NodeChange {
  readonly status?: string;
  readonly pending_addition?: boolean;
  readonly pending_deletion?: boolean;
  readonly error_type?: string | null;
  readonly error_msg?: string | null;
}

type Transitions = Readonly<Record<NodeStatus, NodeChange>>;

const STOPPED: NodeChange = { status: 'stopped' };

/**
 * Default node changes of graphs, by their step. Fuel's own library states the same in its graphs; the release of
 * the specification states nothing, and its removed nodes still have to leave.
 */
const BY_ACTION: Readonly<Record<GraphAction, Transitions>> = {
  delete: {
    success: { status: 'deleted', pending_deletion: false },
    failed: { status: 'error', error_type: 'deletion' },
    not_reached: STOPPED,
  },
  provision: {
    success: { status: 'provisioned', pending_addition: false },
    failed: { status: 'error', error_type: 'provision' },
    not_reached: STOPPED,
  },
  verify: { success: {}, failed: {}, not_reached: {} },
  deploy: { success: { status: 'ready' }, failed: { status: 'error', error_type: 'deploy' }, not_reached: STOPPED },
};

/**
 * How a graph changes its nodes, by their outcome: by its `on_success`, `on_error` and `on_stop` if given (if empty,
 * nothing changes), else by the default of its type. Status `deleted` removes the node from the cluster.
 */
export function nodeTransitions(type: string, metadata: GraphMetadata): Transitions {
  const byDefault = BY_ACTION[actionOf(type)];
  return {
    success: changeOf(metadata.onSuccess) ?? byDefault.success,
    failed: changeOf(metadata.onError) ?? byDefault.failed,
    not_reached: changeOf(metadata.onStop) ?? byDefault.not_reached,
  };
}

function changeOf(callback: Fields | null): NodeChange | undefined {
  if (callback === null) return undefined;
  const given = isMapping(callback.node_attributes) ? callback.node_attributes : {};
  const text = (name: string) => (typeof given[name] === 'string' ? { [name]: given[name] } : {});
  const flag = (name: string) => (typeof given[name] === 'boolean' ? { [name]: given[name] } : {});
  const clearable = (name: string) => (given[name] === null ? { [name]: null } : text(name));
  return {
    ...text('status'),
    ...flag('pending_addition'),
    ...flag('pending_deletion'),
    ...clearable('error_type'),
    ...clearable('error_msg'),
  };
}

/** Statuses of a node after a deployment or an attempt. */
const TOUCHED: ReadonlySet<string> = new Set(['ready', 'error', 'stopped', 'deploying']);

/**
 * A cluster's status after a run: `operational` if all its nodes are ready and stay; `new` if none was deployed yet;
 * `stopped` after a stopped run; `partially_deployed` otherwise.
 */
export function clusterStatusAfter(
  nodes: readonly Pick<ClusterNode, 'status' | 'errorType' | 'pendingAddition' | 'pendingDeletion'>[],
  outcome: GraphRunOutcome,
): 'operational' | 'partially_deployed' | 'stopped' | 'new' {
  const isReady = ({ status, errorType, pendingAddition, pendingDeletion }: (typeof nodes)[number]): boolean =>
    status === 'ready' && errorType === null && !pendingAddition && !pendingDeletion;
  if (nodes.length > 0 && nodes.every(isReady)) return 'operational';
  if (!nodes.some(({ status }) => TOUCHED.has(status))) return 'new';
  return outcome === 'stopped' || outcome === 'cancelled' ? 'stopped' : 'partially_deployed';
}
