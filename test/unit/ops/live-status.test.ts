import { describe, expect, it } from 'vitest';
import { liveStatuses } from '../../../src/ops/live-status.ts';
import type { AnyRunStatus } from '../../../src/ops/workflow-calls.ts';
import type { FoundExecution } from '../../../src/platform/temporal/is-run-open.ts';
import type { RunSummary } from '../../../src/store/index.ts';
import { lookUntil } from '../../rig/look-again.ts';

const run = { id: 'r', workflowId: 'execute_graph:1:1' } as RunSummary;
const having = (done: number) => ({ cluster: 1, done }) as unknown as AnyRunStatus;
const execution: FoundExecution = { runId: 'x', isOpen: true, children: [], activities: [], events: 40, inTurn: false };

/** A run that answers when the test tells it to. Each event of `requests` is an operator's request. */
function busyRun(requests: readonly number[] = []) {
  const waiting: ((status: AnyRunStatus | Error) => void)[] = [];
  const looked: FoundExecution[] = [];
  const turns: boolean[] = [];
  const read: number[] = [];
  const statuses = liveStatuses({
    ask: () =>
      new Promise((resolve, reject) => waiting.push((said) => (said instanceof Error ? reject(said) : resolve(said)))),
    async execution() {
      const now = { ...execution, events: 50, inTurn: turns.shift() ?? false };
      looked.push(now);
      return now;
    },
    async requestedSince(_run, { events }, from) {
      read.push(from);
      return requests.some((event) => event > from && event <= events);
    },
  });
  return {
    statuses,
    looked,
    turns,
    read,
    answer: (said: AnyRunStatus | Error) => waiting.shift()?.(said),
    /** It was asked once, and answered immediately. */
    async said(status: AnyRunStatus) {
      const asked = statuses.of(run, { execution });
      waiting.shift()?.(status);
      return asked;
    },
  };
}

describe('the status of an open run', () => {
  it('is the immediate answer of the run', async () => {
    const { said } = busyRun();
    expect(await said(having(3))).toEqual(having(3));
  });

  it('is the last answer with its time while the run is busy', async () => {
    const { statuses, said } = busyRun();
    await said(having(3));
    const status = await statuses.of(run, { execution });
    expect(status).toEqual({ ...having(3), as_of: expect.any(String) });
    expect(Date.now() - Date.parse(status.as_of ?? '')).toBeLessThan(10_000);
  });

  it('is the newest answer: a late one serves the next request', async () => {
    const { statuses, said, answer } = busyRun();
    await said(having(3));
    await statuses.of(run, { execution });
    answer(having(7));
    expect(await statuses.of(run, { execution })).toMatchObject({ done: 7 });
  });

  it('is never from before the request of an operator', async () => {
    const { statuses, said, answer, read } = busyRun([45]);
    await said(having(3));
    const asked = statuses.of(run, { execution: { ...execution, events: 48 } });
    let early: unknown;
    void asked.then((status) => (early = status));
    await lookUntil(
      async () => read,
      (from) => from.includes(40),
    );
    expect(early).toBeUndefined();
    answer(having(4));
    expect(await asked).toEqual(having(4));
    // This one knows of the request.
    expect(await statuses.of(run, { execution: { ...execution, events: 49 } })).toMatchObject({ done: 4 });
  });

  it('waits for the end of a workflow task, during which requests do not reach the history', async () => {
    const { statuses, said, looked, turns } = busyRun();
    await said(having(3));
    turns.push(true, false);
    expect(await statuses.of(run, { execution: { ...execution, inTurn: true } })).toMatchObject({ done: 3 });
    expect(looked.map(({ inTurn }) => inTurn)).toEqual([true, false]);
  });

  it.each([
    ['of another execution', { runId: 'of-a-reset' }],
    ['of a run that has ended since', { isOpen: false }],
  ])('is not the last answer %s', async (_what, changed) => {
    const { statuses, said, answer } = busyRun();
    await said(having(3));
    const asked = statuses.of(run, { execution: { ...execution, ...changed } });
    answer(new Error('no worker answers'));
    await expect(asked).rejects.toThrow('no worker answers');
  });

  it('is not cached by a list, but used for one', async () => {
    const { statuses, said, looked } = busyRun();
    await said(having(3));
    expect(await statuses.of(run, { limitMs: 900 })).toMatchObject({ done: 3 });
    expect(looked).toHaveLength(1);
  });
});
