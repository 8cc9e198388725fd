import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOperations } from '../../src/ops/index.js';
import { openStore } from '../../src/store/index.js';
import { lazyConnection } from '../../worker/lazy-connection.js';
import { lookUntil } from '../rig/look-again.js';
import { type TemporalRig, temporalRig } from '../rig/temporal.js';
import { type ApiRig, apiOf } from './api-rig.js';

let rig: TemporalRig;
let api: ApiRig;
beforeAll(async () => {
  rig = await temporalRig();
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-api-'));
  const store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  const { address, namespace, client } = rig;
  const connection = lazyConnection(address);
  const temporal = { client, connection, namespace, address, taskQueue: rig.taskQueue };
  const maas = () => {
    throw new Error('this test has no MAAS');
  };
  api = await apiOf(createOperations({ store, temporal, maas }), store, async () => {
    await connection.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
});
afterAll(async () => {
  await api.close();
  await rig.close();
});

it('a run whose workflow task fails on every worker says so, with the error and the way out', async () => {
  const workflowsPath = fileURLToPath(new URL('../rig/workflows/no-worker-can-continue.ts', import.meta.url));
  const { taskQueue } = await rig.runWorker({ workflowsPath, taskQueue: rig.workflowId('broken') });
  const workflowId = rig.workflowId('deploy_site');
  const handle = await rig.client.workflow.start('deploy_site', { taskQueue, workflowId, args: [{ site: 'dc1' }] });
  const id = handle.firstExecutionRunId;
  await api.store.sites.create({ name: 'dc1' });
  await api.store.runs.put({
    ...{ id, sequence: 0, workflowId, temporalRunId: id, kind: 'deploy_site', site: 'dc1', phase: 'starting' },
    ...{ startedAt: new Date().toISOString(), parameters: {} },
  });
  await lookUntil(
    async () => (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 1,
    (attempt) => attempt > 1,
  );
  for (const [method, path, body] of [
    ['GET', 'status', undefined],
    ['POST', 'pause', {}],
  ] as const) {
    const { status, body: answer } = await api.ask(method, `/api/v1/runs/${id}/${path}`, body);
    expect([path, status, answer.code]).toEqual([path, 503, 'workflow-task-failing']);
    expect(answer.detail).toMatch(/its workflow task has failed \d+ times.*Cannot read properties of undefined/);
    expect(answer.hint).toContain(`temporal workflow terminate --workflow-id '${workflowId}'`);
  }
});
