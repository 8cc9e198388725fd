/** A run of task graphs as pure functions: input, task results, progress, status, report and failures. */
export type { FailedTask, GraphRunReport, GraphRunStatus, GraphStatus } from '../contracts/graph-run.ts';
export type { TreeNode } from '../contracts/site-run.ts';
export type { GraphState } from '../words.ts';
export {
  countCrossings,
  cutForExecution,
  isCoordinatedApart,
  isTooLargeForRollouts,
  NODES_A_CHECK,
  splitForExecution,
  TASKS_IN_ONE_WORKFLOW,
} from './cut.ts';
export {
  describeGraphRunFailure,
  describeRejection,
  explainGraphRunFailure,
  type GraphRunFailure,
  type PlanningFailure,
} from './failure.ts';
export {
  HISTORY_FULL,
  hasCapacityForRequest,
  hasCapacityForRetry,
  shouldContinue,
  taskCapacity,
} from './history-capacity.ts';
export {
  type ChecksOnNodes,
  DEFAULT_GRAPHS,
  type GraphRequest,
  type GraphRunInput,
  modeOf,
  type OwnRollouts,
  parseGraphRunInput,
} from './input.ts';
export { type KeptRows, Ledger, restoreLedger } from './ledger.ts';
export { createPace, intervalOfParts } from './pace.ts';
export { mergeReports, type PartReport, reportPart } from './part-report.ts';
export { mergeStatuses, type PartStatus } from './part-status.ts';
export type { ExecutablePart, PlanReference } from './plan-reference.ts';
export type { GraphProgress, GraphRunProgress } from './progress.ts';
export { nothingToDoText, reasonOfGraph, recordsLost, reportGraphRun } from './report.ts';
export {
  detailsOfGraphRun,
  isRolloutHeld,
  NO_ROLLOUT,
  nodeNameIn,
  plannedCounts,
  statusOfGraphRun,
  withNames,
} from './status.ts';
export { doneOf, NO_TASKS, type SomeCounts, sumCounts, type TaskCounts } from './task-counts.ts';
export {
  isFinal,
  OUTPUT_CHARACTERS,
  outcomeOf,
  TASK_FAILURES,
  TASK_OUTCOMES,
  type TaskEnd,
  type TaskOutcome,
  type TaskRow,
} from './task-end.ts';
export { graphRunName, readGraphRunName, titleOfGraphRun } from './title.ts';
export { lostIn, NOTABLE, TASKS_SHOWN, treeOfGraphRun, treeOfGraphs, treeOfPart, treeOfTasks } from './tree.ts';
