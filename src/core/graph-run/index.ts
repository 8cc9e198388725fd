/** A run of task graphs as pure functions: input, task results, progress, status, report and failures. */
export type { FailedTask, GraphRunReport, GraphRunStatus, GraphStatus } from '../contracts/graph-run.js';
export type { TreeNode } from '../contracts/site-run.js';
export { NO_TASKS, sumCounts, type TaskCounts } from '../task-counts.js';
export type { GraphState } from '../words.js';
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
  shouldContinue,
  taskCapacity,
} from './history-capacity.js';
export { type GraphRequest, type GraphRunInput, parseGraphRunInput } from './input.js';
export { createLedger, type KeptRows, type Ledger, restoreLedger } from './ledger.js';
export { createPace, intervalOfParts } from './pace.js';
export { mergeReports, type PartReport, reportPart } from './part-report.js';
export type { PartStatus } from './part-status.js';
export type { ExecutablePart, PlanReference } from './plan-reference.js';
export type { GraphProgress, GraphRunProgress } from './progress.js';
export { describeRejection } from './rejection.js';
export { nothingToDoText, reasonOfGraph, reportGraphRun } from './report.js';
export { graphRunName, readGraphRunName } from './run-name.js';
export { detailsOfGraphRun, plannedCounts, statusOfGraphRun } from './status.js';
export { isFinal, outcomeOf, type TaskEnd, type TaskOutcomeKind, type TaskRow } from './task-end.js';
export { treeOfPart, treeOfRun } from './tree.js';
