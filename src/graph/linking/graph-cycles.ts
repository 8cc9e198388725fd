import type { DirectedGraph } from 'graphology';

/** Limit of reported cycles; there are often many similar ones. */
const MAX_CYCLES = 10;

/** So many as a report names. */
export function firstCycles<T>(cycles: Iterable<T>): T[] {
  const first: T[] = [];
  for (const cycle of cycles) {
    first.push(cycle);
    if (first.length === MAX_CYCLES) break;
  }
  return first;
}

/** Vertices by vertex: those that it reaches and that reach it, itself included. One list for all of a set. */
type ConnectedSets = ReadonlyMap<string, readonly string[]>;

/**
 * Shortest cycles of a graph, in the order of its vertices, each from its first vertex on; the first is not repeated at the
 * end. Cycles with the same names count as one; a vertex without a name only connects. Takes time in proportion to vertices
 * and edges: each is walked through in the search for connected sets, and then at most {@link MAX_CYCLES} times, within
 * its own set.
 */
export function* cyclesIn(
  graph: DirectedGraph,
  nameOf: (vertex: string) => string | undefined = (vertex) => vertex,
): Generator<readonly string[]> {
  const known = new Set<string>();
  const done = new Set<string>();
  const successors = successorsOf(graph);
  const sets = connectedSets(successors);
  const searches = new Map<readonly string[], number>();
  const position = new Map(graph.nodes().map((vertex, at) => [vertex, at]));
  for (const from of position.keys()) {
    const set = sets.get(from)!;
    const already = searches.get(set) ?? 0;
    if (nameOf(from) === undefined || done.has(from) || already >= MAX_CYCLES || !isOnCycle(graph, from, sets))
      continue;
    const path = shortestCycle(from, successors, sets);
    searches.set(set, already + 1);
    for (const vertex of path) done.add(vertex);
    const members = rotated(
      path.filter((vertex) => nameOf(vertex) !== undefined),
      position,
    );
    const key = JSON.stringify(members.map(nameOf));
    if (known.has(key)) continue;
    known.add(key);
    yield members;
  }
}

/** All vertices that are on some cycle. */
export function verticesOnCycles(graph: DirectedGraph): ReadonlySet<string> {
  const sets = connectedSets(successorsOf(graph));
  return new Set(graph.filterNodes((vertex) => isOnCycle(graph, vertex, sets)));
}

/** Each walk reads them; graphology makes a new list each time. */
type Successors = ReadonlyMap<string, readonly string[]>;

const successorsOf = (graph: DirectedGraph): Successors =>
  new Map(graph.mapNodes((vertex) => [vertex, graph.outNeighbors(vertex)]));

const isOnCycle = (graph: DirectedGraph, vertex: string, sets: ConnectedSets): boolean =>
  sets.get(vertex)!.length > 1 || graph.hasEdge(vertex, vertex);

/** Tarjan, with a stack of its own: a chain may be long. graphology-components calls itself for each vertex of one. */
function connectedSets(successors: Successors): ConnectedSets {
  const found = new Map<string, number>();
  const low = new Map<string, number>();
  const sets = new Map<string, readonly string[]>();
  const open: string[] = [];
  const enter = (at: string) => {
    found.set(at, found.size);
    low.set(at, found.size - 1);
    open.push(at);
    return { at, to: successors.get(at)!, next: 0 };
  };
  const lower = (at: string, to: number): void => {
    if (to < low.get(at)!) low.set(at, to);
  };
  for (const root of successors.keys()) {
    if (found.has(root)) continue;
    const walk = [enter(root)];
    for (let step = walk.at(-1); step !== undefined; step = walk.at(-1)) {
      const { at } = step;
      const to = step.to[step.next++];
      if (to !== undefined) {
        if (!found.has(to)) walk.push(enter(to));
        else if (!sets.has(to)) lower(at, found.get(to)!);
        continue;
      }
      walk.pop();
      const before = walk.at(-1);
      if (before !== undefined) lower(before.at, low.get(at)!);
      if (low.get(at) !== found.get(at)) continue;
      const set = open.splice(open.lastIndexOf(at));
      for (const one of set) sets.set(one, set);
    }
  }
  return sets;
}

/** A shortest path from a vertex on a cycle back to itself. */
function shortestCycle(from: string, successors: Successors, sets: ConnectedSets): string[] {
  const set = sets.get(from);
  const cameFrom = new Map<string, string>();
  const queue = [from];
  for (const at of queue) {
    for (const to of successors.get(at)!) {
      if (to === from) {
        const path = [at];
        for (let one = at; one !== from; ) {
          one = cameFrom.get(one)!;
          path.push(one);
        }
        return path.reverse();
      }
      if (sets.get(to) !== set || cameFrom.has(to)) continue;
      cameFrom.set(to, at);
      queue.push(to);
    }
  }
  throw new Error(`no cycle leads through ${from}`);
}

/** The same cycle, starting at the first of its members. */
function rotated(members: readonly string[], position: ReadonlyMap<string, number>): readonly string[] {
  const positions = members.map((vertex) => position.get(vertex)!);
  const first = positions.reduce((least, at, index) => (at < positions[least]! ? index : least), 0);
  return [...members.slice(first), ...members.slice(0, first)];
}
