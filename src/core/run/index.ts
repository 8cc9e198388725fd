/** Common parts of site runs and graph runs, as pure functions: outcomes, operator actions, failures, details. */

export type { Paused } from '../contracts/primitives.ts';
export type { GraphRunAction, GraphRunOutcome, RunAction, SiteRunAction, SiteRunOutcome } from '../words.ts';
export {
  type ApprovalRequest,
  approvalRequest,
  awaitingOf,
  awaitingShown,
  BEFORE_CHANGES,
  decide,
  describeAwaiting,
  holdNames,
  namesOf,
  reach,
  rejectionIn,
  startHolds,
  undecided,
  whyNotDecide,
} from './approval.ts';
export { cell, detailsEnding, detailsHeading, table } from './details.ts';
export {
  type AnyRunFailure,
  CLAIM_LOST,
  claimLost,
  type Explained,
  explainCommon,
  failureType,
  listSome,
  type RequestRefused,
  requestRefused,
  type StepError,
} from './failure.ts';
export { keptByHeld, keptByWaiting } from './kept-plan.ts';
export { type OperatorAction, type OperatorNote, operatorNote, type ReadRequest, readRequest } from './operator.ts';
export {
  type AnyProgress,
  addWarning,
  isoTime,
  newestWarnings,
  reportAny,
  type Standing,
  silenceOf,
  standingOf,
  waitingDetail,
} from './progress.ts';
export { describeSilence, type MaasSilence, readSilence } from './silence.ts';
