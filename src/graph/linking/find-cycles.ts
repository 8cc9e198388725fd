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
 * Cycles in the order of a plan: a shortest one for every strongly connected set of tasks. Cycles of the same names on other
 * nodes count as one. Empty when the plan can run.
 */
export function findCycles(plan: Plan, order: PlanOrder = planOrder(plan)): Cycle[] {
  const successors = successorLists(plan.instances.length, order);
  return firstCycles(cyclesIn(successors, plan.instances.length, (at) => plan.instances[at]!.id));
}

/** So many as a report names. */
export function firstCycles(cycles: Iterable<Cycle>): Cycle[] {
  const first: Cycle[] = [];
  for (const cycle of cycles) {
    first.push(cycle);
    if (first.length === MAX_CYCLES) break;
  }
  return first;
}

/**
 * Shortest cycles among the first `count` vertices, given the successors of each; other vertices only connect.
 * Cycles with the same names count as one. Takes time in proportion to vertices and edges: each is walked through in the
 * search for connected sets, and then at most {@link MAX_CYCLES} times, within its own set.
 */
export function* cyclesIn(
  successors: readonly (readonly number[])[],
  count: number,
  nameOf: (at: number) => string,
): Generator<Cycle> {
  const known = new Set<string>();
  const done = new Set<number>();
  const sets = connectedSets(successors);
  const searches: number[] = [];
  for (let from = 0; from < count; from++) {
    const set = sets[from]!;
    const already = searches[set] ?? 0;
    if (done.has(from) || already >= MAX_CYCLES) continue;
    const path = shortestCycle(from, successors, sets);
    // Alone in its set; any other is on a cycle.
    if (path === undefined) continue;
    searches[set] = already + 1;
    for (const at of path) done.add(at);
    const members = rotated(path.filter((at) => at < count));
    const key = JSON.stringify(members.map(nameOf));
    if (known.has(key)) continue;
    known.add(key);
    yield { members };
  }
}

/** Names shown at the start and at the end of a cycle that has more. */
const SHOWN_AT_START = 5;
const SHOWN_AT_END = 5;
const LONGEST_NAME = 100;

/** `tasks wait for each other: a -> b -> a`; a long cycle by its ends and the number of those between. */
export function cycleText(names: readonly string[]): string {
  const shown = (some: readonly string[]): string[] =>
    some.map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name));
  const more = names.length - SHOWN_AT_START - SHOWN_AT_END;
  const path =
    more > 0
      ? [...shown(names.slice(0, SHOWN_AT_START)), `(${more} more)`, ...shown(names.slice(-SHOWN_AT_END))]
      : shown(names);
  return `tasks wait for each other: ${[...path, ...shown(names.slice(0, 1))].join(' -> ')}`;
}

/** The cycles as problems, each at its first task. */
export function cycleProblems(plan: Plan, cycles: readonly Cycle[]): GraphProblem[] {
  return cycles.map(({ members }) => {
    const names = members.map((at) => {
      const { id, node } = plan.instances[at]!;
      return `${id}@${plan.nodes[node]!}`;
    });
    const { at } = plan.tasks[plan.instances[members[0]!]!.task]!.merged;
    return {
      severity: 'error',
      code: 'graph.cycle',
      message: cycleText(names),
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

/** By vertex, the number of its strongly connected set (Tarjan, with a stack of its own: a chain may be long). */
function connectedSets(successors: readonly (readonly number[])[]): readonly number[] {
  const found: number[] = new Array(successors.length).fill(-1);
  const low: number[] = new Array(successors.length).fill(-1);
  const sets: number[] = new Array(successors.length).fill(-1);
  const open: number[] = [];
  let next = 0;
  let set = 0;
  const enter = (at: number): { readonly at: number; edge: number } => {
    found[at] = low[at] = next++;
    open.push(at);
    return { at, edge: 0 };
  };
  for (let root = 0; root < successors.length; root++) {
    if (found[root] !== -1) continue;
    const walk = [enter(root)];
    for (let step = walk.at(-1); step !== undefined; step = walk.at(-1)) {
      const { at } = step;
      const to = successors[at]![step.edge++];
      if (to !== undefined) {
        if (found[to] === -1) walk.push(enter(to));
        else if (sets[to] === -1) low[at] = Math.min(low[at]!, found[to]!);
        continue;
      }
      walk.pop();
      const before = walk.at(-1);
      if (before !== undefined) low[before.at] = Math.min(low[before.at]!, low[at]!);
      if (low[at] !== found[at]) continue;
      for (let one = open.pop()!; ; one = open.pop()!) {
        sets[one] = set;
        if (one === at) break;
      }
      set += 1;
    }
  }
  return sets;
}

/** A shortest path from a vertex back to itself; undefined when there is none. */
function shortestCycle(
  from: number,
  successors: readonly (readonly number[])[],
  sets: readonly number[],
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
      if (sets[to] !== sets[from] || cameFrom.has(to)) continue;
      cameFrom.set(to, at);
      queue.push(to);
    }
  }
  return undefined;
}

/** The same cycle, starting at its lowest member. */
function rotated(members: readonly number[]): number[] {
  const lowest = members.reduce((least, at, index) => (at < members[least]! ? index : least), 0);
  return [...members.slice(lowest), ...members.slice(0, lowest)];
}
