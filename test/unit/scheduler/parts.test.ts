import { describe, expect, it } from 'vitest';
import { apply } from '../../../src/core/scheduler/apply.ts';
import type { CoordinatorEvent } from '../../../src/core/scheduler/coordinator.ts';
import { coordinate, createCoordinator } from '../../../src/core/scheduler/coordinator.ts';
import type { SchedulerEvent } from '../../../src/core/scheduler/events.ts';
import { keyOf } from '../../../src/core/scheduler/graph.ts';
import { compileNamed, type NamedPlan } from '../../../src/core/scheduler/named-plan.ts';
import { endOfPart } from '../../../src/core/scheduler/part-exchange.ts';
import type { FromPart, ToPart } from '../../../src/core/scheduler/part-messages.ts';
import { partition } from '../../../src/core/scheduler/partition.ts';
import { taskReports } from '../../../src/core/scheduler/report.ts';
import { createScheduler } from '../../../src/core/scheduler/state.ts';
import { taskText } from '../../../src/core/task-on-node.ts';
import { blocksOfNodes } from '../../rig/blocks-of-nodes.ts';
import { numberIn, pair, planOf } from './run.ts';

/** One part a node; the test delivers each message itself. */
function split(plan: NamedPlan) {
  const compiled = compileNamed(plan);
  if (!compiled.ok) throw new Error('refused');
  const { parts, coordination } = partition(compiled.graph, blocksOfNodes(compiled.graph, 1));
  const schedulers = parts.map((graph) => createScheduler(graph));
  let stamp = 0;
  const coordinator = createCoordinator(coordination, () => ++stamp);
  const down: { part: number; message: ToPart }[] = [];
  const up: FromPart[] = [];
  const ended: number[] = [];
  let result: string | undefined;
  const ask = (...events: CoordinatorEvent[]): string[] => {
    const commands = coordinate(coordinator, ...events);
    for (const command of commands) {
      if (command.type === 'send') down.push(command);
      if (command.type === 'finish') result = command.result;
    }
    return commands.flatMap((c) => (c.type === 'rejected' ? [c.rejection.reason] : []));
  };
  const send = (part: number, ...events: SchedulerEvent[]): string[] => {
    const started: string[] = [];
    for (const command of apply(schedulers[part]!, ...events)) {
      if (command.type === 'send') up.push(command.message);
      if (command.type === 'finish') ended.push(part);
      if (command.type === 'start') started.push(keyOf(schedulers[part]!.graph, command.task));
      if (command.type === 'rejected') started.push(command.rejection.reason);
    }
    return started;
  };
  const goDown = (): string[] =>
    down
      .splice(0)
      .flatMap(({ part, message }) =>
        send(part, { type: 'received', message, by: { run: 'run', at: 0 }, first: true }),
      );
  const goUp = (): string[] => [
    ...up.splice(0).flatMap((message) => ask({ type: 'received', message })),
    ...ended.splice(0).flatMap((part) => ask({ type: 'ended', part, ...endOfPart(schedulers[part]!)! })),
  ];
  return {
    ask,
    send,
    goDown,
    goUp,
    down,
    /** A run that was reset starts a part anew. */
    restart(part: number): void {
      schedulers[part] = createScheduler(parts[part]!);
      ask({ type: 'part_reset', part });
    },
    settle: (): string[] => {
      const started: string[] = [];
      while (down.length + up.length + ended.length > 0) started.push(...goDown(), ...goUp());
      return started;
    },
    end: (part: number, task: string, outcome: 'success' | 'failed', attempt = 1) =>
      send(part, { type: 'ended', task: numberIn(schedulers[part]!, task), attempt, outcome }),
    statuses: () => Object.fromEntries(schedulers.flatMap((s) => taskReports(s)).map((r) => [taskText(r), r.status])),
    result: () => result,
  };
}

