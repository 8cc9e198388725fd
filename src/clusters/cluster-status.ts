import type { GraphRunOutcome } from '../core/words.ts';
import type { ClusterNode } from './sources.ts';

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
