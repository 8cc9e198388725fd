/** Runs of a graph in which only tasks take time: how long they take by the order of the tasks alone. */

import { allocate } from '../src/core/permits/allocate.ts';
import type { Permit } from '../src/core/permits/may-touch.ts';
import { apply } from '../src/core/scheduler/apply.ts';
import type { SchedulerCommand, SchedulerEvent } from '../src/core/scheduler/events.ts';
import type { SchedulerGraph } from '../src/core/scheduler/graph.ts';
import { PriorityQueue } from '../src/core/scheduler/priority-queue.ts';
import { createScheduler } from '../src/core/scheduler/state.ts';
import type { RecordedRun } from './recorded-run.ts';

/**
 * Seconds, by task: a median by type, a factor for the task that all nodes share (most are short, a few long), and up to a
 * tenth more or less by node.
 */
export function drawDurations({ graph, typeOf }: RecordedRun, seed: number): number[] {
  const median: Readonly<Record<string, number>> = {
    puppet: 25,
    shell: 6,
    upload_file: 1,
    sync: 4,
    copy_files: 2,
    reboot: 150,
  };
  return graph.nameOf.map((name, task) => {
    if (graph.noWork[task] === 1) return 0;
    const id = graph.names[name]!;
    const node = graph.nodes[graph.nodeOf[task]!]!;
    const spread =
      Math.sqrt(-2 * Math.log(chance(`${seed} ${id}`))) * Math.cos(2 * Math.PI * chance(`${id} ${seed} angle`));
    return (median[typeOf(task)] ?? 5) * Math.exp(spread * 0.8) * (0.9 + 0.2 * chance(`${seed} ${id} ${node}`));
  });
}

/** In (0, 1), the same for the same text (FNV-1a with a final mix). */
function chance(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32 + 2 ** -33;
}

/** As in a run: each end is an event at its time. @param places how many machines may be out of service at a time; absent: nothing limits them */
export function makespan(graph: SchedulerGraph, durations: readonly number[], places?: number): number {
  const s = createScheduler(graph, { isLimited: places !== undefined });
  const permits = permitsOf(graph, places ?? graph.nodes.length);
  const starts = startsOf(graph, durations);
  const running: Running[] = [];
  const queue = new PriorityQueue((at) => running[at]!.end);
  let now = 0;
  const send = (event: SchedulerEvent): void => {
    const commands = apply(s, event);
    for (const one of starts(commands, now)) queue.push(running.push(one) - 1);
    const nodes = permits(commands);
    if (nodes.length > 0) send({ type: 'permitted', nodes });
  };
  send({ type: 'begin' });
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    now = running[next]!.end;
    send(ended(running[next]!));
  }
  return now;
}

/** Grants what a site with that limit leaves a run that is alone on it. Each node is a machine in service. */
function permitsOf(graph: SchedulerGraph, places: number) {
  const site = 'site';
  const machines = new Map(graph.nodes.map((id) => [id, { rack: null, standing: 'in_service' as const }]));
  const limits = { out_of_service: [{ per: 'site' as const, at_most: places }], at_once: [], windows: [], freezes: [] };
  let held: readonly Permit[] = [];
  return (commands: readonly SchedulerCommand[]): readonly number[] =>
    commands.flatMap((command) => {
      if (command.type !== 'permits') return [];
      const back = new Set(
        Object.values(command.back).flatMap((nodes) => nodes.map((node: number) => graph.nodes[node]!)),
      );
      held = held.filter(({ machine }) => !back.has(machine));
      const me = {
        run: 'run',
        work: 'tasks' as const,
        machines: command.wants.map((node) => graph.nodes[node]!),
        since: 0,
      };
      const { granted } = allocate(me, [], { site, limits, machines, held, offset: () => 0 }, 0);
      held = [...held, ...granted];
      const has = new Set(granted.map(({ machine }) => machine));
      return command.wants.filter((node) => has.has(graph.nodes[node]!));
    });
}

/** As the reference: one visit after the other, node by node; an end is seen, and a task started, only in a visit. */
export function makespanOfLoop(graph: SchedulerGraph, durations: readonly number[], visitSeconds: number): number {
  const s = createScheduler(graph, { visits: true, instantNoWork: false });
  const starts = startsOf(graph, durations);
  const running = new Map<string, Running>();
  let now = 0;
  let last = 0;
  const send = (event: SchedulerEvent): void => {
    for (const one of starts(apply(s, event), now)) running.set(one.node, one);
  };
  send({ type: 'begin' });
  for (let idle = false; !idle; ) {
    idle = true;
    const passFrom = now;
    for (const node of graph.nodes) {
      const task = running.get(node);
      now += visitSeconds;
      if (task !== undefined && task.end <= now) {
        running.delete(node);
        last = now;
        idle = false;
        send(ended(task));
      }
      if (running.has(node)) continue;
      send({ type: 'visit', node });
      if (running.has(node)) idle = false;
    }
    if (!idle || running.size === 0) continue;
    idle = false;
    // Nothing happened: on to the pass in which the next task has ended.
    const next = Math.min(...[...running.values()].map(({ end }) => end));
    const pass = now - passFrom;
    now = pass === 0 ? next : now + Math.max(0, Math.floor((next - now) / pass) * pass);
  }
  return last;
}

interface Running {
  readonly task: number;
  readonly node: string;
  readonly attempt: number;
  /** When it ends, in seconds. */
  readonly end: number;
}

/** The tasks that commands start now. */
function startsOf(graph: SchedulerGraph, durations: readonly number[]) {
  return (commands: readonly SchedulerCommand[], now: number): Running[] =>
    commands.flatMap((command) => {
      if (command.type !== 'start') return [];
      const { task, attempt } = command;
      return [{ task, node: graph.nodes[graph.nodeOf[task]!]!, attempt, end: now + durations[task]! }];
    });
}

const ended = ({ task, attempt }: Running): SchedulerEvent => ({ type: 'ended', task, attempt, outcome: 'success' });
