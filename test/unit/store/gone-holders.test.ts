import { expect, it } from 'vitest';
import { claimFor, endIfGone } from '../../../src/store/index.ts';
import { describeStore } from './backends.ts';
import { withNodes } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

const [A, B] = ['a', 'b'].map((name) => ({ workflowId: `deploy_site:${name}`, runId: name, executionId: name })) as [
  Holder,
  Holder,
];
interface Holder {
  readonly workflowId: string;
  readonly runId: string;
  readonly executionId: string;
}

const open = async () => true;
const gone = async () => false;

describeStore('a holder that may be gone', (backend) => {
  const dc1 = { site: 'dc1' };

  it('keeps its claim while Temporal has its run open, and loses it after that', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    expect(await claimFor(store, gone, dc1, A)).toBeNull();
    expect(await claimFor(store, open, dc1, B)).toMatchObject(A);
    expect(await store.claims.holder(dc1)).toMatchObject(A);
    expect(await claimFor(store, gone, dc1, B)).toBeNull();
    expect(await store.claims.holder(dc1)).toMatchObject(B);
  });

  it('is not taken over by two at the same time', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    await claimFor(store, gone, dc1, A);
    const rivals = [1, 2, 3].map((n) => ({ workflowId: 'w', runId: `r${n}`, executionId: `r${n}` }));
    const isOpen = async (_workflow: string, run: string | null) => run !== A.runId;
    const answers = await Promise.all(rivals.map((rival) => claimFor(store, isOpen, dc1, rival)));
    expect(answers.filter((busy) => busy === null)).toHaveLength(1);
  });

  it('ends its run of graphs, unless that is running or about to start', async () => {
    const store = await backend.fresh();
    const { cluster } = await withNodes(store, 0);
    const graphs = [{ graphType: 'default' }];
    const { run: starting } = await store.transactions.createRun({ clusterId: cluster.id, graphs });
    expect(await endIfGone(store, gone, starting.id)).toBe(false);
    await store.transactions.update(starting.id, { workflowId: A.workflowId });
    expect(await endIfGone(store, open, starting.id)).toBe(false);
    await store.transactions.update(starting.id, { temporalRunId: A.runId });
    expect(await endIfGone(store, gone, starting.id)).toBe(true);
    expect(await store.transactions.get(starting.id)).toMatchObject({ status: 'error' });
    expect(await endIfGone(store, open, starting.id)).toBe(true);
    const timeStart = new Date(Date.now() - 600_000).toISOString();
    const { run: forgotten } = await store.transactions.createRun({ clusterId: cluster.id, graphs, timeStart });
    expect(await endIfGone(store, gone, forgotten.id)).toBe(true);
    expect((await store.transactions.get(forgotten.id)).message).toBe('Its workflow was never started');
    expect(await failureOf(endIfGone(store, gone, 99))).toMatchObject({ kind: 'not-found' });
  });
});
