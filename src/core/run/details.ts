import type { AwaitingApproval } from '../contracts/approval.ts';
import type { Paused } from '../contracts/primitives.ts';
import { describeAwaiting } from './approval.ts';
import type { RunDescription } from './description.ts';
import { describeSilence } from './late-text.ts';

/** Common fields of the statuses of all runs. */
interface AnyStatus {
  readonly phase: string;
  readonly outcome?: string;
  readonly paused: Paused | null;
  readonly stopping: boolean;
  readonly awaiting_approval?: AwaitingApproval;
  readonly done: number;
  readonly total: number;
  readonly maas_silent_since?: string;
  readonly warnings: readonly string[];
}

/** First lines of a run's details, as Markdown: title and labels, phase, n of m, paused or stopping. */
export function detailsHeading(status: AnyStatus, unit: string, { title, labels }: RunDescription): string[] {
  const held = status.paused ? ` · ${describePause(status.paused)}` : status.stopping ? ' · **stopping**' : '';
  const named = Object.entries(labels ?? {}).map(([name, value]) => `\`${name}:${value}\``);
  const said = [...(title === undefined ? [] : [title]), ...named].join(' · ');
  return [
    ...(said === '' ? [] : [said, '']),
    `**${status.outcome ?? status.phase}** · ${status.done} of ${status.total} ${unit}${held}`,
    '',
    ...(status.awaiting_approval ? [`**${cell(describeAwaiting(status.awaiting_approval), 300)}**`, ''] : []),
    ...(status.maas_silent_since === undefined ? [] : [`**${describeSilence(status.maas_silent_since)}**`, '']),
  ];
}

const describePause = ({ since, by, reason }: Paused): string =>
  `**paused** since ${since.slice(11, 16)} UTC${by ? ` by ${by}` : ''}${reason ? `: ${cell(reason)}` : ''}`;

/** Last lines of a run's details: warnings, and the description of the run. */
export function detailsEnding({ warnings }: AnyStatus, { description }: RunDescription): string[] {
  return [
    ...(warnings.length > 0 ? ['', 'Warnings:', '', ...warnings.slice(-10).map((text) => `- ${cell(text, 300)}`)] : []),
    ...(description === undefined ? [] : ['', description]),
  ];
}

/** A Markdown table with cells cut to one short line. Empty without rows. */
export function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly (string | number)[]): string => `| ${cells.map((text) => cell(text)).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)];
}

export const cell = (text: string | number, most = 120): string =>
  String(text)
    .replace(/[|\n\r]+/g, ' ')
    .slice(0, most);
