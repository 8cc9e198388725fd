import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { openPlanner, plannerHere } from '../../../../src/clusters/planning/index.ts';
import { openPlanningThread } from '../../../../src/clusters/planning/planning-thread.ts';
import type { PlanForm, PlanningWork } from '../../../../src/clusters/planning/planning-work.ts';
import { type Fields, normaliseTask } from '../../../../src/graph/index.ts';
import { type Json, recorded } from '../../graph/recorded.ts';
import { sixNodes } from '../six-nodes.ts';

const HELPERS = fileURLToPath(new URL('functions.mjs', import.meta.url));

const workOf = (tasks: readonly Fields[], more: Partial<PlanningWork> = {}): PlanningWork => ({
  sources: sixNodes(),
  layers: [
    {
      layer: 'release',
      nodeFilter: null,
      onSuccess: null,
      onError: null,
      onStop: null,
      tasks: tasks.map((task) => normaliseTask(task)),
    },
  ],
  request: { type: 'default' },
  surroundings: { masterIp: '10.20.0.2' },
  masterAllowed: true,
  ...more,
});

const calling = (expression: string): PlanningWork =>
  workOf([
    {
      id: 'shown',
      type: 'shell',
      version: '2.1.0',
      roles: '/.*/',
      parameters: { cmd: { yaql_exp: expression }, timeout: 5 },
    },
  ]);

const open: { close(): Promise<void> }[] = [];
const opened = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const thread = (helpers = HELPERS) => opened(openPlanningThread(helpers));

/** For plans that leave their thread unchanged: one takes longer to start than to plan. */
let unharmed: ReturnType<typeof openPlanningThread> | undefined;
const sameThread = () => (unharmed ??= openPlanningThread(HELPERS));
afterAll(() => unharmed?.close());

/** Of a serialized plan, the command on the first node. */
const commandOf = (text: string): unknown =>
  (Object.values(JSON.parse(text).tasks_graph as Json).flat() as Json[]).find(({ id }) => id === 'shown')!.parameters
    .cmd;

describe('a planning thread', () => {
  it.each(['run', 'explanation', 'text', 'dot', 'serialized'] as const)(
    'returns the same %s as its caller would make',
    async (form: PlanForm) => {
      const work = workOf(recorded('tasks.normalized.json') as Fields[]);
      const [here, there] = await Promise.all(
        [plannerHere(), sameThread()].map(async (planner) => {
          const pieces: unknown[] = [];
          const answer = await planner.plan(form, work, undefined, async (piece) => void pieces.push(piece));
          return { answer, pieces };
        }),
      );
      expect(here).toMatchObject({
        answer: { ok: true },
        pieces: form === 'run' ? [{ parts: [[expect.any(String)]] }, { state: expect.any(String) }, {}] : [],
      });
      expect(there).toEqual(here);
    },
    60_000,
  );

  it('returns the problems of a graph', async () => {
    const work = workOf([
      { id: 'a', type: 'shell', version: '2.1.0', roles: '/.*/', requires: ['b'], parameters: { cmd: 'true' } },
      { id: 'b', type: 'shell', version: '2.1.0', roles: '/.*/', requires: ['a'], parameters: { cmd: 'true' } },
    ]);
    const here = await plannerHere().plan('run', work);
    expect(here).toMatchObject({ ok: false, reason: 'refused' });
    expect(await sameThread().plan('run', work)).toEqual(here);
    expect(await sameThread().plan('run', workOf([]))).toMatchObject({ ok: false, reason: 'no-graph' });
  });

  it('has the functions of the module of helpers', async () => {
    const planned = await sameThread().plan('serialized', calling('greeting()'));
    expect(planned.ok && commandOf(planned.value)).toBe('hello from a helper');
  });

  it('drops aborted requests, before or during planning, and continues with the rest', async () => {
    const planner = thread();
    const [first, second] = [new AbortController(), new AbortController()];
    const endless = planner.plan('run', calling('never_ends()'), first.signal);
    const waiting = planner.plan('run', calling('never_ends()'), second.signal);
    const good = planner.plan('serialized', calling('greeting()'));
    const [one, two] = [expect(endless).rejects.toThrow('enough'), expect(waiting).rejects.toThrow('never mind')];
    second.abort(new Error('never mind'));
    await two;
    first.abort(new Error('enough'));
    await one;
    expect((await good).ok).toBe(true);
    await expect(planner.plan('run', calling('greeting()'), first.signal)).rejects.toThrow('enough');
  });

  it('that dies is reported, and the next request is planned', async () => {
    const planner = thread();
    const dying = planner.plan('run', calling('end_of_thread()'));
    const next = planner.plan('serialized', calling('greeting()'));
    await expect(dying).rejects.toThrow('the plan was not finished: its thread ended with 3');
    expect((await next).ok).toBe(true);
  });

  it('reports a broken module of functions to every caller', async () => {
    const planner = thread(fileURLToPath(new URL('no-such-module.mjs', import.meta.url)));
    for (const _ of [1, 2])
      await expect(planner.plan('run', calling('greeting()'))).rejects.toThrow('no-such-module.mjs');
  });

  it('that is closed rejects pending and later requests', async () => {
    const planner = thread();
    const all = [calling('never_ends()'), calling('greeting()')].map((work) => planner.plan('run', work));
    const ends = Promise.allSettled(all);
    await planner.close();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(planner.plan('run', calling('greeting()'))).rejects.toThrow('is ending');
  });
});

