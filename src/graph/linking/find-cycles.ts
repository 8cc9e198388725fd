import { DirectedGraph } from 'graphology';
import { printPath } from '../../core/data/plain-value.ts';
import type { Links } from '../../core/scheduler/links.ts';
import { taskKey } from '../../core/task-on-node.ts';
import type { Plan } from '../plan.ts';
import type { GraphProblem } from '../problem.ts';
import { cyclesIn, firstCycles, verticesOnCycles } from './graph-cycles.ts';
import { linksOf } from './order.ts';

/** A cycle of tasks that wait for each other, as indexes into the plan's instances; the first is not repeated at the end. */
interface Cycle {
  readonly members: readonly number[];
}

/**
 * Cycles in the order of a plan: a shortest one for every strongly connected set of tasks. Cycles of the same names on other
 * nodes count as one. Empty when the plan can run.
 *
 * Tasks can wait for each other only where their names do, and a plan has few names: of its tasks, only those whose names
 * wait for each other become a graph.
 */
export function findCycles(plan: Plan, links: Links = linksOf(plan)): Cycle[] {
  const vertices = new Map<string, string>();
  const names = plan.instances.map(({ id }) => {
    const known = vertices.get(id) ?? `${vertices.size}`;
    vertices.set(id, known);
    return known;
  });
  const circular = verticesOnCycles(graphOf(links, names));
  if (circular.size === 0) return [];
  const tasks = names.map((name, at) => (circular.has(name) ? `${at}` : undefined));
  const cycles = cyclesIn(graphOf(links, tasks), (vertex) => plan.instances[Number(vertex)]?.id);
  return firstCycles(cycles).map((members) => ({ members: members.map(Number) }));
}

/** Links as a graph, with these vertices of the tasks. A join is a vertex after all tasks before it, before all after it. */
function graphOf({ successors }: Links, vertices: readonly (string | undefined)[]): DirectedGraph {
  const graph = new DirectedGraph();
  const nameOf = (at: number): string | undefined => (at < vertices.length ? vertices[at] : `join ${at}`);
  for (const at of successors.keys()) {
    const vertex = nameOf(at);
    if (vertex !== undefined && !graph.hasNode(vertex)) graph.addNode(vertex);
  }
  for (const [at, after] of successors.entries()) {
    const from = nameOf(at);
    for (const next of after) {
      const to = nameOf(next);
      if (from !== undefined && to !== undefined && !graph.hasEdge(from, to)) graph.addEdge(from, to);
    }
  }
  return graph;
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
      return taskKey(id, plan.nodes[node]!);
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
