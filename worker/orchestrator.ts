import { Client, Connection } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { createActivities, hostAsker, pulseOf, RunStatuses, SilenceReports, statusSinks } from '../activities/index.ts';
import { plainFailures } from '../activities/plain-failures.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { openPlanner } from '../src/clusters/planning/index.ts';
import { given } from '../src/core/data/given.ts';
import { openReader } from '../src/ops/index.ts';
import { keepMachinesClean } from '../src/ops/left-on-machines.ts';
import { announceLostRuns, announceStuckSteps } from '../src/ops/lost-run-notices.ts';
import { getRun, type RunType } from '../src/ops/workflow-calls.ts';
import { programVersion } from '../src/platform/installation.ts';
import { checkHosts } from '../src/platform/settings/check-settings.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { WorkerMetrics } from '../src/platform/telemetry/metrics.ts';
import { ClientLink } from '../src/platform/temporal/client-link.ts';
import { repeatCalls } from '../src/platform/temporal/closed-channel.ts';
import { connectionOptions } from '../src/platform/temporal/connection-options.ts';
import { followCredentials } from '../src/platform/temporal/follow-credentials.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { keepSearchAttributes } from '../src/platform/temporal/search-attributes.ts';
import { WorkerVersions } from '../src/platform/temporal/worker-versions.ts';
import type { AnnounceEnd } from '../src/runs/life.ts';
import { startReconciler, type WatchRun } from '../src/runs/reconciler.ts';
import { runLookups } from '../src/runs/run-lookups.ts';
import { describeBy, startedLookup } from '../src/runs/started-lookup.ts';
import { StepTimes } from '../src/runs/step-times.ts';
import type { Store } from '../src/store/index.ts';
import type { StartAgentsOptions } from './parts/agent.ts';
import { encryptionOf } from './parts/encryption.ts';
import { startMaasCalls } from './parts/maas-calls.ts';
import { observeActivities, observeMaas, startMetricsServer } from './parts/metrics.ts';
import { NativeLink } from './parts/native-link.ts';
import { endsIdentities, nodeUserData } from './parts/node-user-data.ts';
import { asOne, optionsOfQueues } from './parts/queue-workers.ts';
import { installMeasuredRuntime, installRuntime, sdkMetrics } from './parts/runtime.ts';
import { serve } from './parts/serve.ts';
import { activitySettings, gitOf, type Machines, machinesOf, noticesOf, tagsByExtensions } from './parts/services.ts';
import { openStoreWhenAvailable } from './parts/store-when-available.ts';
import { traceActivities, traceSinks, tracesOf } from './parts/traces.ts';
import { connectWhenAvailable } from './parts/when-available.ts';
import { startVersioned } from './parts/worker-version.ts';
import { buildOf, workflowCode } from './parts/workflow-bundle.ts';

export interface Orchestrator {
  /** Resolves when the worker has stopped; rejects if it fails. */
  readonly done: Promise<void>;
  /** Gives running workflow and activity tasks a moment to finish, then leaves the rest to the next worker. */
  stop(): Promise<void>;
}

interface StartOrchestratorOptions {
  /** Workflow code to run; default: the output of the build. */
  readonly bundlePath?: string;
  /** Default: `buildOf` the workflow code. */
  readonly build?: string;
  /** Ends the waiting for the store and Temporal. */
  readonly stop?: AbortSignal;
}

/** Starts the worker of the task queue of all site workflows. Waits while the store or Temporal is unreachable. */
export async function startOrchestrator(
  settings: Settings,
  log: Logger,
  { bundlePath, build, stop }: StartOrchestratorOptions = {},
): Promise<Orchestrator> {
  if (settings.telemetry.metrics_port === undefined) installRuntime(log);
  else await installMeasuredRuntime(log);
  const taskQueue = ownQueue(settings.temporal);
  const metrics = new WorkerMetrics(programVersion(), sdkMetrics);
  const traces = tracesOf(settings, 'sitewright-worker', log);
  // Before waiting for others: problems for an operator are reported immediately.
  const encryption = encryptionOf(settings);
  const server = connectionOptions(settings.temporal);
  const deploySettings = activitySettings(settings);
  const planner = await openPlanner(settings.yaql.helpers);
  const reader = openReader();
  const store = await openStoreWhenAvailable(settings.store.url, log, stop, {
    migrate: true,
    onCall: metrics.storeCall,
  });
  const machines = machinesOf(settings, observeMaas(metrics, traces));
  const temporal = await connectTo(settings, server, log, stop);
  const client = new Client({ connection: temporal.connection, namespace: settings.temporal.namespace, ...encryption });
  const searchAttributes = await keepSearchAttributes(temporal.connection, settings.temporal.namespace, log);
  const upkeep = new Upkeep(settings, log, { client, store, maas: machines.maas });
  const activities = createActivities({
    maas: machines.maas,
    ...upkeep.gate,
    ...given({ announceEnd: upkeep.announceEnd }),
    searchAttributes: searchAttributes.usable,
    silence: upkeep.silence,
    planner,
    ...tagsByExtensions(settings.tags.extensions, store),
    git: { ...gitOf(settings), readSite: reader.site },
    askHost: hostAsker(checkHosts(settings.checks.hosts)),
    ...noticesOf(settings),
    log: (fields, message) => log.info(fields, message),
    settings: deploySettings,
    userData: nodeUserData(settings, store, deploySettings.user_data),
    endIdentity: endsIdentities(store),
  });
  const statuses = new RunStatuses({ ...upkeep.gate, log: (fields, message) => log.warn(fields, message) });
  const options = {
    namespace: settings.temporal.namespace,
    taskQueue,
    activities,
    interceptors: { activity: [plainFailures, observeActivities(metrics, log, store), ...traceActivities(traces)] },
    sinks: { ...traceSinks(traces), ...statusSinks(statuses) },
    ...encryption,
    workflowBundle: await workflowCode(bundlePath, encryption.dataConverter),
    ...ENDING,
  } satisfies Omit<WorkerOptions, 'connection'>;
  const queues = optionsOfQueues(options, settings.worker);
  const metricsServer = await startMetricsServer(settings, metrics, log);
  const worker = await startVersioned(
    async (own) => asOne(await Promise.all(queues.map((queue) => temporal.native.createWorker({ ...queue, ...own })))),
    new WorkerVersions(client, taskQueue),
    build ?? (await buildOf(bundlePath)),
    settings.temporal.worker_versioning,
    log,
  );
  const { namespace, address } = settings.temporal;
  log.info({ taskQueue, namespace, address }, 'worker is polling');
  await upkeep.start({ ...given({ traces }), ...encryption });
  const done = worker.done.finally(async () => {
    temporal.endFollowing();
    searchAttributes.stop();
    await upkeep.stop();
    await Promise.allSettled([metricsServer?.stop(), traces?.stop()]);
    await statuses.close();
    await Promise.allSettled([planner.close(), reader.close(), machines.close(), store.close(), temporal.close()]);
  });
  return {
    done,
    async stop() {
      worker.shutDown();
      await done;
    },
  };
}

