import { isMapping } from '../core/plain-value.js';
import type { NodeStatus } from '../core/scheduler/index.js';
import type { Fields } from '../graph/index.js';
import type { GraphMetadata } from './graph-layers.js';

/** The change of a node when a graph ends. Absent fields keep their values. */
export interface NodeChange {
  readonly status?: string;
  readonly pending_addition?: boolean;
  readonly pending_deletion?: boolean;
  readonly error_type?: string | null;
  readonly error_msg?: string | null;
}

/**
 * How a graph changes its nodes, by their outcome: by its `on_success`, `on_error` and `on_stop` if given (if empty,
 * nothing changes); by default to `ready`, `error` of deployment, or `stopped`. Status `deleted` removes the node from
 * the cluster.
 */
export function nodeTransitions(metadata: GraphMetadata): Readonly<Record<NodeStatus, NodeChange>> {
  return {
    successful: changeOf(metadata.onSuccess) ?? { status: 'ready' },
    failed: changeOf(metadata.onError) ?? { status: 'error', error_type: 'deploy' },
    skipped: changeOf(metadata.onStop) ?? { status: 'stopped' },
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
