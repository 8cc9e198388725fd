/**
 * Measures the speed of the scheduler alone, in whole runs with tasks that end immediately.
 * Usage: node bench/scheduler.ts [nodes [tasks per node]]
 */
import './bounded.ts';
import { apply } from '../src/core/scheduler/apply.ts';
import { coordinate, createCoordinator } from '../src/core/scheduler/coordinator.ts';
import type { SchedulerCommand, SchedulerEvent } from '../src/core/scheduler/events.ts';
import { compileNamed, type NamedPlan } from '../src/core/scheduler/named-plan.ts';
import { endOfPart } from '../src/core/scheduler/part-exchange.ts';
import { partition } from '../src/core/scheduler/partition.ts';
import { simulate } from '../src/core/scheduler/simulate.ts';
import { takeSnapshot } from '../src/core/scheduler/snapshot.ts';
import type { Scheduler } from '../src/core/scheduler/state.ts';
import { createScheduler } from '../src/core/scheduler/state.ts';
import { blocksOfNodes } from '../test/rig/blocks-of-nodes.ts';

/** A chain of tasks on each node, a join over all nodes after every tenth task, and limits for some tasks. */
function plan(nodes: number, perNode: number, limited: boolean): NamedPlan {
  const ids = Array.from({ length: nodes }, (_, n) => `${n + 1}`);
  const stages = Array.from({ length: perNode }, (_, t) => `task${t}`);
  return {
    nodes: ids.map((id) => ({ id, kind: 'node' })),
    tasks: ids.flatMap((node) => stages.map((id) => ({ id, node }))),
    edges: ids.flatMap((node) => stages.slice(1).map((id, t) => [`${stages[t]}@${node}`, `${id}@${node}`] as const)),
    joins: stages.flatMap((id, t) =>
      t % 10 === 9 && t + 1 < perNode
        ? [{ before: ids.map((node) => `${id}@${node}`), after: ids.map((node) => `${stages[t + 1]}@${node}`) }]
        : [],
    ),
    limits: limited ? { max_nodes: 50, per_task: { task3: 1, task7: 10 } } : {},
  };
}

const timed = <T>(work: () => T): [T, number] => {
  const from = performance.now();
  const result = work();
  return [result, performance.now() - from];
};

/** Ends tasks in the order in which they started, one event per call. */
function drive(s: Scheduler): number {
  const running: Extract<SchedulerCommand, { type: 'start' }>[] = [];
  let events = 0;
  const send = (event: SchedulerEvent): void => {
    events++;
    for (const command of apply(s, event)) if (command.type === 'start') running.push(command);
  };
  send({ type: 'begin' });
  for (let at = 0; at < running.length; at++) {
    const { task, attempt } = running[at]!;
    send({ type: 'ended', task, attempt, outcome: 'success' });
  }
  return events;
}

/** The same in parts; each message is delivered in the next round. */
function driveParts(split: ReturnType<typeof partition>): { events: number; messages: number } {
  const parts = split.parts.map((graph) => createScheduler(graph));
  let stamp = 0;
  const coordinator = createCoordinator(split.coordination, () => ++stamp);
  let inboxes: SchedulerEvent[][] = parts.map(() => []);
  let events = 0;
  let messages = 0;
  let commands = coordinate(coordinator, { type: 'begin' });
  for (;;) {
    if (commands.some((command) => command.type === 'finish')) return { events, messages };
    for (const command of commands) {
      if (command.type !== 'send') continue;
      messages++;
      inboxes[command.part]!.push({ type: 'received', message: command.message, by: { run: 'run', at: 0 } });
    }
    const next: SchedulerEvent[][] = parts.map(() => []);
    const reports: Parameters<typeof coordinate>[1][] = [];
    const ended: Parameters<typeof coordinate>[1][] = [];
    parts.forEach((s, part) => {
      const inbox = inboxes[part]!;
      events += inbox.length;
      for (const command of inbox.length > 0 ? apply(s, ...inbox) : []) {
        if (command.type === 'start') {
          next[part]!.push({ type: 'ended', task: command.task, attempt: command.attempt, outcome: 'success' });
        } else if (command.type === 'send') {
          messages++;
          reports.push({ type: 'received', message: command.message });
        } else if (command.type === 'finish') {
          ended.push({ type: 'ended', part, ...endOfPart(s)! });
        }
      }
    });
    inboxes = next;
    commands = coordinate(coordinator, ...reports, ...ended);
  }
}

/** The first runs include compilation by the JavaScript engine. */
function warmUp(): void {
  for (let round = 0; round < 5; round++) {
    const compiled = compileNamed(plan(100, 30, round % 2 === 0));
    if (!compiled.ok) throw new Error(compiled.refusal.reason);
    drive(createScheduler(compiled.graph));
    driveParts(partition(compiled.graph, blocksOfNodes(compiled.graph)));
  }
}

warmUp();
const [nodes = 1000, perNode = 30] = process.argv.slice(2).map(Number);
const rate = (events: number, ms: number): string =>
  `${Math.round((events / ms) * 1000).toLocaleString('en')} events/s`;
for (const share of [0.25, 0.5, 1]) {
  const n = Math.max(1, Math.round(nodes * share));
  for (const limited of [false, true]) {
    const input = plan(n, perNode, limited);
    const [compiled, compileMs] = timed(() => compileNamed(input));
    if (!compiled.ok) throw new Error(compiled.refusal.reason);
    const s = createScheduler(compiled.graph);
    const [events, ms] = timed(() => drive(s));
    const split = partition(compiled.graph, blocksOfNodes(compiled.graph));
    const [parts, partsMs] = timed(() => driveParts(split));
    const sizes = split.parts.map((graph) => JSON.stringify(graph).length);
    console.log(
      [
        `${input.tasks.length} tasks on ${n} nodes${limited ? ', limited' : ''}`,
        `compile ${compileMs.toFixed(0)} ms`,
        `whole ${rate(events, ms)}`,
        `${split.parts.length} parts ${rate(parts.events, partsMs)}, ${parts.messages} messages`,
        `graph ${(JSON.stringify(compiled.graph).length / 1024).toFixed(0)} KB, largest part ${(Math.max(...sizes) / 1024).toFixed(0)} KB`,
        `snapshot ${(JSON.stringify(takeSnapshot(s)).length / 1024).toFixed(0)} KB`,
      ].join(' | '),
    );
  }
}
const [, simulateMs] = timed(() => simulate({ id: 'bench', ...plan(nodes, perNode, true) }));
console.log(`simulate ${nodes * perNode} tasks, limited: ${simulateMs.toFixed(0)} ms`);
