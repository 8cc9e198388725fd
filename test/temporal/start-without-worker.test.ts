import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MaasConfigurationError } from '@sitewright/maas';
import type { WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createActivities, RunStatuses, statusSinks } from '../../activities/index.ts';
import { plannerHere } from '../../src/clusters/planning/index.ts';
import { createOperations } from '../../src/ops/index.ts';
import { checkSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { openStore } from '../../src/store/index.ts';
import { type ApiRig, apiOf } from '../api/api-rig.ts';
import { environment } from '../api/fuel-graphs-rig.ts';
import { lookUntil } from '../rig/look-again.ts';
import { type RunningWorker, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
let system: ApiRig;
/** Serves the queue from then on. */
let startWorker: (options?: Partial<WorkerOptions>) => Promise<RunningWorker>;

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-start-'));
  const store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  const { address, namespace, client } = rig;
  const connection = rig.connect();
  const temporal = { client, connection, namespace, address, taskQueue: rig.workflowId('queue') };
  const maas = () => {
    throw new MaasConfigurationError(['this test has no MAAS']);
  };
  startWorker = (options = {}) =>
    rig.runWorker({
      ...options,
      taskQueue: temporal.taskQueue,
      sinks: statusSinks(new RunStatuses({ store, ...runLookups(client) })),
      activities: createActivities({
        planner: plannerHere(),
        store,
        maas,
        ...runLookups(client),
        searchAttributes: async () => (await checkSearchAttributes(rig.connection, namespace)).usable,
        settings: { max_parallel_nodes: 64, heartbeat_seconds: 5, offline_wait_seconds: 2 },
      }),
    });
  system = await apiOf(createOperations({ store, temporal, maas }), store, async () => {
    await connection.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
});
afterAll(async () => {
  await rig.close();
  await system.close();
});

const api = '/api/v1';
const ask: ApiRig['ask'] = (...given) => system.ask(...given);
const run = async (id: string) => (await ask('GET', `${api}/runs/${id}`)).body;

it('runs are accepted without a worker, listed as waiting, and opened or refused by the first worker', async () => {
  const env = await environment(system.store, 'env');
  await system.store.graphs.put({ kind: 'cluster', id: env.cluster }, 'custom', {
    tasks: [{ id: 'a', type: 'shell', role: ['controller'], parameters: { cmd: 'true' } }],
  });
  await system.store.sites.create({ name: 'dc1' });

  const graph = await ask('POST', `${api}/graphs/execute/`, {
    ...{ cluster: env.cluster, graphs: [{ type: 'custom' }], dry_run: true },
  });
  expect(graph).toMatchObject({ status: 202, body: { id: null, status: 'pending', cluster: env.cluster } });
  // It has no documents: a worker refuses it.
  const site = await ask('POST', `${api}/sites/dc1/runs`, { kind: 'deploy_site', started_by: 'nina' });
  expect(site).toMatchObject({ status: 202, body: { phase: 'waiting', outcome: null, site: 'dc1' } });
  // At once: Temporal's lists learn of it later.
  expect(await ask('GET', `${api}/runs/${site.body.id}`)).toMatchObject({ status: 200, body: { phase: 'waiting' } });

  // A namespace may have other people's runs.
  await rig.client.workflow.start('test_site', {
    ...{ taskQueue: rig.workflowId('others'), workflowId: 'test_site:elsewhere', args: [{ site: 'elsewhere' }] },
  });
  const listed = await lookUntil(
    async () => (await ask('GET', `${api}/runs?open=true`)).body.items,
    (items: readonly { id: string; phase: string }[]) => items.length === 2,
  );
  expect(listed.map(({ id, phase }) => [id, phase]).sort()).toEqual(
    [
      [graph.body.run, 'waiting'],
      [site.body.id, 'waiting'],
    ].sort(),
  );
  expect(await run(site.body.id)).toMatchObject({ phase: 'waiting', started_by: 'nina' });
  expect((await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body).toEqual([]);
  expect((await ask('GET', `${api}/runs?cluster=${env.cluster}`)).body.items).toMatchObject([
    { id: graph.body.run, cluster: env.cluster, labels: { cluster: String(env.cluster) } },
  ]);
  const other = await environment(system.store, 'other');
  const stopped = await ask('POST', `${api}/graphs/execute/`, {
    cluster: other.cluster,
    graphs: [{ type: 'default' }],
  });
  await lookUntil(
    async () => (await ask('GET', `${api}/runs?cluster=${other.cluster}`)).body.items,
    (items: readonly unknown[]) => items.length === 1,
  );
  expect(await ask('PUT', `${api}/clusters/${other.cluster}/stop_deployment`)).toMatchObject({
    status: 202,
    body: { message: `run ${stopped.body.run} is stopping: running work finishes, nothing new starts` },
  });

  const worker = await startWorker();
  const opened = await lookUntil(
    () => run(graph.body.run),
    ({ outcome }) => outcome !== null,
  );
  expect(opened).toMatchObject({ outcome: 'success', labels: { cluster: String(env.cluster) } });
  expect((await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body).toMatchObject([
    { name: 'deploy', status: 'ready', run: graph.body.run },
    { graph_type: 'custom', status: 'ready' },
  ]);
  // Its caller already has an answer: the list of runs shows why it did not start.
  const refused = await lookUntil(
    () => run(site.body.id),
    ({ outcome }) => outcome !== null,
  );
  expect(refused).toMatchObject({
    outcome: 'failed',
    failure: expect.stringContaining('site dc1 has no revision latest'),
  });
  await worker.stop();
});

it('a start waits for the worker that has taken it, however busy that is', async () => {
  const env = await environment(system.store, 'busy');
  await system.store.graphs.put({ kind: 'cluster', id: env.cluster }, 'custom', {
    tasks: [{ id: 'a', type: 'shell', role: ['controller'], parameters: { cmd: 'true' } }],
  });
  await system.store.sites.create({ name: 'dc3' });
  // Longer than a start without a worker waits.
  const decode = async <T>(payloads: T) => delay(2_500, payloads);
  const busy = await startWorker({ dataConverter: { payloadCodecs: [{ encode: async (it) => it, decode }] } });
  const [graph, site] = await Promise.all([
    ask('POST', `${api}/graphs/execute/`, {
      cluster: env.cluster,
      graphs: [{ type: 'custom' }],
      dry_run: true,
    }),
    ask('POST', `${api}/sites/dc3/runs`, { kind: 'test_site' }),
  ]);
  expect(graph).toMatchObject({ status: 202, body: { id: expect.any(Number), cluster: env.cluster } });
  expect(site).toMatchObject({ status: 404 });
  expect((await ask('GET', `${api}/runs?site=dc3`)).body.items).toEqual([]);
  await busy.stop();
  await startWorker();
});

it('a run that a worker refuses while its caller waits leaves no trace', async () => {
  await system.store.sites.create({ name: 'dc2' });
  expect(await ask('POST', `${api}/sites/dc2/runs`, { kind: 'test_site' })).toMatchObject({ status: 404 });
  expect((await ask('GET', `${api}/runs?site=dc2`)).body.items).toEqual([]);
});
