import { printPath } from '../../core/plain-value.ts';
import type { Plan } from '../plan.ts';
import type { GraphProblem } from '../problem.ts';
import { type PlanOrder, planOrder } from './order.ts';

/** A cycle of tasks that wait for each other, `task@node`; the first is not repeated at the end. */
interface Cycle {
  readonly members: readonly number[];
}

/** Limit of reported cycles; there are often many similar ones. */
const MAX_CYCLES = 10;

/**
 * Cycles in the order of a plan: a shortest one for every strongly connected set of tasks, so that each is
 * named in full. Cycles of the same names on other nodes count as one. Empty when the plan can run.
 */
export function findCycles(plan: Plan, order: PlanOrder = planOrder(plan)): Cycle[] {
  const successors = successorLists(plan.instances.length, order);
  return cyclesIn(successors, plan.instances.length, (at) => plan.instances[at]!.id);
}

/**
 * Shortest cycles among the first `count` vertices, given the successors of each; other vertices only connect.
 * Cycles with the same names count as one.
 */
export function cyclesIn(
  successors: readonly (readonly number[])[],
  count: number,
  nameOf: (at: number) => string,
): Cycle[] {
  const left = remainingInCycles(successors);
  const cycles = new Map<string, Cycle>();
  const done = new Set<number>();
  for (const from of left) {
    if (done.has(from) || from >= count) continue;
    const path = shortestCycle(from, successors, left);
    if (path === undefined) continue;
    for (const at of path) done.add(at);
    const members = rotated(path.filter((at) => at < count));
    const key = JSON.stringify(members.map(nameOf));
    if (!cycles.has(key)) cycles.set(key, { members });
    if (cycles.size >= MAX_CYCLES) break;
  }
  return [...cycles.values()];
}

/** The cycles as problems, each at its first task. */
export function cycleProblems(plan: Plan, cycles: readonly Cycle[]): GraphProblem[] {
  return cycles.map(({ members }) => {
    const names = [...members, members[0]!].map((at) => {
      const { id, node } = plan.instances[at]!;
      return `${id}@${plan.nodes[node]!}`;
    });
    const { at } = plan.tasks[plan.instances[members[0]!]!.task]!.merged;
    return {
      severity: 'error',
      code: 'graph.cycle',
      message: `tasks wait for each other: ${names.join(' -> ')}`,
      hint: 'Each task must end before the next starts: remove one of these dependencies.',
      at,
      path: printPath(at),
    };
  });
}

/** Tasks, then joins: a join follows all of its `before` and precedes all of its `after`. */
function successorLists(tasks: number, { edges, joins }: PlanOrder): number[][] {
  const out: number[][] = Array.from({ length: tasks }, () => []);
  for (const [before, after] of edges) out[before]!.push(after);
  joins.forEach(({ before, after }, at) => {
    out.push([...after]);
    for (const one of before) out[one]!.push(tasks + at);
  });
  return out;
}

/** What remains after removing everything without predecessors, and then everything without successors. */
function remainingInCycles(successors: readonly (readonly number[])[]): Set<number> {
  const predecessors: number[][] = successors.map(() => []);
  successors.forEach((list, at) => {
    for (const to of list) predecessors[to]!.push(at);
  });
  const forward = peel(successors, predecessors, new Set(successors.keys()));
  return peel(predecessors, successors, forward);
}

function peel(
  next: readonly (readonly number[])[],
  previous: readonly (readonly number[])[],
  among: ReadonlySet<number>,
): Set<number> {
  const left = new Set(among);
  const waiting = previous.map((list) => list.filter((at) => left.has(at)).length);
  const free = [...left].filter((at) => waiting[at] === 0);
  for (let at = free.pop(); at !== undefined; at = free.pop()) {
    left.delete(at);
    for (const to of next[at]!) if (left.has(to) && --waiting[to]! === 0) free.push(to);
  }
  return left;
}

/** A shortest path from a task back to itself; undefined when it is only between cycles. */
function shortestCycle(
  from: number,
  successors: readonly (readonly number[])[],
  among: ReadonlySet<number>,
): number[] | undefined {
  const cameFrom = new Map<number, number>();
  const queue = [from];
  for (let head = 0; head < queue.length; head++) {
    const at = queue[head]!;
    for (const to of successors[at]!) {
      if (to === from) {
        const path = [at];
        for (let one = at; one !== from; ) {
          one = cameFrom.get(one)!;
          path.push(one);
        }
        return path.reverse();
      }
      if (!among.has(to) || cameFrom.has(to)) continue;
      cameFrom.set(to, at);
      queue.push(to);
    }
  }
  return undefined;
}

/** The same cycle, starting at its lowest member. */
function rotated(members: readonly number[]): number[] {
  const lowest = members.indexOf(Math.min(...members));
  return [...members.slice(lowest), ...members.slice(0, lowest)];
}
