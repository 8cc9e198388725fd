import { describe, expect, it } from 'vitest';
import { rejectionOf, wouldRetry } from '../../../src/core/scheduler/apply.ts';
import { stillToDo } from '../../../src/core/scheduler/links.ts';
import { compileNamed, type NamedPlan } from '../../../src/core/scheduler/named-plan.ts';
import { progress, rootCauses, taskReports } from '../../../src/core/scheduler/report.ts';
import { restoreScheduler, takeSnapshot } from '../../../src/core/scheduler/snapshot.ts';
import { pair, planOf, run } from './run.ts';

describe('attempts', () => {
  const policy = { count: 2, interval: 100 };
  const plan = planOf(['a@n1', 'b@n1'], ['a@n1 > b@n1']);
  const retried = { ...plan, tasks: plan.tasks.map((task) => (task.id === 'a' ? { ...task, retry: policy } : task)) };

  it('follow each other at the interval, then the task fails', () => {
    const r = run(retried);
    expect(r.begin()).toEqual(['start a@n1']);
    expect(r.fail('a@n1', 10)).toEqual(['a@n1 again at 110', 'wake at 110']);
    expect(r.send({ type: 'tick', now: 109 })).toEqual([]);
    expect(r.send({ type: 'tick', now: 110 })).toEqual(['start a@n1 #2']);
    expect(r.fail('a@n1', 200)).toEqual(['a@n1 again at 300', 'wake at 300']);
    expect(r.send({ type: 'tick', now: 300 })).toEqual(['start a@n1 #3']);
    expect(r.fail('a@n1', 310)).toEqual(['a@n1 failed', 'b@n1 blocked by a@n1', 'finish: success']);
    expect(taskReports(r.scheduler)[0]).toMatchObject({ status: 'failed', attempts: 3 });
  });

  it('do not follow one that is final', () => {
    const r = run(retried);
    r.begin();
    expect(wouldRetry(r.scheduler, r.numberOf('a@n1'))).toBe(true);
    expect(wouldRetry(r.scheduler, r.numberOf('b@n1'))).toBe(false);
    expect(
      r.send({ type: 'ended', task: r.numberOf('a@n1'), attempt: 1, outcome: 'failed', final: true, now: 10 }),
    ).toEqual(['a@n1 failed', 'b@n1 blocked by a@n1', 'finish: success']);
  });

  it('are not given by operators to an exhausted run', () => {
    const r = run(retried, { hold: true });
    r.begin();
    r.send({ type: 'ended', task: r.numberOf('a@n1'), attempt: 1, outcome: 'failed', final: true, now: 10 });
    r.scheduler.exhausted = true;
    expect(rejectionOf(r.scheduler, { type: 'retry_task', ...pair('a@n1') })).toEqual({ reason: 'exhausted' });
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toEqual(['rejected: exhausted']);
    r.scheduler.exhausted = false;
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toContain('start a@n1 #2');
  });

  it('are held by a pause and continue with the resume', () => {
    const r = run(retried);
    r.begin();
    r.fail('a@n1', 0);
    expect(r.send({ type: 'pause' })).toEqual([]);
    expect(r.send({ type: 'tick', now: 500 })).toEqual([]);
    expect(r.send({ type: 'resume', now: 500 })).toEqual(['start a@n1 #2']);
  });

  it('wake the driver again after a resume before they are due', () => {
    const r = run(retried);
    r.begin();
    r.fail('a@n1', 0);
    r.send({ type: 'pause' });
    expect(r.send({ type: 'resume', now: 50 })).toEqual(['wake at 100']);
  });

  it('are not made once the run stops', () => {
    const r = run(retried);
    r.begin();
    r.fail('a@n1', 0);
    expect(r.send({ type: 'stop' })).toEqual([
      'a@n1 failed',
      'b@n1 blocked by a@n1',
      'stopping: user',
      'finish: success',
    ]);
  });

  it('that their node did not start because the run stopped leave the task failed', () => {
    const r = run(retried);
    r.begin();
    r.fail('a@n1', 0);
    r.send({ type: 'tick', now: 100 });
    r.send({ type: 'stop' });
    expect(r.withdraw('a@n1')).toEqual(['a@n1 failed', 'b@n1 blocked by a@n1', 'finish: success']);
  });

  it('ignore an answer of an earlier attempt', () => {
    const r = run(retried);
    r.begin();
    r.fail('a@n1', 0);
    r.send({ type: 'tick', now: 100 });
    const late = { type: 'ended', task: r.numberOf('a@n1'), attempt: 1, outcome: 'success' } as const;
    expect(r.send(late)).toEqual(['rejected: not_running']);
    expect(r.statuses()['a@n1']).toBe('running');
  });
});

