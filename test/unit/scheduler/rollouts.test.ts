import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WrittenRollout } from '../../../src/core/rollout/policy.ts';
import { apply } from '../../../src/core/scheduler/apply.ts';
import type { SchedulerCommand, SchedulerEvent } from '../../../src/core/scheduler/events.ts';
import { keyOf } from '../../../src/core/scheduler/graph.ts';
import { compileNamed, type NamedPlan } from '../../../src/core/scheduler/named-plan.ts';
import { nodeStatus, taskReports } from '../../../src/core/scheduler/report.ts';
import { showRollouts } from '../../../src/core/scheduler/rollouts.ts';
import { createScheduler, type Scheduler } from '../../../src/core/scheduler/state.ts';
import { ROLLOUT_ACTIONS } from '../../../src/core/words.ts';
import { writtenRollouts } from '../core/rollout/written-rollouts.ts';
import { choices } from './drive.ts';

const NODES = ['1', '2', '3', '4', '5', '6'];

function planOf(rollout: WrittenRollout, more: Partial<NamedPlan> = {}): NamedPlan {
  return {
    nodes: [...NODES, 'lb'].map((id) => ({ id, kind: 'node' as const })),
    tasks: [...['get', 'use'].flatMap((id) => NODES.map((node) => ({ id, node }))), { id: 'balance', node: 'lb' }],
    edges: NODES.map((node) => [`get@${node}`, `use@${node}`] as const),
    rollouts: [{ role: 'compute', node_ids: NODES, rollout }],
    ...more,
  };
}

function compiled(plan: NamedPlan) {
  const made = compileNamed(plan);
  if (!made.ok) throw new Error(JSON.stringify(made.refusal));
  return made.graph;
}

const startsIn = (s: Scheduler, commands: readonly SchedulerCommand[]): string[] =>
  commands.flatMap((one) => (one.type === 'start' ? keyOf(s.graph, one.task) : []));

describe('a plan with a rollout', () => {
  const dependsOn = (edges: readonly (readonly [string, string])[], more: Partial<NamedPlan> = {}) =>
    compileNamed(planOf({ first: 1 }, { ...more, edges: [...planOf({ first: 1 }).edges, ...edges] }));

  it('is refused where an earlier wave needs a later one, with both tasks', () =>
    expect(dependsOn([['get@4', 'use@1']])).toEqual({
      ok: false,
      refusal: { reason: 'later_wave_needed', tasks: ['use@1', 'get@4'] },
    }));

  it('is refused where it does so over other nodes, and by a join', () => {
    expect(
      dependsOn([
        ['get@4', 'balance@lb'],
        ['balance@lb', 'get@2'],
      ]),
    ).toMatchObject({ refusal: { tasks: ['get@2', 'get@4'] } });
    const joins = [{ before: NODES.map((node) => `get@${node}`), after: NODES.map((node) => `use@${node}`) }];
    expect(compileNamed(planOf({ first: 1 }, { joins }))).toMatchObject({ refusal: { reason: 'later_wave_needed' } });
  });

  it('is refused where two rollouts wait for each other', () => {
    const rollouts = [
      { role: 'a', node_ids: ['1', '2'], rollout: { first: 1 } },
      { role: 'b', node_ids: ['3', '4'], rollout: { first: 1 } },
    ];
    const edges = [
      ['get@2', 'get@3'],
      ['get@4', 'get@1'],
    ] as const;
    expect(dependsOn(edges, { rollouts })).toMatchObject({ refusal: { reason: 'later_wave_needed' } });
    expect(dependsOn([edges[0]], { rollouts })).toMatchObject({ ok: true });
  });

  it('is taken where a later wave needs an earlier one, and tasks without work count for nothing', () => {
    expect(dependsOn([['use@1', 'get@4']])).toMatchObject({ ok: true });
    const tasks = planOf({ first: 1 }).tasks.map((one) => (one.node === '4' ? { ...one, type: 'skipped' } : one));
    expect(dependsOn([['get@4', 'use@1']], { tasks })).toMatchObject({ ok: true });
  });

  it('has each node in one wave, and no waves in a run that changes nothing', () => {
    expect(compiled(planOf({ first: 1 })).rollouts![0]!.waves).toEqual([[0], [1, 2], [3, 4, 5]]);
    expect(compiled(planOf({ first: 1 }, { mode: 'noop_run' })).rollouts).toBeUndefined();
    const twice = ['a', 'b'].map((role) => ({ role, node_ids: NODES, rollout: { first: 6 } }));
    expect(compiled(planOf({ first: 1 }, { rollouts: twice })).rollouts).toHaveLength(1);
  });
});

