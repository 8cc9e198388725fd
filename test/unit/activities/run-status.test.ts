import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ShownRun } from '../../../activities/contract.ts';
import { type ActivityDependencies, RunStatuses } from '../../../activities/index.ts';
import type { RunStatus } from '../../../src/core/contracts/site-run.ts';
import { given } from '../../../src/core/data/given.ts';
import { type ClaimHolder, type RunWrite, StoreError } from '../../../src/store/index.ts';

const subject = { site: 'dc1' };
const ours = { workflowId: 'deploy_site:dc1', runId: 'first', executionId: 'first' };
const started_at = '2026-11-25T10:00:00.000Z';

/** With a number that tells it from others. */
const reportWith = (done: number) =>
  ({ site: 'dc1', operator: [], warnings: [String(done)] }) as unknown as ShownRun['report'];

const shown = (done: number, more: Partial<RunStatus> = {}): ShownRun => ({
  ...{ run_id: 'first', kind: 'deploy_site', subject, started_at },
  status: {
    ...{ site: 'dc1', phase: 'baremetal', paused: null, stopping: false, done, total: 6 },
    ...{ counts: { waiting: 0, running: 0, prepared: 0, success: done, failed: 1 } as never, current: null },
    failed: [{ node: 'n1', reason: 'no power' }],
    ...{ software: null, groups: [], warnings: [] },
    ...more,
  },
  report: reportWith(done),
});

let written: RunWrite[];
let reports: unknown[];
let holder: (ClaimHolder & { executionId: string; generation: number }) | null;
let broken: Error | undefined;
/** Ends the write under way. */
let hold: Promise<void> | undefined;
let statuses: RunStatuses;
beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse(started_at) });
  written = [];
  reports = [];
  holder = { ...ours, generation: 1 };
  broken = undefined;
  hold = undefined;
  const store = {
    claims: { holder: async () => holder },
    runs: {
      async show(run: RunWrite, report: ShownRun['report']) {
        await hold;
        if (broken) throw broken;
        written.push(run);
        reports.push(report);
      },
    },
  };
  const execution = async () => ({ runId: 'first', isOpen: true, children: [], errors: {} });
  statuses = new RunStatuses({ store, execution } as unknown as ActivityDependencies);
});
afterEach(() => vi.useRealTimers());

const show = (done: number, { urgent = false, events = 10, runId = 'first', ...more } = {}) =>
  statuses.show({ ...shown(done, more), execution: { workflowId: ours.workflowId, runId }, events }, urgent);
const at = (events: number) => ({ execution: { workflowId: ours.workflowId, runId: 'first' }, events });
const doneOf = (): unknown[] => written.map(({ done }) => done);

it('writes what people wait for before it resolves, and the newest of the rest once a second', async () => {
  await show(0, { urgent: true });
  expect(written).toMatchObject([
    {
      ...{ id: 'first', sequence: 10, phase: 'baremetal', done: 0, total: 6, failedNodes: 1, failure: 'n1: no power' },
      ...{ paused: false, held: false, awaitingApproval: false, statusAt: started_at, status: { done: 0 } },
    },
  ]);
  for (const done of [1, 2, 3]) await show(done, { events: 10 + done });
  await vi.advanceTimersByTimeAsync(900);
  expect(doneOf()).toEqual([0]);
  await vi.advanceTimersByTimeAsync(200);
  expect(doneOf()).toEqual([0, 3]);
  await show(4, { events: 20 });
  await statuses.close();
  expect(doneOf()).toEqual([0, 3, 4]);
  expect(reports).toEqual([0, 3, 4].map(reportWith));
});

it('writes the plan that a run shows once, however often it is superseded or the store is away', async () => {
  const plan = { site: 'dc1', revision: 3 } as unknown as ShownRun['plan'];
  broken = new StoreError({ kind: 'unreachable', message: 'away', hint: '' });
  await statuses.show({ ...shown(0), ...given({ plan }), ...at(10) }, true);
  await show(1, { events: 11 });
  broken = undefined;
  await vi.advanceTimersByTimeAsync(5_100);
  expect(written).toMatchObject([{ done: 1, plan }]);
  await show(2, { events: 12 });
  await statuses.close();
  expect(written[1]).not.toHaveProperty('plan');
});

it('numbers the statuses of one turn one after the other', async () => {
  await show(0, { urgent: true });
  const second = show(1, { urgent: true });
  const third = show(2, { urgent: true });
  await Promise.all([second, third]);
  expect(doneOf().at(-1)).toBe(2);
  const numbers = written.map(({ sequence }) => sequence);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

it('holds a run up for a second at most, and not again before the store is back', async () => {
  let release = (): void => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  let waits = true;
  void show(0, { urgent: true }).then(() => {
    waits = false;
  });
  await vi.advanceTimersByTimeAsync(900);
  expect(waits).toBe(true);
  await vi.advanceTimersByTimeAsync(200);
  expect(waits).toBe(false);

  broken = new StoreError({ kind: 'unreachable', message: 'away', hint: '' });
  release();
  hold = undefined;
  await vi.advanceTimersByTimeAsync(0);
  await show(1, { urgent: true });
  expect(written).toEqual([]);
  broken = undefined;
  await vi.advanceTimersByTimeAsync(5_100);
  expect(doneOf()).toEqual([1]);
});

it('tries again in time while the run goes on showing itself', async () => {
  broken = new StoreError({ kind: 'unreachable', message: 'away', hint: '' });
  await show(0, { urgent: true });
  broken = undefined;
  for (let done = 1; done <= 12; done++) {
    await show(done, { events: 10 + done });
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(written.length).toBeGreaterThan(0);
});

it('writes nothing of an execution that does not have its subject', async () => {
  await show(1, { urgent: true, runId: 'zombie' });
  holder = null;
  await show(2, { urgent: true });
  expect(written).toEqual([]);
});

it('a reset outranks what the execution before it showed', async () => {
  await show(5, { urgent: true, events: 500 });
  holder = { ...ours, executionId: 'first', generation: 2 };
  await show(1, { urgent: true, events: 20 });
  expect(written[1]!.sequence).toBeGreaterThan(written[0]!.sequence);
});
