import { describe, expect, it } from 'vitest';
import { Ledger, restoreLedger } from '../../../../src/core/graph-run/ledger.ts';
import { endsOf, nodesByEnd, type PartReport } from '../../../../src/core/graph-run/part-report.ts';
import type { GraphRunProgress } from '../../../../src/core/graph-run/progress.ts';
import { reportGraphRun } from '../../../../src/core/graph-run/report.ts';
import { doneOf, endedCounts, sumCounts, workOf } from '../../../../src/core/graph-run/task-counts.ts';
import { apply } from '../../../../src/core/scheduler/apply.ts';
import type { SchedulerEvent } from '../../../../src/core/scheduler/events.ts';
import { compileNamed } from '../../../../src/core/scheduler/named-plan.ts';
import { restoreScheduler, takeSnapshot } from '../../../../src/core/scheduler/snapshot.ts';
import { createScheduler } from '../../../../src/core/scheduler/state.ts';
import { taskText } from '../../../../src/core/task-on-node.ts';
import { numberIn } from '../../scheduler/run.ts';

function ledgerOf(nodes: readonly string[], names: readonly string[]) {
  const compiled = compileNamed({
    nodes: nodes.map((id) => ({ id, kind: 'node' })),
    tasks: nodes.flatMap((node) => names.map((id) => ({ id, node }))),
    edges: [],
  });
  if (!compiled.ok) throw new Error('not a plan');
  return new Ledger(compiled.graph);
}
const start = (task: number, attempt = 1) => ({ type: 'start', task, attempt, work: true }) as const;

it('an attempt is one row, which its end completes; the next attempt is another', () => {
  const ledger = ledgerOf(['n1'], ['a']);
  ledger.note(start(0), 0);
  ledger.ended(0, { outcome: 'failed', message: 'no' });
  ledger.note({ type: 'retrying', task: 0, attempt: 1, due: 50 }, 10);
  ledger.note(start(0, 2), 50);
  expect(ledger.takeRows()).toEqual([
    {
      task: 'a',
      node: 'n1',
      attempt: 1,
      status: 'retrying',
      started_at: '1970-01-01T00:00:00.000Z',
      ended_at: '1970-01-01T00:00:00.010Z',
      end: { outcome: 'failed', message: 'no' },
    },
    { task: 'a', node: 'n1', attempt: 2, status: 'running', started_at: '1970-01-01T00:00:00.050Z' },
  ]);
  expect(ledger.pending).toBe(0);
  ledger.ended(0, { outcome: 'success' });
  ledger.note({ type: 'settled', task: 0, status: 'success' }, 60);
  expect(ledger.takeRows()).toMatchObject([{ attempt: 2, status: 'success', end: { outcome: 'success' } }]);
});

it('counts follow every retry and skip', () => {
  const ledger = ledgerOf(['n1', 'n2'], ['a', 'b']);
  ledger.note(start(0), 0);
  ledger.ended(0, { outcome: 'failed', message: 'no', exit_code: 3 });
  ledger.note({ type: 'settled', task: 0, status: 'failed' }, 1);
  ledger.note({ type: 'settled', task: 1, status: 'blocked', cause: { task: 'a', node: 'n1' } }, 1);
  expect(ledger.status()).toMatchObject({
    counts: { waiting: 2, failed: 1, blocked: 1 },
    failed: [{ task: 'a', node: 'n1', attempts: 1, reason: 'no (exit code 3)' }],
    failing_nodes: 1,
  });
  ledger.note({ type: 'reopened', task: 0 }, 2);
  ledger.note({ type: 'reopened', task: 1 }, 2);
  expect(ledger.status()).toMatchObject({ counts: { waiting: 4, failed: 0 }, failed: [], failing_nodes: 0 });
});

it('rows distinguish tasks that a stop left undone from skipped ones, also after a restore', () => {
  const ledger = ledgerOf(['n1'], ['a', 'b']);
  ledger.note({ type: 'settled', task: 0, status: 'skipped' }, 0);
  ledger.note({ type: 'settled', task: 1, status: 'not_reached' }, 0);
  expect(ledger.takeRows()).toEqual([
    { task: 'a', node: 'n1', attempt: 0, status: 'skipped', ended_at: '1970-01-01T00:00:00.000Z' },
    { task: 'b', node: 'n1', attempt: 0, status: 'not_reached', ended_at: '1970-01-01T00:00:00.000Z' },
  ]);
  ledger.note({ type: 'reopened', task: 1 }, 1);
  ledger.note({ type: 'settled', task: 1, status: 'skipped' }, 2);
  expect(ledger.takeRows()).toMatchObject([{ status: 'skipped' }]);
});

