/** A run of task graphs, pure: its input, what became of tasks, progress, status, report and failures. */
export type {
  FailedNode,
  FailedTask,
  GraphOperatorAction,
  GraphReport,
  GraphRunReport,
  GraphRunStatus,
  GraphStatus,
  TaskCounts,
} from '../contracts/graph-run.js';
export type { TreeNode } from '../contracts/site-run.js';
export type { GraphRunMode, GraphRunOutcome, GraphState } from '../words.js';
export { countCrossings, cutForExecution, splitForExecution, TASKS_IN_ONE_WORKFLOW } from './cut.js';
export {
  describeGraphRunFailure,
  explainGraphRunFailure,
  type GraphRunFailure,
  type PlanningFailure,
} from './failure.js';
export {
  HISTORY_FULL,
  hasCapacityForRequest,
  hasCapacityForRetry,
  MOST_EVENTS,
  shouldContinue,
  taskCapacity,
} from './history-capacity.js';
export {
  type GraphRequest,
  type GraphRunInput,
  type ParsedGraphRunInput,
  parseGraphRunInput,
} from './input.js';
export { createLedger, type KeptRows, type Ledger, restoreLedger } from './ledger.js';
export { createPace, type Pace } from './pace.js';
export { mergeReports, type PartReport, reportPart } from './part-report.js';
export {
  NO_TASKS,
  type PartStatus,
  settledOf,
  sumCounts,
  totalOf,
} from './part-status.js';
export type { ExecutablePart, PlanReference } from './plan-reference.js';
export type { GraphProgress, GraphRunProgress } from './progress.js';
export { describeRejection } from './rejection.js';
export { reasonOfGraph, reportGraphRun } from './report.js';
export { detailsOfGraphRun, statusOfGraphRun } from './status.js';
export { isFinal, outcomeOf, type TaskEnd, type TaskOutcomeKind, type TaskRow } from './task-end.js';
export { type TreeOfPart, treeOfPart, treeOfRun } from './tree.js';
