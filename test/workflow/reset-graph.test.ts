import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { recordHistory } from '../rig/histories.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { lookAgain } from '../rig/look-again.ts';
import { beforeFirst, resetRun } from '../rig/reset-run.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
let system: LivingCluster;
let env: Environment;

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
});
beforeEach(async () => {
  system = await livingCluster(rig, { offlineWaitSeconds: 60 });
  await system.store.migrate();
  env = await environment(system.store, 'env');
});
afterEach(() => system.close());
afterAll(() => rig.close());

const api = '/api/v1';
const TASKS = [{ id: 'first', type: 'shell', version: '2.1.0', role: ['controller'], parameters: { cmd: 'true' } }];

async function begin(task: (request: RunTask) => Promise<TaskEnd>) {
  await system.serveNodes(`cluster-${env.cluster}`, env.nodes.map(String), task);
  await system.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, { tasks: TASKS });
  const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
    cluster: env.cluster,
    graphs: [{ type: 'custom' }],
  });
  return { id: body.id as number, run: body.run as string, workflowId: body.workflow_id as string };
}

const resetTo = (workflowId: string, runId: string, activity: string) =>
  resetRun(rig, { workflowId, runId }, beforeFirst(activity));

const runOf = async (run: string) => (await system.ask('GET', `${api}/runs/${run}`)).body;

it.each(['open_graph_run', 'plan_graph', 'run_task'])(
  'an open run of graphs continues after a reset to before %s, and its result notes that',
  async (activity) => {
    const asked: RunTask[] = [];
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { id, run, workflowId } = await begin(async (request) => {
      asked.push(request);
      await gate;
      return { outcome: 'success' };
    });
    while (asked.length === 0) await lookAgain();
    const again = await resetTo(workflowId, run, activity);
    // Seen before the reset run has shown itself to the store: it must not count as terminated.
    expect(await runOf(run)).toMatchObject({ outcome: null });
    // Commands find the new execution by the run's id.
    const asUser = (action: string) => system.ask('POST', `${api}/runs/${run}/${action}`, { reason: 'tests' });
    expect(await asUser('pause')).toMatchObject({ status: 200, body: { paused: { reason: 'tests' } } });
    expect(await asUser('resume')).toMatchObject({ status: 200, body: { paused: null } });
    finish();
    expect(await again.result()).toMatchObject({ outcome: 'success', transaction: id });
    expect(await runOf(run)).toMatchObject({ outcome: 'success' });
    expect((await system.ask('GET', `${api}/runs/${run}/report`)).body).toMatchObject({
      outcome: 'success',
      run_id: run,
    });
    expect((await system.ask('GET', `${api}/transactions/${id}`)).body).toMatchObject({
      status: 'ready',
      progress: 100,
    });
    expect(new Set(asked.map(({ run, task, node, generation }) => `${run} ${task} ${node} ${generation}`)).size).toBe(
      1,
    );
    expect(await system.store.claims.holder({ cluster: env.cluster })).toBeNull();
    if (activity === 'run_task') await recordHistory(again, 'execute_graph--reset');
  },
);

it.each([
  ['plan_graph', 'as long as no other run has had its cluster'],
  ['open_graph_run', 'also after another run has had its cluster'],
])('a run of graphs that was recorded as terminated continues after a reset to before %s, %s', async (to) => {
  let started = false;
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { id, run, workflowId } = await begin(async () => {
    started = true;
    await gate;
    return { outcome: 'success' };
  });
  while (!started) await lookAgain();
  await rig.client.workflow.getHandle(workflowId, run).terminate('tests');
  expect(await runOf(run)).toMatchObject({ outcome: 'terminated' });
  // The reconciler writes what the run is shown as: nobody who looks does.
  const transaction = async () => (await system.ask('GET', `${api}/transactions/${id}`)).body;
  while ((await transaction()).status === 'running') await lookAgain();
  expect(await transaction()).toMatchObject({ status: 'error' });
  finish();
  if (to === 'open_graph_run') {
    const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
      cluster: env.cluster,
      graphs: [{ type: 'custom' }],
    });
    await rig.client.workflow.getHandle(body.workflow_id as string, body.run as string).result();
    await expect((await resetTo(workflowId, run, 'plan_graph')).result()).rejects.toMatchObject({
      cause: { type: 'ClaimLost', message: expect.stringContaining('no run holds it') as string },
    });
  }
  const again = await resetTo(workflowId, run, to);
  expect(await again.result()).toMatchObject({ outcome: 'success', transaction: id });
  expect(await runOf(run)).toMatchObject({ outcome: 'success' });
  expect((await system.ask('GET', `${api}/runs/${run}/report`)).body).toMatchObject({
    outcome: 'success',
    run_id: run,
  });
  expect((await system.ask('GET', `${api}/transactions/${id}`)).body).toMatchObject({ status: 'ready', progress: 100 });
});

it.each(['open_graph_run', 'plan_graph', 'close_graph_run'])(
  'a run of graphs that has ended is not reset to before %s',
  async (activity) => {
    const { run, workflowId } = await begin(async () => ({ outcome: 'success' }));
    await rig.client.workflow.getHandle(workflowId, run).result();
    const before = [await system.store.runs.get(run), await system.store.runs.getReport(run)];
    const again = await resetTo(workflowId, run, activity);
    await expect(again.result()).rejects.toMatchObject({ cause: { type: 'ClaimLost' } });
    expect([await system.store.runs.get(run), await system.store.runs.getReport(run)]).toEqual(before);
    expect(await system.store.claims.holder({ cluster: env.cluster })).toBeNull();
  },
);

onServer('a search attribute of another type is not set, and the others are', async () => {
  const { operatorService } = rig.connection;
  await operatorService.removeSearchAttributes({ namespace: rig.namespace, searchAttributes: ['RunPhase'] });
  await operatorService.addSearchAttributes({ namespace: rig.namespace, searchAttributes: { RunPhase: 3 } });
  const { run, workflowId } = await begin(async () => ({ outcome: 'success' }));
  const handle = rig.client.workflow.getHandle(workflowId, run);
  expect(await handle.result()).toMatchObject({ outcome: 'success' });
  const names = (await handle.describe()).typedSearchAttributes.getAll().map(({ key }) => key.name);
  expect(names).toContain('GraphType');
  expect(names).not.toContain('RunPhase');
});
