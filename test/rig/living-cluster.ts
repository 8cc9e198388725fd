import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MaasConfigurationError, type MachineContext } from '@sitewright/maas';
import { Client } from '@temporalio/client';
import type { NodeControlActivities, NodeTaskActivities, RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { createActivities, RunStatuses, statusSinks } from '../../activities/index.ts';
import type { TaskLogs } from '../../src/agent/output/task-logs.ts';
import { plannerHere } from '../../src/clusters/planning/index.ts';
import { createOperations } from '../../src/ops/index.ts';
import { checkSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { startReconciler } from '../../src/runs/reconciler.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { controlQueue, nodeQueue } from '../../workflows/protocol.ts';
import { type ApiRig, apiOf } from '../api/api-rig.ts';
import { ACTIVITIES_ALONE, PATIENCE, type RunningWorker, type TemporalRig } from './temporal.ts';

/** Store, API on loopback, orchestrator worker: everything that runs graphs but the nodes. */
export interface LivingCluster extends ApiRig {
  readonly port: number;
  readonly worker: RunningWorker;
  /** Writes a copy of the store's database, as a backup does. */
  backUp(file: string): void;
  /** Serves queues of nodes with tasks that follow `task`; by default they succeed immediately. */
  serveNodes(site: string, nodes: readonly string[], task?: (request: RunTask) => Promise<TaskEnd>): Promise<void>;
}

const noMaas = (): MachineContext => {
  throw new MaasConfigurationError(['no MAAS here']);
};

export async function livingCluster(
  rig: TemporalRig,
  options: {
    readonly offlineWaitSeconds?: number;
    readonly heartbeatSeconds?: number;
    /** A copy of an earlier cluster's database: the store restored from a backup. */
    readonly database?: string;
    /** Where agents put what tasks print, for the API to read. */
    readonly taskLogs?: TaskLogs;
  } = {},
): Promise<LivingCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-cluster-'));
  const database = join(folder, 'store.db');
  if (options.database !== undefined) await copyFile(options.database, database);
  const store: Store = await openStore(database);
  const lookups = runLookups(rig.client);
  const statuses = new RunStatuses({ store, ...lookups });
  const worker = await rig.runWorker({
    taskQueue: rig.workflowId('queue'),
    sinks: statusSinks(statuses),
    activities: createActivities({
      planner: plannerHere(),
      store,
      maas: noMaas,
      ...lookups,
      searchAttributes: async () => (await checkSearchAttributes(rig.connection, rig.namespace)).usable,
      settings: {
        max_parallel_nodes: 64,
        master_allowed: true,
        heartbeat_seconds: options.heartbeatSeconds ?? 5,
        offline_wait_seconds: options.offlineWaitSeconds ?? 2,
      },
    }),
  });
  const reconciler = startReconciler(
    { store, ask: async () => undefined, missed: async () => undefined, ...lookups },
    { everyMs: 200 },
  );
  const connection = rig.connect();
  const client = new Client({ connection, namespace: rig.namespace });
  const { namespace, address } = rig;
  const temporal = { client, connection, namespace, taskQueue: worker.taskQueue, address, patience: PATIENCE };
  const nodes: RunningWorker[] = [];
  const api = await apiOf(
    createOperations({
      store,
      temporal,
      maas: noMaas,
      masterAllowed: true,
      temporalUiUrl: 'http://temporal.example',
      ...(options.taskLogs && { taskLogs: options.taskLogs }),
    }),
    store,
    async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await worker.stop();
      await statuses.close();
      await reconciler.stop();
      await connection.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  );
  await api.api.listen({ port: 0, host: '127.0.0.1' });
  const { port } = api.api.server.address() as AddressInfo;
  return {
    ...api,
    port,
    worker,
    backUp(file) {
      const open = new DatabaseSync(database, { readOnly: true });
      open.prepare('VACUUM INTO ?').run(file);
      open.close();
    },
    async serveNodes(site, names, task = async () => ({ outcome: 'success' })) {
      for (const node of names) {
        const queue = nodeQueue(site, node);
        const tasks: NodeTaskActivities = { run_task: task };
        const facts = { node, agent_version: 'test', boot_id: 'test', task_types: ALL_TYPES, containment: 'none' };
        const control: NodeControlActivities = {
          ping: async () => facts,
          drain: async () => ({ unfinished: [] }),
          cancel_task: async () => undefined,
        };
        nodes.push(
          await rig.runWorker({ ...SMALL, taskQueue: queue, activities: { ...tasks } }),
          await rig.runWorker({ ...SMALL, taskQueue: controlQueue(queue), activities: { ...control } }),
        );
      }
    },
  };
}

const SMALL = {
  ...ACTIVITIES_ALONE,
  maxConcurrentActivityTaskExecutions: 1,
  maxConcurrentActivityTaskPolls: 1,
};

const ALL_TYPES = ['puppet', 'shell', 'upload_file', 'upload_files', 'copy_files', 'sync', 'reboot', 'master_shell'];
