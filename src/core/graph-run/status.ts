import type { GraphRunStatus, GraphStatus } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import { waitText } from '../permits/wait-text.ts';
import { rolloutText } from '../rollout/rollout-text.ts';
import { awaitingShown } from '../run/approval.ts';
import { cell, detailsEnding, detailsHeading, table } from '../run/details.ts';
import { isoTime, newestWarnings, silenceOf } from '../run/progress.ts';
import { stateWord } from '../state-word.ts';
import type { GraphState } from '../words.ts';
import { type PartStatus, sumWaits } from './part-status.ts';
import type { PlanReference } from './plan-reference.ts';
import type { GraphProgress, GraphRunProgress } from './progress.ts';
import { doneOf, endedCounts, NO_TASKS, sumCounts, type TaskCounts, workOf } from './task-counts.ts';

/** @param ended whether the whole run has ended, so that waiting tasks are not reached */
export function statusOfGraph(graph: GraphProgress, ended: boolean): GraphStatus {
  const counts = ended ? endedCounts(countsOf(graph)) : countsOf(graph);
  return {
    type: graph.type,
    transaction: graph.transaction,
    state: graph.state,
    done: doneOf(counts),
    total: workOf(counts),
    counts,
    nodes: graph.plan?.nodes ?? 0,
    failing_nodes: graph.failing(),
    parts: graph.plan?.parts.length ?? 0,
    offline: graph.offline.slice(0, 50),
    ...(graph.started_at === undefined ? {} : { started_at: isoTime(graph.started_at) }),
    ...(graph.ended_at === undefined ? {} : { ended_at: isoTime(graph.ended_at) }),
    ...given({ reason: graph.reason }),
    ...(graph.rollouts && { rollouts: graph.rollouts().map((one) => shownRollout(graph, one)) }),
  };
}

/** How the rollout of a role stands. */
export const shownRollout = (
  { nameOf = (node) => node }: GraphProgress,
  { name, status, unwell }: ReturnType<NonNullable<GraphProgress['rollouts']>>[number],
) => ({ role: name, ...status, ...(unwell.length > 0 && { unwell: unwell.map(nameOf) }) });

/** Why a request to rollouts is refused where there are none. */
export const NO_ROLLOUT = 'no role of the run has a rollout';

/** Whether a rollout of the graph is held: an operator decides. */
export const isRolloutHeld = ({ rollouts }: GraphProgress): boolean =>
  rollouts?.().some(({ status }) => status.state === 'held') ?? false;

/** Tasks by status: as the parts of the graph report them, before that as planned. */
function countsOf({ plan, statuses }: GraphProgress): TaskCounts {
  const parts = statuses();
  if (parts.length > 0 || plan === undefined) return sumCounts(parts.map((part) => part.counts));
  return plan.nothing_to_do === undefined
    ? sumCounts(plan.parts.map(plannedCounts))
    : { ...NO_TASKS, skipped: plan.tasks };
}

/** Tasks of a part before anything runs. */
export const plannedCounts = ({ tasks, skipped }: PlanReference['parts'][number]): TaskCounts => ({
  ...NO_TASKS,
  waiting: tasks - skipped,
  skipped,
});

export function statusOfGraphRun(progress: GraphRunProgress): GraphRunStatus {
  const graphs = progress.graphs.map((graph) => statusOfGraph(graph, progress.outcome !== undefined));
  const parts = progress.graphs.flatMap((graph) => graph.statuses());
  return {
    cluster: progress.input.cluster,
    transaction: progress.transaction,
    phase: phaseOf(progress),
    paused: progress.paused,
    stopping: progress.stopping,
    ...awaitingShown(progress),
    ...silenceOf(progress),
    ...(progress.outcome ? { outcome: progress.outcome } : {}),
    done: graphs.reduce((sum, graph) => sum + graph.done, 0),
    total: graphs.reduce((sum, graph) => sum + graph.total, 0),
    counts: sumCounts(graphs.map((graph) => graph.counts)),
    failed: parts.flatMap((part) => part.failed).slice(0, 20),
    failing_nodes: graphs.reduce((sum, graph) => sum + graph.failing_nodes, 0),
    running: parts.flatMap((part) => part.running).slice(0, 20),
    silent: silentNodes(progress.graphs),
    ...waitsShown(parts),
    graphs,
    warnings: newestWarnings(warningsOf(progress)),
  };
}

