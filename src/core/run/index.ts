/** What runs on sites and runs of graphs have in common, pure: outcomes, operators' actions, failures, details. */
export { type AnyStatus, cell, detailsHeading, table } from './details.js';
export { describeInvalidInput, failureType, type InvalidInput, listSome, type StepError } from './failure.js';
export {
  GRAPH_RUN_ACTIONS,
  type GraphOperatorAction,
  type GraphRunAction,
  type OperatorAction,
  type OperatorNote,
  type Paused,
  RUN_ACTIONS,
  type RunAction,
  readNote,
  SITE_RUN_ACTIONS,
  type SiteOperatorAction,
  type SiteRunAction,
} from './operator.js';
export { GRAPH_RUN_OUTCOMES, type GraphRunOutcome, SITE_RUN_OUTCOMES, type SiteRunOutcome } from './outcome.js';
