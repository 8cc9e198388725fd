/** A site run as pure functions: input, plan, progress, report and failures. */
export type { Pace, RunStatus, SitePace, SitePlan, TreeNode } from '../contracts/site-run.js';
export type { PhaseReport, RunReport } from '../contracts/site-run-report.js';
export type { PhaseName, SiteRunKind } from '../words.js';
export { describeRunFailure, type RunFailure } from './failure.js';
export { parseSiteRunInput, type SiteRunInput } from './input.js';
export { fromRanges, groupFromWire, groupToWire, showPlan, toRanges } from './plan.js';
export { detailsOf, explainSiteRun, type RunProgress, reportRun, statusOf, treeOf } from './progress.js';
export { redeployCommand, rowsAfterRelease } from './redeployed.js';
export { fitReport } from './report.js';
