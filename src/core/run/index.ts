/** What runs on sites and runs of graphs have in common, pure: outcomes, operators' actions, failures, details. */
export type { GraphOperatorAction } from '../contracts/graph-run.js';
export type { Paused } from '../contracts/site-run.js';
export type { SiteOperatorAction } from '../contracts/site-run-report.js';
export {
  GRAPH_RUN_ACTIONS,
  GRAPH_RUN_OUTCOMES,
  type GraphRunAction,
  type GraphRunOutcome,
  RUN_ACTIONS,
  type RunAction,
  SITE_RUN_ACTIONS,
  SITE_RUN_OUTCOMES,
  type SiteRunAction,
  type SiteRunOutcome,
} from '../words.js';
export { type AnyStatus, cell, detailsHeading, table } from './details.js';
export { describeInvalidInput, failureType, type InvalidInput, listSome, type StepError } from './failure.js';
export { type OperatorAction, type OperatorNote, readNote } from './operator.js';
export { type AnyProgress, type Explained, isoTime, reportAny } from './progress.js';
