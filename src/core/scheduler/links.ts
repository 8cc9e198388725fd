import type { SchedulerGraph } from './graph.ts';
import { reachable } from './topology.ts';

/** What waits for what, by vertex: tasks, then joins. */
export type Links = Pick<SchedulerGraph, 'successors' | 'joins'>;

/** All of `before` must end before any of `after` starts: all edges of the product, at the cost of the sum. */
export interface Join {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * Links tasks so that each ordered pair occurs once, because a weight counts a duplicate edge only once. Joins that overlap
 * a larger one, or are too small to save anything, become edges. A task never waits for itself: one on both sides of a join
 * is linked separately. Grows with the tasks, not with the pairs.
 *
 * @param names by task: joins are compared only where they order tasks of the same two names
 */
export function linkTasks(
  names: readonly string[],
  edges: Iterable<readonly [number, number]>,
  joins: readonly Join[],
): Links {
  const linker = new Linker(names);
  for (const [before, after] of edges) linker.edge(before, after);
  // Large ones first, so that overlaps are removed from the small ones.
  for (const join of [...joins].sort((a, b) => product(b) - product(a))) linker.join(join);
  return linker.links();
}

/** By vertex: 1 for tasks that an earlier run has not done, and for everything after them. */
export function stillToDo({ successors, joins }: Links, isDone: (task: number) => boolean): Uint8Array {
  const tasks = Array.from({ length: successors.length - joins }, (_, task) => task);
  return reachable(
    tasks.filter((task) => !isDone(task)),
    successors,
  );
}

const product = ({ before, after }: Join): number => before.length * after.length;

class Linker {
  readonly #names: readonly string[];
  readonly #after: Set<number>[];
  readonly #joins: Join[] = [];
  /** By pair of names, the blocks that are in some join. */
  readonly #covered = new Map<string, Join[]>();

  constructor(names: readonly string[]) {
    this.#names = names;
    this.#after = names.map(() => new Set());
  }

  edge(before: number, after: number): void {
    if (before !== after) this.#after[before]!.add(after);
  }

  join(join: Join): void {
    if (this.#isSmall(join)) {
      this.#edges(join);
      return;
    }
    const befores = this.#byName(join.before);
    const afters = this.#byName(join.after);
    const pairs = [...befores].flatMap(([a, before]) =>
      [...afters].map(([b, after]) => ({ key: JSON.stringify([a, b]), same: a === b, block: { before, after } })),
    );
    if (pairs.every(({ key, same }) => !same && !this.#covered.has(key))) {
      this.#joins.push(join);
      for (const { key, block } of pairs) this.#covered.set(key, [block]);
      return;
    }
    for (const { key, same, block } of pairs) {
      if (same) this.#withinName(key, block);
      else this.#block(key, block);
    }
  }

  /** Tasks are followed by the tasks that wait for them, ascending, then by joins. */
  links(): Links {
    const tasks = this.#names.length;
    const inJoins = new Map<number, Set<number>[]>();
    for (const { before, after } of this.#joins) {
      const all = new Set(after);
      for (const task of before) {
        const known = inJoins.get(task);
        if (known === undefined) inJoins.set(task, [all]);
        else known.push(all);
      }
    }
    const successors = this.#after.map((after, task) => {
      const joined = inJoins.get(task) ?? [];
      const direct = joined.length === 0 ? [...after] : [...after].filter((to) => !joined.some((all) => all.has(to)));
      return direct.sort((a, b) => a - b);
    });
    this.#joins.forEach(({ before }, join) => {
      for (const task of before) successors[task]!.push(tasks + join);
    });
    return { successors: [...successors, ...this.#joins.map(({ after }) => [...after])], joins: this.#joins.length };
  }

  #isSmall(join: Join): boolean {
    return product(join) <= join.before.length + join.after.length;
  }

  #edges({ before, after }: Join): void {
    for (const one of before) for (const other of after) this.edge(one, other);
  }

  #block(key: string, block: Join): void {
    const known = this.#covered.get(key) ?? [];
    if (known.some((one) => contains(one, block))) return;
    if (this.#isSmall(block) || !known.every((one) => areDisjoint(one, block))) {
      this.#edges(block);
      return;
    }
    this.#covered.set(key, [...known, block]);
    this.#joins.push(block);
  }

  /** Tasks of one name on several nodes. Two of them on both sides wait for each other: one such cycle is enough. */
  #withinName(key: string, { before, after }: Join): void {
    const waiting = new Set(after);
    const both = before.filter((at) => waiting.has(at));
    if (both.length > 1) {
      this.edge(both[0]!, both[1]!);
      this.edge(both[1]!, both[0]!);
      return;
    }
    for (const one of both) this.#edges({ before: [one], after });
    this.#block(key, { before: before.filter((at) => !waiting.has(at)), after });
  }

  #byName(tasks: readonly number[]): Map<string, number[]> {
    const out = new Map<string, number[]>();
    for (const at of tasks) {
      const name = this.#names[at]!;
      const list = out.get(name);
      if (list === undefined) out.set(name, [at]);
      else list.push(at);
    }
    return out;
  }
}

function contains(outer: Join, inner: Join): boolean {
  return isSubset(inner.before, outer.before) && isSubset(inner.after, outer.after);
}

function isSubset(inner: readonly number[], outer: readonly number[]): boolean {
  if (inner.length > outer.length) return false;
  const all = new Set(outer);
  return inner.every((at) => all.has(at));
}

function areDisjoint(a: Join, b: Join): boolean {
  const meet = (x: readonly number[], y: readonly number[]): boolean => {
    const all = new Set(x);
    return y.some((at) => all.has(at));
  };
  return !meet(a.before, b.before) || !meet(a.after, b.after);
}
