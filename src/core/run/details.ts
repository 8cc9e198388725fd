import type { Paused } from '../contracts/site-run.js';

/** What the statuses of all runs have in common. */
export interface AnyStatus {
  readonly phase: string;
  readonly outcome?: string;
  readonly paused: Paused | null;
  readonly stopping: boolean;
  readonly done: number;
  readonly total: number;
}

/** First line of a run's details, as Markdown: phase, n of m, paused or stopping. */
export function detailsHeading(status: AnyStatus, unit: string): string {
  const held = status.paused ? ' · **paused**' : status.stopping ? ' · **stopping**' : '';
  return `**${status.outcome ?? status.phase}** · ${status.done} of ${status.total} ${unit}${held}`;
}

/** A Markdown table with cells cut to one short line. Empty without rows. */
export function table(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (cells: readonly (string | number)[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)];
}

export const cell = (text: string | number): string =>
  String(text)
    .replace(/[|\n\r]+/g, ' ')
    .slice(0, 120);
