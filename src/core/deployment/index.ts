/**
 * Deployment groups (spec/5), pure: what a strategy means, what to call next, how groups and nodes
 * come out. Runs inside workflows; the CLI's `strategy` commands use the same code.
 */
export type { SuccessCriteria } from '../contracts/site-run.js';
export type { BaremetalReport, GroupReport, NodeReport } from '../contracts/site-run-report.js';
export type { Call, NodeState } from '../words.js';
export {
  type BaremetalState,
  type CallEnd,
  type CurrentCall,
  finishCall,
  finishNode,
  type GroupProgress,
  halts,
  type NextCall,
  type NodeProgress,
  type NodeResult,
  nextCall,
  planGroups,
  retryNode,
  startBaremetal,
  startNode,
  whyNotRetry,
} from './baremetal.js';
export { checkStrategy, describeStrategyProblem, type StrategyPath, type StrategyProblem } from './check-strategy.js';
export { type CriterionName, type CriterionVerdict, judgeCriteria, successesNeeded } from './criteria.js';
export { describeGroupFailure, type GroupFailure, type NodeFailure } from './failures.js';
export type { CallRecord, CallVerdict, GroupPlan } from './group-plan.js';
export { type Label, parseLabelEntry } from './labels.js';
export { type Ordered, stableOrder } from './order.js';
export { countNodes, reportBaremetal, reportNodes } from './report.js';
export { selectNodes } from './selectors.js';
export { type SimulatedOutcome, type SimulationInput, type SimulationResult, simulateStrategy } from './simulate.js';
export {
  allAtOnceStrategy,
  DEFAULT_STRATEGY_NAME,
  type DeploymentStrategy,
  type Group,
  type LabelEntry,
  type Selector,
  type SiteNode,
  targetedStrategy,
} from './strategy.js';
