import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTemporal } from '../../src/ops/temporal-calls.ts';
import { waitingRuns } from '../../src/ops/waiting-runs.ts';
import { EncryptionCodec } from '../../src/platform/codec/encryption-codec.ts';
import { findExecution } from '../../src/runs/find-execution.ts';
import { findEnd } from '../../src/runs/run-lookups.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
});
afterAll(() => rig.close());

it('a run whose memo this process cannot decode is listed and looked up like any other, without its title', async () => {
  const { connection, namespace } = rig;
  const withKey = (id: string): Client => {
    const codec = new EncryptionCodec({ current: id, keys: new Map([[id, randomBytes(32)]]) });
    return new Client({ connection, namespace, dataConverter: { payloadCodecs: [codec] } });
  };
  const clients = { plain: new Client({ connection, namespace }), one: withKey('one'), other: withKey('other') };
  const ids = new Map<string, string>();
  for (const [name, client] of Object.entries(clients)) {
    const { firstExecutionRunId } = await client.workflow.start('execute_graph', {
      taskQueue: 'nobody',
      workflowId: `execute_graph:${name}`,
      args: [{ cluster: 1 }],
      memo: { title: `of ${name}` },
    });
    ids.set(name, firstExecutionRunId);
  }
  for (const [reader, client] of Object.entries(clients)) {
    const runs = waitingRuns({ client, taskQueue: 'nobody' });
    const titles = async () =>
      Object.fromEntries(
        (await runs.list({}, async () => new Set())).map(({ workflowId, title }) => [workflowId, title]),
      );
    await expect
      .poll(titles)
      .toEqual(
        Object.fromEntries(
          [...ids.keys()].map((name) => [
            `execute_graph:${name}`,
            name === reader || name === 'plain' ? `of ${name}` : null,
          ]),
        ),
      );
    for (const [name, id] of ids) {
      expect(await runs.find(id)).toMatchObject({ id, workflowId: `execute_graph:${name}` });
      expect(await findExecution(client, `execute_graph:${name}`, id)).toMatchObject({ runId: id, isOpen: true });
    }
  }
  const { address } = rig;
  const look = () => clients.other.workflow.getHandle('execute_graph:one').describe();
  await expect(callTemporal({ address, connection, namespace }, look)).rejects.toMatchObject({
    problem: { code: 'undecodable', message: expect.stringContaining('encrypted with the key one, which is not in') },
  });
  // Nor does an ended one keep others from being closed.
  await clients.one.workflow.getHandle('execute_graph:one').terminate('by hand');
  expect(await findEnd(clients.other, 'execute_graph:one', ids.get('one')!)).toMatchObject({ outcome: 'terminated' });
});
