import { compareText } from '../core/text/text.ts';
import { nodeIdOf, type Plan } from './plan.ts';

/**
 * The relations of a plan as canonical JSON, without an object for each: a thousand nodes have six million. The entries
 * of a set of targets are encoded once; the union of an instance's sets is merged from runs of them.
 */
export class RelationText {
  readonly #plan: Plan;
  /** By instance: its place among all in the order of results, by name, then node. */
  readonly #rank: Int32Array;
  /** By place: the entry as JSON, with a comma behind it. */
  readonly #entries: readonly Buffer[];
  readonly #sets: (EncodedSet | undefined)[] = [];

  constructor(plan: Plan) {
    this.#plan = plan;
    const sorted = plan.instances
      .map(({ id, node }, at) => ({ at, name: id, id: nodeIdOf(plan, node) }))
      .sort((a, b) => compareText(a.name, b.name) || compareText(String(a.id), String(b.id)) || a.at - b.at);
    this.#rank = new Int32Array(sorted.length);
    for (const [rank, { at }] of sorted.entries()) this.#rank[at] = rank;
    this.#entries = sorted.map(({ name, id }) =>
      Buffer.from(`{"name":${JSON.stringify(name)},"node_id":${JSON.stringify(id)}},`),
    );
  }

  /**
   * Writes the entries of one instance, each with a comma behind it, and returns their number. Buffers given to `write`
   * are shared: never change them.
   */
  write(instance: number, direction: 'requires' | 'requiredFor', write: (part: Buffer) => void): number {
    const sets = this.#plan.instances[instance]![direction].map((set) => this.#encoded(set));
    const self = this.#rank[instance]!;
    const next = sets.map(() => 0);
    let last = -1;
    let count = 0;
    for (;;) {
      let first = -1;
      let until = Number.POSITIVE_INFINITY;
      for (const [at, { ranks }] of sets.entries()) {
        while (next[at]! < ranks.length && (ranks[next[at]!]! <= last || ranks[next[at]!] === self)) next[at]!++;
        if (next[at]! === ranks.length) continue;
        const rank = ranks[next[at]!]!;
        const leader = first === -1 ? Number.POSITIVE_INFINITY : sets[first]!.ranks[next[first]!]!;
        if (rank < leader) [first, until] = [at, leader];
        else if (rank < until) until = rank;
      }
      if (first === -1) return count;
      const { ranks, bytes, starts } = sets[first]!;
      const from = next[first]!;
      // A run ends where another set goes on, or before the instance itself.
      const to = Math.max(from + 1, firstFrom(ranks, from, ranks[from]! < self ? Math.min(until, self) : until));
      write(bytes.subarray(starts[from], starts[to]));
      count += to - from;
      last = ranks[to - 1]!;
      next[first] = to;
    }
  }

  #encoded(set: number): EncodedSet {
    return (this.#sets[set] ??= encode(
      Int32Array.from(this.#plan.targets[set]!.instances, (at) => this.#rank[at]!).sort(),
      this.#entries,
    ));
  }
}

/** Entries in ascending order; the entry at `n` is `bytes` from `starts[n]` to `starts[n + 1]`. */
interface EncodedSet {
  readonly ranks: Int32Array;
  readonly bytes: Buffer;
  readonly starts: Int32Array;
}

function encode(ranks: Int32Array, entries: readonly Buffer[]): EncodedSet {
  const starts = new Int32Array(ranks.length + 1);
  for (const [at, rank] of ranks.entries()) starts[at + 1] = starts[at]! + entries[rank]!.length;
  return { ranks, starts, bytes: Buffer.concat(Array.from(ranks, (rank) => entries[rank]!)) };
}

/** The first index from `from` whose rank is at least `limit`. */
function firstFrom(ranks: Int32Array, from: number, limit: number): number {
  if (ranks[ranks.length - 1]! < limit) return ranks.length;
  let [low, high] = [from, ranks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranks[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