describe('pause and stop', () => {
  it('let running tasks finish and start nothing', () => {
    const r = run(planOf(['a@n1', 'b@n1', 'c@n2'], ['a@n1 > b@n1', 'a@n1 > c@n2']));
    r.begin();
    r.send({ type: 'pause' });
    expect(r.succeed('a@n1')).toEqual(['a@n1 success']);
    expect(progress(r.scheduler)).toMatchObject({ paused: true, running: [], tasks: { waiting: 2, success: 1 } });
    expect(r.send({ type: 'resume' })).toEqual(['start b@n1', 'start c@n2']);
  });

  it('leave a task undone that its node did not start, like unsent ones', () => {
    const r = run(planOf(['a@n1', 'b@n1', 'c@n2'], ['a@n1 > b@n1']));
    r.begin();
    r.send({ type: 'stop' });
    expect(r.withdraw('a@n1')).toEqual([]);
    expect(r.succeed('c@n2')).toEqual(['c@n2 success', 'a@n1 not_reached', 'b@n1 not_reached', 'finish: stopped']);
  });

  it('repeat the request to a node that knew of the stop first, as the same attempt', () => {
    const r = run(planOf(['a@n1']));
    r.begin();
    expect(r.withdraw('a@n1')).toEqual(['start a@n1']);
    r.send({ type: 'stop' });
    expect(r.withdraw('a@n1')).toEqual(['a@n1 not_reached', 'finish: stopped']);
  });

  it.each(['succeed', 'fail'] as const)('do not let a paused run end by itself when its last tasks %s', (how) => {
    const r = run(planOf(['a@n1'], [], { fault_tolerance_groups: [] }));
    r.begin();
    r.send({ type: 'pause' });
    expect(r[how]('a@n1').at(-1)).not.toMatch(/^finish/);
    expect(r.send({ type: 'resume' })).toEqual([`finish: ${how === 'fail' ? 'failed' : 'success'}`]);
  });

  it('let a failed task of a paused run be retried', () => {
    const r = run(planOf(['a@n1'], [], { fault_tolerance_groups: [] }));
    r.begin();
    r.send({ type: 'pause' });
    r.fail('a@n1');
    r.send({ type: 'retry_task', ...pair('a@n1') });
    expect(r.send({ type: 'resume' })).toEqual(['start a@n1 #2']);
    expect(r.succeed('a@n1').at(-1)).toBe('finish: success');
  });

  it('end the run immediately when nothing runs, with the undone tasks', () => {
    const r = run(planOf(['a@n1', 'b@n1'], ['a@n1 > b@n1']));
    r.begin();
    r.send({ type: 'pause' });
    r.succeed('a@n1');
    expect(r.send({ type: 'stop' })).toEqual(['stopping: user', 'b@n1 not_reached', 'finish: stopped']);
    expect(r.send({ type: 'resume' })).toEqual(['rejected: finished']);
  });
});

