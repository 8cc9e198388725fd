/** Direct successors of each task, and disjoint joins: no pair of tasks is ordered twice. */
interface Links {
  /** By task, ascending, without duplicates and self-edges. */
  readonly direct: number[][];
  readonly joins: { before: number[]; after: number[] }[];
}

/**
 * Normalizes edges and joins so that each ordered pair of tasks occurs once, because a weight counts a duplicate edge
 * only once. Joins that overlap another, or are too small to save anything, become edges. Drops an edge that a join
 * contains. Removes a task on both sides of a join from the join and links it separately (a task never depends on
 * itself).
 */
export function normaliseLinks(
  tasks: number,
  edges: readonly (readonly [number, number])[],
  rawJoins: readonly { readonly before: readonly number[]; readonly after: readonly number[] }[],
): Links {
  const pairs: [number, number][] = [];
  for (const [from, to] of edges) if (from !== to) pairs.push([from, to]);
  let joins: Links['joins'] = [];
  for (const raw of rawJoins) {
    const before = [...new Set(raw.before)];
    const after = [...new Set(raw.after)];
    const inAfter = new Set(after);
    const both = before.filter((t) => inAfter.has(t));
    if (both.length > 1) {
      // Two tasks on both sides wait for each other: these edges let the cycle check refuse the plan.
      pairs.push([both[0]!, both[1]!], [both[1]!, both[0]!]);
    } else if (before.length * after.length <= before.length + after.length) {
      for (const a of before) for (const b of after) if (a !== b) pairs.push([a, b]);
    } else if (both.length === 1) {
      const [x] = both as [number];
      for (const b of after) if (b !== x) pairs.push([x, b]);
      joins.push({ before: before.filter((t) => t !== x), after });
    } else {
      joins.push({ before, after });
    }
  }
  const afterSets = joins.map((join) => new Set(join.after));
  const joinsOf: number[][] = Array.from({ length: tasks }, () => []);
  joins.forEach((join, j) => {
    for (const t of join.before) joinsOf[t]!.push(j);
  });
  const checked = new Set<number>();
  const dissolved = new Set<number>();
  for (const list of joinsOf) {
    for (let a = 0; a < list.length; a++) {
      for (let b = a + 1; b < list.length; b++) {
        const [i, k] = [list[a]!, list[b]!];
        if (checked.has(i * joins.length + k)) continue;
        checked.add(i * joins.length + k);
        if (dissolved.has(i) || dissolved.has(k)) continue;
        if (joins[i]!.after.some((t) => afterSets[k]!.has(t)))
          dissolved.add(product(joins[i]!) < product(joins[k]!) ? i : k);
      }
    }
  }
  for (const j of dissolved) {
    for (const a of joins[j]!.before) for (const b of joins[j]!.after) pairs.push([a, b]);
  }
  const direct: number[][] = Array.from({ length: tasks }, () => []);
  for (const [from, to] of pairs) {
    if (!joinsOf[from]!.some((j) => !dissolved.has(j) && afterSets[j]!.has(to))) direct[from]!.push(to);
  }
  joins = joins.filter((_, j) => !dissolved.has(j));
  for (let t = 0; t < tasks; t++) direct[t] = [...new Set(direct[t]!)].sort((a, b) => a - b);
  return { direct, joins };
}

const product = (join: { before: number[]; after: number[] }): number => join.before.length * join.after.length;
