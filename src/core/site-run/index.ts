/** A run over a site, pure: its input, plan, progress, report and failures. */
export type { GroupWire, Pace, RunStatus, SitePace, SitePlan, TreeNode } from '../contracts/site-run.js';
export type { PhaseReport, RunReport } from '../contracts/site-run-report.js';
export {
  PHASE_NAMES,
  PHASE_STATES,
  type PhaseName,
  type PhaseState,
  SITE_RUN_KINDS,
  type SiteRunKind,
} from '../words.js';
export { describeRunFailure, explainRunFailure, type RunFailure } from './failure.js';
export { type ParsedInput, parseSiteRunInput, type SiteRunInput } from './input.js';
export { fromRanges, groupFromWire, groupToWire, type IndexRanges, toRanges } from './plan.js';
export { detailsOf, type RunProgress, reportRun, statusOf, treeOf } from './progress.js';
export { fitReport, REPORT_LIMIT_BYTES } from './report.js';