it('a small plan does not wait for a large one', async () => {
  const planner = opened(await openPlanner(HELPERS));
  const abort = new AbortController();
  const stages = Array.from({ length: 4_000 }, (_, at) => ({ id: `stage-${at}`, type: 'stage' }));
  const [{ layers }, large] = [calling('never_ends()'), workOf(stages)];
  const endless = planner.plan('run', { ...large, layers: [...layers, ...large.layers] }, abort.signal);
  expect((await planner.plan('serialized', calling('greeting()'))).ok).toBe(true);
  abort.abort(new Error('enough'));
  await expect(endless).rejects.toThrow('enough');
});

it('the expressions of a plan share a budget, and the error names task, field and nodes', async () => {
  /** Many steps in little time: texts are paid for by their length. */
  const texts = (count: number) => `range(0, ${count}).select(('x' * 100000).len()).sum()`;
  const work = workOf(
    Array.from({ length: 60 }, (_, at) => ({
      id: `task-${at}`,
      type: 'shell',
      version: '2.1.0',
      roles: '/.*/',
      // Exactly the budget of one expression, each time.
      condition: { yaql_exp: `${texts(140)} > ${at}` },
      parameters: { cmd: 'true', timeout: 5 },
    })),
  );
  const planned = await sameThread().plan('run', work);
  expect(planned.ok ? [] : planned.problems).toContainEqual(
    expect.objectContaining({
      code: 'graph.too-much-work',
      path: expect.stringMatching(/task-59|tasks\[59\]\.condition/),
    }),
  );
  const alone = await sameThread().plan(
    'run',
    workOf([
      {
        id: 'costly',
        type: 'shell',
        version: '2.1.0',
        roles: '/.*/',
        condition: { yaql_exp: `${texts(9000)} > 0` },
        parameters: { cmd: 'true' },
      },
    ]),
  );
  expect(alone.ok ? [] : alone.problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    expect.stringMatching(/tasks\[0\]\.condition.*too many steps.*\(on /s),
  ]);
});

it('all plans are made in the thread, with helpers', async () => {
  const planner = opened(await openPlanner(HELPERS));
  const small = await planner.plan('serialized', calling('greeting()'));
  expect(small.ok && commandOf(small.value)).toBe('hello from a helper');
  const large = workOf([
    ...Array.from({ length: 60 }, (_, at) => ({
      id: `task-${at}`,
      type: 'shell',
      version: '2.1.0',
      roles: '/.*/',
      parameters: { cmd: { yaql_exp: 'never_ends()' } },
    })),
  ]);
  const abort = new AbortController();
  const endless = expect(planner.plan('run', large, abort.signal)).rejects.toThrow('enough');
  abort.abort(new Error('enough'));
  await endless;
});

it('a module of functions that cannot be loaded is reported when the planner is opened', async () => {
  await expect(openPlanner(fileURLToPath(new URL('no-such-module.mjs', import.meta.url)))).rejects.toThrow(
    'no-such-module.mjs',
  );
});
