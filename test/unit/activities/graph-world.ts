import { MaasConfigurationError } from '@sitewright/maas';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { ActivityDependencies } from '../../../activities/dependencies.ts';
import { graphCloseActivities } from '../../../activities/graph/close.ts';
import { graphRunActivities } from '../../../activities/graph/open.ts';
import { planGraphActivities } from '../../../activities/graph/plan.ts';
import { taskRecordActivities } from '../../../activities/graph/task-records.ts';
import type { GraphActivities, OpenGraphRunAnswer, PlanGraphAnswer } from '../../../activities/graph-contract.ts';
import { SiteCache } from '../../../activities/site/cache.ts';
import { type Planner, plannerHere } from '../../../src/clusters/planning/index.ts';
import type { GraphRunReport } from '../../../src/core/contracts/graph-run.ts';
import type { GraphRunInput } from '../../../src/core/graph-run/input.ts';
import type { PlanReference } from '../../../src/core/graph-run/plan-reference.ts';
import type { TaskRow } from '../../../src/core/graph-run/task-end.ts';
import { type Fields, normaliseTask } from '../../../src/graph/index.ts';
import { type GraphContent, openStore, type Store, type StorePorts } from '../../../src/store/index.ts';
import { tagsByExtensions } from '../../../worker/parts/services.ts';

export interface GraphWorld extends GraphActivities {
  readonly store: Store;
  /** The same, as the activities have it: `onCall` receives its calls. */
  readonly heard: Store;
  /** From now on the run has another execution. */
  reset(run: string): void;
  /** Temporal run ids of workflows that are still open. */
  readonly open: Set<string>;
  readonly release: number;
  readonly cluster: number;
  readonly nodes: readonly number[];
  /** Opens a run, as its workflow does; throws when it is refused. */
  start(input?: Partial<GraphRunInput>, run?: string): Promise<StartedRun>;
  refused(input?: Partial<GraphRunInput>, run?: string): Promise<Extract<OpenGraphRunAnswer, { ok: false }>['failure']>;
  close(started: StartedRun, outcome?: 'success' | 'failed' | 'stopped'): Promise<void>;
  upload(tasks: readonly Fields[], type?: string, content?: Partial<GraphContent>): Promise<void>;
}

export interface StartedRun {
  readonly transaction: number;
  readonly graphs: readonly { readonly transaction: number; readonly type: string }[];
  readonly run: string;
}

export const AT = '2026-11-21T10:00:00.000Z';
export const MASTER_IP = '10.20.0.2';

export interface WorldOptions {
  readonly roles?: Fields;
  readonly tags?: Fields;
  /** Roles of each node. */
  readonly nodes: readonly (readonly string[])[];
  readonly site?: string;
  readonly waits?: { readonly heartbeat_seconds: number; readonly offline_wait_seconds: number };
  /** Receives every call of the activities on the store before it is made; if it throws, the process dies. */
  readonly onCall?: (call: string) => void;
  /** Default: plans are made in the test's own thread. */
  readonly planner?: Planner;
  /** The setting `agent.master` is `allow`. */
  readonly masterAllowed?: boolean;
  /** Module of the setting `tags.extensions`. */
  readonly tagExtensions?: string;
  /** Rows made before, so that ids are as a recording has them. */
  readonly idsFrom?: { readonly cluster: number; readonly node: number };
}

