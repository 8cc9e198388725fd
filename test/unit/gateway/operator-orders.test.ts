import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphRunName } from '../../../src/core/graph-run/title.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { operatorOrders, storeControl } from '../../../worker/parts/operator-orders.ts';
import { graphWorkflowId } from '../../../workflows/protocol.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
});
afterAll(() => store.close());

let clusters = 0;
/** A run of one graph; agents know it by the graph's own transaction. */
async function runOf(id: string, workflowId: (cluster: number) => string): Promise<string> {
  const release = await store.releases.create({
    name: `r${++clusters}`,
    version: '1',
    operatingSystem: 'Ubuntu',
  } as never);
  const cluster = await store.clusters.create({ name: `c${clusters}`, releaseId: release.id } as never);
  const made = await store.transactions.createRun({
    clusterId: cluster.id,
    graphs: [{ graphType: 'default' }],
    workflowId: workflowId(cluster.id),
    temporalRunId: id,
  });
  return graphRunName(made.graphs[0]!.id, id);
}
const cancel = (run: string, actor = 'nina', reason?: string) =>
  store.audit.append({
    actor,
    action: 'run.cancel',
    target: `run/${run}`,
    ...(reason === undefined ? {} : { reason }),
  });

describe('orders of operators', () => {
  it('cancel a graph with its run, and with the run of its site', async () => {
    const { cancelled } = operatorOrders(store);
    const alone = await runOf('run-1', (cluster) => graphWorkflowId(cluster, 'x'));
    const ofSite = await runOf('run-2', (cluster) => graphWorkflowId(cluster, 'site-run'));
    expect([await cancelled(alone), await cancelled(ofSite)]).toEqual([undefined, undefined]);
    await cancel('run-1', 'nina', 'wrong release');
    expect(await cancelled(alone)).toEqual({ reason: 'wrong release', by: 'nina' });
    expect(await cancelled(ofSite)).toBeUndefined();
    await cancel('site-run', 'otto');
    expect(await cancelled(ofSite)).toEqual({ reason: 'the run was cancelled', by: 'otto' });
    for (const nothing of ['', '0', '-1', '999999', '1; drop', '9'.repeat(40)])
      expect(await cancelled(nothing)).toBeUndefined();
  });

  it('to drain are for a node, and valid for a quarter of an hour', async () => {
    const { drained } = operatorOrders(store);
    const { id, at } = await store.audit.append({ actor: 'nina', action: 'agent.drain', target: 'node/dc1/n1' });
    expect(await drained('dc1', 'n1')).toEqual({ id, reason: 'the agent is drained', by: 'nina' });
    expect(await drained('dc1', 'n2')).toBeUndefined();
    const later = (minutes: number) => new Date(Date.parse(at) + minutes * 60_000);
    expect(await drained('dc1', 'n1', later(15))).toMatchObject({ id });
    expect(await drained('dc1', 'n1', later(15.1))).toBeUndefined();
  });

  it('are read by agents with access to the store', async () => {
    const judge = storeControl(store);
    const run = await runOf('run-3', (cluster) => graphWorkflowId(cluster, 'y'));
    const key = { run, task: 'db', node: 'n7', generation: 1 };
    expect(await judge.cancelled(key)).toEqual({ reason: 'the run requested it' });
    await cancel('run-3', 'nina', 'enough');
    expect(await judge.cancelled(key)).toEqual({ reason: 'enough', by: 'nina' });
    expect(await judge.drained('n7', 'p1')).toMatchObject({ reason: expect.any(String) });
  });
});
