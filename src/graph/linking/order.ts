import type { Plan } from '../plan.ts';

/** The order of a plan: single pairs, and "all of these before all of those". Numbers are indexes into its instances. */
export interface PlanOrder {
  readonly edges: readonly (readonly [number, number])[];
  /** No pair of tasks is in two joins, and no task is on both sides of one. */
  readonly joins: readonly PlanOrderJoin[];
}

interface PlanOrderJoin {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/**
 * The order as edges and disjoint joins: if two relations order the same pair of names, it is written
 * once. Grows with the tasks, not with the pairs.
 */
export function planOrder(plan: Plan): PlanOrder {
  const writer = new OrderWriter(plan);
  const users = new Map<number, [number[], number[]]>();
  plan.instances.forEach(({ requires, requiredFor }, at) => {
    for (const [side, sets] of [requires, requiredFor].entries()) {
      for (const set of sets) {
        const { instances, shared } = plan.targets[set]!;
        if (!shared) for (const other of instances) writer.edge(side === 0 ? other : at, side === 0 ? at : other);
        else {
          let of = users.get(set);
          if (of === undefined) {
            of = [[], []];
            users.set(set, of);
          }
          of[side]!.push(at);
        }
      }
    }
  });
  const joins = [...users].flatMap(([set, [waiting, awaited]]): PlanOrderJoin[] => {
    const { instances } = plan.targets[set]!;
    return [
      { before: instances, after: waiting },
      { before: awaited, after: instances },
    ];
  });
  // Large ones first, so that overlaps are removed from the small ones.
  joins.sort((a, b) => product(b) - product(a));
  for (const join of joins) writer.join(join);
  return { edges: writer.edges, joins: writer.joins };
}

const product = ({ before, after }: PlanOrderJoin): number => before.length * after.length;

class OrderWriter {
  readonly edges: (readonly [number, number])[] = [];
  readonly joins: PlanOrderJoin[] = [];
  readonly #plan: Plan;
  /** By pair of names, the blocks that are in some join. */
  readonly #covered = new Map<string, PlanOrderJoin[]>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  edge(before: number, after: number): void {
    if (before !== after) this.edges.push([before, after]);
  }

  join(join: PlanOrderJoin): void {
    if (product(join) <= join.before.length + join.after.length) {
      for (const before of join.before) for (const after of join.after) this.edge(before, after);
      return;
    }
    const befores = this.#byName(join.before);
    const afters = this.#byName(join.after);
    const pairs = [...befores].flatMap(([a, before]) =>
      [...afters].map(([b, after]) => ({ key: JSON.stringify([a, b]), same: a === b, block: { before, after } })),
    );
    if (pairs.every(({ key, same }) => !same && !this.#covered.has(key))) {
      this.joins.push(join);
      for (const { key, block } of pairs) this.#covered.set(key, [block]);
      return;
    }
    for (const { key, same, block } of pairs) {
      if (same) this.#withinName(block);
      else this.#block(key, block);
    }
  }

  #block(key: string, block: PlanOrderJoin): void {
    const known = this.#covered.get(key) ?? [];
    if (known.some((one) => contains(one, block))) return;
    this.#covered.set(key, [...known, block]);
    if (known.every((one) => areDisjoint(one, block))) this.joins.push(block);
    else for (const before of block.before) for (const after of block.after) this.edge(before, after);
  }

  /** Tasks of one name on several nodes. Two of them on both sides wait for each other: one such cycle is enough. */
  #withinName({ before, after }: PlanOrderJoin): void {
    const waiting = new Set(after);
    const both = before.filter((at) => waiting.has(at));
    if (both.length > 1) {
      this.edge(both[0]!, both[1]!);
      this.edge(both[1]!, both[0]!);
      return;
    }
    for (const one of both) for (const at of after) this.edge(one, at);
    const rest = before.filter((at) => !waiting.has(at));
    if (rest.length > 0) this.joins.push({ before: rest, after });
  }

  #byName(instances: readonly number[]): Map<string, number[]> {
    const out = new Map<string, number[]>();
    for (const at of instances) {
      const { id } = this.#plan.instances[at]!;
      const list = out.get(id);
      if (list === undefined) out.set(id, [at]);
      else list.push(at);
    }
    return out;
  }
}

function contains(outer: PlanOrderJoin, inner: PlanOrderJoin): boolean {
  return isSubset(inner.before, outer.before) && isSubset(inner.after, outer.after);
}

function isSubset(inner: readonly number[], outer: readonly number[]): boolean {
  if (inner.length > outer.length) return false;
  const all = new Set(outer);
  return inner.every((at) => all.has(at));
}

function areDisjoint(a: PlanOrderJoin, b: PlanOrderJoin): boolean {
  const meet = (x: readonly number[], y: readonly number[]): boolean => {
    const all = new Set(x);
    return y.some((at) => all.has(at));
  };
  return !meet(a.before, b.before) || !meet(a.after, b.after);
}