describe('a run in parts', () => {
  it('does not end while a failure is still on its way to others', () => {
    const run = split(planOf(['a@n1', 'b@n2', 'c@n3'], ['a@n1 > b@n2', 'b@n2 > c@n3']));
    run.ask({ type: 'begin' });
    expect(run.settle()).toEqual(['a@n1']);
    run.ask({ type: 'stop' });
    run.settle();
    run.end(0, 'a@n1', 'failed');
    run.goUp();
    // Every part is idle, but part 1 has not yet received the failure.
    run.ask({ type: 'stop' });
    expect(run.down.some(({ message }) => message.close)).toBe(false);
    run.settle();
    expect(run.statuses()).toEqual({ 'a@n1': 'failed', 'b@n2': 'blocked', 'c@n3': 'blocked' });
    expect(run.result()).toBe('success');
  });

  it('passes an operator’s retry on, and reopens blocked tasks in other parts', () => {
    const run = split(planOf(['a@n1', 'b@n2', 'long@n3'], ['a@n1 > b@n2']));
    run.ask({ type: 'begin' });
    expect(run.settle()).toEqual(['a@n1', 'long@n3']);
    run.end(0, 'a@n1', 'failed');
    run.settle();
    expect(run.statuses()['b@n2']).toBe('blocked');
    run.ask({ type: 'retry_task', ...pair('a@n1') });
    expect(run.settle()).toEqual(['a@n1']);
    expect(run.statuses()['b@n2']).toBe('waiting');
    run.end(0, 'a@n1', 'success', 2);
    expect(run.settle()).toEqual(['b@n2']);
    run.end(1, 'b@n2', 'success');
    run.end(2, 'long@n3', 'success');
    run.settle();
    expect(run.result()).toBe('success');
  });

  it('begins again on a part that a run starts anew after a reset, with the coordinator of before', () => {
    const run = split(planOf(['a@n1', 'b@n2'], ['a@n1 > b@n2']));
    run.ask({ type: 'begin' });
    expect(run.settle()).toEqual(['a@n1']);
    run.restart(0);
    expect(run.settle()).toEqual(['a@n1']);
    run.end(0, 'a@n1', 'success');
    expect(run.settle()).toEqual(['b@n2']);
    run.restart(0);
    run.restart(1);
    expect(run.settle()).toEqual(['a@n1']);
  });

  it('answers an operator request that cannot be fulfilled', () => {
    const run = split(planOf(['a@n1', 'b@n2'], ['a@n1 > b@n2']));
    run.ask({ type: 'begin' });
    run.settle();
    expect(run.ask({ type: 'retry_task', ...pair('x@n9') })).toEqual(['unknown_task']);
    expect(run.ask({ type: 'retry_task', ...pair('b@n2') })).toEqual([]);
    run.goDown();
    expect(run.goUp()).toEqual(['not_failed']);
    expect(run.send(0, { type: 'pause' })).toEqual(['ask_the_coordinator']);
  });

  it.each(['resume', 'stop'] as const)('that is paused ends at a %s, not by itself', (end) => {
    const run = split(planOf(['a@n1', 'b@n2'], []));
    run.ask({ type: 'begin' });
    run.settle();
    run.ask({ type: 'pause' });
    for (const [part, task] of ['a@n1', 'b@n2'].entries()) {
      run.end(part, task, 'success');
    }
    run.settle();
    expect(run.result()).toBeUndefined();
    run.ask({ type: end });
    run.settle();
    expect(run.result()).toBe('success');
  });

  it('sends its changes in one message for all events of one step', () => {
    const run = split(planOf(['a@n1', 'b@n2', 'c@n2'], ['a@n1 > b@n2', 'a@n1 > c@n2']));
    run.ask({ type: 'begin' }, { type: 'pause' }, { type: 'resume' });
    expect(run.down.map(({ part, message }) => [part, message])).toEqual([
      [0, { seq: 1, stamp: 1, begin: { offline: [] }, pause: false }],
      [1, { seq: 1, stamp: 2, begin: { offline: [] }, pause: false }],
    ]);
  });

  it('shares one slot of a name between parts, one after the other', () => {
    const run = split(planOf(['a@n1', 'a@n2', 'a@n3'], [], { limits: { per_task: { a: 1 } } }));
    run.ask({ type: 'begin' });
    expect(run.settle()).toEqual(['a@n1']);
    run.end(0, 'a@n1', 'success');
    expect(run.settle()).toEqual(['a@n2']);
    run.end(1, 'a@n2', 'failed');
    expect(run.settle()).toEqual(['a@n3']);
  });
});