describe('an operator', () => {
  const plan = planOf(['a@n1', 'x@n1', 'b@n2', 'long@n3'], ['a@n1 > b@n2', 'a@n1 > x@n1']);

  it('retries a failed task, which unblocks its dependents', () => {
    const r = run(plan);
    r.begin();
    expect(r.fail('a@n1')).toEqual(['a@n1 failed', 'x@n1 blocked by a@n1', 'b@n2 blocked by a@n1']);
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toEqual([
      'a@n1 reopened',
      'x@n1 reopened',
      'b@n2 reopened',
      'start a@n1 #2',
    ]);
    expect(r.succeed('a@n1')).toEqual(['a@n1 success', 'start x@n1', 'start b@n2']);
    r.succeed('x@n1');
    r.succeed('b@n2');
    expect(r.succeed('long@n3')).toEqual(['long@n3 success', 'finish: success']);
  });

  it('lifts the stop that the failure caused', () => {
    const r = run({ ...planOf(['a@n1', 'b@n2', 'c@n2'], ['b@n2 > c@n2']), fault_tolerance_groups: [] });
    r.begin();
    expect(r.fail('a@n1')).toEqual(['a@n1 failed', 'stopping: critical']);
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toEqual([
      'a@n1 reopened',
      'stopping: none',
      'start a@n1 #2',
    ]);
    r.succeed('a@n1');
    expect(r.succeed('b@n2')).toEqual(['b@n2 success', 'start c@n2']);
    expect(r.succeed('c@n2')).toEqual(['c@n2 success', 'finish: success']);
  });

  it('keeps tasks blocked that another failure blocks, and names it', () => {
    const r = run(planOf(['a@n1', 'b@n2', 'c@n3', 'long@n4'], ['a@n1 > c@n3', 'b@n2 > c@n3']));
    r.begin();
    r.fail('a@n1');
    r.fail('b@n2');
    expect(rootCauses(r.scheduler)).toEqual(new Map([[r.numberOf('c@n3'), [pair('a@n1'), pair('b@n2')]]]));
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toEqual([
      'a@n1 reopened',
      'c@n3 blocked by b@n2',
      'start a@n1 #2',
    ]);
    expect(rootCauses(r.scheduler)).toEqual(new Map([[r.numberOf('c@n3'), [pair('b@n2')]]]));
  });

  it('skips a failed task, and its dependents continue', () => {
    const r = run(plan);
    r.begin();
    r.fail('a@n1');
    expect(r.send({ type: 'skip_task', ...pair('a@n1') })).toEqual([
      'a@n1 skipped',
      'x@n1 reopened',
      'b@n2 reopened',
      'start x@n1',
      'start b@n2',
    ]);
  });

  it('skips a waiting task, which keeps its place in the order', () => {
    const r = run(planOf(['a@n1', 'b@n1', 'c@n1'], ['a@n1 > b@n1', 'b@n1 > c@n1']));
    r.begin();
    expect(r.send({ type: 'skip_task', ...pair('b@n1') })).toEqual([]);
    expect(r.succeed('a@n1')).toEqual(['a@n1 success', 'b@n1 skipped', 'start c@n1']);
  });

  it('gets the reason for a refusal', () => {
    const r = run(plan);
    expect(r.send({ type: 'retry_task', ...pair('a@n1') })).toEqual(['rejected: not_started']);
    r.begin();
    const ask = (type: 'retry_task' | 'skip_task', key: string) => rejectionOf(r.scheduler, { type, ...pair(key) });
    expect(ask('retry_task', 'nope@n1')).toEqual({ reason: 'unknown_task', ...pair('nope@n1') });
    expect(ask('retry_task', 'a@n1')).toEqual({ reason: 'not_failed', ...pair('a@n1'), status: 'running' });
    expect(ask('skip_task', 'a@n1')).toEqual({ reason: 'not_skippable', ...pair('a@n1'), status: 'running' });
    r.fail('a@n1');
    expect(ask('skip_task', 'b@n2')).toEqual({
      reason: 'not_skippable',
      ...pair('b@n2'),
      status: 'blocked',
      cause: pair('a@n1'),
    });
    expect(ask('skip_task', 'a@n1')).toBeUndefined();
    r.send({ type: 'stop' });
    expect(ask('retry_task', 'a@n1')).toEqual({ reason: 'stopped' });
  });
});

