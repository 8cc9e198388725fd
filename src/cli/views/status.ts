import type { RunStatus, TreeNode } from '../../core/contracts/site-run.ts';
import { waitText } from '../../core/permits/wait-text.ts';
import { describeSilence, lateText } from '../../core/run/late-text.ts';
import { stateWord } from '../../core/state-word.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { nodeStatesOf } from '../../core/words.ts';
import { awaitingLines } from './approval.ts';
import { asOfLines, expectedLines, sinceText } from './duration.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { rolloutLines } from './rollout.ts';

/** Progress of a run, failures first. `now`: for how long something has been so. */
export function statusText(status: RunStatus, color = false, now?: number): string {
  const paint = paintFor(color);
  const held = status.paused
    ? `, ${paint.busy('paused')} since ${sinceText(status.paused.since, now)}${status.paused.by === undefined ? '' : ` by ${printable(status.paused.by)}`}${status.paused.reason === undefined ? '' : `: ${printable(status.paused.reason)}`}`
    : status.stopping
      ? `, ${paint.busy('stopping')}`
      : '';
  const counts = nodeStatesOf(status.outcome !== undefined)
    .map((state) => `${status.counts[state]} ${stateWord(state)}`)
    .join(', ');
  const lines = [
    `${paint.strong(printable(status.site))}: ${paintState(paint, status.outcome ?? status.phase)}, ${status.done} of ${counted(status.total, 'node')}${held}`,
    `nodes: ${counts}`,
  ];
  lines.push(...asOfLines(status, now), ...expectedLines(status, now));
  lines.push(...awaitingLines(status, printable(status.site), paint));
  if (status.maas_silent_since) lines.push(paint.bad(describeSilence(status.maas_silent_since)));
  for (const wait of status.waits ?? []) lines.push(paint.busy(printable(waitText(wait))));
  if (status.current) lines.push(`now: ${currentText(status.current)}`);
  for (const late of status.late ?? []) lines.push(paint.busy(printable(lateText(late, now ?? Date.now()))));
  if (status.software) lines.push(`software: ${softwareText(status.software)}`);
  for (const { node, group, reason } of status.failed)
    lines.push(
      `${paint.bad('failed')} ${printable(node)}${group === undefined ? '' : ` (group ${printable(group)})`}: ${printable(reason)}`,
    );
  for (const group of status.groups)
    lines.push(
      `group ${printable(group.name)}${group.critical ? ' (critical)' : ''}: ${paintState(paint, group.state)}${group.reason === undefined ? '' : `, ${printable(group.reason)}`}`,
      ...rolloutLines(group, status, printable(status.site), paint),
    );
  for (const warning of status.warnings) lines.push(`${paint.busy('warning')} ${printable(warning)}`);
  return `${lines.join('\n')}\n`;
}

function softwareText(software: NonNullable<RunStatus['software']>): string {
  const { workflow_id, phase, done, total, counts, silent } = software;
  const failed = (counts.failed ?? 0) > 0 ? `, ${counts.failed} failed` : '';
  const waiting = silent.length > 0 ? `, no answer from ${silent.map(printable).join(', ')}` : '';
  return `${printable(workflow_id)}: ${printable(phase)}, ${done} of ${counted(total, 'task')}${failed}${waiting}`;
}

export function currentText({ group, call, running, waiting }: NonNullable<RunStatus['current']>): string {
  const wait = waiting > 0 ? `, ${waiting} waiting` : '';
  return `${call} ${printable(group)}: ${running.length === 0 ? 'nothing running' : someOf(running.map(printable), 5)}${wait}`;
}

/** A line when machines begin to wait for another limit. */
export function waitChanges(status: RunStatus, last: RunStatus | undefined, paint: Paint): string[] {
  const before = new Set(last?.waits?.map(({ limit }) => limit));
  return (status.waits ?? [])
    .filter(({ limit }) => !before.has(limit))
    .map((wait) => paint.busy(printable(waitText(wait))));
}

/** A line when MAAS stops answering, and when it answers again. */
export function silenceChanges(
  status: { readonly maas_silent_since?: string | undefined },
  last: { readonly maas_silent_since?: string | undefined } | undefined,
  paint: Paint,
): string[] {
  const [now, before] = [status.maas_silent_since, last?.maas_silent_since];
  if (now !== undefined) return now === before ? [] : [paint.bad(describeSilence(now))];
  return before === undefined ? [] : ['MAAS answers again'];
}

/** The steps and nodes of a run as a tree of lines. */
export function treeText(tree: TreeNode, color = false): string {
  const paint = paintFor(color);
  const lines: string[] = [];
  const draw = (node: TreeNode, first: string, rest: string): void => {
    const detail = node.detail === undefined ? '' : `  ${paint.dim(printable(node.detail))}`;
    const name =
      node.kind === 'run' || node.kind === 'group' ? paint.strong(printable(node.name)) : printable(node.name);
    lines.push(`${first}${node.kind === 'group' ? 'group ' : ''}${name}  ${paintState(paint, node.state)}${detail}`);
    const children = node.children ?? [];
    children.forEach((child, at) => {
      const last = at === children.length - 1;
      draw(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
    });
  };
  draw(tree, '', '');
  return `${lines.join('\n')}\n`;
}
