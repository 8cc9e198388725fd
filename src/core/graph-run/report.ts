import type { FailedTask, GraphReport, GraphRunReport, NothingToDo } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import { appliedPolicy } from '../rollout/show.ts';
import { reportAny } from '../run/progress.ts';
import { utf8Length } from '../text/text.ts';
import { explainGraphRunFailure } from './failure.ts';
import { type GraphRunInput, modeOf } from './input.ts';
import type { GraphRunProgress } from './progress.ts';
import { shownRollout, statusOfGraph, warningsOf } from './status.ts';

const LIMIT_BYTES = 100_000;

export function reportGraphRun(progress: GraphRunProgress): GraphRunReport {
  const { input, transaction } = progress;
  const graphs = progress.graphs.map(
    (graph): GraphReport => ({
      ...statusOfGraph(graph, true),
      ...(graph.plan === undefined ? {} : { plan: graph.plan.hash }),
      ...(graph.plan?.nothing_to_do === undefined ? {} : { nothing_to_do: graph.plan.nothing_to_do }),
      ...(graph.rollouts && {
        rollouts: graph.rollouts().map((one) => ({ ...shownRollout(graph, one), policy: appliedPolicy(one.policy) })),
      }),
      failed_tasks: graph.report?.failed_tasks ?? graph.statuses().flatMap((part) => part.failed),
      failed_nodes: graph.report?.failed_nodes ?? [],
    }),
  );
  return fitted(
    {
      cluster: input.cluster,
      transaction,
      ...reportAny(progress, (failure) => explainGraphRunFailure(failure, input.cluster, transaction)),
      mode: modeOf(input),
      graphs,
      ...overriddenBy(input),
      operator: progress.operator.slice(-100),
      warnings: warningsOf(progress),
    },
    progress.graphs.reduce((sum, { report }) => sum + (report?.nodes_omitted ?? 0), 0),
  );
}

/** What a run was told to leave out of account, by its input. */
export function overriddenBy({
  override_limits: limits,
  rollouts,
}: Pick<GraphRunInput, 'override_limits' | 'rollouts'>): Pick<GraphRunReport, 'overridden'> {
  const overridden = given({ limits, rollouts });
  return Object.keys(overridden).length === 0 ? {} : { overridden };
}

/** Fits the report into its limit by shortening the lists of failures, and says how many they lack. */
function fitted(report: GraphRunReport, nodesOmitted: number): GraphRunReport {
  const listed = report.graphs.reduce((sum, { failed_nodes }) => sum + failed_nodes.length, 0);
  const failed = report.graphs.reduce((sum, { counts }) => sum + (counts.failed ?? 0), 0);
  const keeping = (keep: number): GraphRunReport => {
    const graphs = report.graphs.map((graph) => ({
      ...graph,
      failed_tasks: graph.failed_tasks.slice(0, keep),
      failed_nodes: graph.failed_nodes.slice(0, keep),
    }));
    const kept = graphs.reduce((sum, graph) => sum + graph.failed_tasks.length + graph.failed_nodes.length, 0);
    const failed_omitted = failed + listed + nodesOmitted - kept;
    return { ...report, graphs, ...(failed_omitted > 0 && { cut: { failed_omitted } }) };
  };
  let keep = Number.POSITIVE_INFINITY;
  let fits = keeping(keep);
  while (utf8Length(JSON.stringify(fits)) > LIMIT_BYTES && keep > 1) {
    keep = Math.min(64, Math.floor(keep / 2));
    fits = keeping(keep);
  }
  return fits;
}

/** Why a graph had nothing to do, in one sentence. */
export function nothingToDoText(reasons: NothingToDo): string {
  const parts = reasons.slice(0, 5).map(({ reason, count }) => `${reason} (${count})`);
  const more = reasons.length - parts.length;
  if (parts.length === 0) return 'it has no tasks for these nodes';
  return `${parts.join('; ')}${more > 0 ? ` and ${more} more reasons` : ''}`;
}

/** Warning of a report whose graph has ended more tasks than the store has. */
export const recordsLost = (graph: string): string =>
  `the store has lost how tasks of graph ${graph} ended: it was restored from an older copy. The next run of the graph runs them again`;

/** Why a graph did not succeed, in one sentence. @param nameOf how people call a node */
export function reasonOfGraph(
  failed: readonly FailedTask[],
  failedCount: number,
  offline: readonly string[],
  nameOf: (node: string) => string = (node) => node,
): string {
  const parts: string[] = [];
  if (failedCount > 0) {
    const named = failed.slice(0, 3).map(({ task, node, reason }) => `${task} on ${nameOf(node)} (${reason})`);
    const more = failedCount - named.length;
    parts.push(`${named.join('; ')}${more > 0 ? ` and ${more} more` : ''}`);
  }
  if (offline.length > 0) {
    const more = offline.length - 10;
    parts.push(`no answer from ${offline.slice(0, 10).map(nameOf).join(', ')}${more > 0 ? ` and ${more} more` : ''}`);
  }
  return parts.length > 0 ? parts.join('; ') : 'tasks failed';
}
