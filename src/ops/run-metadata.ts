import type { RunDescription } from '../core/run-description.js';
import type { OpsDependencies } from './dependencies.js';

/** Of Temporal, in bytes. */
const LONGEST_SUMMARY = 400;
const LONGEST_DETAILS = 20_000;

/**
 * What Temporal shows beside a run without asking it: a line, its description as Markdown, and a memo of what started
 * it as which version, and of what was said of it.
 *
 * @param line for runs without a title
 */
export function metadataOf(
  { version }: OpsDependencies,
  { title, description, reason, labels }: RunDescription & { readonly reason?: string },
  line: string,
): { readonly staticSummary: string; readonly staticDetails?: string; readonly memo: Record<string, unknown> } {
  const known = { sitewright: version, title, reason, labels };
  return {
    staticSummary: cut(title ?? line, LONGEST_SUMMARY),
    ...(description === undefined ? {} : { staticDetails: cut(description, LONGEST_DETAILS) }),
    memo: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
  };
}

/** In UTF-8 a character has four bytes at most, and the sign that something is missing three. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes ? text : `${text.slice(0, Math.floor(bytes / 4) - 1)}…`;
