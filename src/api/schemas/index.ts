/** Types of all answers of the API, for clients written in TypeScript (`import type`). */
export type {
  NodeHistoryEntryAnswer,
  NodeHistoryPageAnswer,
  NodeStatusesAnswer,
  RunNodeAnswer,
  RunNodeListAnswer,
} from './node.js';
export type { DiagnosticAnswer, ProblemAnswer } from './problem.js';
export type {
  CommitAnswer,
  DocumentCheckAnswer,
  RevisionAnswer,
  RevisionFilesAnswer,
  RevisionPageAnswer,
} from './revision.js';
export type { RunAnswer, RunDetailAnswer, RunPageAnswer, StartRunBody } from './run.js';
export type { RunReportAnswer } from './run-report.js';
export type { RunPlanAnswer, RunStatusAnswer, RunTreeAnswer } from './run-status.js';
export type {
  AuditEntryAnswer,
  AuditPageAnswer,
  HealthAnswer,
  MaasCheckAnswer,
  SchemaFileListAnswer,
  VersionAnswer,
} from './service.js';
export type { SiteAnswer, SiteListAnswer } from './site.js';
export type { SelectedNodesAnswer, SiteDifferenceAnswer, StrategyAnswer } from './strategy.js';
export type { CreatedTokenAnswer, MeAnswer, TokenAnswer, TokenListAnswer } from './token.js';