describe('a run with a rollout', () => {
  const begun = (rollout: WrittenRollout, offline: readonly string[] = []) => {
    const graph = compiled(planOf(rollout));
    const s = createScheduler(graph);
    let now = 1_000;
    const send = (...events: readonly SchedulerEvent[]): SchedulerCommand[] => apply(s, ...events);
    const end = (key: string, outcome: 'success' | 'failed' = 'success', at = (now += 1_000)) => {
      const task = graph.nameOf.findIndex((_, one) => keyOf(graph, one) === key);
      return send({ type: 'ended', task, attempt: s.attempts[task]!, outcome, now: at });
    };
    return { s, send, end, first: startsIn(s, send({ type: 'begin', offline, now })) };
  };

  it('starts nothing of nodes outside the open wave, and all of other nodes', () => {
    const { s, end, first } = begun({ first: 2 });
    expect(first).toEqual(['get@1', 'get@2', 'balance@lb']);
    expect(startsIn(s, end('get@1'))).toEqual(['use@1']);
    expect(startsIn(s, [...end('use@1'), ...end('get@2')])).toEqual(['use@2']);
    expect(startsIn(s, end('use@2'))).toEqual(['get@3', 'get@4', 'get@5', 'get@6']);
  });

  it('judges its limit at each result, also among results that come together', () => {
    const { s, send } = begun({ first: 2, stop_at: { failed: 1 } });
    const ended = (task: number, outcome: 'success' | 'failed') =>
      ({ type: 'ended', task, attempt: 1, outcome, now: 2_000 }) as const;
    expect(startsIn(s, send(ended(0, 'failed'), ended(1, 'success')))).toEqual([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', why: 'limit', failed: 1, wave: 1 });
  });

  it('takes an agent that is offline for a failure when the wave of its node opens', () => {
    const { s, end } = begun({ first: 1, stop_at: { failed: 1 } }, ['2']);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'running', failed: 0 });
    end('get@1');
    expect(startsIn(s, end('use@1'))).toEqual([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', why: 'limit', failed: 1, wave: 2 });
  });

  it('asks the checks of a node again, or runs its tasks again before, while nothing else starts', () => {
    const { s, send, end } = begun({ first: 1, checks: ['metrics'], stop_at: { failed: 1 } });
    const checked = (nodes: readonly number[]) =>
      send({
        ...{ type: 'checked', rollout: 0, at: s.now, now: (s.now += 1_000) },
        findings: [
          {
            name: 'metrics',
            each: 'node',
            unwell: nodes.length > 0 ? [{ verdict: 'failed', text: '503', nodes }] : [],
          },
        ],
      });
    const asked = (commands: readonly SchedulerCommand[]) =>
      commands.flatMap((one) => (one.type === 'check' ? [one.nodes] : []));
    const status = () => showRollouts(s)[0]!.status;
    end('balance@lb');
    end('get@1');
    expect(asked(end('use@1'))).toEqual([[0]]);
    checked([0]);
    expect([status(), nodeStatus(s, 0)]).toMatchObject([{ state: 'held', failed: 1, wave: 1 }, 'failed']);
    for (const node of ['2', 'lb', '9'])
      expect(send({ type: 'retry_node', node })).toMatchObject([{ rejection: { reason: 'rollout' } }]);
    expect(asked(send({ type: 'retry_node', node: '1' }))).toEqual([[0]]);
    expect(status()).toMatchObject({ state: 'checking', failed: 1 });
    expect(startsIn(s, checked([0]))).toEqual([]);
    expect(status()).toMatchObject({ state: 'held', failed: 1 });
    expect(startsIn(s, send({ type: 'retry_node', node: '1', tasks: true }))).toEqual(['get@1']);
    expect(startsIn(s, end('get@1'))).toEqual(['use@1']);
    expect(asked(end('use@1'))).toEqual([[0]]);
    expect(startsIn(s, checked([]))).toEqual(['get@2', 'get@3']);
    expect([status(), nodeStatus(s, 0)]).toMatchObject([{ state: 'running', failed: 0, wave: 2 }, 'success']);
  });

  it('asks a check of its wave, and agents that did not answer, again until they are well, and nobody vouches', () => {
    const { s, send, end } = begun({ first: 1, checks: ['gateway'], soak: '1s' });
    const looked = (unseen?: string) =>
      send({ type: 'looked', rollout: 0, at: s.now, now: s.now, ...(unseen === undefined ? {} : { unseen }) });
    const checked = (...unwell: { verdict: 'failed'; text: string; nodes: [] }[]) =>
      send({
        type: 'checked',
        rollout: 0,
        at: s.now,
        now: s.now,
        findings: [{ name: 'gateway', each: 'wave', unwell }],
      });
    const recheck = () => send({ type: 'rollout', action: 'promote', request: { recheck: true }, now: s.now });
    const status = () => showRollouts(s)[0]!.status;
    for (const task of ['balance@lb', 'get@1', 'use@1']) end(task);
    expect(recheck()).toMatchObject([{ rejection: { reason: 'rollout' } }]);
    send({ type: 'tick', now: s.now + 1_000 });
    looked('no answer from 1');
    expect(status()).toMatchObject({ state: 'held', why: 'unseen' });
    expect(recheck()).toMatchObject([{ type: 'look', nodes: [0] }]);
    expect(looked()).toMatchObject([{ type: 'check', nodes: [0] }]);
    checked({ verdict: 'failed', text: '503', nodes: [] });
    expect(status()).toMatchObject({ state: 'held', why: 'checks' });
    recheck();
    expect(looked()).toMatchObject([{ type: 'check', nodes: [0] }]);
    expect(startsIn(s, checked({ verdict: 'failed', text: '503', nodes: [] }))).toEqual([]);
    recheck();
    looked();
    expect(startsIn(s, checked())).toEqual(['get@2', 'get@3']);
  });

  it('tries a node again that did not answer before the run', () => {
    const { s, send, first } = begun({ first: 1 }, ['1']);
    expect(first).toEqual([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', why: 'limit', failed: 1 });
    expect(startsIn(s, send({ type: 'retry_node', node: '1' }))).toEqual(['get@1']);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'running', failed: 1 });
    expect(send({ type: 'retry_node', node: '1' })).toMatchObject([{ rejection: { reason: 'rollout' } }]);
  });

  it('has the whole run wait for its limit in its last wave, and end as failed when nothing is left', () => {
    const { s, send, end } = begun({ first: 6 });
    for (const node of NODES.slice(1)) end(`get@${node}`, 'failed');
    expect(startsIn(s, end('get@1'))).toEqual([]);
    expect(send({ type: 'tick', now: 99_000 })).toEqual([]);
    const commands = end('balance@lb');
    expect(commands).not.toContainEqual(expect.objectContaining({ type: 'finish' }));
    const promote = { type: 'rollout', action: 'promote', request: {}, now: 100_000 } as const;
    expect(startsIn(s, send(promote))).toEqual(['use@1']);
    expect(end('use@1')).toContainEqual({ type: 'finish', result: 'success' });
  });

  it('starts a task that an operator retries while nothing else starts', () => {
    const { s, send, end } = begun({ first: 2 });
    end('get@1', 'failed');
    expect(startsIn(s, end('get@2'))).toEqual([]);
    expect(startsIn(s, send({ type: 'retry_task', task: 'get', node: '1' }))).toEqual(['get@1']);
    expect(startsIn(s, end('get@1'))).toEqual(['use@1']);
    expect(startsIn(s, end('use@1'))).toEqual(['use@2']);
  });

  it('asks its checks about the nodes of the open waves, and counts those that are not well', () => {
    const { s, send, end } = begun({ first: 1, checks: ['up', 'gateway'], stop_at: { failed: 2 } });
    let now = 200_000;
    const answer = (unwell: readonly number[], holds = false) =>
      send({
        ...({ type: 'checked', rollout: 0, at: (now += 100_000), now } as const),
        findings: [
          {
            name: 'up',
            each: 'node',
            unwell: unwell.map((node) => ({ verdict: 'unknown', text: 'no answer', nodes: [node] }) as const),
          },
          { name: 'gateway', each: 'wave', unwell: holds ? [{ verdict: 'failed', text: 'refused', nodes: [] }] : [] },
        ],
      });
    end('get@1');
    const asked = end('use@1').filter(({ type }) => type === 'check');
    expect(asked).toEqual([{ type: 'check', rollout: 0, checks: ['up', 'gateway'], nodes: [0] }]);
    expect(send({ type: 'tick', now: 150_000 })).toEqual([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'checking', wave: 1 });
    expect(answer([], true)).toEqual([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', why: 'checks', failed: 0 });
    send({ type: 'rollout', action: 'promote', request: {}, now });
    for (const task of ['get@2', 'get@3', 'use@2']) end(task);
    expect(end('use@3')).toContainEqual({ type: 'check', rollout: 0, checks: ['up', 'gateway'], nodes: [0, 1, 2] });
    answer([1, 2]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', why: 'limit', failed: 2 });
    // Answers that nobody waits for say nothing.
    answer([]);
    expect(showRollouts(s)[0]!.status).toMatchObject({ state: 'held', failed: 2 });
    expect(startsIn(s, send({ type: 'rollout', action: 'promote', request: { limit: 3 }, now }))).toEqual([
      ...['get@4', 'get@5', 'get@6'],
    ]);
  });

  it('ends nothing of its soak while it is paused', () => {
    const { s, send, end } = begun({ first: 1, soak: '10s' });
    end('get@1');
    end('use@1');
    expect(showRollouts(s)[0]!.status.state).toBe('soaking');
    send({ type: 'pause' });
    expect(send({ type: 'tick', now: 60_000 })).toEqual([]);
    expect(send({ type: 'resume', now: 60_000 })).toEqual([{ type: 'look', rollout: 0, nodes: [0] }]);
    expect(startsIn(s, send({ type: 'looked', rollout: 0, at: 60_000, now: 61_000 }))).toEqual(['get@2', 'get@3']);
  });
});

describe('a run with random results and operators', () => {
  /** Drives a run to its end, or until nothing but a person could go on. */
  function drive(rollout: WrittenRollout, seed: number, hasOperators: boolean): void {
    const below = choices(seed);
    const graph = compiled(planOf(rollout));
    const s = createScheduler(graph);
    const waveOf = new Map(graph.rollouts![0]!.waves.flatMap((nodes, at) => nodes.map((node) => [node, at] as const)));
    const running = new Map<number, number>();
    const retried = new Set<number>();
    const looks: number[] = [];
    let now = 0;
    let isOver = false;
    let isVouchedFor = hasOperators;
    let wakeAt: number | null = null;
    const send = (event: SchedulerEvent): void => {
      for (const command of apply(s, event)) {
        if (command.type === 'finish') isOver = true;
        if (command.type === 'wake') wakeAt = command.at;
        if (command.type === 'look') looks.push(now);
        if (command.type !== 'start') continue;
        const node = graph.nodeOf[command.task]!;
        const [{ status }] = showRollouts(s) as [ReturnType<typeof showRollouts>[number]];
        const wave = waveOf.get(node);
        if (wave !== undefined) expect(wave).toBeLessThan(status.wave);
        if (!isVouchedFor && status.failed >= status.limit)
          throw new Error(`${keyOf(graph, command.task)} starts after stop_at`);
        const before = graph.rollouts![0]!.waves.slice(0, wave ?? 0).flat();
        for (const task of graph.nodeOf.keys())
          if (before.includes(graph.nodeOf[task]!) && !retried.has(graph.nodeOf[task]!))
            expect(['success', 'failed', 'blocked', 'skipped']).toContain(taskReports(s)[task]!.status);
        running.set(command.task, command.attempt);
      }
    };
    const offline = below(4) === 0 ? [NODES[below(NODES.length)]!] : [];
    send({ type: 'begin', offline, now });
    for (let step = 0; step < 300 && !isOver; step++) {
      now += 1 + below(20_000);
      const [task, attempt] = [...running][below(Math.max(1, running.size))] ?? [];
      if (hasOperators && below(6) === 0) {
        const failed = taskReports(s).filter(({ status }) => status === 'failed');
        const one = failed[below(Math.max(1, failed.length))];
        if (one !== undefined) retried.add(graph.nodes.indexOf(one.node));
        const what = below(5);
        if (what === 0 && one !== undefined) send({ type: 'retry_task', task: one.task, node: one.node });
        else if (what === 1 && one !== undefined) send({ type: 'skip_task', task: one.task, node: one.node });
        else if (what === 2) send({ type: 'pause' });
        else if (what === 3) send({ type: 'resume', now });
        else send({ type: 'rollout', action: ROLLOUT_ACTIONS[below(below(20) === 0 ? 3 : 2)]!, request: {}, now });
      } else if (looks.length > 0) {
        const unseen = below(8) === 0 ? { unseen: 'nobody' } : {};
        send({ type: 'looked', rollout: 0, at: looks.shift()!, now, ...unseen });
      } else if (task !== undefined && attempt !== undefined) {
        running.delete(task);
        send({ type: 'ended', task, attempt, outcome: below(6) === 0 ? 'failed' : 'success', now });
      } else if (wakeAt !== null) {
        now = Math.max(now, wakeAt);
        wakeAt = null;
        send({ type: 'tick', now });
      }
    }
    if (isOver) return;
    // Only a person could go on.
    isVouchedFor = true;
    if (s.paused) send({ type: 'resume', now });
    for (let step = 0; step < 300 && !isOver; step++) {
      now += 1_000;
      const [task, attempt] = [...running][0] ?? [];
      if (looks.length > 0) send({ type: 'looked', rollout: 0, at: looks.shift()!, now });
      else if (task !== undefined && attempt !== undefined) {
        running.delete(task);
        send({ type: 'ended', task, attempt, outcome: 'success', now });
      } else if (wakeAt !== null) {
        now = Math.max(now, wakeAt);
        wakeAt = null;
        send({ type: 'tick', now });
      } else {
        expect(showRollouts(s)[0]!.status.state).toBe('held');
        send({ type: 'rollout', action: 'promote', request: {}, now });
      }
    }
    expect(isOver).toBe(true);
  }

  it.each([false, true])('keeps its waves and its limit, and never hangs (operators: %s)', (hasOperators) =>
    fc.assert(
      fc.property(writtenRollouts, fc.integer(), ({ checks: _, ...rollout }, seed) =>
        drive(rollout, seed, hasOperators),
      ),
      {
        numRuns: 200,
      },
    ),
  );
});
