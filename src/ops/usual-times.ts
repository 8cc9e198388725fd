import type { NodeReport } from '../core/contracts/site-run-report.ts';
import { together } from '../core/data/together.ts';

/** What took so many seconds in an earlier run. */
type Took = readonly [name: string, seconds: number];

/** The middle of them; of an even number the later one. */
export const median = (values: readonly number[]): number | undefined =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

/** The median of each name. */
export function mediansOf(all: Iterable<Took>): Readonly<Record<string, number>> {
  const byName = together(all, ([name]) => name);
  return Object.fromEntries([...byName].map(([name, took]) => [name, median(took.map(([, seconds]) => seconds))!]));
}

/** Seconds between two moments; nothing where one is not known. */
export const secondsOf = (name: string, from: string | null | undefined, to: string | null | undefined): Took[] =>
  from == null || to == null ? [] : [[name, (Date.parse(to) - Date.parse(from)) / 1000]];

/** How long a run took for each node that it deployed. */
export const tookOfNodes = (nodes: readonly NodeReport[]): Took[] =>
  nodes.flatMap(({ name, state, started_at, ended_at }) =>
    state === 'success' ? secondsOf(name, started_at, ended_at) : [],
  );
