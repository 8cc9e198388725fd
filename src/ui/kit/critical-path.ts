// Which tasks, or nodes, made a run as long as it was.
import type { NodeReport } from '../../core/contracts/site-run-report.ts';
import type { Call } from '../../core/words.ts';
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

/** When a call of a node began and ended; undefined where it has not. */
export function timesOfCall(node: NodeReport, call: Call) {
  const { started_at, prepared_at, deploying_at, ended_at, failed_in } = node;
  // What was cut short may not have begun.
  const deployed = deploying_at ?? (failed_in === 'deploy' ? prepared_at : undefined);
  if (call === 'deploy') return { from: deployed, to: deployed && ended_at };
  return { from: started_at, to: prepared_at ?? (failed_in === 'prepare' ? ended_at : undefined) };
}

/** Of each call of each group the node that ended last: all that came later waited for it. */
export function lastOfCalls(nodes: readonly NodeReport[]): ReadonlySet<string> {
  const last = new Map<string, { readonly key: string; readonly to: string }>();
  for (const node of nodes)
    for (const call of ['prepare', 'deploy'] as const) {
      const { to } = timesOfCall(node, call);
      const of = `${call} ${node.group}`;
      if (to && to > (last.get(of)?.to ?? '')) last.set(of, { key: keyOfCall(node.name, call), to });
    }
  return new Set([...last.values()].map(({ key }) => key));
}

export const keyOfCall = (node: string, call: Call): string => `${call} ${node}`;

/** Since when each task could have started: when the last of those before it on its node ended. */
export function readyTimes(rows: readonly Row[], edges: readonly Edge[]): ReadonlyMap<Row, string> {
  const byPlace = new Map(rows.map((row) => [`${row.task} ${row.node}`, row]));
  const before = Map.groupBy(edges, ([, to]) => to);
  const ready = new Map<Row, string>();
  for (const row of rows) {
    const ends = (before.get(row.task) ?? []).flatMap(([from]) => byPlace.get(`${from} ${row.node}`)?.time_end ?? []);
    const last = ends.sort().at(-1);
    if (last !== undefined && row.time_start !== null && last < row.time_start) ready.set(row, last);
  }
  return ready;
}
