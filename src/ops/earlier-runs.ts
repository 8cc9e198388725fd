import { isMapping } from '../core/data/plain-value.ts';
import { DEFAULT_GRAPHS } from '../core/graph-run/input.ts';
import { type AnyRunStatus, isHeld } from '../core/run/status.ts';
import { graphRunOf } from '../core/run/subject.ts';
import type { RunRecord, Store } from '../store/index.ts';
import { durationsOf } from './rehearsals/durations.ts';
import { type Remembered, remembered } from './remembered.ts';
import { mediansOf, secondsOf, tookOfNodes } from './usual-times.ts';
import { ifReachable, orWithoutStore } from './without-store.ts';

/** Runs that are looked at, the newest ones. */
const MAX_EARLIER = 10;

/** Nodes whose tasks tell how long each takes. */
const MAX_NODES = 60;
/** Runs whose nodes and tasks are looked at. */
const MAX_COMPARED = 5;

interface Found extends EarlierRun {
  readonly id: string;
  /** Of a run of graphs. */
  readonly transaction: number | null;
}

/** Durations of nodes of a run on a site by name, of tasks of graphs by id. */
interface UsualTimes {
  /** How many earlier runs tell. */
  readonly runs: number;
  readonly seconds: Readonly<Record<string, number>>;
}

/** Finds the ended runs of the same kind, on the same site or cluster, that went well. Looks once for each run. */
export class EarlierRuns {
  readonly #store: Store;
  readonly #kept: Remembered<readonly Found[]> = new Map();
  readonly #models: Remembered<Awaited<ReturnType<typeof durationsOf>>> = new Map();

  constructor(store: Store) {
    this.#store = store;
  }

