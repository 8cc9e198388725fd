/**
 * Deployment groups (spec/5) as pure functions: strategies, the next call to make, results of groups and nodes.
 * Runs inside workflows; the CLI's `strategy` commands use the same code.
 */
export {
  type CallEnd,
  finishCall,
  finishNode,
  halts,
  type NextCall,
  type NodeResult,
  nextCall,
  planGroups,
  startBaremetal,
  startNode,
} from './baremetal.js';
export { checkHolds } from './check-holds.js';
export { checkStrategy, describeStrategyProblem, type StrategyProblem } from './check-strategy.js';
export { judgeCriteria, successesNeeded } from './criteria.js';
export { describeGroupFailure, type GroupFailure } from './failures.js';
export type { GroupPlan } from './group-plan.js';
export { parseLabelEntry } from './labels.js';
export { stableOrder } from './order.js';
export type { BaremetalState } from './progress.js';
export { countNodes, describeBaremetal, reportBaremetal, reportNodes } from './report.js';
export {
  deployRetried,
  endRetry,
  finishRetriedCall,
  mayDeployRetried,
  retryNode,
  startRetry,
  whyNotRetry,
} from './retry.js';
export { selectNodes } from './selectors.js';
export {
  SIMULATED_OUTCOMES,
  type SimulatedOutcome,
  type SimulationInput,
  type SimulationResult,
  simulateStrategy,
} from './simulate.js';
export {
  allAtOnceStrategy,
  DEFAULT_STRATEGY_NAME,
  type DeploymentStrategy,
  type Selector,
  type SiteNode,
  targetedStrategy,
} from './strategy.js';
