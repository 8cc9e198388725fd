import type { Rehearsal, RehearsalStep } from '../../core/contracts/rehearsals.ts';
import { together } from '../../core/data/together.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted } from '../../core/text/text.ts';
import { formatDuration } from './duration.ts';
import { graphReportText } from './graph-report.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { reportText } from './report.ts';
import { sectionsText } from './report-parts.ts';

const EVENTS_SHOWN = 60;
/** Of more, the timeline has a line for each node. */
const STEPS_SHOWN = 60;
const NODES_SHOWN = 60;
const BAR = 40;

/** What a run would do, for people: how it ends, what happens in order, a timeline, and the report of the run. */
export function rehearsalText(rehearsal: Rehearsal, color = false, cluster = `cluster ${rehearsal.cluster}`): string {
  const paint = paintFor(color);
  const { report, software } = rehearsal;
  const reports = [
    ...(report === null ? [] : [reportOf(report, color)]),
    ...(software === null ? [] : [graphReportText(software, color)]),
  ];
  const sections = [headOf(rehearsal, cluster, paint), eventsOf(rehearsal, paint), timelineOf(rehearsal, paint)];
  const heading = reports.length === 0 ? [] : [`${paint.strong('Report')}, as the run would write it\n`];
  return [sectionsText(sections), ...heading, ...reports].join('\n');
}

const reportOf = (report: NonNullable<Rehearsal['report']>, color: boolean): string =>
  'site' in report ? reportText(report, color) : graphReportText(report, color);

function headOf(
  { site, outcome, seconds, assumptions, kind, report }: Rehearsal,
  cluster: string,
  paint: Paint,
): string[] {
  const subject = printable(site ?? cluster);
  const ends = outcome === null ? 'not ended' : paintState(paint, outcome);
  return [
    `${paint.strong(`Rehearsal of ${kind} on ${subject}`)}: ${ends} after ${formatDuration(seconds * 1000)}`,
    ...[...assumptions, ...(report === null ? [] : ['Clock times in the report below count from midnight.'])].map(
      (one) => paint.dim(`  ${printable(one)}`),
    ),
  ];
}

/** Of many, how it begins and how it ends. */
function eventsOf({ events, events_omitted }: Rehearsal, paint: Paint): string[] {
  const lines = events.map(({ at, text }) => `  ${clock(at)}  ${printable(text)}`);
  const more = (count: number): string[] => (count === 0 ? [] : [paint.dim(`  ${count} more: -f json has them`)]);
  const half = EVENTS_SHOWN / 2;
  const shown =
    lines.length <= EVENTS_SHOWN
      ? [...lines, ...more(events_omitted)]
      : [...lines.slice(0, half), ...more(lines.length - EVENTS_SHOWN), ...lines.slice(-half), ...more(events_omitted)];
  return [paint.strong('What happens'), ...shown];
}

function timelineOf(rehearsal: Rehearsal, paint: Paint): string[] {
  const { steps, steps_omitted, seconds } = rehearsal;
  if (steps.length === 0) return [];
  if (steps.length + steps_omitted > STEPS_SHOWN) return nodesOf(rehearsal, paint);
  const widest = Math.max(...steps.map((step) => nameOf(step).length));
  return [
    paint.strong('Timeline'),
    ...steps.map((step) => {
      const [first, last] = columnsOf(step, seconds);
      const bar = `${' '.repeat(first)}${'█'.repeat(last - first + 1)}`.padEnd(BAR);
      const state = step.state === 'success' ? '' : `  ${paintState(paint, step.state)}`;
      return `  ${nameOf(step).padEnd(widest)}  ${bar}  ${formatDuration((step.to - step.from) * 1000)}${state}`;
    }),
  ];
}

/** When each node has work, and where some of it fails. */
function nodesOf({ steps, steps_omitted, seconds }: Rehearsal, paint: Paint): string[] {
  const byNode = together(steps, ({ node }) => node);
  const shown = [...byNode].slice(0, NODES_SHOWN);
  const widest = Math.max(...shown.map(([node]) => printable(node).length));
  const lines = shown.map(([node, own]) => {
    const bar = Array.from({ length: BAR }, () => ' ');
    for (const step of own) {
      const [first, last] = columnsOf(step, seconds);
      for (let column = first; column <= last; column += 1) if (bar[column] !== 'x') bar[column] = '█';
      if (step.state !== 'success') bar[last] = 'x';
    }
    const failed = own.filter(({ state }) => state !== 'success').length;
    const failures = failed === 0 ? '' : `, ${paintState(paint, 'failed')}: ${failed}`;
    return `  ${printable(node).padEnd(widest)}  ${bar.join('')}  ${counted(own.length, 'step')}${failures}`;
  });
  const left = byNode.size - shown.length;
  return [
    `${paint.strong('Timeline')} of nodes; x: something fails`,
    ...lines,
    ...(left === 0 ? [] : [paint.dim(`  ${counted(left, 'more node')}: -f json has their steps`)]),
    ...(steps_omitted === 0 ? [] : [paint.dim(`  ${counted(steps_omitted, 'later step')} left out`)]),
  ];
}

/** The first and the last column of a step. */
function columnsOf({ from, to }: RehearsalStep, seconds: number): readonly [first: number, last: number] {
  const whole = Math.max(1, seconds);
  const first = Math.min(BAR - 1, Math.floor((from / whole) * BAR));
  const length = Math.max(1, Math.min(BAR - first, Math.round(((to - from) / whole) * BAR)));
  return [first, first + length - 1];
}

const nameOf = ({ node, what }: RehearsalStep): string => `${printable(what)} ${printable(node)}`;

/** `1:02:03` after the start. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(Math.floor(whole / 3600)).padStart(2)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
