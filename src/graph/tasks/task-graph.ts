import { DirectedGraph } from 'graphology';
import { isMapping } from '../../core/data/plain-value.ts';
import { isRegex } from './name-pattern.ts';
import { ComparisonsLeft, MatchedNames } from './names-matched.ts';
import { type GraphTask, isUnusableId } from './task.ts';

/** A name in a graph of definitions: a task, or an undefined name. */
interface TaskNode {
  readonly task: GraphTask | undefined;
}

/** Why one task comes before the other. */
interface TaskEdge {
  /** `cross`: between nodes. Only such edges may be missing on a given node. */
  readonly kind: 'near' | 'group' | 'cross';
}

/** Of the whole graph. */
interface DefinitionGraphState {
  /** More was compared with patterns than a graph may: some of their edges are not here. */
  readonly tooManyPatterns: boolean;
}

export type DefinitionGraph = DirectedGraph<TaskNode, TaskEdge, DefinitionGraphState>;

interface TaskGraphOptions {
  /** Also the dependencies between nodes. */
  readonly cross: boolean;
}

/**
 * The graph of definitions: one vertex per task, in order, and an edge from each task to those after it.
 * Edges come from `requires`, `required_for`, `stage`, the `tasks` of a group and from a task to its `groups`. A
 * regular expression among names is an edge from each task it matches; an undefined name is a separate vertex.
 */
export function taskGraph(tasks: readonly GraphTask[], options: TaskGraphOptions = { cross: false }): DefinitionGraph {
  const graph: DefinitionGraph = new DirectedGraph<TaskNode, TaskEdge, DefinitionGraphState>();
  for (const task of tasks) graph.mergeNode(task.id, { task });
  const left = new ComparisonsLeft();
  const names = new MatchedNames(
    tasks.map(({ id }) => id),
    left,
  );
  const groups = new MatchedNames(
    tasks.filter(({ type }) => type === 'group').map(({ id }) => id),
    left,
  );
  const edge = (from: string, to: string, kind: TaskEdge['kind']): void => {
    // graphology keeps neighbours in plain objects; no task can have that name.
    if (isUnusableId(from) || isUnusableId(to)) return;
    for (const end of [from, to]) if (!graph.hasNode(end)) graph.addNode(end, { task: undefined });
    if (!graph.hasEdge(from, to)) graph.addEdge(from, to, { kind });
  };
  for (const task of tasks) {
    for (const name of texts(task.required_for))
      for (const to of names.meantBy(name)) if (to !== task.id || !isRegex(name)) edge(task.id, to, 'near');
    for (const name of texts(task.requires))
      for (const from of names.meantBy(name)) if (from !== task.id || !isRegex(name)) edge(from, task.id, 'near');
    if (typeof task.stage === 'string') edge(task.id, task.stage, 'near');
  }
  for (const task of tasks) {
    for (const name of texts(task.groups)) for (const to of groups.meantBy(name)) edge(task.id, to, 'group');
    for (const from of texts(task.tasks)) edge(from, task.id, 'group');
  }
  for (const task of options.cross ? tasks : []) {
    for (const name of crossNames(task.cross_depends))
      for (const from of names.meantBy(name)) if (from !== task.id) edge(from, task.id, 'cross');
    for (const name of crossNames(task.cross_depended_by))
      for (const to of names.meantBy(name)) if (to !== task.id) edge(task.id, to, 'cross');
  }
  graph.setAttribute('tooManyPatterns', left.usedUp);
  return graph;
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** Names in a literal list of relations; the value of an expression is known only for a node. */
const crossNames = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.flatMap((one: unknown) => (isMapping(one) && typeof one.name === 'string' ? [one.name] : []))
    : [];

/** Names reachable from one, itself included; `inbound` follows edges backwards. */
export function reachable(graph: DefinitionGraph, from: string, direction: 'outbound' | 'inbound'): Set<string> {
  const seen = new Set<string>();
  const queue = graph.hasNode(from) ? [from] : [];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    queue.push(...(direction === 'outbound' ? graph.outNeighbors(name) : graph.inNeighbors(name)));
  }
  return seen;
}