/** A store in memory with one cluster, and the activities over it. */
export async function graphWorld(options: WorldOptions): Promise<GraphWorld> {
  const store = await openStore('sqlite::memory:');
  await store.migrate();
  const { id: release } = await store.releases.create({
    name: 'Newton',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: options.roles ?? Object.fromEntries(options.nodes.flat().map((role) => [role, { name: role }])),
    tagsMetadata: options.tags ?? {},
  });
  const from = options.idsFrom ?? { cluster: 1, node: 1 };
  for (let id = 1; id < from.cluster; id++) await store.clusters.create({ name: `other ${id}`, releaseId: release });
  if (options.site !== undefined) await store.sites.create({ name: options.site });
  const { id: cluster } = await store.clusters.create({
    name: 'six',
    releaseId: release,
    ...(options.site === undefined ? {} : { site: options.site }),
  });
  for (let id = 1; id < from.node; id++) await store.nodes.create({ name: `other ${id}` });
  const nodes: number[] = [];
  for (const roles of options.nodes) {
    const { id } = await store.nodes.create({ name: `rack-${nodes.length + 1}`, status: 'provisioned' });
    nodes.push(id);
    await store.nodes.assign(cluster, [{ id, roles }]);
    await store.nodes.update(id, { roles, pendingRoles: [], pendingAddition: false, status: 'provisioned' });
  }
  const open = new Set<string>();
  /** Executions after a reset, by run. */
  const resets = new Map<string, string>();
  const heard = options.onCall === undefined ? store : overheard(store, options.onCall);
  const deps: ActivityDependencies = {
    store: heard,
    maas: () => {
      throw new MaasConfigurationError(['no MAAS here']);
    },
    hold: async () => ({ paused: null, stopping: false }),
    end: async (_workflow, run) =>
      run !== null && open.has(run) ? null : { outcome: 'terminated', at: new Date(), reason: 'by the test' },
    tried: async () => [],
    execution: async (_workflow, run) =>
      run !== null && open.has(run) ? { runId: resets.get(run) ?? run, isOpen: true, children: [], errors: {} } : null,
    searchAttributes: async () => [],
    planner: options.planner ?? plannerHere(),
    settings: {
      max_parallel_nodes: 8,
      heartbeat_seconds: 5,
      master_ip: MASTER_IP,
      master_allowed: options.masterAllowed ?? false,
      ...options.waits,
    },
    ...tagsByExtensions(options.tagExtensions, store),
  };
  const bare: GraphActivities = {
    ...graphRunActivities(deps, new SiteCache(store)),
    ...planGraphActivities(deps, new SiteCache(store)),
    ...taskRecordActivities(deps),
    ...graphCloseActivities(deps),
  };
  const activities = Object.fromEntries(
    Object.entries(bare).map(([name, activity]) => [
      name,
      (request: object) => inRun(store, activity, request, resets),
    ]),
  ) as unknown as GraphActivities;
  const request = (input: Partial<GraphRunInput>, run: string) => {
    open.add(run);
    return {
      workflow_id: `execute_graph:${cluster}:${run}`,
      run_id: run,
      started_at: AT,
      input: { cluster, ...input },
      answered: false,
    };
  };
  return {
    ...activities,
    store,
    heard,
    reset: (run) => void resets.set(run, `${run}, reset`),
    open,
    release,
    cluster,
    nodes,
    async start(input = {}, run = 'run-1') {
      const answer = await activities.open_graph_run(request(input, run));
      if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
      return { ...answer, run };
    },
    async refused(input = {}, run = 'run-1') {
      const answer = await activities.open_graph_run(request(input, run));
      if (answer.ok) throw new Error('it was not refused');
      return answer.failure;
    },
    async close(started, outcome = 'success') {
      await activities.close_graph_run({
        transaction: started.transaction,
        workflow_id: `execute_graph:${cluster}:${started.run}`,
        run_id: started.run,
        outcome,
        ended_at: '2026-11-21T11:00:00.000Z',
        report: graphReport({ cluster, transaction: started.transaction, outcome }),
      });
      open.delete(started.run);
    },
    async upload(tasks, type = 'default', content = {}) {
      await store.graphs.put({ kind: 'release', id: release }, type, {
        tasks: tasks.map((task) => normaliseTask(task)),
        ...content,
      });
    },
  };
}

export function planOf(answer: PlanGraphAnswer): PlanReference {
  if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
  return answer.plan;
}

/** Calls an activity as an activity of the run that the request names. */
async function inRun(
  store: Store,
  activity: (request: never) => Promise<unknown>,
  request: object,
  resets: ReadonlyMap<string, string>,
): Promise<unknown> {
  const { workflow_id, run_id, transaction } = request as {
    workflow_id?: string;
    run_id?: string;
    transaction?: number;
  };
  const of =
    transaction === undefined || workflow_id !== undefined
      ? undefined
      : (await store.transactions.getRun(transaction)).run;
  const run = run_id ?? of?.temporalRunId ?? 'none';
  const execution = { workflowId: workflow_id ?? of?.workflowId ?? 'none', runId: resets.get(run) ?? run };
  const logger = new DefaultLogger('ERROR');
  return new MockActivityEnvironment({ workflowExecution: execution }, { logger }).run(activity, request as never);
}

/** The stored JSON of a part or of the coordination. */
export async function loadWhole<T>(
  world: GraphActivities,
  hash: string,
  part: number | 'coordination',
  chunks: number,
): Promise<T> {
  const texts: string[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) texts.push((await world.load_graph_part({ hash, part, chunk })).text);
  return JSON.parse(texts.join('')) as T;
}

export const row = (
  task: string,
  node: number | string,
  status: TaskRow['status'],
  more: Partial<TaskRow> = {},
): TaskRow => ({
  task,
  node: String(node),
  status,
  attempt: 1,
  started_at: '2026-11-21T10:01:00.000Z',
  ...(status === 'running' ? {} : { ended_at: '2026-11-21T10:02:00.000Z' }),
  ...more,
});

/** The store, whose calls are reported before they are made. */
const overheard = <Ports extends StorePorts>(store: Ports, onCall: (call: string) => void): Ports =>
  new Proxy(store, {
    get(target, port) {
      const found: unknown = Reflect.get(target, port);
      if (port === 'atomically')
        return (change: (within: StorePorts) => Promise<unknown>) =>
          (target as unknown as Store).atomically((within) => change(overheard(within, onCall)));
      if (typeof found !== 'object' || found === null) return found;
      return new Proxy(found, {
        get(inner, method) {
          const call: unknown = Reflect.get(inner, method);
          if (typeof call !== 'function') return call;
          return async (...args: unknown[]) => {
            onCall(`${String(port)}.${String(method)}`);
            return await (call.apply(inner, args) as Promise<unknown>);
          };
        },
      });
    },
  });

/** A report of a run of no graphs, as its workflow writes it. */
export const graphReport = (given: Partial<GraphRunReport>): GraphRunReport => ({
  cluster: 1,
  transaction: null,
  workflow_id: 'execute_graph:1:run-1',
  run_id: 'run-1',
  mode: 'apply',
  started_at: '2026-11-21T10:00:00.000Z',
  graphs: [],
  operator: [],
  warnings: [],
  ...given,
});
