/** Vertices in topological order (stable: initially free vertices by number), or one cycle. */
export function topologicalOrder(
  successors: readonly (readonly number[])[],
): { readonly order: number[] } | { readonly cycle: number[] } {
  const waiting = new Array<number>(successors.length).fill(0);
  for (const list of successors) for (const to of list) waiting[to]!++;
  const order: number[] = [];
  for (let v = 0; v < waiting.length; v++) if (waiting[v] === 0) order.push(v);
  for (let at = 0; at < order.length; at++) {
    for (const to of successors[order[at]!]!) if (--waiting[to]! === 0) order.push(to);
  }
  return order.length === successors.length ? { order } : { cycle: findCycle(successors, waiting) };
}

/** Every remaining vertex is on a cycle or after one, so walking backwards among them finds a cycle. */
function findCycle(successors: readonly (readonly number[])[], waiting: readonly number[]): number[] {
  const before = new Map<number, number>();
  for (let v = 0; v < successors.length; v++) {
    if (waiting[v]! === 0) continue;
    for (const to of successors[v]!) if (waiting[to]! > 0 && !before.has(to)) before.set(to, v);
  }
  const place = new Map<number, number>();
  const walked: number[] = [];
  let v = before.keys().next().value!;
  while (!place.has(v)) {
    place.set(v, walked.length);
    walked.push(v);
    v = before.get(v)!;
  }
  const cycle = walked.slice(place.get(v)!).reverse();
  return [...cycle, cycle[0]!];
}

/** Converts successor lists into predecessor lists. */
export function reversed(successors: readonly (readonly number[])[]): number[][] {
  const predecessors: number[][] = successors.map(() => []);
  for (let v = 0; v < successors.length; v++) for (const to of successors[v]!) predecessors[to]!.push(v);
  return predecessors;
}

/** Marks `from` and everything reachable from it. */
export function reachable(from: readonly number[], next: readonly (readonly number[])[]): Uint8Array {
  const seen = new Uint8Array(next.length);
  const open = [...from];
  for (const v of open) seen[v] = 1;
  for (let v = open.pop(); v !== undefined; v = open.pop()) {
    for (const to of next[v]!) {
      if (seen[to] === 0) {
        seen[to] = 1;
        open.push(to);
      }
    }
  }
  return seen;
}
