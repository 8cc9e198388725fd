/**
 * Deployment groups (docs/explain/design.md#spec-5) as pure functions: strategies, the next call to make, results of groups and nodes.
 * Runs inside workflows; the CLI's `strategy` commands use the same code.
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
  planGroups,
  startBaremetal,
  startNode,
} from './baremetal.ts';
export { checkHolds } from './check-holds.ts';
export { checkStrategy, describeStrategyProblem, type StrategyProblem } from './check-strategy.ts';
export { judgeCriteria, successesNeeded } from './criteria.ts';
export { describeGroupFailure, type GroupFailure, IN_FLIGHT, lastAttempt } from './failures.ts';
export type { GroupPlan } from './group-plan.ts';
export { parseLabelEntry } from './labels.ts';
export { stableOrder } from './order.ts';
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
export { selectNodes } from './selectors.ts';
export {
  SIMULATED_OUTCOMES,
  type SimulatedOutcome,
  type SimulationInput,
  type SimulationResult,
  simulateStrategy,
} from './simulate.ts';
export {
  allAtOnceStrategy,
  DEFAULT_STRATEGY_NAME,
  type DeploymentStrategy,
  type Group,
  type Selector,
  type SiteNode,
  targetedStrategy,
} from './strategy.ts';
