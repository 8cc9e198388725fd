import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Payload } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codecOf } from '../../src/platform/codec/encrypted-data.ts';
import { addEncryptionKey } from '../../src/platform/codec/encryption-keys.ts';
import { encryptionOf } from '../../worker/parts/encryption.ts';
import { bundleOurWorkflows } from '../../worker/parts/workflow-bundle.ts';
import { scriptedGraph } from '../rig/scripted-graph.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
const folder = mkdtempSync(join(tmpdir(), 'sitewright-moved-'));
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(async () => {
  await rig?.close();
  rmSync(folder, { recursive: true });
});

it('a ciphertext that was copied into the history of another workflow is refused there', async () => {
  const { connection, namespace } = rig;
  const keys = join(folder, 'keys');
  addEncryptionKey(keys);
  const data = encryptionOf({ temporal: { encryption_key_file: keys } });
  const { codePath } = await bundleOurWorkflows({ encrypted: true });
  const taskQueue = rig.workflowId('queue');
  const task = { id: 't', node: 'n', type: 'shell' };
  const graph = scriptedGraph({
    plans: { default: { nodes: [{ id: 'n', kind: 'node' }], tasks: [task], edges: [] } },
    queueOf: () => taskQueue,
    controlOf: () => taskQueue,
  });
  await rig.runWorker({ taskQueue, activities: graph.activities(taskQueue), workflowBundle: { codePath }, ...data });
  const client = new Client({ connection, namespace, ...data });
  const [one, other] = [rig.workflowId('one'), rig.workflowId('other')];
  const first = await client.workflow.start('execute_graph', { taskQueue, workflowId: one, args: [{ cluster: 1 }] });
  expect(await first.result()).toMatchObject({ outcome: 'success' });
  const { events } = await first.fetchHistory();
  const input = events!.flatMap((event) => event.workflowExecutionStartedEventAttributes?.input?.payloads ?? []);

  const copied = async (workflowId: string, payloads: readonly Payload[]) => {
    await connection.workflowService.startWorkflowExecution({
      ...{ namespace, workflowId, requestId: workflowId },
      workflowType: { name: 'execute_graph' },
      taskQueue: { name: taskQueue },
      input: { payloads: [...payloads] },
    });
    return client.workflow.getHandle(workflowId);
  };
  // Where it comes from, it is what it was.
  expect(await (await copied(one, input)).result()).toMatchObject({ outcome: 'success' });

  const handle = await copied(other, input);
  const refusals = async () => {
    const { events: own } = await handle.fetchHistory();
    const failures = own!.flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.encodedAttributes ?? []);
    const shown = await codecOf(keys).decode(failures);
    return shown.map((failure) => Buffer.from(failure.data!).toString());
  };
  await expect.poll(refusals).toEqual([expect.stringContaining('another place')]);
  await handle.terminate();
});
