import type { Rehearsal, RehearsalStep } from '../../core/contracts/index.ts';
import { printable } from '../../core/text/control-characters.ts';
import { formatDuration } from './duration.ts';
import { graphReportText } from './graph-report.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { reportText } from './report.ts';
import { sectionsText } from './report-parts.ts';

const EVENTS_SHOWN = 60;
const STEPS_SHOWN = 60;
const BAR = 40;

/** What a run would do, for people: how it ends, what happens in order, a timeline, and the report of the run. */
export function rehearsalText(rehearsal: Rehearsal, color = false): string {
  const paint = paintFor(color);
  const { report, software } = rehearsal;
  const reports = [
    ...(report === null ? [] : [reportOf(report, color)]),
    ...(software === null ? [] : [graphReportText(software, color)]),
  ];
  const sections = [headOf(rehearsal, paint), eventsOf(rehearsal, paint), timelineOf(rehearsal, paint)];
  return [sectionsText(sections), ...reports].join('\n');
}

const reportOf = (report: NonNullable<Rehearsal['report']>, color: boolean): string =>
  'site' in report ? reportText(report, color) : graphReportText(report, color);

function headOf({ site, cluster, outcome, seconds, assumptions, kind }: Rehearsal, paint: Paint): string[] {
  const subject = site === null ? `cluster ${cluster}` : printable(site);
  const ends = outcome === null ? 'not ended' : paintState(paint, outcome);
  return [
    `${paint.strong(`Rehearsal of ${kind} on ${subject}`)}: ${ends} after ${formatDuration(seconds * 1000)}`,
    ...[...assumptions, 'Clock times in the report below count from midnight.'].map((one) =>
      paint.dim(`  ${printable(one)}`),
    ),
  ];
}

function eventsOf({ events, events_omitted }: Rehearsal, paint: Paint): string[] {
  const omitted = events_omitted + Math.max(0, events.length - EVENTS_SHOWN);
  return [
    paint.strong('What happens'),
    ...events.slice(0, EVENTS_SHOWN).map(({ at, text }) => `  ${clock(at)}  ${printable(text)}`),
    ...(omitted === 0 ? [] : [paint.dim(`  ${omitted} more: -f json has them`)]),
  ];
}

function timelineOf({ steps, steps_omitted, seconds }: Rehearsal, paint: Paint): string[] {
  if (steps.length === 0) return [];
  const shown = steps.slice(0, STEPS_SHOWN);
  const widest = Math.max(...shown.map((step) => nameOf(step).length));
  const omitted = steps_omitted + Math.max(0, steps.length - STEPS_SHOWN);
  return [
    paint.strong('Timeline'),
    ...shown.map((step) => {
      const first = Math.min(BAR - 1, Math.floor((step.from / Math.max(1, seconds)) * BAR));
      const length = Math.max(
        1,
        Math.min(BAR - first, Math.round(((step.to - step.from) / Math.max(1, seconds)) * BAR)),
      );
      const bar = `${' '.repeat(first)}${'█'.repeat(length)}`.padEnd(BAR);
      const state = step.state === 'success' ? '' : `  ${paintState(paint, step.state)}`;
      return `  ${nameOf(step).padEnd(widest)}  ${bar}  ${formatDuration((step.to - step.from) * 1000)}${state}`;
    }),
    ...(omitted === 0 ? [] : [paint.dim(`  ${omitted} more: -f json has them`)]),
  ];
}

const nameOf = ({ node, what }: RehearsalStep): string => `${printable(what)} ${printable(node)}`;

/** `1:02:03` after the start. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${String(Math.floor(whole / 3600)).padStart(2)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