it('names and nodes may hold an @', () => {
  const ledger = ledgerOf(['x@y'], ['a@b']);
  ledger.note(start(0), 0);
  expect(ledger.takeRows()).toMatchObject([{ task: 'a@b', node: 'x@y' }]);
});

it('no record is over 200 KB, whatever agents report', () => {
  const nodes = Array.from({ length: 1000 }, (_, n) => `n${n}`);
  const ledger = ledgerOf(nodes, ['a']);
  const message = 'ä'.repeat(900);
  for (const task of nodes.keys()) {
    ledger.note(start(task), 0);
    ledger.ended(task, { outcome: 'failed', message });
    ledger.note({ type: 'settled', task, status: 'failed' }, 1);
  }
  let rows = 0;
  while (ledger.pending > 0) {
    const taken = ledger.takeRows();
    expect(Buffer.byteLength(JSON.stringify(taken))).toBeLessThan(200_000);
    rows += taken.length;
  }
  expect(rows).toBe(1000);
  expect(Buffer.byteLength(JSON.stringify(ledger.status()))).toBeLessThan(20_000);
});

it('a report stays under 200 KB by shortening its lists, and notes that', () => {
  const failed_tasks = Array.from({ length: 100 }, (_, n) => ({
    task: `t${n}`,
    node: `n${n}`,
    attempts: 1,
    reason: 'x'.repeat(300),
  }));
  const failed_nodes = failed_tasks.map(({ node, task }) => ({
    node,
    failed_tasks: [task],
    lost_tasks: 0,
    root_causes: [{ task, node }],
  }));
  const graph = {
    state: 'failed' as const,
    offline: [],
    statuses: () => [],
    failing: () => 0,
    trees: () => [],
    report: { counts: ledgerOf(['n'], ['a']).counts, nodes: {}, failed_tasks, failed_nodes },
  };
  const progress: GraphRunProgress = {
    input: { cluster: 1 },
    workflow_id: 'w',
    run_id: 'r',
    started_at: 0,
    transaction: 1,
    cluster: null,
    graphs: Array.from({ length: 6 }, (_, at) => ({ ...graph, type: `type${at}`, transaction: at })),
    operator: [],
    holds: [],
    warnings: [],
    paused: null,
    stopping: false,
  };
  const report = reportGraphRun(progress);
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(200_000);
  expect(report.cut!.failed_omitted).toBeGreaterThan(0);
});

it('how ten thousand nodes ended stays under 100 KB', () => {
  const nodes = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [String(20_000 + n), n % 2 === 0 ? ('not_reached' as const) : 'success']),
  ) as PartReport['nodes'];
  const kept = nodesByEnd({ nodes });
  expect(Buffer.byteLength(JSON.stringify(nodes))).toBeGreaterThan(200_000);
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(100_000);
  expect(Object.fromEntries(endsOf(kept))).toEqual(nodes);
});

