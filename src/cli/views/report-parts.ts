import { summaries } from '../../core/checks/results.ts';
import type { Hold } from '../../core/contracts/approval.ts';
import type { KeptResult } from '../../core/contracts/checks.ts';
import { printable } from '../../core/text/control-characters.ts';
import { holdLines } from './approval.ts';
import { formatDuration, formatSpan } from './duration.ts';
import { type Paint, paintState } from './paint.ts';

/** Common parts of reports of sites and graphs. */
interface Head {
  readonly workflow_id: string;
  readonly started_at: string;
  readonly started_by?: string | undefined;
  readonly ended_at?: string | undefined;
  readonly reason?: string | undefined;
  readonly next_step?: string | undefined;
  readonly holds?: readonly Hold[] | undefined;
}

interface OperatorAction {
  readonly at: string;
  readonly action: string;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly before?: string | undefined;
}

/** Who started it and when, its duration, reason and next step. */
export function runLines(report: Head, paint: Paint): string[] {
  const span = formatSpan(report.started_at, report.ended_at);
  const by = report.started_by === undefined ? '' : ` by ${printable(report.started_by)}`;
  const ended = report.ended_at === undefined ? '' : `, ended ${report.ended_at}${span === '' ? '' : ` (${span})`}`;
  const lines = [paint.dim(`started ${report.started_at}${by}${ended}`)];
  if (report.reason !== undefined) lines.push(`${paint.bad('reason:')} ${printable(report.reason)}`);
  if (report.next_step !== undefined) lines.push(`${paint.strong('next:')} ${printable(report.next_step)}`);
  return [...lines, ...holdLines(report.holds)];
}

/** @param subject the target of an action: a node, a task */
export function operatorSection<Action extends OperatorAction>(
  actions: readonly Action[],
  subject: (action: Action) => string | undefined,
  paint: Paint,
): string[] {
  if (actions.length === 0) return [];
  const lines = actions.map((one) => {
    const about = subject(one) ?? (one.before === undefined ? undefined : `before ${one.before}`);
    const who = one.by === undefined ? '' : ` by ${printable(one.by)}`;
    const what = `${one.action.replaceAll('_', ' ')}${about === undefined ? '' : ` ${printable(about)}`}`;
    return `  ${one.at}  ${what}${who}${one.reason === undefined ? '' : `: ${printable(one.reason)}`}`;
  });
  return [paint.strong('Operators'), ...lines];
}

export const warningSection = (warnings: readonly string[], paint: Paint): string[] =>
  warnings.length === 0 ? [] : [paint.strong('Warnings'), ...warnings.map((text) => `  - ${printable(text)}`)];

/** Non-empty sections separated by empty lines. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  const filled = sections.filter((section) => section.length > 0);
  return `${filled.map((section) => section.join('\n')).join('\n\n')}\n`;
}

/** Names shown on one line; the rest is counted. */
export const NAMES_SHOWN = 12;

/** What came of checks, by their names. */
export function keptChecks(results: readonly KeptResult[], paint: Paint): string[] {
  const kept = summaries(results, NAMES_SHOWN);
  const lines = kept.flatMap(({ check, verdict, counts, seconds, unwell }) => {
    const { well, failed, unknown } = counts;
    const [first] = unwell;
    const total = well + failed + unknown;
    const of = first?.node === null ? printable(first.text) : `${well} of ${total} well`;
    const took = formatDuration(seconds * 1000);
    return [
      `  ${paint.strong(printable(check))}  ${paintState(paint, verdict)}  ${of}  ${paint.dim(took)}`,
      ...unwell.flatMap((one) =>
        one.node === null
          ? []
          : `    ${printable(one.node)}  ${paintState(paint, one.verdict)}  ${printable(one.text)}  ${paint.dim(formatDuration(one.seconds * 1000))}`,
      ),
    ];
  });
  return [paint.strong(`Checks (${kept.length})`), ...lines];
}
