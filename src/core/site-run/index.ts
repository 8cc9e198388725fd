/** A run over a site, pure: its input, plan, progress, report and failures. */
export { describeRunFailure, nextStep, type RunFailure } from './failure.js';
export { type ParsedInput, parseSiteRunInput, SITE_RUN_KINDS, type SiteRunInput, type SiteRunKind } from './input.js';
export {
  fromRanges,
  type GroupWire,
  groupFromWire,
  groupToWire,
  type IndexRanges,
  type Pace,
  type SitePace,
  type SitePlan,
  toRanges,
} from './plan.js';
export { detailsOf, type RunProgress, reportRun, statusOf, treeOf } from './progress.js';
export {
  fitReport,
  PHASE_NAMES,
  PHASE_STATES,
  type PhaseName,
  type PhaseReport,
  type PhaseState,
  REPORT_LIMIT_BYTES,
  type RunReport,
} from './report.js';
export type { RunStatus, TreeNode } from './status.js';
