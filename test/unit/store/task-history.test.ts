import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HistoryWrite } from '../../../src/store/index.ts';
import { endStoredRun } from '../../rig/ended-run.ts';
import { describeStore } from './backends.ts';
import { withCluster, withRun } from './cluster-rig.ts';
import { failureOf } from './failures.ts';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:01:00.000Z';

describeStore('TaskHistoryStore', (backend) => {
  const planned = async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { run, graph } = await withRun(store, cluster.id);
    await store.taskHistory.plan(graph.id, [
      { node: '10', task: 'b' },
      { node: '2', task: 'a', custom: { group: 'x' } },
      { node: 'null', task: 'stage', status: 'skipped' },
    ]);
    return { store, cluster, run, graph: graph.id, history: store.taskHistory };
  };

  it('lists in the order of the plan, and filters', async () => {
    const { history, graph } = await planned();
    const shown = async (filter = {}) => (await history.list(graph, filter)).map(({ task, node }) => `${task}@${node}`);
    expect(await shown()).toEqual(['b@10', 'a@2', 'stage@null']);
    expect((await history.list(graph)).map(({ status }) => status)).toEqual(['waiting', 'waiting', 'skipped']);
    expect(await shown({ nodes: ['2'] })).toEqual(['a@2']);
    expect(await shown({ tasks: ['b', 'a'], nodes: ['10', 'null'] })).toEqual(['b@10']);
    const many = Array.from({ length: 40 }, (_, at) => `none-${at}`);
    expect(await shown({ tasks: [...many, 'a', 'b'], statuses: ['waiting'] })).toEqual(['b@10', 'a@2']);
    expect(await history.taskNames(graph)).toEqual(['a', 'b', 'stage']);
    expect(await shown({ statuses: ['waiting'] })).toEqual(['b@10', 'a@2']);
    expect(await shown({ statuses: [] })).toEqual([]);
    expect(await history.count(graph)).toEqual({ waiting: 2, skipped: 1 });
    expect(await history.count(graph, { nodes: ['2'] })).toEqual({ waiting: 1 });
    expect(await history.countByNode(graph)).toEqual({
      10: { waiting: 1 },
      2: { waiting: 1 },
      null: { skipped: 1 },
    });
    expect(await history.countByNode(graph, { nodes: ['2', '7'] })).toEqual({ 2: { waiting: 1 } });
    expect(await history.countByTask(graph)).toMatchObject({ a: expect.any(Object), b: { waiting: 1 } });
    expect(await failureOf(history.list(99))).toMatchObject({ kind: 'not-found', what: 'transaction' });
  });

  it('replans without changing running tasks', async () => {
    const { history, graph } = await planned();
    await history.record(graph, [{ node: '2', task: 'a', status: 'running', attempt: 1, sequence: 1, timeStart: AT }]);
    await history.plan(graph, [{ node: '2', task: 'a' }]);
    expect(await history.list(graph, { nodes: ['2'] })).toMatchObject([
      { status: 'running', attempts: 1, timeStart: AT, custom: { group: 'x' } },
    ]);
  });

  it('handles late and repeated writes', async () => {
    const { history, graph } = await planned();
    const of = { node: '2', task: 'a' };
    const end: HistoryWrite = {
      ...of,
      status: 'failed',
      attempt: 1,
      sequence: 5,
      timeEnd: LATER,
      message: 'exit 1',
      summary: { a: 1 },
    };
    const row = async () => (await history.list(graph, { nodes: ['2'] }))[0];
    await history.record(graph, [end]);
    await history.record(graph, [{ ...of, status: 'running', attempt: 1, sequence: 2, timeStart: AT, message: 'go' }]);
    const after = { status: 'failed', timeStart: AT, timeEnd: LATER, message: 'exit 1' };
    expect(await row()).toMatchObject({ ...after, summary: { a: 1 } });
    await history.record(graph, [end, end]);
    expect(await row()).toMatchObject(after);
    await history.record(graph, [{ ...of, status: 'running', attempt: 2, sequence: 6, timeStart: LATER }]);
    const second = { status: 'running', attempts: 2, timeStart: LATER, timeEnd: null, message: null, summary: null };
    expect(await row()).toMatchObject({ ...second, custom: { group: 'x' } });
    await history.record(graph, [{ ...end, sequence: 4 }]);
    expect(await row()).toMatchObject(second);
    // A reset took the second attempt back.
    await history.record(graph, [{ ...of, status: 'success', attempt: 1, sequence: 9, timeEnd: LATER }]);
    expect(await row()).toMatchObject({ status: 'success', attempts: 1, timeStart: null, message: null });
    await history.record(graph, [
      { node: 'new', task: 'n', status: 'blocked', attempt: 0, sequence: 1, rootCause: { task: 'a', node: '2' } },
    ]);
    expect((await history.list(graph)).at(-1)).toMatchObject({
      node: 'new',
      status: 'blocked',
      rootCause: { task: 'a', node: '2' },
    });
  });

  it('gives the same result in any batches, with any repetitions', async () => {
    const store = await backend.fresh();
    const { cluster } = await withCluster(store);
    const { graph } = await withRun(store, cluster.id);
    let runs = 0;
    const write = fc.record({
      node: fc.constantFrom('1', '2'),
      status: fc.constantFrom('running', 'failed', 'success', 'retrying'),
      attempt: fc.integer({ min: 0, max: 2 }),
      sequence: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(write, { selector: (one) => `${one.node} ${one.sequence}`, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        async (writes, chance) => {
          const task = `t${++runs}`;
          const next = () => chance.next().value as number;
          const repeated = [...writes, ...writes].map((one) => [next(), one] as const);
          const shuffled = repeated.sort(([one], [other]) => one - other).map(([, one]) => ({ ...one, task }));
          while (shuffled.length > 0) {
            await store.taskHistory.record(graph.id, shuffled.splice(0, 1 + (next() % 4)) as HistoryWrite[]);
          }
          for (const node of ['1', '2']) {
            const newest = writes
              .filter((one) => one.node === node)
              .sort((one, other) => one.sequence - other.sequence)
              .at(-1);
            const [row] = await store.taskHistory.list(graph.id, { nodes: [node], tasks: [task] });
            expect([row?.status, row?.attempts]).toEqual([newest?.status, newest?.attempt]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('pages without a gap while rows are added', async () => {
    const { history, graph } = await planned();
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof history.page>> = await history.page(graph, {
        limit: 2,
        ...(before !== null && { before }),
      });
      seen.push(...page.items.map((row) => row.task));
      before = page.next;
      await history.plan(graph, [{ node: '0', task: 'b' }]);
    } while (before !== null);
    expect(seen.filter((task) => task !== 'b')).toEqual(['a', 'stage']);
    expect(await failureOf(history.page(graph, { before: 'x' }))).toMatchObject({ kind: 'invalid' });
  });

  it('closes running tasks when their run ends; a run that continues after a reset replaces that', async () => {
    const { store, run, graph, history } = await planned();
    const row = { node: '1', task: 'a', status: 'running', attempt: 1, sequence: 1 } as const;
    await history.record(graph, [row, { ...row, task: 'b', status: 'success' }]);
    await endStoredRun(store, run.id, 'terminated');
    const rows = (tasks: string[]) => history.list(graph, { nodes: ['1'], tasks });
    expect(await rows(['a'])).toMatchObject([
      { status: 'failed', message: 'its run ended without it: its outcome is unknown', timeEnd: expect.any(String) },
    ]);
    expect(await rows(['b'])).toMatchObject([{ status: 'success' }]);
    await store.transactions.reopenGraphs(run.id);
    await history.record(graph, [{ ...row, status: 'success', sequence: 2, message: 'done' }]);
    expect(await rows(['a'])).toMatchObject([{ status: 'success', message: 'done' }]);
  });

  it('accepts 3,000 rows in one call', async () => {
    const { history, graph } = await planned();
    const rows = Array.from({ length: 3000 }, (_, n) => ({ node: String(n % 50), task: `t${n}` }));
    await history.plan(graph, rows);
    await history.record(
      graph,
      rows.map((row) => ({ ...row, status: 'success', attempt: 1, sequence: 1 })),
    );
    expect(await history.count(graph)).toMatchObject({ success: 3000 });
  });
});
