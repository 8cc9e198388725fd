import type { FailedTask, GraphReport, GraphRunReport, NothingToDo } from '../contracts/graph-run.ts';
import { reportAny } from '../run/index.ts';
import { utf8Length } from '../text/text.ts';
import { explainGraphRunFailure } from './failure.ts';
import type { GraphRunProgress } from './progress.ts';
import { statusOfGraph, warningsOf } from './status.ts';

const LIMIT_BYTES = 100_000;

export function reportGraphRun(progress: GraphRunProgress): GraphRunReport {
  const { input, transaction } = progress;
  const graphs = progress.graphs.map(
    (graph): GraphReport => ({
      ...statusOfGraph(graph, true),
      ...(graph.plan === undefined ? {} : { plan: graph.plan.hash }),
      ...(graph.plan?.nothing_to_do === undefined ? {} : { nothing_to_do: graph.plan.nothing_to_do }),
      failed_tasks: graph.report?.failed_tasks ?? graph.statuses().flatMap((part) => part.failed),
      failed_nodes: graph.report?.failed_nodes ?? [],
    }),
  );
  const report: GraphRunReport = {
    cluster: input.cluster,
    transaction,
    ...reportAny(progress, (failure) => explainGraphRunFailure(failure, transaction)),
    mode: input.mode ?? 'apply',
    graphs,
    operator: progress.operator.slice(-100),
    warnings: warningsOf(progress),
  };
  return fitGraphReport(report);
}

/** Fits the report into `limit` bytes by shortening the lists of failures. */
function fitGraphReport(report: GraphRunReport, limit: number = LIMIT_BYTES): GraphRunReport {
  const failures = (graph: GraphReport): number => graph.failed_tasks.length + graph.failed_nodes.length;
  const all = report.graphs.reduce((sum, graph) => sum + failures(graph), 0);
  let fitted = report;
  for (let keep = 64; utf8Length(JSON.stringify(fitted)) > limit && keep >= 1; keep = Math.floor(keep / 2)) {
    const graphs = report.graphs.map((graph) => ({
      ...graph,
      failed_tasks: graph.failed_tasks.slice(0, keep),
      failed_nodes: graph.failed_nodes.slice(0, keep),
    }));
    const kept = graphs.reduce((sum, graph) => sum + failures(graph), 0);
    fitted = { ...report, graphs, cut: { failed_omitted: all - kept } };
  }
  return fitted;
}

/** Why a graph had nothing to do, in one sentence. */
export function nothingToDoText(reasons: NothingToDo): string {
  const parts = reasons.slice(0, 5).map(({ reason, count }) => `${reason} (${count})`);
  const more = reasons.length - parts.length;
  if (parts.length === 0) return 'it has no tasks for these nodes';
  return `${parts.join('; ')}${more > 0 ? ` and ${more} more reasons` : ''}`;
}

/** Why a graph did not succeed, in one sentence. */
export function reasonOfGraph(failed: readonly FailedTask[], failedCount: number, offline: readonly string[]): string {
  const parts: string[] = [];
  if (failedCount > 0) {
    const named = failed.slice(0, 3).map(({ task, node, reason }) => `${task} on ${node} (${reason})`);
    const more = failedCount - named.length;
    parts.push(`${named.join('; ')}${more > 0 ? ` and ${more} more` : ''}`);
  }
  if (offline.length > 0) {
    const more = offline.length - 10;
    parts.push(`no answer from ${offline.slice(0, 10).join(', ')}${more > 0 ? ` and ${more} more` : ''}`);
  }
  return parts.length > 0 ? parts.join('; ') : 'tasks failed';
}
