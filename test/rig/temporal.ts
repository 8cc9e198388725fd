import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { inject, it } from 'vitest';
import { statusSinks } from '../../activities/index.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { compareVersions } from '../../src/platform/temporal/find-server.ts';
import { ensureSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { lazyConnection } from '../../worker/parts/lazy-connection.ts';
import { asOne } from '../../worker/parts/queue-workers.ts';
import { installRuntime } from '../../worker/parts/runtime.ts';
import { sideQueue } from '../../workflows/protocol.ts';

/** Of an API in a test with a worker: on a loaded machine, an answer takes many times its usual time. */
export const PATIENCE = 20;

/** The version of Temporal's own server that `.ci/newest-temporal` takes; undefined where the tests have the server of the CLI. */
const ownServer = process.env.SITEWRIGHT_TEST_TEMPORAL_SERVER;

/** Whether the tests' server is Temporal's own of this version or later. It has what the CLI leaves turned off. */
export const isServerSince = (version: string): boolean =>
  ownServer !== undefined && compareVersions(ownServer, version) >= 0;

/** Whether it is Temporal's own server, and older. */
export const isServerBefore = (version: string): boolean => ownServer !== undefined && !isServerSince(version);

/**
 * A test that needs what the simulated server does not have: Temporal's command line, schedules, limits of a run, types of search attributes,
 * the worker's log. The project `server` runs it.
 */
export const onServer = it.runIf(inject('temporalAddress') !== 'simulated');

/** Well before what a stopped run must not wait for. A real server shares its machine with others. */
export const STOPPED_WITHIN_MS = inject('temporalAddress') === 'simulated' ? 10_000 : 60_000;

/** A test file's own corner of the shared dev server. */
export interface TemporalRig {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly connection: Connection;
  /** A connection as an API has it, which its caller closes. */
  connect(): Connection;
  /**
   * Awaits what only the server's timers are left to bring about: a simulated server's pass at once. The test and its activities
   * must have nothing to do meanwhile.
   */
  passUntil<T>(end: Promise<T>): Promise<T>;
  /** A unique name; default task queue of `runWorker`. */
  readonly taskQueue: string;
  /** A unique workflow id, with a part that names its purpose. */
  workflowId(purpose: string): string;
  /**
   * Starts a worker of the project's workflows (or of `workflowBundle`) and resolves once it is made.
   * `stop()` drains it; `close()` stops those that still run.
   */
  runWorker(options?: Partial<WorkerOptions>): Promise<RunningWorker>;
  /** Stops the workers and closes the connections. For `afterAll`. */
  close(): Promise<void>;
}

export interface RunningWorker {
  readonly taskQueue: string;
  stop(): Promise<void>;
}

/**
 * Keeps the SDK's log lines but its errors out of the tests' output. Before the first worker or connection. A process has
 * one runtime, and files share their process: installed as the product does, which then finds it installed.
 */
export function quietRuntime(): void {
  if (Runtime._instance === undefined) installRuntime(createLogger({ level: 'error', format: 'json' }, 'temporal'));
}

/**
 * Connects to the shared dev server. Only in the suites that test/global-setup.ts starts it for.
 *
 * @param options `namespace`: a namespace of your own for tests that list or count workflows, made on the spot;
 *   `address`: of a server of the test's own
 */
export async function temporalRig(
  options: { readonly namespace?: 'own' | 'shared'; readonly address?: string } = {},
): Promise<TemporalRig> {
  const address = options.address ?? inject('temporalAddress');
  if (address === 'simulated') return (await import('./simulated-rig.ts')).simulatedRig();
  quietRuntime();
  const connection = await Connection.connect({ address, connectTimeout: '1 minute', interceptors: [repeatCalls()] });
  const native = await NativeConnection.connect({ address });
  const tag = randomUUID().slice(0, 8);
  const namespace = options.namespace === 'own' ? `test-${tag}` : 'default';
  if (options.namespace === 'own') {
    await createNamespace(connection, namespace);
    // The server of the CLI has them in every namespace.
    if (ownServer !== undefined) await ensureSearchAttributes(connection, namespace);
  }
  const taskQueue = `test-${tag}`;
  const running = new Set<RunningWorker>();

  return {
    address,
    namespace,
    client: new Client({ connection, namespace }),
    connection,
    connect: () => lazyConnection(address),
    passUntil: (end) => end,
    taskQueue,
    workflowId: (purpose) => `${purpose}-${tag}-${randomUUID().slice(0, 8)}`,
    runWorker: async (workerOptions = {}) => {
      const codePath = inject('workflowBundlePath');
      const own = 'workflowBundle' in workerOptions || 'workflowsPath' in workerOptions;
      const options = {
        namespace,
        taskQueue,
        ...(own ? {} : { workflowBundle: { codePath } }),
        // One isolate per worker, in this thread: starting a separate thread costs as much as a whole test. Workers as
        // they are deployed, with their thread and its detection of deadlocks, run in the suites api, cli and e2e.
        reuseV8Context: true,
        debugMode: true,
        maxCachedWorkflows: 50,
        // As the product's worker: a cancellation is noticed with a heartbeat.
        maxHeartbeatThrottleInterval: '1 second' as const,
        // An activity that a failed test left behind delays no other test.
        shutdownForceTime: '30 seconds' as const,
        ...workerOptions,
        sinks: { ...NOT_SHOWN, ...workerOptions.sinks },
      };
      const workers = await Promise.all(
        withSideQueues(options).map((each) => Worker.create({ ...each, connection: native })),
      );
      const worker = workers.at(-1)!;
      const all = asOne(workers);
      const done = all.run();
      const started: RunningWorker = {
        taskQueue: worker.options.taskQueue,
        stop: async () => {
          if (!running.delete(started)) return;
          all.shutdown();
          await done;
        },
      };
      // When a worker dies, `stop()` reports it, as it awaits the same promise.
      done.catch(() => {});
      running.add(started);
      return started;
    },
    close: async () => {
      await Promise.all([...running].map((worker) => worker.stop()));
      await native.close();
      await connection.close();
    },
  };
}

/** Statuses of runs whose store is the test's own. */
export const NOT_SHOWN = statusSinks({ show: async () => undefined });

/** Options of a worker of activities alone, as an agent has it. */
export const ACTIVITIES_ALONE = { workflowsPath: undefined as unknown as string };

type Options = Omit<WorkerOptions, 'connection'> & { readonly taskQueue: string };

/** Options of the workers of all queues that these workflows and activities use, the given one last. */
export function withSideQueues(options: Options): Options[] {
  const { workflowBundle, ...activitiesOnly } = options;
  const { activities = {}, taskQueue } = options;
  const parts = { ...options, taskQueue: sideQueue(taskQueue, 'parts') };
  const isOfSites = 'deploy_node' in activities;
  const waits = isOfSites || 'await_permits' in activities;
  return [
    ...(waits ? [{ ...activitiesOnly, taskQueue: sideQueue(taskQueue, 'machines') }] : []),
    ...(workflowBundle !== undefined && (isOfSites || 'load_graph_part' in activities) ? [parts] : []),
    options,
  ];
}

/** A namespace is usable some moments after it is made; asking until it answers is the only sign there is. */
export async function createNamespace(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
      const { added, missing } = await ensureSearchAttributes(connection, namespace);
      if (added.length === 0 && missing === undefined) return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`namespace ${namespace} did not become usable`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
