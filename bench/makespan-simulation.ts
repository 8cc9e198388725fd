/** Runs of a graph in which only tasks take time: how long they take by the order of the tasks alone. */

import { keyOf } from '../src/core/scheduler/graph.js';
import type { SchedulerEvent, SchedulerGraph } from '../src/core/scheduler/index.js';
import { apply, createScheduler } from '../src/core/scheduler/index.js';

/**
 * Seconds, by task: a median by type, a factor for the task that all nodes share (most are short, a few long), and up to a
 * tenth more or less by node.
 */
export function drawDurations(
  graph: SchedulerGraph,
  typeOf: (task: number) => string | undefined,
  seed: number,
): number[] {
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
    return (median[typeOf(task) ?? ''] ?? 5) * Math.exp(spread * 0.8) * (0.9 + 0.2 * chance(`${seed} ${id} ${node}`));
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

/** As in a run: each end is an event at its time. */
export function makespan(graph: SchedulerGraph, durations: readonly number[]): number {
  const s = createScheduler(graph);
  const taskOf = numbersByKey(graph);
  const running: { at: number; task: string; attempt: number }[] = [];
  let now = 0;
  const send = (event: SchedulerEvent): void => {
    for (const command of apply(s, event)) {
      if (command.type !== 'start') continue;
      insert(running, {
        at: now + durations[taskOf.get(command.task)!]!,
        task: command.task,
        attempt: command.attempt,
      });
    }
  };
  send({ type: 'begin' });
  for (let next = running.shift(); next !== undefined; next = running.shift()) {
    now = next.at;
    send({ type: 'ended', task: next.task, attempt: next.attempt, outcome: 'successful' });
  }
  return now;
}

/** As the reference: one visit after the other, node by node; an end is seen, and a task started, only in a visit. */
export function makespanOfLoop(graph: SchedulerGraph, durations: readonly number[], visitSeconds: number): number {
  const s = createScheduler(graph, { visits: true, instantNoWork: false });
  const taskOf = numbersByKey(graph);
  const running = new Map<string, { at: number; task: string; attempt: number }>();
  let now = 0;
  let last = 0;
  const send = (event: SchedulerEvent): void => {
    for (const command of apply(s, event)) {
      if (command.type !== 'start') continue;
      running.set(command.node, {
        at: now + durations[taskOf.get(command.task)!]!,
        task: command.task,
        attempt: command.attempt,
      });
    }
  };
  send({ type: 'begin' });
  for (let idle = false; !idle; ) {
    idle = true;
    const passFrom = now;
    for (const node of graph.nodes) {
      const task = running.get(node);
      now += visitSeconds;
      if (task !== undefined && task.at <= now) {
        running.delete(node);
        last = now;
        idle = false;
        send({ type: 'ended', task: task.task, attempt: task.attempt, outcome: 'successful' });
      }
      if (running.has(node)) continue;
      send({ type: 'visit', node });
      if (running.has(node)) idle = false;
    }
    if (!idle || running.size === 0) continue;
    idle = false;
    // Nothing happened: on to the pass in which the next task has ended.
    const next = Math.min(...[...running.values()].map(({ at }) => at));
    const pass = now - passFrom;
    now = pass === 0 ? next : now + Math.max(0, Math.floor((next - now) / pass) * pass);
  }
  return last;
}

function insert<T extends { readonly at: number }>(sorted: T[], one: T): void {
  let low = 0;
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.at <= one.at) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, one);
}

const numbersByKey = (graph: SchedulerGraph): ReadonlyMap<string, number> =>
  new Map(graph.nameOf.map((_name, task) => [keyOf(graph, task), task]));