  /** How long nodes or tasks took, in the middle, in the newest earlier runs. */
  async usualTimes(
    run: RunRecord,
    { graph, nodes }: { readonly graph?: string; readonly nodes?: readonly string[] },
  ): Promise<UsualTimes> {
    const newest = (await this.#earlierOf(run)).slice(0, MAX_COMPARED);
    const took = await Promise.all(
      newest.map(async ({ id, transaction }) =>
        transaction === null
          ? tookOfNodes((await this.#store.runs.listNodes(id)).map(({ report }) => report))
          : this.#tookOfTasks(transaction, graph, nodes),
      ),
    );
    return { runs: newest.length, seconds: mediansOf(took.flat()) };
  }
  /** The status with when the run should end, unless it waits for a person. */
  async withExpectedEnd<S extends AnyRunStatus>(run: RunRecord, status: S): Promise<S> {
    const { paused, stopping, awaiting_approval, done, total } = status;
    if (paused || stopping || awaiting_approval || isHeld(status)) return status;
    const expected =
      expectedEnd({ startedAt: run.startedAt, total }, await this.#earlierOf(run)) ??
      endOfFirst({ startedAt: run.startedAt, done, total }, await ifReachable(() => this.#modelled(run)), Date.now());
    return expected === undefined ? status : { ...status, expected };
  }

  async #find(run: RunRecord): Promise<readonly Found[]> {
    const { cluster } = run.labels;
    const { items } = await this.#store.runs.list({
      kind: run.kind,
      ...(run.site === null ? {} : { site: run.site }),
      ...(cluster === undefined ? {} : { labels: [['cluster', cluster]] }),
      outcome: ['success', 'success_with_failures'],
      open: false,
      until: run.startedAt,
      limit: MAX_EARLIER,
    });
    const records = await Promise.all(items.map(({ id }) => this.#store.runs.get(id)));
    return records
      .filter((one) => sortOf(one) === sortOf(run))
      .map((one) => {
        const { id, startedAt, endedAt, total } = one;
        return { id, startedAt, endedAt, total, transaction: graphRunOf(one).transaction };
      });
  }

  #earlierOf(run: RunRecord): Promise<readonly Found[]> {
    return remembered(this.#kept, run.id, () =>
      orWithoutStore<readonly Found[]>(
        () => this.#find(run),
        () => [],
      ),
    );
  }

  /** Seconds as a rehearsal assumes them: group after group, so many machines at once. Undefined before there is a plan. */
  async #modelled({ id, site, kind, plan }: RunRecord): Promise<number | undefined> {
    if (site === null || plan === null || kind === 'test_site') return undefined;
    const { max_parallel_nodes: most, deploy, prepare, release } = plan.pace;
    const counted = new Set(plan.done);
    const turns = plan.groups.reduce((all, { nodes }) => {
      const own = nodes.filter((name) => !counted.has(name));
      for (const name of own) counted.add(name);
      return all + Math.ceil(own.length / Math.max(1, most));
    }, 0);
    const limits = { deploy: deploy.timeout, commission: prepare.timeout, release: release.timeout, turns: 1 };
    const { durations } = await remembered(this.#models, id, () =>
      durationsOf(this.#store, { site, cluster: null, limits }),
    );
    return turns === 0 ? undefined : turns * durations.deploy;
  }

  /** Of a few nodes: a median needs no more. */
  async #tookOfTasks(transaction: number, type: string | undefined, nodes: readonly string[] | undefined) {
    const { graphs } = await this.#store.transactions.getRun(transaction);
    const of = graphs.filter(({ graphType }) => type === undefined || graphType === type);
    const rows = await Promise.all(
      of.map(async ({ id }) => {
        const some = nodes ?? Object.keys(await this.#store.taskHistory.countByNode(id));
        return this.#store.taskHistory.list(id, { statuses: ['success'], nodes: some.slice(0, MAX_NODES) });
      }),
    );
    return rows.flat().flatMap(({ task, timeStart, timeEnd }) => secondsOf(task, timeStart, timeEnd));
  }
}

/** Other fields that must match: a dry run is no basis for a real one, nor one graph for another. */
function sortOf({ parameters }: RunRecord): string {
  const given = isMapping(parameters) ? parameters : {};
  const { mode = 'apply', graphs = DEFAULT_GRAPHS, sequence, from, nodes } = given;
  const types = Array.isArray(graphs) ? graphs.map((graph: unknown) => (isMapping(graph) ? graph.type : '')) : [];
  return JSON.stringify([mode, types, sequence, from === undefined, Array.isArray(nodes) ? nodes.length : 0]);
}

/** The facts of an ended run that predict the duration of similar ones. */
interface EarlierRun {
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Nodes or tasks; null where that is not known. */
  readonly total: number | null;
}

/** Wire form of `expectedEnd`. */
interface ExpectedEnd {
  readonly ends_at: string;
  readonly earlier_runs: number;
}

/**
 * When a run should end: its start plus the median duration of earlier runs of about its size, half to twice as many
 * nodes or tasks. Undefined without any.
 */
function expectedEnd(
  run: { readonly startedAt: string; readonly total: number },
  earlier: readonly EarlierRun[],
): ExpectedEnd | undefined {
  const durations = earlier
    .filter(({ total }) => !run.total || !total || (total >= run.total / 2 && total <= run.total * 2))
    .flatMap(({ startedAt, endedAt }) => (endedAt === null ? [] : [Date.parse(endedAt) - Date.parse(startedAt)]))
    .sort((a, b) => a - b);
  const middle = durations[Math.floor(durations.length / 2)];
  if (middle === undefined) return undefined;
  return { ends_at: new Date(Date.parse(run.startedAt) + middle).toISOString(), earlier_runs: durations.length };
}

/** The end of a run that should take so many seconds, as no earlier run tells; sooner where it is done faster. */
export function endOfFirst(
  { startedAt, done, total }: { readonly startedAt: string; readonly done: number; readonly total: number },
  seconds: number | null | undefined,
  now: number,
): ExpectedEnd | undefined {
  if (seconds == null || done >= total) return undefined;
  const assumed = seconds * 1000;
  const end = Math.min(Date.parse(startedAt) + assumed, now + (assumed * (total - done)) / total);
  return { ends_at: new Date(end).toISOString(), earlier_runs: 0 };
}
