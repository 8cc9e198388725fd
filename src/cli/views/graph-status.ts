import type { GraphRunStatus } from '../../core/contracts/graph-run.ts';
import type { SomeCounts } from '../../core/graph-run/task-counts.ts';
import { waitText } from '../../core/permits/wait-text.ts';
import { keptByHeld } from '../../core/run/kept-plan.ts';
import { describeSilence } from '../../core/run/late-text.ts';
import { stateWord } from '../../core/state-word.ts';
import { taskText } from '../../core/task-on-node.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { TASK_STATUSES } from '../../core/words.ts';
import { awaitingChanges, awaitingLines } from './approval.ts';
import { asOfLines, expectedLines, sinceText } from './duration.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { roleRolloutChanges, roleRolloutLines } from './rollout.ts';
import { silenceChanges } from './status.ts';

/** Progress of a run of graphs, failures first. `now`: for how long something has been so. */
export function graphStatusText(status: GraphRunStatus, color = false, now?: number): string {
  const paint = paintFor(color);
  const standing = status.paused
    ? `, ${paint.busy('paused')} since ${sinceText(status.paused.since, now)}${byAndWhy(status.paused)}`
    : status.stopping
      ? `, ${paint.busy('stopping')}`
      : '';
  const lines = [
    `${paint.strong(`cluster ${status.cluster}`)}: ${paintState(paint, status.outcome ?? status.phase)}, ${status.done} of ${counted(status.total, 'task')}${standing}`,
    `tasks: ${countsText(status.counts)}`,
  ];
  lines.push(...asOfLines(status, now), ...expectedLines(status, now));
  lines.push(...awaitingLines(status, status.transaction ?? 'RUN', paint));
  if (status.maas_silent_since) lines.push(paint.bad(describeSilence(status.maas_silent_since)));
  if (status.running.length > 0) lines.push(`now: ${someNames(status.running.map(taskText))}`);
  for (const wait of status.waits ?? []) lines.push(paint.busy(printable(waitText(wait))));
  if (status.silent.length > 0) lines.push(`${paint.bad('no answer')} from the agents of ${someNames(status.silent)}`);
  for (const failed of status.failed) lines.push(failedTaskText(failed, paint));
  const unlisted = (status.counts.failed ?? 0) - status.failed.length;
  if (unlisted > 0) lines.push(`and ${unlisted} more failed tasks`);
  for (const graph of status.graphs) {
    const why = graph.reason === undefined ? '' : `, ${printable(graph.reason)}`;
    const offline = graph.offline.length === 0 ? '' : `, offline: ${someNames(graph.offline)}`;
    lines.push(
      `graph ${printable(graph.type)}: ${paintState(paint, graph.state)}, ${graph.done} of ${counted(graph.total, 'task')}${offline}${why}`,
      ...roleRolloutLines(status, graph, paint),
    );
  }
  const held = status.graphs.find((graph) => graph.state === 'held' && !isHeldByRollout(graph));
  if (held !== undefined) lines.push('it waits for you; choose one:', ...nextOfHeld(status, held.started_at));
  for (const warning of status.warnings) lines.push(`${paint.busy('warning')} ${printable(warning)}`);
  return `${lines.join('\n')}\n`;
}

/** Changes between two statuses of a run of graphs. */
export function graphChanges(status: GraphRunStatus, last: GraphRunStatus | undefined, paint: Paint): string[] {
  const lines: string[] = [];
  // A graph's own line shows that it plans, runs or is held.
  const isSaidBelow = status.graphs.some(
    ({ type, state }) => state !== 'waiting' && status.phase === `${type}: ${state.replace('_', ' ')}`,
  );
  if (status.phase !== last?.phase && status.phase !== 'finished' && !isSaidBelow)
    lines.push(paint.strong(printable(status.phase)));
  if (status.paused && !last?.paused) lines.push(`${paint.busy('paused')}${byAndWhy(status.paused)}`);
  if (!status.paused && last?.paused) lines.push('resumed');
  if (status.stopping && !last?.stopping)
    lines.push(`${paint.busy('stopping')}: running tasks finish, nothing new starts`);
  lines.push(...awaitingChanges(status, last, status.transaction ?? 'RUN', paint));
  lines.push(...silenceChanges(status, last, paint));
  const known = new Set(last?.failed.map(({ task, node, attempts }) => JSON.stringify([task, node, attempts])));
  for (const failed of status.failed)
    if (!known.has(JSON.stringify([failed.task, failed.node, failed.attempts])))
      lines.push(failedTaskText(failed, paint));
  for (const node of status.silent)
    if (!last?.silent.includes(node)) lines.push(`${paint.bad('no answer')} from the agent of ${printable(node)}`);
  const states = new Map(last?.graphs.map(({ transaction, state }) => [transaction, state]));
  for (const graph of status.graphs) {
    const { type, transaction, state, reason, offline, started_at } = graph;
    if (state === states.get(transaction) || state === 'waiting') continue;
    const why = reason === undefined ? '' : `: ${printable(reason)}`;
    const away = offline.length === 0 ? '' : `, offline: ${someNames(offline)}`;
    lines.push(`graph ${printable(type)} ${paintState(paint, state)}${away}${why}`);
    if (state === 'held' && !isHeldByRollout(graph))
      lines.push('it waits for you; choose one:', ...nextOfHeld(status, started_at));
  }
  lines.push(...roleRolloutChanges(status, last, paint));
  if (last && status.done !== last.done) lines.push(`${status.done} of ${counted(status.total, 'task')} done`);
  if (status.outcome !== undefined && last?.outcome === undefined)
    lines.push(`run ended: ${paintState(paint, status.outcome)}`);
  return lines;
}

/** Non-zero counts, in their order. */
export const countsText = (counts: SomeCounts): string =>
  TASK_STATUSES.filter((status) => (counts[status] ?? 0) > 0)
    .map((status) => `${counts[status]} ${stateWord(status)}`)
    .join(', ') || 'none yet';

export const failedTaskText = ({ attempts, reason, ...of }: GraphRunStatus['failed'][number], paint: Paint): string => {
  const tries = attempts > 1 ? ` after ${attempts} attempts` : '';
  return `${paint.bad('failed')} ${printable(taskText(of))}${tries}: ${printable(reason)}`;
};

/** Its rollout says itself what people can do. */
const isHeldByRollout = ({ rollouts = [] }: GraphRunStatus['graphs'][number]): boolean =>
  rollouts.some(({ state }) => state === 'held');

/** The commands for a run that is held open by failed tasks, ready to be copied. */
function nextOfHeld({ cluster, transaction, failed: [first] }: GraphRunStatus, since: string | undefined): string[] {
  const task = first === undefined ? 'TASK@NODE' : printable(taskText(first));
  const kept = keptByHeld({ since, cluster, transaction });
  return [
    ...['retry-task', 'skip-task'].map((verb) => `  sitewright run ${verb} ${transaction} ${task}`),
    `  sitewright run stop ${transaction}`,
    `${kept.text}; for a new one:`,
    ...kept.commands.map((command) => `  ${command}`),
  ];
}

/** The first few of a list of names. */
export const someNames = (names: readonly string[]): string => someOf(names.map(printable), 5);

const byAndWhy = ({ by, reason }: { readonly by?: string | undefined; readonly reason?: string | undefined }): string =>
  `${by === undefined ? '' : ` by ${printable(by)}`}${reason === undefined ? '' : `: ${printable(reason)}`}`;
