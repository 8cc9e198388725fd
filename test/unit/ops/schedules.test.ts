import { ScheduleNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { whyNotDecide } from '../../../src/core/run/approval.ts';
import type { OpsDependencies } from '../../../src/ops/index.ts';
import { ScheduleOperations } from '../../../src/ops/schedules.ts';
import { openStore, type Store } from '../../../src/store/index.ts';

// The server keeps its input; the inputs that runs start with matter here.

let store: Store;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  await store.sites.create({ name: 'dc1' });
});
afterAll(() => store.close());

interface Action {
  readonly args: readonly {
    readonly started_by?: string;
    readonly responsible?: readonly string[];
    readonly labels?: object;
  }[];
}

function server() {
  const schedules = new Map<string, { action: Action }>();
  const started: unknown[] = [];
  const describedAs = (id: string) => ({
    action: { ...schedules.get(id)!.action, workflowType: 'update_site', taskQueue: 'q' },
    spec: {},
    policies: {},
    memo: {},
    state: { paused: false },
    info: { nextActionTimes: [], recentActions: [], createdAt: new Date(0) },
  });
  const handle = (id: string) => ({
    describe: async () => {
      if (!schedules.has(id)) throw new ScheduleNotFoundError('gone', id);
      return describedAs(id);
    },
    update: async (change: (before: unknown) => { action: Action }) =>
      void schedules.set(id, change({ ...(await handle(id).describe()) })),
    trigger: async () => void started.push(schedules.get(id)!.action.args[0]),
  });
  const create = async ({ scheduleId, ...made }: { scheduleId: string; action: Action }) =>
    void schedules.set(scheduleId, made);
  const list = async function* () {
    for (const [scheduleId, { action }] of schedules)
      yield { scheduleId, action: { ...action, workflowType: 'update_site' } };
  };
  const temporal = {
    client: { schedule: { create, getHandle: handle, list } },
    connection: { withDeadline: (_at: number, work: () => Promise<unknown>) => work() },
    taskQueue: 'q',
    namespace: 'default',
  };
  return { operations: new ScheduleOperations({ store, temporal } as unknown as OpsDependencies), schedules, started };
}

const nightly = { name: 'nightly', kind: 'update_site' as const, cron: ['@daily'] };
const hold = { site: 'dc1', hold_before: ['*'] };

it('a schedule cannot act in the name of another person or schedule', async () => {
  const { operations, schedules } = server();
  for (const field of ['started_by', 'responsible'])
    await expect(
      operations.create(
        { ...nightly, input: { ...hold, [field]: field === 'started_by' ? 'otto' : ['otto'] } },
        'nina',
      ),
    ).rejects.toMatchObject({ problem: { code: 'invalid', message: expect.stringContaining(field) } });
  await operations.create({ ...nightly, input: { ...hold, labels: { schedule: 'other', team: 'x' } } }, 'nina');
  expect(schedules.get('nightly')!.action.args[0]).toMatchObject({
    started_by: 'schedule:nightly',
    responsible: ['nina'],
    labels: { schedule: 'nightly', team: 'x' },
  });
});

it('a schedule that is not there is answered with the one that was meant', async () => {
  const { operations } = server();
  await operations.create({ ...nightly, input: hold }, 'nina');
  for (const attempt of [
    operations.get('nihgtly'),
    operations.pause('nihgtly', {}),
    operations.delete('nihgtly', 'nina'),
  ])
    await expect(attempt).rejects.toMatchObject({
      problem: { code: 'not-found', message: "there is no schedule 'nihgtly'", hint: "Did you mean 'nightly'?" },
    });
  await expect(operations.get('weekly-report')).rejects.toMatchObject({
    problem: { hint: "'sitewright schedule list' shows all." },
  });
});

it('the maker of a schedule, and who triggered it, may not approve its runs', async () => {
  const { operations, started } = server();
  await operations.create({ ...nightly, input: hold }, 'nina');
  for (const by of ['otto', 'nina', 'otto']) await operations.run('nightly', { by });
  const [first, , last] = started as { started_by: string; responsible: string[] }[];
  expect(first!.responsible).toEqual(['nina', 'otto']);
  expect(last!.responsible).toEqual(['nina', 'otto']);
  const run = { input: last!, holds: [{ before: '*', since: 'now' }], stopping: false, approved_by_another: true };
  const why = (by: string) => whyNotDecide(run, 'approved', { by, entry: 'e1' });
  expect(why('nina')).toBe('nina made or triggered the schedule that started the run: another person must approve');
  expect(why('otto')).toMatch(/another person/);
  expect(why('schedule:nightly')).toMatch(/another person/);
  expect(why('emma')).toBeNull();
  // Whoever may approve may also reject.
  expect(whyNotDecide(run, 'rejected', { by: 'nina' })).toBeNull();
});
