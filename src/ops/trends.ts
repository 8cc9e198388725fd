import type { NodeTrends, TaskTrends } from '../core/contracts/trends.ts';
import { together } from '../core/data/together.ts';
import { graphRunOf } from '../core/run/subject.ts';
import { compareText } from '../core/text/text.ts';
import { DEPLOYING_KINDS, GRAPH_RUN_KIND } from '../core/words.ts';
import type { RunFilter, RunSummary, Store, TaskHistoryRow } from '../store/index.ts';
import { type Remembered, remembered } from './remembered.ts';
import { median, secondsOf } from './usual-times.ts';

/** Runs that are looked at, the newest ones that have ended. */
const RUNS = 20;
/** Nodes of each run of graphs: a median needs no more. */
const NODES = 60;
/** No more tasks or nodes are shown. */
const SHOWN = 100;

/** How a task, or a node, did in one run. */
interface InRun {
  readonly name: string;
  readonly isFailed: boolean;
  /** Of a task: the median of its nodes. */
  readonly seconds: number | null;
  /** So often it ended; so often it succeeded with its first attempt. */
  readonly ended: number;
  readonly first: number;
}

/** How the tasks of a cluster, and the nodes of a site, did in its last runs. Reads each run once. */
export function trends(store: Store) {
  const kept: Remembered<readonly InRun[]> = new Map();

  async function tasksOf(run: RunSummary): Promise<readonly InRun[]> {
    const found = await store.transactions.findRun(run.workflowId, run.temporalRunId ?? undefined);
    const rows = await Promise.all(
      (found?.graphs ?? []).map(async ({ id }) => {
        const nodes = Object.keys(await store.taskHistory.countByNode(id)).slice(0, NODES);
        return store.taskHistory.list(id, { nodes, statuses: ['success', 'failed', 'ignored'] });
      }),
    );
    // Stages, and tasks that only plans have, had no attempt.
    const tried = rows.flat().filter(({ attempts }) => attempts > 0);
    return [...together(tried, ({ task }) => task)].map(([task, own]) => taskInRun(task, own));
  }

  /** A node that a run left as it was, or did not come to, was not tried. */
  async function nodesOf({ id }: RunSummary): Promise<readonly InRun[]> {
    const nodes = (await store.runs.listNodes(id)).map(({ report }) => report);
    return nodes.flatMap(({ name, state, attempts, started_at, ended_at }): readonly InRun[] => {
      if (attempts === 0 || (state !== 'success' && state !== 'failed')) return [];
      const [took] = secondsOf(name, started_at, ended_at);
      const first = state === 'success' && attempts === 1 ? 1 : 0;
      return [{ name, isFailed: state === 'failed', seconds: took?.[1] ?? null, ended: 1, first }];
    });
  }

  async function lastRuns(
    filter: RunFilter,
    read: (run: RunSummary) => Promise<readonly InRun[]>,
    is: (run: RunSummary) => boolean = () => true,
  ) {
    const { items } = await store.runs.list({ ...filter, open: false, limit: RUNS });
    return Promise.all(
      items.filter(is).map(async (run) => ({ run, parts: await remembered(kept, run.id, () => read(run)) })),
    );
  }

  return {
    async ofTasks(cluster: number, only?: string): Promise<TaskTrends> {
      const runs = await lastRuns(
        { kind: GRAPH_RUN_KIND, labels: [['cluster', String(cluster)]] },
        tasksOf,
        (run) => graphRunOf(run).transaction !== null,
      );
      const { parts, ...all } = inAll(runs, (name) => only === undefined || name === only);
      const tasks = parts.sort(bySlowness).slice(0, SHOWN);
      return { ...all, tasks: tasks.map(({ name: task, ...own }) => ({ task, ...own })) };
    },
    async ofNodes(site: string): Promise<NodeTrends> {
      await store.sites.get(site);
      const { parts, ...all } = inAll(await lastRuns({ kind: DEPLOYING_KINDS, site }, nodesOf));
      const again = ({ ended, first_attempts: first }: (typeof parts)[number]) => ended - first;
      const nodes = parts.sort((a, b) => again(b) - again(a) || bySlowness(a, b)).slice(0, SHOWN);
      return { ...all, nodes: nodes.map(({ name: node, ...own }) => ({ node, ...own })) };
    },
  };
}

interface RunWithParts {
  readonly run: RunSummary;
  readonly parts: readonly InRun[];
}

/** What the runs say of all parts, and of each. */
function inAll(runs: readonly RunWithParts[], isWanted: (name: string) => boolean = () => true) {
  const all = runs.flatMap(({ run, parts }) =>
    parts.filter(({ name }) => isWanted(name)).map((one) => ({ ...one, run })),
  );
  const parts = [...together(all, ({ name }) => name)].map(([name, own]) => ({
    ...{ name, ...attemptsOf(own) },
    seconds: median(own.flatMap(({ seconds }) => seconds ?? [])) ?? null,
    past: own.map(({ run: { id, startedAt }, isFailed, seconds }) => ({
      ...{ run: id, at: startedAt, seconds },
      outcome: isFailed ? ('failed' as const) : ('success' as const),
    })),
  }));
  return { runs: runs.filter(({ parts: own }) => own.length > 0).length, ...attemptsOf(all), parts };
}

interface Slow {
  readonly name: string;
  readonly seconds: number | null;
}

const bySlowness = (a: Slow, b: Slow): number => (b.seconds ?? -1) - (a.seconds ?? -1) || compareText(a.name, b.name);

function taskInRun(task: string, rows: readonly TaskHistoryRow[]): InRun {
  const took = rows.flatMap(({ timeStart, timeEnd }) => secondsOf(task, timeStart, timeEnd));
  return {
    name: task,
    isFailed: rows.some(({ status }) => status !== 'success'),
    seconds: median(took.map(([, seconds]) => seconds)) ?? null,
    ended: rows.length,
    first: rows.filter(({ status, attempts }) => status === 'success' && attempts === 1).length,
  };
}

const attemptsOf = (all: readonly InRun[]) => ({
  ended: all.reduce((sum, { ended }) => sum + ended, 0),
  first_attempts: all.reduce((sum, { first }) => sum + first, 0),
});