describe('a node that is offline', () => {
  /** a on each of four nodes; b on 3 waits for a on 1 and 2, c on 4 for nobody. */
  const four: NamedPlan = {
    nodes: ['1', '2', '3', '4'].map((id) => ({ id, kind: 'node' as const })),
    tasks: [...['1', '2', '3', '4'].map((node) => ({ id: 'a', node })), { id: 'b', node: '3' }, { id: 'c', node: '4' }],
    edges: [
      ['a@1', 'b@3'],
      ['a@2', 'b@3'],
      ['a@4', 'c@4'],
    ],
  };
  const without = (plan: NamedPlan, ...offline: string[]) => {
    const r = run(plan);
    return { ...r, began: r.send({ type: 'begin', offline, now: 0 }) };
  };

  it('and in no group fails the run, once the others have done what does not need it', () => {
    const r = without(four, '1');
    expect(r.began).toEqual(
      expect.arrayContaining(['a@1 blocked by offline:1', 'start a@2', 'start a@3', 'start a@4']),
    );
    for (const task of ['a@2', 'a@3', 'a@4']) r.succeed(task);
    expect(r.succeed('c@4')).toEqual(expect.arrayContaining(['finish: failed']));
    expect(r.statuses()).toMatchObject({ 'a@1': 'blocked', 'b@3': 'blocked', 'c@4': 'success' });
  });

  it('is one of several: each of the others goes on as far as it needs none of them', () => {
    const r = without(four, '1', '3');
    expect(r.began).toEqual(expect.arrayContaining(['start a@2', 'start a@4']));
    r.succeed('a@2');
    r.succeed('a@4');
    expect(r.succeed('c@4')).toContain('finish: failed');
    expect(r.statuses()).toEqual({
      ...{ 'a@1': 'blocked', 'a@2': 'success', 'a@3': 'blocked', 'a@4': 'success' },
      ...{ 'b@3': 'blocked', 'c@4': 'success' },
    });
  });

  it('stops only what waits for all nodes: what each does for itself before and after that is told apart', () => {
    const r = without(
      {
        ...four,
        // As cross-depends: d on each waits for a on all; e waits for its own a.
        tasks: ['1', '2', '3', '4'].flatMap((node) => ['a', 'd', 'e'].map((id) => ({ id, node }))),
        edges: ['1', '2', '3', '4'].map((node) => [`a@${node}`, `e@${node}`] as const),
        joins: [{ before: ['a@1', 'a@2', 'a@3', 'a@4'], after: ['d@1', 'd@2', 'd@3', 'd@4'] }],
      },
      '2',
    );
    for (const node of ['1', '3', '4']) r.succeed(`a@${node}`);
    for (const node of ['1', '3', '4']) r.succeed(`e@${node}`);
    const ends = r.statuses();
    for (const node of ['1', '3', '4'])
      expect([ends[`a@${node}`], ends[`e@${node}`], ends[`d@${node}`]]).toEqual(['success', 'success', 'blocked']);
    expect([ends['a@2'], ends['d@2'], ends['e@2']]).toEqual(['blocked', 'blocked', 'blocked']);
  });

  it('leaves a task that fails elsewhere its effect: nothing new starts', () => {
    const r = without(four, '1');
    expect(r.fail('a@2')).toContain('stopping: critical');
    r.succeed('a@3');
    expect(r.succeed('a@4')).toContain('c@4 not_reached');
  });

  it('stops the run at once when its group tolerates no more', () => {
    const group = (fault_tolerance: number) => [{ name: 'g', node_ids: ['1', '2'], fault_tolerance }];
    expect(without({ ...four, fault_tolerance_groups: group(0) }, '1').began).toContain('stopping: critical');
    expect(without({ ...four, fault_tolerance_groups: group(1) }, '1', '2').began).toContain('stopping: tolerance');
  });
});

