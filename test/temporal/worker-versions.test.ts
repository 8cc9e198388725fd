import type { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { WorkerVersions } from '../../src/platform/temporal/worker-versions.ts';
import { startVersioned } from '../../worker/parts/worker-version.ts';
import { isServerBefore, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';

/*
 * Versions of workers on a server without them, or without permission for us. With them: test/e2e/living-system.test.ts, and
 * `npm run upgrade:test`.
 */
let rig: TemporalRig;
let native: NativeConnection;
let codePath = '';
const lines: string[] = [];
const log = createLogger({ level: 'info', format: 'json' }, 'test', (line) => lines.push(line));

beforeAll(async () => {
  rig = await temporalRig();
  native = await NativeConnection.connect({ address: rig.address });
  codePath = (await bundleTestWorkflows('test/rig/workflows/sleeper.ts')).codePath;
});
afterAll(async () => {
  await native?.close();
  await rig?.close();
});

/** As a server whose authorizer refuses these calls. */
const refusing = (client: Client, ...calls: readonly string[]): Client =>
  Object.create(client, {
    workflowService: {
      value: new Proxy(client.workflowService, {
        get: (service, name) =>
          calls.includes(String(name))
            ? () => Promise.reject(Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), { code: 7 }))
            : Reflect.get(service, name),
      }),
    },
  });

function start(taskQueue: string, mode: Settings['temporal']['worker_versioning'], client = rig.client) {
  const options: WorkerOptions = {
    connection: native,
    taskQueue,
    workflowBundle: { codePath },
    reuseV8Context: true,
    debugMode: true,
  };
  lines.length = 0;
  const create = (own: Partial<WorkerOptions>) => Worker.create({ ...options, ...own });
  return startVersioned(create, new WorkerVersions(client, taskQueue), '1.0.0+test', mode, log);
}

const sleep = (taskQueue: string, hours: number) =>
  rig.client.workflow.start('sleeper', { taskQueue, workflowId: rig.workflowId('sleeper'), args: [hours] });

it('runs continue without versions on a server that has only a preview of them', async () => {
  const old = Object.create(rig.client, {
    workflowService: {
      value: new Proxy(rig.client.workflowService, {
        get: (service, name) =>
          name === 'getSystemInfo' ? () => Promise.resolve({ serverVersion: '1.27.3' }) : Reflect.get(service, name),
      }),
    },
  }) as Client;
  const taskQueue = `${rig.taskQueue}.preview`;
  const worker = await start(taskQueue, 'auto', old);
  expect(lines.join('')).toContain('has only a preview of worker versions');
  expect(await (await sleep(taskQueue, 0)).result()).toBe('slept 0 h');
  worker.shutDown();
  await worker.done;
});

/** Of a server that routes by version; those before have another test. */
const isPreview = isServerBefore('1.28.0');

it.skipIf(isPreview).each([
  ['that offers no versions', 'describeWorkerDeployment', 'does not support worker versions'],
  [
    'that does not let a worker take runs over',
    'setWorkerDeploymentCurrentVersion',
    'does not route new runs to this worker',
  ],
])('runs continue without versions on a server %s', async (_which, call, why) => {
  const taskQueue = `${rig.taskQueue}.${call}`;
  const worker = await start(taskQueue, 'auto', refusing(rig.client, call));
  expect(lines.join('')).toContain(why);
  const run = await sleep(taskQueue, 0);
  expect(await run.result()).toBe('slept 0 h');
  expect((await run.describe()).raw.workflowExecutionInfo?.versioningInfo?.behavior ?? 0).toBe(0);
  worker.shutDown();
  await worker.done;
});

it.skipIf(isPreview)('runs of workers with versions continue with workers without them', async () => {
  const taskQueue = `${rig.taskQueue}.off`;
  const versioned = await start(taskQueue, 'auto');
  const open = await sleep(taskQueue, 1);
  const pinned = async () => (await open.describe()).raw.workflowExecutionInfo?.versioningInfo;
  await expect.poll(async () => (await pinned())?.deploymentVersion?.buildId).toBe('1.0.0+test');
  versioned.shutDown();
  await versioned.done;

  const without = await start(taskQueue, 'off');
  expect(await (await sleep(taskQueue, 0)).result()).toBe('slept 0 h');
  expect((await pinned())?.versioningOverride?.autoUpgrade).toBe(true);
  await open.terminate();
  without.shutDown();
  await without.done;
});
