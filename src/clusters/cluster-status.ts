import type { ClusterNode } from './sources.js';

/** A node that has been deployed, or tried. */
const TOUCHED: ReadonlySet<string> = new Set(['ready', 'error', 'stopped', 'deploying']);

/**
 * What a cluster is once a run has ended: `operational` when all its nodes are ready and stay; `new` when none was
 * worked on yet; `stopped` after a run that was stopped; `partially_deployed` otherwise.
 */
export function clusterStatusAfter(
  nodes: readonly Pick<ClusterNode, 'status' | 'errorType' | 'pendingAddition' | 'pendingDeletion'>[],
  outcome: 'success' | 'failed' | 'stopped' | 'cancelled',
): 'operational' | 'partially_deployed' | 'stopped' | 'new' {
  const isReady = ({ status, errorType, pendingAddition, pendingDeletion }: (typeof nodes)[number]): boolean =>
    status === 'ready' && errorType === null && !pendingAddition && !pendingDeletion;
  if (nodes.length > 0 && nodes.every(isReady)) return 'operational';
  if (!nodes.some(({ status }) => TOUCHED.has(status))) return 'new';
  return outcome === 'stopped' || outcome === 'cancelled' ? 'stopped' : 'partially_deployed';
}
