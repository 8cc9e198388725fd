import type { SchedulerGraph } from '../scheduler/graph.ts';
import type { SplitRun } from '../scheduler/partition.ts';
import { partition } from '../scheduler/partition.ts';

/**
 * Most tasks with work in one workflow, where the ping of each node counts as a task. Even if each task ends alone,
 * this many stay under 10,000 events (docs/explain/design.md#limits), with capacity for about 80 retries. See `history-capacity.ts` for the
 * events per task.
 */
export const TASKS_IN_ONE_WORKFLOW = 1_170;

/** By node: its tasks with work, plus one for the ping. */
function workByNode(graph: SchedulerGraph): number[] {
  const work = graph.nodes.map(() => 0);
  graph.nodeOf.forEach((node, task) => {
    if (graph.noWork[task] !== 1) work[node] = Math.max(1, work[node]!) + 1;
  });
  return work;
}

/**
 * Most parts that a run coordinates itself: it exchanges some 34 messages with each, which take 140 events of its history. With more, a child
 * does so, which continues as new when its history is long.
 */
const PARTS_OF_ONE_RUN = 40;

export const isCoordinatedApart = (parts: number): boolean => parts > PARTS_OF_ONE_RUN;

const sumOf = (work: readonly number[]): number => work.reduce((sum, tasks) => sum + tasks, 0);

/**
 * By node, the part that drives it, for `partition`: whole nodes in plan order, in parts of about equal work. A node
 * with more than `most` tasks gets a separate part, whose workflow continues as new between two tasks.
 */
export function cutForExecution(graph: SchedulerGraph, most: number = TASKS_IN_ONE_WORKFLOW): number[] {
  const work = workByNode(graph);
  const total = sumOf(work);
  const parts = Math.max(1, Math.ceil(total / most));
  const share = total / parts;
  let part = 0;
  let before = 0;
  let inPart = 0;
  return work.map((tasks) => {
    const full = tasks > 0 && inPart > 0 && (before + tasks / 2 > share * (part + 1) || inPart + tasks > most);
    if (full) {
      part++;
      inPart = 0;
    }
    before += tasks;
    inPart += tasks;
    return part;
  });
}

/**
 * The graph cut for execution, or null when the calling workflow drives it itself. The other part counts the
 * predecessors of a task there: many edges between two parts cost one message when the last of them is done, not one each.
 *
 * @param capacity tasks that the calling workflow can drive (`taskCapacity`); a bigger graph runs in children
 */
export function splitForExecution(
  graph: SchedulerGraph,
  most: number = TASKS_IN_ONE_WORKFLOW,
  capacity: number = most,
): SplitRun | null {
  // Parts do not share waves: a plan that is too large for its rollouts was refused.
  if (graph.rollouts !== undefined || sumOf(workByNode(graph)) <= Math.min(capacity, most)) return null;
  const partOf = cutForExecution(graph, most);
  return partition(countCrossings(graph, partOf), partOf);
}

/** Timer, decision and bookkeeping of a wave, as so many tasks. */
const TASKS_A_WAVE = 4;

/** So many nodes of a wave one call of a check asks about. */
export const NODES_A_CHECK = 100;

/**
 * Whether the calling workflow cannot drive the rollouts of a graph alone: a graph in parts has none. Each node is asked once more after the soak
 * of its wave.
 *
 * @param capacity as in `splitForExecution`
 */
export function isTooLargeForRollouts(graph: SchedulerGraph, capacity: number = TASKS_IN_ONE_WORKFLOW): boolean {
  if (graph.rollouts === undefined) return false;
  const ofRollouts = graph.rollouts.map(({ waves, policy: { checks = [] } }) => {
    const nodes = waves.flat().length;
    return nodes + waves.length * (TASKS_A_WAVE + checks.length * Math.ceil(nodes / NODES_A_CHECK));
  });
  const work = sumOf(workByNode(graph)) + sumOf(ofRollouts);
  return work > Math.min(capacity, TASKS_IN_ONE_WORKFLOW);
}

/** The same order, with all edges from one other part to a task replaced by a join. Keeps joins and single edges. */
export function countCrossings(graph: SchedulerGraph, partOf: readonly number[]): SchedulerGraph {
  const tasks = graph.nodeOf.length;
  const partOfTask = graph.nodeOf.map((node) => partOf[node]!);
  /** By task and other part: predecessors of the task there. Most tasks have none. */
  const needs: Map<number, number[]>[] = new Array(tasks);
  for (let from = 0; from < tasks; from++) {
    const part = partOfTask[from]!;
    for (const to of graph.successors[from]!) {
      if (to >= tasks || partOfTask[to] === part) continue;
      needs[to] ??= new Map();
      const list = needs[to].get(part);
      if (list === undefined) needs[to].set(part, [from]);
      else list.push(from);
    }
  }
  /** Tasks that wait for the same tasks share a join. */
  const joins = new Map<string, { readonly before: readonly number[]; readonly after: number[] }>();
  needs.forEach((byPart, to) => {
    for (const before of byPart.values()) {
      if (before.length < 2) continue;
      const key = before.join();
      const join = joins.get(key);
      if (join === undefined) joins.set(key, { before, after: [to] });
      else join.after.push(to);
    }
  });
  const added = [...joins.values()];
  const gone = new Map<number, Set<number>>();
  const gained = new Map<number, number[]>();
  added.forEach(({ before, after }, at) => {
    for (const from of before) {
      const lost = gone.get(from) ?? new Set();
      for (const to of after) lost.add(to);
      gone.set(from, lost);
      gained.set(from, [...(gained.get(from) ?? []), tasks + graph.joins + at]);
    }
  });
  const successors = graph.successors.map((list, vertex) => {
    if (!gone.has(vertex)) return list;
    return [...list.filter((to) => !gone.get(vertex)!.has(to)), ...gained.get(vertex)!];
  });
  return {
    ...graph,
    successors: [...successors, ...added.map(({ after }) => after)],
    joins: graph.joins + added.length,
  };
}
