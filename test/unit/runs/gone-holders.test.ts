import { expect, it } from 'vitest';
import { claimFor, endGoneTransactions } from '../../../src/runs/gone-holders.ts';
import { describeStore } from '../store/backends.ts';
import { withNodes } from '../store/cluster-rig.ts';

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

  it('has its open transactions ended, unless their workflow runs', async () => {
    const store = await backend.fresh();
    const { cluster } = await withNodes(store, 0);
    const create = (id: string) =>
      store.transactions.createRun({
        clusterId: cluster.id,
        graphs: [{ graphType: 'default' }],
        workflowId: A.workflowId,
        temporalRunId: id,
      });
    const [{ run: kept }, { run: ended }] = [await create('open'), await create('gone')];
    await endGoneTransactions(store, async (_workflow, run) => run === 'open', cluster.id);
    expect(await store.transactions.get(kept.id)).toMatchObject({ status: 'running' });
    expect(await store.transactions.get(ended.id)).toMatchObject({
      status: 'lost',
      message: 'Its workflow ended without closing it',
    });
  });
});
