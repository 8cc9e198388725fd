import type { RunDescription } from '../core/run/description.ts';
import { RUN_HELP } from '../core/run/help.ts';
import type { OpsDependencies } from './dependencies.ts';

/** Temporal's limits, in bytes. */
const LONGEST_SUMMARY = 400;
const LONGEST_DETAILS = 20_000;

/**
 * Data that Temporal shows for a run without a query: a summary line, a Markdown description, and a memo with the
 * version that started it, its title, reason and labels, who started it, and where to get help.
 *
 * @param line the summary of a run without a title
 */
export function metadataOf(
  { version }: OpsDependencies,
  {
    title,
    description,
    reason,
    labels,
    started_by,
  }: RunDescription & { readonly reason?: string; readonly started_by?: string },
  line: string,
): { readonly staticSummary: string; readonly staticDetails?: string; readonly memo: Record<string, unknown> } {
  const known = { sitewright: version, title, reason, started_by, labels, help: RUN_HELP };
  return {
    staticSummary: cut(title ?? line, LONGEST_SUMMARY),
    ...(description === undefined ? {} : { staticDetails: cut(description, LONGEST_DETAILS) }),
    memo: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
  };
}

/** In UTF-8 a character has at most four bytes, and the ellipsis three. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes ? text : `${text.slice(0, Math.floor(bytes / 4) - 1)}…`;
