import { expect, it } from 'vitest';
import type { AnyRunStatus } from '../../../src/core/run/status.ts';
import { releasedRecords } from '../../../src/core/site-run/redeployed.ts';
import type { RunNodeWrite, RunWrite } from '../../../src/store/index.ts';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

const START = '2026-03-01T10:00:00.000Z';

const write = (id: string, sequence: number, more: Partial<RunWrite> = {}): RunWrite => ({
  id,
  sequence,
  workflowId: `deploy_site:${id}`,
  kind: 'deploy_site',
  phase: 'preparing',
  startedAt: START,
  ...more,
});

const node = (name: string, sequence: number, more: Partial<RunNodeWrite> = {}): RunNodeWrite => ({
  node: name,
  sequence,
  report: report(name),
  ...more,
});
const report = (name: string, reason = 'not started'): RunNodeWrite['report'] => ({
  name,
  state: 'waiting',
  attempts: 0,
  reason,
});

const NO_STATUS = { paused: false, held: false, awaitingApproval: false, status: null, statusAt: null };

describeStore('RunStore', (backend) => {
  // A worker may have its status on the way when someone terminates it and the row is closed.
  it('shows nothing of a run that has ended, however new the status', async () => {
    const { runs } = await backend.fresh();
    const ended = await runs.put(write('01J', 1, { phase: 'finished', outcome: 'terminated', endedAt: START }));
    await runs.putReport('01J', 1, { outcome: 'terminated' });
    await runs.show(write('01J', 99), { outcome: null });
    expect(await runs.get('01J')).toEqual(ended);
    expect(await runs.getReport('01J')).toEqual({ outcome: 'terminated' });
    await runs.put(write('01J', 100, { outcome: null, endedAt: null }));
    await runs.show(write('01J', 101, { phase: 'deploying' }), { outcome: null });
    expect(await runs.get('01J')).toMatchObject({ phase: 'deploying', outcome: null });
  });

  it('returns a run unchanged', async () => {
    const { runs } = await backend.fresh();
    const given: RunWrite = {
      ...write('01J', 0),
      temporalRunId: 't-1',
      site: 'dc1',
      revision: 3,
      title: 'Täglich ☃',
      labels: { ticket: 'OPS-1', "o'": '"' },
      parameters: { nodes: ['n1'], deep: { zero: 0, nul: '\0' }, none: null },
      startedBy: 'ann',
      reason: "because '; drop table run; --",
      outcome: 'succeeded',
      endedAt: '2026-03-01T12:00:00+01:00',
      failedNodes: 0,
      failedTasks: 7,
      done: 3,
      total: 4,
      failure: 'no 100% of _them_',
    };
    const stored = await runs.put(given);
    expect(stored).toEqual({ ...given, ...NO_STATUS, plan: null, number: 1, endedAt: '2026-03-01T11:00:00.000Z' });
    expect(await runs.get('01J')).toEqual(stored);
    const { parameters: _, sequence: __, status: ___, plan: ____, ...summary } = stored;
    expect((await runs.list()).items).toEqual([summary]);
    expect(await failureOf(runs.get('no\0ne'))).toMatchObject({ kind: 'not-found', what: 'run' });
  });

  it('keeps the status that an open run showed last, until the run ends', async () => {
    const { runs } = await backend.fresh();
    const shown = (more: object) => more as AnyRunStatus;
    const status = shown({ phase: 'baremetal', failed: [{ node: 'n1', reason: "o'clock" }] });
    const showing = { paused: true, held: true, awaitingApproval: true, status, statusAt: START };
    await runs.put(write('01J', 5, showing));
    await runs.put(write('01J', 4, { status: shown({ phase: 'load' }), paused: false, statusAt: START }));
    expect(await runs.get('01J')).toMatchObject(showing);
    expect((await runs.list()).items[0]).not.toHaveProperty('status');
    await runs.put(write('01J', 9, { outcome: 'success' }));
    expect(await runs.get('01J')).toMatchObject(NO_STATUS);
    await runs.put(write('01J', 8, showing));
    expect(await runs.get('01J')).toMatchObject(NO_STATUS);
  });

  it('numbers runs as they are stored, shares the numbers with transactions, and finds runs by their words', async () => {
    const store = await backend.fresh();
    const { runs, transactions } = store;
    const at = (name: string, startedAt: string, more: object = {}) => runs.put({ ...write(name, 0, more), startedAt });
    await at('b', '2026-03-02T00:00:00.000Z', { failure: 'only 50% of _nodes_ came up' });
    await at('c', '2026-03-02T00:00:00.000Z', { title: 'Daily' });
    const task = await transactions.create({ name: 'check', clusterId: null });
    expect(task.id).toBe(3);
    await at('a', '2026-03-01T00:00:00.000Z');
    await at('a', '2026-03-01T00:00:00.000Z', { number: 77 });
    const graphs = await transactions.create({ name: 'deploy', clusterId: null });
    await at('d', '2026-03-01T00:00:00.000Z', { number: graphs.id });
    const numbers = (await runs.list()).items.map(({ id, number }) => [id, number]);
    expect([...numbers].sort()).toEqual([
      ['a', 4],
      ['b', 1],
      ['c', 2],
      ['d', 5],
    ]);
    expect((await runs.list({ number: 4 })).items).toMatchObject([{ id: 'a' }]);
    const found = async (text: string) => (await runs.list({ text })).items.map(({ id }) => id);
    expect(await found('50% OF _NODES')).toEqual(['b']);
    expect(await found('daily')).toEqual(['c']);
    expect(await found('5_%')).toEqual([]);
    expect(await found('\\')).toEqual([]);
  });

  it('keeps one row for a repeated write', async () => {
    const { runs } = await backend.fresh();
    const first = await runs.put(write('r', 0, { title: 'a' }));
    expect(await runs.put(write('r', 0, { title: 'a' }))).toEqual(first);
    expect((await runs.list()).items).toHaveLength(1);
  });

  it('ignores a write older than the stored one', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0));
    await runs.put(write('r', 5, { phase: 'deploying', failedNodes: 2 }));
    await runs.put(write('r', 6, { phase: 'done', outcome: 'failed', endedAt: START }));
    const final = await runs.get('r');
    for (const sequence of [0, 5, 6]) await runs.put(write('r', sequence, { phase: 'earlier', failedNodes: 9 }));
    expect(await runs.get('r')).toEqual(final);
    expect(final).toMatchObject({ phase: 'done', outcome: 'failed', failedNodes: 2, sequence: 6 });
  });

  it('keeps fields that a later write omits, and clears those it sets to null', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0, { title: 't', parameters: { a: 1 }, outcome: 'failed', endedAt: START }));
    await runs.put(write('r', 1, { phase: 'retrying', outcome: null, endedAt: null, title: 'other' }));
    expect(await runs.get('r')).toMatchObject({
      title: 't',
      parameters: { a: 1 },
      phase: 'retrying',
      outcome: null,
      endedAt: null,
    });
  });

  it('takes the circumstances of a run from the first write that has them, even a late one', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 3, { phase: 'deploying' }));
    await runs.put(write('r', 0, { title: 'late', startedBy: 'ann', site: 'dc1', labels: { a: 'b' }, revision: 2 }));
    expect(await runs.get('r')).toMatchObject({
      phase: 'deploying',
      sequence: 3,
      title: 'late',
      startedBy: 'ann',
      site: 'dc1',
      labels: { a: 'b' },
      revision: 2,
    });
  });

  it('ends at the highest sequence whatever the order of many writers', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3].map(() => backend.open(url)));
    const order = [7, 3, 9, 1, 8, 2, 10, 4, 6, 5];
    const writes = order.map((n) => stores[n % 3]!.runs.put(write('r', n, { phase: `p${n}` })));
    await Promise.all(writes);
    expect(await stores[0]!.runs.get('r')).toMatchObject({ sequence: 10, phase: 'p10' });
  });

  it('refuses impossible values, all together', async () => {
    const { runs } = await backend.fresh();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const bad = {
      ...write('', -1),
      startedAt: 'yesterday',
      failedNodes: 0.5,
      parameters: cyclic,
    };
    const failure = await failureOf(runs.put(bad));
    if (failure.kind !== 'invalid') throw new Error(failure.kind);
    expect(failure.problems.map((problem) => problem.path)).toEqual([
      'id',
      'sequence',
      'parameters',
      'startedAt',
      'failedNodes',
    ]);
    expect(await failureOf(runs.put(write('x'.repeat(1001), 0)))).toMatchObject({ kind: 'invalid' });
    expect((await runs.list()).items).toEqual([]);
  });

  it('accepts ids as long as Temporal’s', async () => {
    const { runs } = await backend.fresh();
    const long = { ...write('é'.repeat(500), 0), workflowId: 'ü'.repeat(500), site: 's' };
    await runs.put(long);
    await runs.putNodes(long.id, [node('☃'.repeat(333), 0)]);
    expect((await runs.list({ workflowId: long.workflowId })).items).toHaveLength(1);
    expect(await runs.listNodes(long.id)).toHaveLength(1);
  });

  it('filters runs', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('1', 0, { site: 'a', startedAt: '2026-01-01T00:00:00Z' }));
    await runs.put(write('2', 0, { site: 'b', kind: 'update_site', startedAt: '2026-01-02T00:00:00Z' }));
    await runs.put(
      write('3', 0, {
        site: 'a',
        kind: 'test_site',
        phase: 'done',
        outcome: 'failed',
        endedAt: START,
        startedAt: '2026-01-03T00:00:00Z',
      }),
    );
    const ids = async (filter: Parameters<typeof runs.list>[0]) => (await runs.list(filter)).items.map((run) => run.id);
    expect(await ids({})).toEqual(['3', '2', '1']);
    expect(await ids({ site: 'a' })).toEqual(['3', '1']);
    expect(await ids({ kind: 'update_site' })).toEqual(['2']);
    expect(await ids({ kind: ['update_site', 'test_site'] })).toEqual(['3', '2']);
    expect(await ids({ kind: [] })).toEqual([]);
    expect(await ids({ phase: 'done' })).toEqual(['3']);
    expect(await ids({ outcome: ['failed', 'stopped'] })).toEqual(['3']);
    expect(await ids({ open: true })).toEqual(['2', '1']);
    expect(await ids({ open: false, site: 'a' })).toEqual(['3']);
    expect(await ids({ workflowId: 'deploy_site:2' })).toEqual(['2']);
    expect(await ids({ site: "a' or '1'='1" })).toEqual([]);
    expect(await ids({ site: 'a\0' })).toEqual([]);
  });

  it('finds runs by labels, starter and time', async () => {
    const { runs } = await backend.fresh();
    const at = (minute: number) => `2026-05-01T00:0${minute}:00.000Z`;
    const made: [string, Partial<RunWrite>][] = [
      ['l1', { startedBy: 'ann', labels: { team: 'a', rack: 'r1' } }],
      ['l2', { startedBy: 'bob', labels: { team: 'A', note: '"team":"a"' } }],
      ['l3', { startedBy: 'ann', labels: { team: 'a', 'team:b': 'x%_' } }],
      ['l4', { startedBy: 'ann' }],
    ];
    for (const [minute, [id, more]] of made.entries())
      await runs.put(write(id, 0, { kind: 'labelled', startedAt: at(minute), ...more }));
    const ids = async (filter: Parameters<typeof runs.list>[0]) =>
      (await runs.list({ kind: 'labelled', ...filter })).items.map((run) => run.id);
    expect(await ids({ labels: [['team', 'a']] })).toEqual(['l3', 'l1']);
    const both = [
      ['team', 'a'],
      ['rack', 'r1'],
    ] as const;
    expect(await ids({ labels: both })).toEqual(['l1']);
    expect(
      await ids({
        labels: [
          ['team', 'a'],
          ['team', 'A'],
        ],
      }),
    ).toEqual([]);
    expect(await ids({ labels: [['team:b', 'x%_']] })).toEqual(['l3']);
    for (const pair of [
      ['team', '%'],
      ['tea', 'a'],
      ['team', ''],
      ['', ''],
      ['rack', 'r'],
    ] as const)
      expect(await ids({ labels: [pair] }), pair.join(':')).toEqual([]);
    expect(await ids({ startedBy: 'ann', since: at(1) })).toEqual(['l4', 'l3']);
    expect(await ids({ until: at(1) })).toEqual(['l1']);
    await expect(ids({ since: 'yesterday' })).rejects.toThrow(/since/);
  });

  it('pages runs with the same start time, each once, while new ones are added', async () => {
    const { runs } = await backend.fresh();
    for (const id of ['b', 'a', 'd', 'c', 'Z', 'é']) await runs.put(write(id, 0));
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await runs.list({ limit: 2, ...(before && { before }) });
      seen.push(...page.items.map((run) => run.id));
      await runs.put(write(`new ${seen.length}`, 0, { startedAt: '2027-01-01T00:00:00Z' }));
      before = page.next ?? undefined;
    } while (before);
    expect(seen).toEqual(['é', 'd', 'c', 'b', 'a', 'Z']);
  });

  it('keeps a report of 5 MB unchanged, the newest by sequence', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0));
    expect(await runs.getReport('r')).toBeUndefined();
    const nodes = Array.from({ length: 20_000 }, (_, n) => ({ node: `n${n}`, reason: `'"\\ ☃ \0 ${'x'.repeat(240)}` }));
    expect(JSON.stringify(nodes).length).toBeGreaterThan(5_000_000);
    await runs.putReport('r', 2, { nodes });
    expect(await runs.getReport('r')).toEqual({ nodes });
    await runs.putReport('r', 1, 'older');
    await runs.putReport('r', 2, 'repeat');
    expect(await runs.getReport('r')).toEqual({ nodes });
    await runs.putReport('r', 3, { final: true });
    expect(await runs.getReport('r')).toEqual({ final: true });
    expect(await failureOf(runs.putReport('none', 0, {}))).toMatchObject({ kind: 'not-found', what: 'run' });
    expect(await failureOf(runs.getReport('none'))).toMatchObject({ kind: 'not-found', what: 'run' });
  });

  it('keeps nodes of a run by the rule of sequences, each on its own', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0));
    const late = { call: 'deploy', ok: true, at: START, message: 'Deployed' } as const;
    const full = { ...report('n2', 'näh'), system_id: 'abc', hint: 'wait', late };
    const released = report('n2', 'released');
    await runs.putNodes('r', [node('n2', 3, { position: 7, released }), node('n1', 1)]);
    await runs.putNodes('r', [node('n2', 2, { position: 1 }), node('n1', 2, { report: report('n1', 'later') })]);
    await runs.putNodes('r', [node('n2', 4, { report: full })]);
    await runs.putNodes('r', [node('n2', 1)]);
    expect(await runs.listNodes('r')).toEqual([
      { node: 'n1', position: null, report: report('n1', 'later'), released: null },
      { node: 'n2', position: 7, report: full, released },
    ]);
    await runs.dropNodes('r', 3);
    expect((await runs.listNodes('r')).map((one) => one.node)).toEqual(['n2']);
  });

  it('has no place in the plan for a node that the run has only released, whatever it recorded before a reset', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0));
    await runs.putNodes('r', [node('n1', 1, { position: 2 })]);
    const [released] = releasedRecords('update_site', [{ ...report('n1'), state: 'success' }]);
    await runs.putNodes('r', [node('n1', 2, released)]);
    expect(await runs.listNodes('r')).toMatchObject([{ node: 'n1', position: null, released: { state: 'success' } }]);
  });

  it('accepts a batch of any size, with repeated nodes, all or nothing', async () => {
    const { runs } = await backend.fresh();
    await runs.put(write('r', 0));
    await runs.putNodes('r', []);
    const many = Array.from({ length: 3500 }, (_, n) => node(`node-${n}`, 1, { position: n }));
    await runs.putNodes('r', [...many, node('node-7', 3, { report: report('node-7', 'third') }), node('node-7', 2)]);
    await runs.putNodes('r', many);
    const rows = await runs.listNodes('r');
    expect(rows).toHaveLength(3500);
    expect(rows.filter((row) => row.report.reason !== 'not started')).toMatchObject([
      { node: 'node-7', position: 7, report: { reason: 'third' } },
    ]);
    const half = [node('fine', 1), node('', 1), node('x', 1, { position: -1 })];
    expect(await failureOf(runs.putNodes('r', half))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'nodes[1].node' }, { path: 'nodes[2].position' }],
    });
    expect(await runs.listNodes('r')).toHaveLength(3500);
    expect(await failureOf(runs.putNodes('none', many))).toMatchObject({ kind: 'not-found', what: 'run' });
    expect(await failureOf(runs.listNodes('none'))).toMatchObject({ kind: 'not-found', what: 'run' });
  });

  it('ends at the highest sequence when many write the same nodes, in opposite orders', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => backend.open(url)));
    // So that all have their connection, and begin together.
    await Promise.all(stores.map((store) => store.status()));
    const names = Array.from({ length: 50 }, (_, n) => `n${n}`);
    for (let round = 0; round < 10; round++) {
      const run = `r${round}`;
      await stores[0]!.runs.put(write(run, 0));
      await Promise.all(
        stores.map(({ runs }, at) => {
          const sequence = (at + round) % stores.length;
          const order = at % 2 === 0 ? names : names.toReversed();
          return runs.putNodes(
            run,
            order.map((name) => node(name, sequence, { report: report(name, `s${sequence}`) })),
          );
        }),
      );
      const states = (await stores[0]!.runs.listNodes(run)).map((row) => row.report.reason);
      expect(new Set(states), run).toEqual(new Set(['s3']));
    }
  });

  it('returns the history of a node over the runs of its site', async () => {
    const { runs } = await backend.fresh();
    for (const [id, site, day] of [
      ['1', 'a', 1],
      ['2', 'b', 2],
      ['3', 'a', 3],
      ['4', 'a', 4],
    ] as const) {
      await runs.put(write(id, 0, { site, startedAt: `2026-01-0${day}T00:00:00Z` }));
      await runs.putNodes(id, [node('n1', 0, { report: report('n1', `in ${id}`) }), node('n2', 0)]);
    }
    const first = await runs.listNodeHistory('a', 'n1', { limit: 2 });
    expect(first.items.map((item) => [item.run.id, item.node.reason])).toEqual([
      ['4', 'in 4'],
      ['3', 'in 3'],
    ]);
    expect(first.items[0]!.run).toEqual({
      id: '4',
      workflowId: 'deploy_site:4',
      kind: 'deploy_site',
      site: 'a',
      revision: null,
      phase: 'preparing',
      outcome: null,
      startedAt: '2026-01-04T00:00:00.000Z',
      endedAt: null,
    });
    const second = await runs.listNodeHistory('a', 'n1', { limit: 2, before: first.next! });
    expect(second).toMatchObject({ items: [{ run: { id: '1' } }], next: null });
    expect((await runs.listNodeHistory('a', 'n9')).items).toEqual([]);
  });
});
