import { isMapping } from '../core/data/plain-value.ts';
import { actionOf, type GraphAction } from '../core/graph-types.ts';
import type { NodeStatus } from '../core/scheduler/index.ts';
import type { Fields } from '../graph/index.ts';
import type { GraphMetadata } from './graph-layers.ts';

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