export const warningsOf = ({ graphs, warnings }: GraphRunProgress): string[] => [
  ...graphs.flatMap(({ plan }) => plan?.warnings ?? []).slice(0, 50),
  ...warnings,
];

/** What nodes wait for: each limit once, with the nodes of all parts. */
function waitsShown(parts: readonly PartStatus[]): Pick<GraphRunStatus, 'waits'> {
  const waits = sumWaits(parts);
  return waits.length === 0 ? {} : { waits: waits.map((wait) => ({ ...wait, behind: [...wait.behind] })) };
}

function silentNodes(graphs: readonly GraphProgress[]): string[] {
  const open = graphs.filter(({ state }) => OPEN.includes(state));
  const names = open.flatMap(({ state, unanswered, offline, statuses }) => [
    ...(state === 'asking_nodes' ? (unanswered?.() ?? []) : offline),
    ...statuses().flatMap((part) => part.silent),
  ]);
  return [...new Set(names)].slice(0, 20);
}

function phaseOf({ outcome, graphs }: GraphRunProgress): string {
  if (outcome !== undefined) return 'finished';
  if (graphs.length === 0) return 'starting';
  const open = graphs.find((graph) => OPEN.includes(graph.state));
  if (open !== undefined) return `${open.type}: ${open.state.replace('_', ' ')}`;
  const closing = graphs.find((graph) => graph.closing === true);
  if (closing !== undefined) return `${closing.type}: closing`;
  const next = graphs.find((graph) => graph.state === 'waiting');
  return next === undefined ? 'closing' : `${next.type}: waiting`;
}

const OPEN: readonly GraphState[] = ['planning', 'asking_nodes', 'running', 'held'];

/** How people call a node of the run, as far as it has planned its graphs. */
export const nodeNameIn = ({ graphs }: GraphRunProgress, node: string): string =>
  graphs.map((graph) => graph.nameOf?.(node) ?? node).find((name) => name !== node) ?? node;

/** The same with the names of nodes in place of their ids: for Temporal's tools, and for the run on a site. */
export function withNames<S extends Pick<GraphRunStatus, 'failed' | 'running' | 'silent'>>(
  progress: GraphRunProgress,
  status: S,
): S {
  const nameOf = (node: string): string => nodeNameIn(progress, node);
  const named = <T extends { readonly node: string }>(one: T): T => ({ ...one, node: nameOf(one.node) });
  const { failed, running, silent } = status;
  return { ...status, failed: failed.map(named), running: running.map(named), silent: silent.map(nameOf) };
}

const rolloutRows = (graphs: GraphRunStatus['graphs']): string[] => {
  const rows = graphs.flatMap(({ rollouts = [] }) => rollouts.map((one) => [one.role, rolloutText(one)]));
  return rows.length === 0 ? [] : ['', ...table(['role', 'rollout'], rows.slice(0, 20))];
};

/** Text for Temporal's "current details": phase, n of m, failures first. */
export function detailsOfGraphRun(progress: GraphRunProgress): string {
  const status = withNames(progress, statusOfGraphRun(progress));
  const { failed, silent, graphs } = status;
  const failedRows = failed.slice(0, 10).map(({ task, node, attempts, reason }) => [task, node, attempts, reason]);
  const graphRows = graphs
    .slice(0, 20)
    .map(({ type, state, done, total, failing_nodes }) => [
      type,
      stateWord(state),
      `${done} of ${total}`,
      failing_nodes,
    ]);
  return [
    ...detailsHeading(status, 'tasks', progress.input),
    ...table(['failed task', 'node', 'attempts', 'reason'], failedRows),
    ...(failed.length > 0 ? [''] : []),
    ...(silent.length > 0 ? [`No answer from the agents of: ${cell(silent.join(', '), 500)}`, ''] : []),
    ...(status.waits ?? []).flatMap((wait) => [`**${cell(waitText(wait), 300)}**`, '']),
    ...table(['graph', 'state', 'tasks', 'failing nodes'], graphRows),
    ...rolloutRows(graphs),
    ...detailsEnding(status, progress.input),
  ].join('\n');
}
