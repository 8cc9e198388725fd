import type { SchedulerGraph } from '../src/core/scheduler/graph.ts';
import type { GraphRunMode } from '../src/core/words.ts';
import { planGraph, readPlanInput, schedulerGraph } from '../src/graph/index.ts';
import { clusterOf, recorded } from './recorded-cluster.ts';

/** A run of the recorded library. */
export interface RecordedRun {
  readonly graph: SchedulerGraph;
  /** Type of a task of the graph. */
  readonly typeOf: (task: number) => string;
}

/** Plans and compiles a run of the recorded library on the recorded cluster with this number of nodes. */
export function recordedRun(nodes: number, mode: GraphRunMode): RecordedRun {
  const read = readPlanInput({ tasks: recorded('tasks.normalized.json'), cluster: clusterOf(nodes) });
  const planned = read.ok ? planGraph(read.input) : read;
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems[0]));
  const { plan } = planned;
  const compiled = schedulerGraph(plan, { mode });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.refusal));
  const { graph } = compiled;
  return { graph, typeOf: (task) => plan.instances[task]!.type };
}

/**
 * The same for more nodes than the planner takes: the run of `planned` nodes, in which further nodes are copies of the last compute. They have its
 * tasks, which wait for the same tasks of other nodes, and for which the same tasks of other nodes wait, as further computes in the cluster do.
 */
export function grownRun(nodes: number, mode: GraphRunMode, planned = 200): RecordedRun {
  const { graph, typeOf } = recordedRun(Math.min(nodes, planned), mode);
  const copies = nodes - planned;
  if (copies <= 0) return { graph, typeOf };
  const tasks = graph.nodeOf.length;
  // As `clusterOf` numbers them.
  const model = graph.nodes.indexOf(String(99 + planned));
  const own = [...graph.nodeOf.keys()].filter((task) => graph.nodeOf[task] === model);
  const place = new Map(own.map((task, at) => [task, at]));
  const added = copies * own.length;
  const copyOf = (task: number, copy: number): number => tasks + copy * own.length + place.get(task)!;
  /** Joins come after all tasks. */
  const moved = (vertex: number): number => (vertex < tasks ? vertex : vertex + added);
  const each = <T>(list: readonly T[], of: (task: number, copy: number) => T): T[] => [
    ...list,
    ...Array.from({ length: added }, (_, at) => of(own[at % own.length]!, Math.floor(at / own.length))),
  ];
  const ofCopy = (task: number, copy: number): number[] =>
    graph.successors[task]!.map((to) => (place.has(to) ? copyOf(to, copy) : moved(to)));
  const grown = (list: readonly number[], from: number): number[] => {
    const reached = place.has(from) ? [] : list.filter((to) => place.has(to));
    return [
      ...list.map(moved),
      ...Array.from({ length: copies }, (_, copy) => reached.map((to) => copyOf(to, copy))).flat(),
    ];
  };
  const successors = graph.successors.map(grown);
  const ofNode = <T>(list: readonly T[], named?: (copy: number) => T): T[] => [
    ...list,
    ...Array.from({ length: copies }, (_, copy) => named?.(copy) ?? list[model]!),
  ];
  const count = graph.nodes.length;
  const more = Array.from({ length: copies }, (_, copy) => count + copy);
  return {
    graph: {
      ...graph,
      nodes: ofNode(graph.nodes, (copy) => `copy-${copy + 1}`),
      sync: ofNode(graph.sync),
      critical: ofNode(graph.critical),
      nameOf: each(graph.nameOf, (task) => graph.nameOf[task]!),
      nodeOf: each(graph.nodeOf, (_, copy) => count + copy),
      rank: each(graph.rank, (task) => graph.rank[task]!),
      noWork: each(graph.noWork, (task) => graph.noWork[task]!),
      forgiven: each(graph.forgiven, (task) => graph.forgiven[task]!),
      retries: [
        ...graph.retries,
        ...more.flatMap((_, copy) =>
          graph.retries.flatMap(([task, ...of]) => (place.has(task) ? [[copyOf(task, copy), ...of] as const] : [])),
        ),
      ],
      successors: [
        ...successors.slice(0, tasks),
        ...more.flatMap((_, copy) => own.map((task) => ofCopy(task, copy))),
        ...successors.slice(tasks),
      ],
      groups: graph.groups.map((group) =>
        group.nodes.includes(model) ? { ...group, nodes: [...group.nodes, ...more] } : group,
      ),
    },
    typeOf: (task) => typeOf(task < tasks ? task : own[(task - tasks) % own.length]!),
  };
}
