import type { ApiTokenTables } from './tables/api-token-rows.js';
import type { ClusterTables } from './tables/cluster-rows.js';
import type { GraphTables } from './tables/graph-rows.js';
import type { NodeIdentityTables } from './tables/node-identity-rows.js';

/**
 * The tables as Kysely sees them: camelCase here, snake_case in the database (CamelCasePlugin).
 * Conventions on both databases: JSON is text; a time is ISO 8601 UTC text with milliseconds
 * (`2026-01-02T03:04:05.678Z`), which sorts as text; a truth value is 0 or 1; absent is null.
 */
export interface Tables extends ClusterTables, GraphTables, NodeIdentityTables, ApiTokenTables {
  sitewrightMigration: MigrationRow;
  site: SiteRow;
  revision: RevisionRow;
  revisionDeployment: RevisionDeploymentRow;
  siteClaim: SiteClaimRow;
  run: RunRow;
  runReport: RunReportRow;
  runNode: RunNodeRow;
  auditEntry: AuditEntryRow;
  nodeFact: NodeFactRow;
}

export interface MigrationRow {
  version: number;
  name: string;
  breaking: number;
  appliedAt: string;
}

export interface SiteRow {
  name: string;
  cluster: string | null;
  createdAt: string;
  /** 0 while there is none. */
  latestRevision: number;
  lastGoodRevision: number | null;
}

export interface RevisionRow {
  site: string;
  number: number;
  hash: string;
  forced: number;
  diagnostics: string;
  author: string | null;
  message: string | null;
  createdAt: string;
  fileCount: number;
  /** Of all texts together, in UTF-8 bytes, before compression. */
  size: number;
  /** gzip of the JSON array of `{name, text}`. */
  files: Uint8Array;
}

export interface RevisionDeploymentRow {
  site: string;
  runId: string;
  revision: number;
  at: string;
}

export interface SiteClaimRow {
  site: string;
  workflowId: string;
  runId: string;
  claimedAt: string;
}

export interface RunRow {
  id: string;
  /** Of the write that set the row last. */
  sequence: number;
  workflowId: string;
  temporalRunId: string | null;
  kind: string;
  site: string | null;
  revision: number | null;
  title: string | null;
  labels: string | null;
  parameters: string | null;
  phase: string;
  outcome: string | null;
  startedBy: string | null;
  reason: string | null;
  startedAt: string;
  endedAt: string | null;
  failedNodes: number | null;
}

export interface RunReportRow {
  runId: string;
  sequence: number;
  report: string;
}

export interface RunNodeRow {
  runId: string;
  node: string;
  sequence: number;
  state: string;
  group: string | null;
  step: string | null;
  attempts: number | null;
  startedAt: string | null;
  endedAt: string | null;
  reason: string | null;
  systemId: string | null;
  lateResult: string | null;
}

export interface AuditEntryRow {
  id: string;
  at: string;
  actor: string;
  action: string;
  target: string;
  reason: string | null;
  details: string | null;
}

export interface NodeFactRow {
  site: string;
  node: string;
  systemId: string | null;
  hostname: string | null;
  status: string | null;
  power: string | null;
  tags: string;
  zone: string | null;
  seenAt: string;
}
