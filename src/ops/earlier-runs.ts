import { isMapping } from '../core/data/plain-value.ts';
import { DEFAULT_GRAPHS } from '../core/graph-run/index.ts';
import { type AnyRunStatus, isHeld } from '../core/run/status.ts';
import { type EarlierRun, expectedEnd } from '../core/run/time-left.ts';
import type { RunRecord, Store } from '../store/index.ts';
import { orWithoutStore } from './without-store.ts';

/** Runs that are looked at, the newest ones. */
const MAX_EARLIER = 10;
/** Runs whose earlier ones are remembered: they no longer change. */
const MAX_KEPT = 200;

/** Finds the ended runs of the same kind, on the same site or cluster, that went well. Looks once for each run. */
export function earlierRuns(store: Store) {
  const kept = new Map<string, Promise<readonly EarlierRun[]>>();

  async function find(run: RunRecord): Promise<readonly EarlierRun[]> {
    const { cluster } = run.labels;
    const { items } = await store.runs.list({
      kind: run.kind,
      ...(run.site === null ? {} : { site: run.site }),
      ...(cluster === undefined ? {} : { labels: [['cluster', cluster]] }),
      outcome: ['success', 'success_with_failures'],
      open: false,
      until: run.startedAt,
      limit: MAX_EARLIER,
    });
    const records = await Promise.all(items.map(({ id }) => store.runs.get(id)));
    return records.filter((one) => sortOf(one) === sortOf(run));
  }

  function earlierOf(run: RunRecord): Promise<readonly EarlierRun[]> {
    const known = kept.get(run.id);
    if (known !== undefined) return known;
    const found = orWithoutStore<readonly EarlierRun[]>(
      () => find(run),
      () => [],
    );
    kept.set(run.id, found);
    found.catch(() => kept.delete(run.id));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return found;
  }

  return {
    /** The status with when the run should end, unless it waits for a person. */
    async withExpectedEnd<S extends AnyRunStatus>(run: RunRecord, status: S): Promise<S> {
      const { paused, stopping, awaiting_approval, total } = status;
      if (paused || stopping || awaiting_approval || isHeld(status)) return status;
      const expected = expectedEnd({ startedAt: run.startedAt, total }, await earlierOf(run));
      return expected === undefined ? status : { ...status, expected };
    },
  };
}

/** Other fields that must match: a dry run is no basis for a real one, nor one graph for another. */
function sortOf({ parameters }: RunRecord): string {
  const given = isMapping(parameters) ? parameters : {};
  const { mode = 'apply', graphs = DEFAULT_GRAPHS, sequence, from, nodes } = given;
  const types = Array.isArray(graphs) ? graphs.map((graph: unknown) => (isMapping(graph) ? graph.type : '')) : [];
  return JSON.stringify([mode, types, sequence, from === undefined, Array.isArray(nodes) ? nodes.length : 0]);
}
