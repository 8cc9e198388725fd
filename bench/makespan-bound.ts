import type { SchedulerGraph } from '../src/core/scheduler/graph.ts';
import { topologicalOrder } from '../src/core/scheduler/topology.ts';

/** What no order of the tasks can beat, in the unit of the durations. */
export interface LowerBound {
  /** The longest chain of tasks that wait for each other. */
  readonly path: number;
  /** A node carries out one task at a time: no order of its tasks is faster, each with what must come before and after it. */
  readonly node: number;
  /** The same for a task that may run on a limited number of nodes at a time. */
  readonly limit: number;
  /** The same for the work of all machines, of which so many may be out of service at a time. */
  readonly places: number;
  /** The greatest of them. */
  readonly least: number;
}

/** @param durations by task @param places how many machines may be out of service at a time; absent: all */
export function lowerBound(graph: SchedulerGraph, durations: readonly number[], places?: number): LowerBound {
  const { heads, tails } = headsAndTails(graph, durations);
  const job = (task: number): Job => ({ head: heads[task]!, work: durations[task]!, tail: tails[task]! });
  const byNode: Job[][] = graph.nodes.map(() => []);
  const byName: Job[][] = graph.names.map(() => []);
  graph.nameOf.forEach((name, task) => {
    // A sync point carries out one task at a time as well.
    byNode[graph.nodeOf[task]!]!.push(job(task));
    if (graph.nameLimit[name]! > 0) byName[name]!.push(job(task));
  });
  const path = Math.max(...heads.map((head, task) => head + durations[task]! + tails[task]!));
  const node = Math.max(...byNode.map(oneAtATime));
  const limit = Math.max(0, ...byName.map((jobs, name) => someAtATime(jobs, graph.nameLimit[name]!)));
  const jobs = graph.nameOf.flatMap((_, task) => (graph.noWork[task] === 1 ? [] : [job(task)]));
  const machines = places === undefined ? 0 : someAtATime(jobs, places);
  return { path, node, limit, places: machines, least: Math.max(path, node, limit, machines) };
}

interface Job {
  /** The earliest time at which it can start. */
  readonly head: number;
  readonly work: number;
  /** What must follow it. */
  readonly tail: number;
}

/** Jackson's bound: with interruptions allowed, the open job with the longest tail first is the best order. */
function oneAtATime(jobs: readonly Job[]): number {
  const byHead = [...jobs].sort((a, b) => a.head - b.head);
  const open: { left: number; readonly tail: number }[] = [];
  let now = 0;
  let bound = 0;
  let next = 0;
  while (next < byHead.length || open.length > 0) {
    if (open.length === 0) now = Math.max(now, byHead[next]!.head);
    for (; next < byHead.length && byHead[next]!.head <= now; next++)
      open.push({ left: byHead[next]!.work, tail: byHead[next]!.tail });
    const first = open.reduce((best, one) => (one.tail > best.tail ? one : best));
    const arrival = byHead[next]?.head ?? Number.POSITIVE_INFINITY;
    if (now + first.left > arrival) {
      first.left -= arrival - now;
      now = arrival;
      continue;
    }
    now += first.left;
    open.splice(open.indexOf(first), 1);
    bound = Math.max(bound, now + first.tail);
  }
  return bound;
}

function someAtATime(jobs: readonly Job[], slots: number): number {
  if (jobs.length === 0) return 0;
  if (slots === 1) return oneAtATime(jobs);
  const work = jobs.reduce((sum, one) => sum + one.work, 0);
  return Math.min(...jobs.map(({ head }) => head)) + work / slots + Math.min(...jobs.map(({ tail }) => tail));
}

/** By vertex; a join takes no time. */
function headsAndTails(graph: SchedulerGraph, durations: readonly number[]): { heads: number[]; tails: number[] } {
  const { successors } = graph;
  const sorted = topologicalOrder(successors);
  if ('cycle' in sorted) throw new Error('a compiled graph has no cycle');
  const { order } = sorted;
  const heads = new Array<number>(successors.length).fill(0);
  for (const vertex of order) {
    const end = heads[vertex]! + (durations[vertex] ?? 0);
    for (const to of successors[vertex]!) heads[to] = Math.max(heads[to]!, end);
  }
  const tails = new Array<number>(successors.length).fill(0);
  for (const vertex of order.reverse()) {
    for (const to of successors[vertex]!) tails[vertex] = Math.max(tails[vertex]!, tails[to]! + (durations[to] ?? 0));
  }
  return { heads: heads.slice(0, durations.length), tails: tails.slice(0, durations.length) };
}
