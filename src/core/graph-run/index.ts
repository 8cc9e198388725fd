/** A run of task graphs, pure: its input, what became of tasks, progress, status, report and failures. */
export { countCrossings, cutForExecution, splitForExecution, TASKS_IN_ONE_WORKFLOW } from './cut.js';
export {
  describeGraphRunFailure,
  type GraphRunFailure,
  nextGraphStep,
  type PlanningFailure,
} from './failure.js';
export {
  hasRoomForRetry,
  hasRoomForWish,
  MOST_EVENTS,
  NO_ROOM,
  shouldContinue,
  taskRoom,
} from './history-room.js';
export {
  type GraphRequest,
  type GraphRunInput,
  type GraphRunMode,
  type ParsedGraphRunInput,
  parseGraphRunInput,
} from './input.js';
export { createLedger, type KeptRows, type Ledger, restoreLedger } from './ledger.js';
export { ON_MASTER } from './on-master.js';
export { createPace, type Pace } from './pace.js';
export {
  type FailedTask,
  NO_TASKS,
  type PartNews,
  settledOf,
  sumCounts,
  type TaskCounts,
  totalOf,
} from './part-news.js';
export { type FailedNode, mergeReports, type PartReport, reportPart } from './part-report.js';
export type { ExecutablePart, PlanReference } from './plan-reference.js';
export type { GraphProgress, GraphRunProgress, GraphState } from './progress.js';
export { describeRejection } from './rejection.js';
export { type GraphReport, type GraphRunReport, reasonOfGraph, reportGraphRun } from './report.js';
export { detailsOfGraphRun, type GraphRunStatus, type GraphStatus, statusOfGraphRun } from './status.js';
export { isFinal, outcomeOf, type TaskEnd, type TaskOutcomeKind, type TaskRow } from './task-end.js';
export { type GraphTreeNode, type TreeOfPart, treeOfPart, treeOfRun } from './tree.js';