/** How a worker ends. */
const ENDING = {
  // Heartbeats are sent promptly, so that a cancellation is noticed within seconds.
  maxHeartbeatThrottleInterval: '1 second',
  // Most activities wait minutes for machines: they stop immediately and continue in the next worker.
  shutdownGraceTime: '1 second',
  // No one waits for killed activities: their state is in MAAS, and the next worker reads it.
  shutdownForceTime: '10 seconds',
} satisfies Partial<WorkerOptions>;

/** Two connections to Temporal: one of the client, one of the worker. */
async function connectTo(
  settings: Settings,
  server: ReturnType<typeof connectionOptions>,
  log: Logger,
  stop?: AbortSignal,
) {
  const { address } = settings.temporal;
  const interceptors = [repeatCalls()];
  const first = await connectWhenAvailable(() => Connection.connect({ ...server, interceptors }), address, log, stop);
  const link = new ClientLink(first, (options) => Connection.lazy({ ...options, interceptors }));
  const native = await connectWhenAvailable(() => NativeLink.connect(server), address, log, stop);
  return {
    connection: link.connection,
    native,
    endFollowing: followCredentials(settings.temporal, [link, native], log),
    close: () => Promise.allSettled([native.close(), link.connection.close()]),
  };
}

interface UpkeepParts {
  readonly client: Client;
  readonly store: Store;
  readonly maas: Machines['maas'];
}

/** What a worker does beside its queue: it closes runs that are gone, cleans machines, and serves the calls of MAAS. */
class Upkeep {
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #parts: UpkeepParts;
  readonly gate: Pick<UpkeepParts, 'store'> & ReturnType<typeof runLookups>;
  readonly announceEnd: AnnounceEnd | undefined;
  readonly #watch: WatchRun | undefined;
  readonly silence: SilenceReports;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(settings: Settings, log: Logger, parts: UpkeepParts) {
    this.#settings = settings;
    this.#log = log;
    this.#parts = parts;
    const { client, store, maas } = parts;
    this.gate = { store, ...runLookups(client) };
    this.silence = new SilenceReports({
      pulse: () => pulseOf(maas),
      send: ({ workflowId, runId }, payload) =>
        getRun(client.workflow, workflowId, runId).signal('maas_silence', payload),
    });
    const { prefix } = settings.temporal;
    const access = { client, taskQueue: ownQueue(settings.temporal), ...given({ prefix }) };
    if (!settings.notices.receivers_file) return;
    this.announceEnd = announceLostRuns(access);
    this.#watch = announceStuckSteps(access, new StepTimes(store));
  }

  async start(options: Pick<StartAgentsOptions, 'dataConverter' | 'traces'>): Promise<void> {
    const { client, store, maas } = this.#parts;
    const ask = (workflowId: string) => getRun<RunType>(client.workflow, workflowId).query('status');
    const missed = (workflowId: string, child: string) =>
      getRun<RunType>(client.workflow, workflowId).signal('child_gone', { id: child });
    const log = this.#log;
    const reconciler = startReconciler({
      ...this.gate,
      ...given({ announceEnd: this.announceEnd, watch: this.#watch }),
      ask,
      missed,
      log: (fields, message) => log.warn(fields, message),
    });
    const cleaning = keepMachinesClean({ store, maas, log: (fields, message) => log.info(fields, message) });
    const calls = await startMaasCalls(this.#settings, log, {
      ...this.gate,
      started: startedLookup(describeBy(client)),
      maas,
      silence: this.silence,
      ...options,
    });
    this.#stops.push(
      () => calls.stop().catch((error: unknown) => log.error({ error: String(error) }, 'tasks through MAAS failed')),
      () => reconciler.stop(),
      () => cleaning.stop(),
    );
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }
}

/** Runs the orchestrator worker in this process until Ctrl-C or SIGTERM. Prints a line once it polls. */
export function serveWorker(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'worker', async (log) => {
    const worker = await startOrchestrator(settings, log, { stop: terminal.interrupted() });
    return {
      done: worker.done,
      stop: () => worker.stop(),
      said: `worker ready on task queue ${ownQueue(settings.temporal)}`,
    };
  });
}
