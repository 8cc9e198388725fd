// Which tasks made a run as long as it was.
import type { Answer } from './api.ts';

type Row = Answer<'GET /runs/:run/tasks'>['items'][number];
type Edge = Answer<'GET /runs/:run/graph'>['edges'][number];

/** A task, and the wait before it in milliseconds. */
export interface Step {
  readonly row: Row;
  readonly wait: number;
}

interface Ended {
  readonly row: Row;
  readonly begin: number;
  readonly end: number;
}

/** The chain of tasks that each waited for the one before it, up to the one that ended last. */
export function criticalPath(rows: readonly Row[], edges: readonly Edge[]): Step[] {
  const ended = rows.flatMap((row) =>
    row.time_start !== null && row.time_end !== null
      ? [{ row, begin: Date.parse(row.time_start), end: Date.parse(row.time_end) }]
      : [],
  );
  const before = Map.groupBy(edges, ([, to]) => to);
  const byTask = Map.groupBy(ended, ({ row }) => row.task);
  const path: Step[] = [];
  const seen = new Set<Ended>();
  let one = latest(ended);
  while (one !== undefined && !seen.has(one)) {
    seen.add(one);
    const { begin, row }: Ended = one;
    const earlier = (before.get(row.task) ?? []).flatMap(([from, , cross]) =>
      (byTask.get(from) ?? []).filter((other) => (cross || other.row.node === row.node) && other.end <= begin + SLACK),
    );
    const cause = latest(earlier);
    path.unshift({ row, wait: cause === undefined ? 0 : Math.max(0, begin - cause.end) });
    one = cause;
  }
  return path;
}

/** Clocks of a node and the server may differ by so much. */
const SLACK = 1_000;

const latest = (rows: readonly Ended[]): Ended | undefined =>
  rows.reduce<Ended | undefined>((best, row) => (best === undefined || row.end > best.end ? row : best), undefined);