it('a restored ledger reports the same, and continues with unfinished tasks', () => {
  const ids = ['n1', 'n2', 'n3'];
  const compiled = compileNamed({
    nodes: ids.map((id) => ({ id, kind: 'node' })),
    tasks: ids.flatMap((node) => ['a', 'b', 'c'].map((id) => ({ id, node }))),
    edges: ids.flatMap((node) => [[`a@${node}`, `b@${node}`] as const, [`b@${node}`, `c@${node}`] as const]),
    fault_tolerance_groups: [{ name: 'all', node_ids: ids, fault_tolerance: 3 }],
  });
  if (!compiled.ok) throw new Error('not a plan');
  const scheduler = createScheduler(compiled.graph);
  const ledger = new Ledger(compiled.graph);
  const send = (...events: SchedulerEvent[]) => {
    for (const event of events) for (const command of apply(scheduler, event)) ledger.note(command, 5);
  };
  const numberOf = (key: string): number => numberIn(scheduler, key);
  const ended = (key: string, outcome: 'success' | 'failed', attempt = 1) => {
    const task = numberOf(key);
    ledger.ended(task, outcome === 'failed' ? { outcome, message: 'no link' } : { outcome: 'success' });
    send({ type: 'ended', task, attempt, outcome });
  };
  send({ type: 'begin' });
  ended('a@n1', 'failed');
  ended('a@n2', 'failed');
  ended('a@n3', 'success');
  send({ type: 'retry_task', task: 'a', node: 'n2' });
  // It has ended, but the end has not been acknowledged yet.
  ledger.ended(numberOf('a@n2'), { outcome: 'success' });
  ledger.takeRows();
  const kept = JSON.parse(JSON.stringify([takeSnapshot(scheduler), ledger.keep()]));
  const next = restoreScheduler(compiled.graph, kept[0]);
  const restored = restoreLedger(next, kept[1]);
  const sorted = ({ running, ...status }: ReturnType<typeof ledger.status>) => ({
    ...status,
    running: running.map(taskText).sort(),
  });
  expect(sorted(restored.status())).toEqual(sorted(ledger.status()));
  expect(restored.status()).toMatchObject({
    counts: { waiting: 3, running: 2, success: 1, failed: 1, blocked: 2 },
    failed: [{ task: 'a', node: 'n1', attempts: 1, reason: 'no link' }],
  });
  expect(restored.pending).toBe(0);
  for (const one of [restored, ledger]) one.note({ type: 'settled', task: numberOf('a@n2'), status: 'success' }, 9);
  expect(restored.takeRows()).toEqual(ledger.takeRows());
});

describe('counts of tasks', () => {
  /** On n1 fail → blocked → plain without work; n2 has a task without work after the one that fails. */
  const compiled = compileNamed({
    nodes: ['n1', 'n2'].map((id) => ({ id, kind: 'node' })),
    tasks: [
      { id: 'fail', node: 'n1' },
      { id: 'blocked', node: 'n1' },
      { id: 'plain', node: 'n1', type: 'skipped' },
      { id: 'plain', node: 'n2', type: 'skipped' },
      { id: 'after', node: 'n2' },
    ],
    edges: [
      ['fail@n1', 'blocked@n1'],
      ['blocked@n1', 'plain@n1'],
      ['fail@n1', 'plain@n2'],
      ['plain@n2', 'after@n2'],
    ],
  });
  if (!compiled.ok) throw new Error('not a plan');

  function afterFailure() {
    const scheduler = createScheduler(compiled.ok ? compiled.graph : expect.fail());
    const ledger = new Ledger(scheduler.graph);
    const feed = (event: SchedulerEvent) => {
      for (const command of apply(scheduler, event)) ledger.note(command, 0);
    };
    feed({ type: 'begin', offline: [], now: 0 });
    feed({ type: 'ended', task: numberIn(scheduler, 'fail@n1'), attempt: 1, outcome: 'failed', now: 1 });
    return { ledger, scheduler };
  }

  it('keep planned skips as skipped, whatever fails before them, and blame only the node of the failure', () => {
    const { ledger } = afterFailure();
    expect(ledger.status()).toMatchObject({
      counts: { failed: 1, blocked: 2, skipped: 2, waiting: 0 },
      failing_nodes: 1,
    });
    expect(ledger.takeRows().filter(({ task }) => task === 'plain')).toEqual([]);
  });

  it('count tasks that a stop left undone as not reached, not as done, also after a restore', () => {
    const { ledger, scheduler } = afterFailure();
    ledger.note({ type: 'reopened', task: numberIn(scheduler, 'after@n2') }, 2);
    ledger.note({ type: 'settled', task: numberIn(scheduler, 'after@n2'), status: 'not_reached' }, 3);
    const { counts } = ledger.status();
    expect(counts).toMatchObject({ failed: 1, blocked: 1, not_reached: 1, skipped: 2 });
    expect([doneOf(counts), workOf(counts)]).toEqual([1, 3]);
    const whole = restoreLedger(scheduler, []).status().counts;
    expect([workOf(whole), whole.skipped]).toEqual([3, 2]);
  });

  it('of an ended graph have no waiting tasks', () => {
    expect(endedCounts({ waiting: 3, not_reached: 1, skipped: 2 })).toMatchObject({ waiting: 0, not_reached: 4 });
    expect(sumCounts([{ success: 1 }, { success: 2, skipped: 1 }])).toMatchObject({ success: 3, skipped: 1 });
  });
});
