import { expect, it, vi } from 'vitest';
import { takeClaim, whileUnclaimed } from '../../../src/runs/claims.ts';
import { describeStore } from '../store/backends.ts';

const [A, B] = ['a', 'b'].map((name) => ({ workflowId: `deploy_site:${name}`, runId: name, executionId: name })) as [
  Holder,
  Holder,
];
interface Holder {
  readonly workflowId: string;
  readonly runId: string;
  readonly executionId: string;
}

const has = (isOpen: boolean) => async () => ({ isOpen, runId: 'any', children: [], errors: {} });
const [open, gone] = [has(true), has(false)];

describeStore('a holder that may be gone', (backend) => {
  const dc1 = { site: 'dc1' };

  it('keeps its claim while Temporal has its run open, and loses it after that', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    expect(await takeClaim({ store, execution: gone }, dc1, A)).toBeNull();
    expect(await takeClaim({ store, execution: open }, dc1, B)).toMatchObject(A);
    expect(await store.claims.holder(dc1)).toMatchObject(A);
    expect(await takeClaim({ store, execution: gone }, dc1, B)).toBeNull();
    expect(await store.claims.holder(dc1)).toMatchObject(B);
  });

  it('waits for a claim of seconds, and takes it from a process that died with it', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    const order: string[] = [];
    let run: Promise<unknown> | undefined;
    const take = (holder: Holder) => takeClaim({ store, execution: gone }, dc1, holder);
    const worked = await whileUnclaimed(store, dc1, async () => {
      run = take(A).then(() => order.push('run'));
      await store.claims.holder(dc1);
      order.push('work');
    });
    await run;
    expect([worked, order]).toEqual([true, ['work', 'run']]);
    expect(await whileUnclaimed(store, dc1, async () => void order.push('beside a run'))).toBe(false);
    expect(order).toHaveLength(2);

    await store.claims.release(dc1, A);
    const died = new Promise<void>(() => undefined);
    void whileUnclaimed(store, dc1, () => died);
    await expect.poll(() => store.claims.holder(dc1)).toMatchObject({ workflowId: 'tidying' });
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      run = take(B);
      await store.claims.holder(dc1);
      vi.setSystemTime(Date.now() + 60_000);
      expect(await run).toBeNull();
      expect(await store.claims.holder(dc1)).toMatchObject(B);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is not taken over by two at the same time', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    await takeClaim({ store, execution: gone }, dc1, A);
    const rivals = [1, 2, 3].map((n) => ({ workflowId: 'w', runId: `r${n}`, executionId: `r${n}` }));
    const isOpen = async (_workflow: string, run: string | null) => has(run !== A.runId)();
    const answers = await Promise.all(rivals.map((rival) => takeClaim({ store, execution: isOpen }, dc1, rival)));
    expect(answers.filter((busy) => busy === null)).toHaveLength(1);
  });
});