describe('modes', () => {
  const failing = planOf(['a@n1', 'b@n1'], ['a@n1 > b@n1'], { fault_tolerance_groups: [] });

  it('run nothing in a dry run', () => {
    const r = run({ ...failing, mode: 'dry_run' });
    expect(r.begin()).toEqual(['a@n1 skipped', 'b@n1 skipped', 'finish: success']);
  });

  it('ignore every error in a noop run', () => {
    const r = run({ ...failing, mode: 'noop_run' });
    r.begin();
    expect(r.fail('a@n1')).toEqual(['a@n1 ignored', 'start b@n1']);
    expect(r.fail('b@n1')).toEqual(['b@n1 ignored', 'finish: success']);
  });
});

describe('tasks without work', () => {
  it('end inside the scheduler, in order', () => {
    const plan = planOf(['a@n1', 'b@n2', 'c@n1', 'd@n1'], ['a@n1 > b@n2', 'b@n2 > c@n1', 'c@n1 > d@n1']);
    const r = run({ ...plan, tasks: plan.tasks.map((task) => (task.id === 'd' ? task : { ...task, type: 'noop' })) });
    expect(r.begin()).toEqual(['a@n1 skipped', 'b@n2 skipped', 'c@n1 skipped', 'start d@n1']);
  });
});

describe('continuing from an earlier run', () => {
  const plan = planOf(['a@n1', 'b@n1', 'c@n1', 'x@n2', 'y@n3'], ['a@n1 > b@n1', 'b@n1 > c@n1', 'x@n2 > y@n3']);
  const keys = plan.tasks.map(({ id, node }) => `${id}@${node}`);
  const restAfter = (done: readonly string[], joins: { before: string[]; after: string[] }[] = []): string[] => {
    const compiled = compileNamed({ ...plan, joins });
    if (!compiled.ok) throw new Error('refused');
    const rest = stillToDo(compiled.graph, (task) => done.includes(keys[task]!));
    return keys.filter((_, task) => rest[task] === 1);
  };

  it('runs tasks that are not done and everything after them', () => {
    const only = restAfter(['a@n1', 'x@n2', 'y@n3']);
    expect(only).toEqual(['b@n1', 'c@n1']);
    const second = run({ ...plan, only });
    expect(second.begin()).toEqual(['a@n1 skipped', 'x@n2 skipped', 'start b@n1', 'y@n3 skipped']);
    second.succeed('b@n1');
    expect(second.succeed('c@n1')).toEqual(['c@n1 success', 'finish: success']);
  });

  it('runs tasks after a failed join, and new ones', () => {
    const joins = [{ before: ['a@n1', 'x@n2'], after: ['c@n1', 'y@n3'] }];
    expect(restAfter(['a@n1', 'b@n1', 'c@n1', 'y@n3'], joins)).toEqual(['c@n1', 'x@n2', 'y@n3']);
    expect(restAfter(['a@n1', 'x@n2', 'y@n3'])).toEqual(['b@n1', 'c@n1']);
    expect(restAfter([])).toEqual(keys);
  });
});

describe('a snapshot', () => {
  it('is small plain JSON from which the run continues', () => {
    const plan = planOf(['a@n1', 'b@n1', 'c@n2'], ['a@n1 > b@n1'], { limits: { per_task: { c: 1 } } });
    const r = run(plan);
    r.begin();
    r.fail('a@n1');
    const snapshot = takeSnapshot(r.scheduler);
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    const restored = restoreScheduler(r.scheduler.graph, snapshot);
    expect(taskReports(restored)).toEqual(taskReports(r.scheduler));
    expect(takeSnapshot(restored)).toEqual(snapshot);
  });
});
