import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOperations } from '../../src/ops/index.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { WorkerVersions } from '../../src/platform/temporal/worker-versions.ts';
import { openStore } from '../../src/store/index.ts';
import { startVersioned } from '../../worker/parts/worker-version.ts';
import { type ApiRig, apiOf } from '../api/api-rig.ts';
import { lookUntil } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
let api: ApiRig;
beforeAll(async () => {
  rig = await temporalRig();
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-api-'));
  const store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  await store.sites.create({ name: 'dc1' });
  const { address, namespace, client } = rig;
  const connection = rig.connect();
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

async function stored(id: string, workflowId: string): Promise<void> {
  await api.store.runs.put({
    ...{ id, sequence: 0, workflowId, temporalRunId: id, kind: 'deploy_site', site: 'dc1', phase: 'starting' },
    ...{ startedAt: new Date().toISOString(), parameters: {} },
  });
}

it('a run whose workflow task fails on every worker reports the error and the way out', async () => {
  const workflowsPath = fileURLToPath(new URL('../rig/workflows/no-worker-can-continue.ts', import.meta.url));
  const { taskQueue } = await rig.runWorker({ workflowsPath, taskQueue: rig.workflowId('broken') });
  const workflowId = rig.workflowId('deploy_site');
  const handle = await rig.client.workflow.start('deploy_site', { taskQueue, workflowId, args: [{ site: 'dc1' }] });
  const id = handle.firstExecutionRunId;
  await stored(id, workflowId);
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

it('a run whose version has no worker reports the missing version, and how to move it to a running one', async () => {
  const { codePath } = await bundleTestWorkflows('test/rig/workflows/sleeper.ts');
  const native = await NativeConnection.connect({ address: rig.address });
  const options = { connection: native, taskQueue: rig.taskQueue, workflowBundle: { codePath }, reuseV8Context: true };
  const log = createLogger({ level: 'error', format: 'json' }, 'test');
  const start = (version: string) => {
    const create = (own: Partial<WorkerOptions>) => Worker.create({ ...options, debugMode: true, ...own });
    return startVersioned(create, new WorkerVersions(rig.client, rig.taskQueue), version, 'auto', log);
  };
  const first = await start('1.0.0+old');
  const workflowId = rig.workflowId('sleeper');
  const handle = await rig.client.workflow.start('sleeper', { taskQueue: rig.taskQueue, workflowId, args: [1] });
  const id = handle.firstExecutionRunId;
  await stored(id, workflowId);
  const pinned = async () => (await handle.describe()).raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion;
  await expect.poll(async () => (await pinned())?.buildId).toBe('1.0.0+old');
  first.shutDown();
  await first.done;
  const second = await start('2.0.0+new');
  const { status, body: answer } = await api.ask('GET', `/api/v1/runs/${id}/status`);
  expect([status, answer.code]).toEqual([503, 'worker-unavailable']);
  expect(answer.detail).toMatch(/needs a worker of version 1\.0\.0\+old.*new runs go to 2\.0\.0\+new/);
  expect(answer.hint).toContain('sitewright worker drain 1.0.0+old --move');
  second.shutDown();
  await second.done;
  await native.close();
  await handle.terminate();
});
