/**
 * Deployment groups (docs/explain/design.md#spec-5) as pure functions, as far as runs need them: the next call to make, results of
 * groups and nodes. What becomes a plan before a run (strategies, selectors, labels) has no part in workflows.
 */
export {
  type CallEnd,
  endBaremetal,
  finishCall,
  finishNode,
  halts,
  type NextCall,
  type NodeResult,
  nextCall,
  startBaremetal,
  startNode,
  type WaveRest,
} from './baremetal.ts';
export { judgeCriteria, successesNeeded } from './criteria.ts';
export { describeGroupFailure, type GroupFailure, IN_FLIGHT, lastAttempt } from './failures.ts';
export type { GroupPlan } from './group-plan.ts';
export { stableOrder } from './order.ts';
export { returnPermits, withPermits } from './permits.ts';
export type { BaremetalState } from './progress.ts';
export {
  countNodes,
  countStates,
  describeBaremetal,
  NO_NODES,
  namesByState,
  recordNodes,
  reportBaremetal,
} from './report.ts';
export {
  deployRetried,
  endRetry,
  finishRetriedCall,
  mayDeployRetried,
  retryNode,
  showAbort,
  startRetry,
  whyNotRetry,
} from './retry.ts';
export {
  failuresLeftIn,
  isRolledOut,
  isRolloutHeld,
  mayStartNode,
  operateRollouts,
  recordChecks,
  recordLook,
  showRollout,
  whyNotOperateRollouts,
} from './rollout.ts';
