import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMachines } from '@sitewright/maas';
import {
  type Effect,
  type MaasVersion,
  type RequestEntry,
  type Seed,
  simulateMaas,
  simulatorKeys,
} from '@sitewright/maas-simulator';
import {
  type ActivityDependencies,
  createActivities,
  RunStatuses,
  SilenceReports,
  statusSinks,
} from '../../activities/index.ts';
import { plannerHere } from '../../src/clusters/planning/index.ts';
import { given } from '../../src/core/data/given.ts';
import { readerHere } from '../../src/ops/index.ts';
import { announceLostRuns, announceStuckSteps } from '../../src/ops/lost-run-notices.ts';
import { checkSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { startReconciler } from '../../src/runs/reconciler.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { StepTimes } from '../../src/runs/step-times.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { resolvedRevision } from './resolved-revision.ts';
import type { RunningWorker, TemporalRig } from './temporal.ts';

/** A site with everything real but the machines: store, MAAS simulator, worker. */
export interface LivingSite {
  readonly name: string;
  readonly store: Store;
  readonly storeFile: string;
  readonly maasUrl: string;
  /** Lists the receivers of notices; empty at first. Absent: there are none. */
  readonly receiversFile: string | undefined;
  readonly worker: RunningWorker;
  /** The worker's log. */
  readonly log: readonly { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];
  /** Stores documents as the next revision. */
  commit(files: readonly { name: string; text: string }[]): Promise<number>;
  /** POSTs to the simulator's controls. */
  control(path: string, body?: unknown): Promise<unknown>;
  effects(): Promise<readonly Effect[]>;
  requests(): Promise<readonly RequestEntry[]>;
  /** Times each host really entered the status. */
  entered(status: number): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** Documents of the example site, with short intervals as an operator would set for a lab. */
export async function exampleDocuments(): Promise<{ name: string; text: string }[]> {
  const folder = new URL('../../examples/stl1/', import.meta.url);
  const names = ['nodes.yaml', 'deployment-strategy.yaml', 'deployment-configuration.yaml'];
  const quick = (text: string) => text.replace(/(verify|prepare_site)_interval: \d+/g, '$1_interval: 1');
  return Promise.all(names.map(async (name) => ({ name, text: quick(await readFile(new URL(name, folder), 'utf8')) })));
}

/** The example site's hosts, as they are in MAAS. */
export const exampleHosts = ['stl1r01s02', 'stl1r01s03', 'stl1r01s04', 'stl1r01s05', 'stl1r01s06', 'stl1r01s07'];

export async function livingSite(
  rig: TemporalRig,
  options: {
    readonly seed: Seed;
    readonly auto?: Record<string, unknown>;
    readonly maasVersion?: MaasVersion;
    readonly distroSeries?: string;
    /** Default: an administrator's. */
    readonly apiKey?: string;
    /** Runs send notices, and a person other than the starter must approve them. */
    readonly notices?: boolean;
    /** After how long the silence of MAAS is reported to the run; default: not at all. */
    readonly silenceAfterMs?: number;
    /** Of each deployed node; default: none. */
    readonly userData?: (store: Store) => NonNullable<ActivityDependencies['userData']>;
    readonly endIdentity?: (store: Store) => NonNullable<ActivityDependencies['endIdentity']>;
  },
): Promise<LivingSite> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-site-'));
  const auto = { commission_ms: 20, deploy_ms: 50, erase_ms: 20, release_ms: 20, ...options.auto };
  const simulator = await simulateMaas({
    port: 0,
    seed: options.seed,
    auto,
    ...given({ version: options.maasVersion }),
  });
  const storeFile = join(folder, 'store.db');
  const store = await openStore(storeFile);
  await store.migrate();
  const name = 'stl1';
  await store.sites.create({ name });
  const machines = openMachines({
    url: simulator.url,
    apiKey: options.apiKey ?? simulatorKeys.admin,
    pollMinSeconds: 0.05,
    pollMaxSeconds: 0.5,
    patience: { retryDelaysMs: [20, 50, 100, 200], settleMs: 100, markerGraceMs: 20 },
  });
  const log: { fields: Readonly<Record<string, unknown>>; message: string }[] = [];
  const receiversFile = options.notices ? join(folder, 'notices.yaml') : undefined;
  if (receiversFile !== undefined) await writeFile(receiversFile, 'receivers: []\n', { mode: 0o600 });
  const taskQueue = rig.workflowId('queue');
  const lookups = runLookups(rig.client);
  const statuses = new RunStatuses({ store, ...lookups });
  const announceEnd = receiversFile === undefined ? undefined : announceLostRuns({ client: rig.client, taskQueue });
  const watch = announceEnd && announceStuckSteps({ client: rig.client, taskQueue }, new StepTimes(store));
  const worker = await rig.runWorker({
    taskQueue,
    sinks: statusSinks(statuses),
    maxConcurrentActivityTaskExecutions: 500,
    activities: createActivities({
      planner: plannerHere(),
      store,
      log: (fields, message) => log.push({ fields, message }),
      maas: () => machines,
      ...(options.silenceAfterMs === undefined
        ? {}
        : {
            silence: new SilenceReports({
              pulse: () => machines.client,
              send: ({ workflowId, runId }, silence) =>
                rig.client.workflow.getHandle(workflowId, runId).signal('maas_silence', silence),
              afterMs: options.silenceAfterMs,
            }),
          }),
      ...lookups,
      searchAttributes: async () => (await checkSearchAttributes(rig.connection, rig.namespace)).usable,
      git: {
        readSite: readerHere.site,
        secrets: { name: 'of the test', read: async () => ({ kind: 'absent' }) },
        limits: { allowLocal: true, hosts: [], timeoutMs: 60_000, maxBytes: 1_000_000 },
      },
      ...(receiversFile === undefined
        ? {}
        : {
            notices: { file: receiversFile, giveUpSeconds: 3600, pageUrl: 'https://page.example/' },
          }),
      ...given({ announceEnd }),
      ...(options.userData === undefined ? {} : { userData: options.userData(store) }),
      ...(options.endIdentity === undefined ? {} : { endIdentity: options.endIdentity(store) }),
      settings: {
        max_parallel_nodes: 64,
        heartbeat_seconds: 5,
        ...(options.notices ? { approved_by_another: true } : {}),
        ...(options.distroSeries ? { distro_series: options.distroSeries } : {}),
      },
    }),
  });
  const reconciler = startReconciler(
    { store, ask: async () => undefined, missed: async () => undefined, ...lookups, ...given({ announceEnd, watch }) },
    { everyMs: 200 },
  );
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${simulator.controlUrl}/${path}`)).json()) as T;
  const effects = () =>
    get<{ effects?: Effect[] } | Effect[]>('effects').then((answer) =>
      Array.isArray(answer) ? answer : (answer.effects ?? []),
    );
  return {
    name,
    store,
    storeFile,
    maasUrl: simulator.url,
    receiversFile,
    worker,
    log,
    async commit(files) {
      const { revision } = await store.sites.addRevision(name, resolvedRevision(files));
      return revision.number;
    },
    async control(path, body) {
      const answer = await fetch(`${simulator.controlUrl}/${path}`, {
        method: 'POST',
        body: body === undefined ? '' : JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
    effects,
    requests: () =>
      get<{ requests?: RequestEntry[] } | RequestEntry[]>('requests').then((answer) =>
        Array.isArray(answer) ? answer : (answer.requests ?? []),
      ),
    async entered(status) {
      const counts: Record<string, number> = {};
      for (const effect of await effects())
        if (effect.to === status && effect.from !== status)
          counts[effect.hostname] = (counts[effect.hostname] ?? 0) + 1;
      return counts;
    },
    async close() {
      await worker.stop();
      await statuses.close();
      await reconciler.stop();
      await machines.close();
      await store.close();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
