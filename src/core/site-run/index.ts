/** A site run as pure functions: input, plan, progress, report and failures. */
export type { Pace, RunStatus, SitePace, SitePlan, TreeNode } from '../contracts/site-run.ts';
export type { PhaseReport, RunReport } from '../contracts/site-run-report.ts';
export type { PhaseName, SiteRunKind } from '../words.ts';
export { reportCheck } from './check-report.ts';
export { describeRunFailure, explainRunFailure, type RunFailure, redeployCommand } from './failure.ts';
export { parseSiteRunInput, type SiteRunInput } from './input.ts';
export { fromRanges, groupFromWire, groupToWire, showPlan, toRanges } from './plan.ts';
export { detailsOf, explainSiteRun, membersOf, type RunProgress, reportRun, statusOf } from './progress.ts';
export { NOT_REDEPLOYED, recordsOf, releasedRecords } from './redeployed.ts';
export {
  assembleReport,
  digestOfRecords,
  fitReport,
  type Members,
  type NodeRecord,
  type NodeWrite,
  nodesOfRun,
  outlineReport,
} from './report.ts';
export { treeOfSiteRun } from './tree.ts';
