import type { RunView } from '../../ops/index.js';
import type { AuditEntry, NodeHistoryEntry, Page, RunNode } from '../../store/index.js';
import type { AuditEntryAnswer, NodeHistoryEntryAnswer, RunAnswer, RunNodeAnswer } from '../schemas/index.js';

/** A page with each item as the API shows it. */
export const viewPage = <T, V>({ items, next }: Page<T>, view: (item: T) => V) => ({ items: items.map(view), next });

export const viewRun = (run: RunView): RunAnswer => ({
  id: run.id,
  workflow_id: run.workflowId,
  temporal_run_id: run.temporalRunId,
  temporal_url: run.temporal_url,
  kind: run.kind,
  site: run.site,
  revision: run.revision,
  title: run.title,
  labels: run.labels,
  phase: run.phase,
  outcome: run.outcome,
  started_by: run.startedBy,
  reason: run.reason,
  started_at: run.startedAt,
  ended_at: run.endedAt,
  failed_nodes: run.failedNodes,
});

export const viewRunNode = (node: RunNode): RunNodeAnswer => ({
  node: node.node,
  state: node.state,
  group: node.group,
  step: node.step,
  attempts: node.attempts,
  started_at: node.startedAt,
  ended_at: node.endedAt,
  reason: node.reason,
  system_id: node.systemId,
  late_result: node.lateResult,
});

export const viewNodeHistory = (entry: NodeHistoryEntry): NodeHistoryEntryAnswer => ({
  ...viewRunNode(entry),
  run: {
    id: entry.run.id,
    workflow_id: entry.run.workflowId,
    kind: entry.run.kind,
    site: entry.run.site,
    revision: entry.run.revision,
    phase: entry.run.phase,
    outcome: entry.run.outcome,
    started_at: entry.run.startedAt,
    ended_at: entry.run.endedAt,
  },
});

export const viewAuditEntry = ({ id, at, actor, action, target, reason, details }: AuditEntry): AuditEntryAnswer => ({
  id,
  at,
  actor,
  action,
  target,
  reason,
  details,
});
