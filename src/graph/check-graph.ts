import { DirectedGraph } from 'graphology';
import { isMapping, type ValuePath } from '../core/data/plain-value.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { someOf } from '../core/text/text.ts';
import { cycleText } from './linking/find-cycles.ts';
import { cyclesIn, firstCycles } from './linking/graph-cycles.ts';
import { type GraphProblem, Problems } from './problem.ts';
import { Meetings } from './tasks/meeting.ts';
import type { MergedTask, PlacedInInput } from './tasks/merge-layers.ts';
import { isRegex, namePattern, reportSlowPatterns } from './tasks/name-pattern.ts';
import { type DefinitionGraph, taskGraph } from './tasks/task-graph.ts';

/**
 * Checks a merged graph without nodes: tasks that wait for each other are an error where any node with one has all of
 * them, and a warning where the nodes decide; undefined names, and dependencies that have no effect, are warnings. The
 * shape of the tasks was checked when they were read.
 */
export function checkGraph(tasks: readonly MergedTask[]): readonly GraphProblem[] {
  const problems = new Problems();
  const graph = taskGraph(
    tasks.map(({ task }) => task),
    { cross: true },
  );
  const places = new Map(tasks.map((one) => [one.task.id, one]));
  checkCycles(graph, tasks, places, problems);
  warnOfUnknownNames(graph, places, problems);
  for (const { task, at } of tasks) reportSlowPatterns(task, at, problems);
  if (graph.getAttribute('tooManyPatterns')) {
    problems.error(
      [],
      'graph.too-many-patterns',
      'the patterns of this graph would be compared with more task names than a graph may',
      'Write names instead of patterns, or begin patterns with letters that few names begin with.',
    );
  }
  warnOfRoles(tasks, problems);
  return problems.all();
}

type Places = ReadonlyMap<string, PlacedInInput>;

function checkCycles(graph: DefinitionGraph, tasks: readonly MergedTask[], places: Places, problems: Problems): void {
  const meetings = new Meetings(tasks);
  const certain: (readonly string[])[] = [];
  const possible: (readonly string[])[] = [];
  for (const names of cyclesIn(withoutGroups(graph))) {
    const meeting = meetings.of(names);
    if (meeting === 'always') certain.push(names);
    else if (meeting === 'perhaps') possible.push(names);
  }
  const at = (path: readonly string[]) => placeOfDependency(places, path[0]!, path[1] ?? path[0]!);
  for (const path of firstCycles(certain)) {
    const hint = 'Each task must end before the next starts: remove one of these dependencies.';
    problems.error(at(path), 'graph.cycle', cycleText(path), hint);
  }
  for (const path of firstCycles(possible)) {
    const message = `on a node that has all of them, ${cycleText(path)}`;
    const hint =
      'A plan with such a node is refused: remove one of these dependencies, or keep the tasks on different nodes.';
    problems.warning(at(path), 'graph.possible-cycle', message, hint);
  }
  warnOfGroups(graph, places, problems);
}

const isGroup = (graph: DefinitionGraph, name: string): boolean =>
  graph.getNodeAttribute(name, 'task')?.type === 'group';

/** What waits on one node: groups never run, so nothing waits for them or through them. */
function withoutGroups(graph: DefinitionGraph): DirectedGraph {
  const waits = new DirectedGraph();
  graph.forEachNode((name) => {
    if (!isGroup(graph, name)) waits.addNode(name);
  });
  graph.forEachEdge((_, { kind }, from, to) => {
    if (kind === 'near' && waits.hasNode(from) && waits.hasNode(to)) waits.addEdge(from, to);
  });
  return waits;
}

/** Between groups, and between groups and stages, dependencies order tasks from before dependencies between nodes. */
function warnOfGroups(graph: DefinitionGraph, places: Places, problems: Problems): void {
  const isTask = (name: string): boolean => {
    const type = graph.getNodeAttribute(name, 'task')?.type;
    return type !== undefined && type !== 'group' && type !== 'stage';
  };
  graph.forEachNode((group) => {
    if (!isGroup(graph, group)) return;
    const edges = graph.edges(group).filter((edge) => graph.getEdgeAttribute(edge, 'kind') !== 'group');
    const users = [...new Set(edges.map((edge) => graph.opposite(group, edge)).filter(isTask))];
    if (users.length === 0) return;
    problems.warning(
      placeOfDependency(places, group, users[0]!),
      'graph.group-dependency',
      `'${group}' is a group, which never runs: its order with ${someOf(users, SHOWN)} has no effect`,
      'Name the tasks of the group instead.',
    );
  });
}

/** How many tasks a message names. */
const SHOWN = 3;
/** Unknown names of one graph that are compared with all known ones. */
const MAX_SUGGESTIONS = 20;

/** Names that no task has, at the first task with a place that refers to them. */
export function warnOfUnknownNames(
  graph: DefinitionGraph,
  places: Places,
  problems: Problems,
  elsewhere?: ReadonlySet<string>,
): void {
  const names = graph.filterNodes((_, { task }) => task !== undefined);
  const inGroups = new Set(
    [...places.values()].flatMap(({ task }) =>
      task.type === 'group' && Array.isArray(task.tasks) ? (task.tasks as readonly unknown[]) : [],
    ),
  );
  let suggestions = MAX_SUGGESTIONS;
  graph.forEachNode((name, { task }) => {
    // A pattern that cannot be read has its own problem.
    if (task !== undefined || elsewhere?.has(name) || (isRegex(name) && !isReadable(name))) return;
    // `groups` assigns tasks by name, whether or not tasks of these names exist.
    const edges = graph
      .edges(name)
      .filter((edge) => graph.target(edge) !== name || graph.getEdgeAttribute(edge, 'kind') !== 'group');
    const users = edges.map((edge) => graph.opposite(name, edge)).filter((one) => places.has(one));
    if (users.length === 0) return;
    const verb = isRegex(name) ? 'matches' : 'is named';
    const meant = suggestions-- > 0 ? didYouMean(name, names) : undefined;
    const effect = inGroups.has(name)
      ? 'Correct the name, or remove it from the group: no run of the graph can be planned unless another layer defines the task.'
      : 'Correct the name; the dependency has no effect.';
    problems.warning(
      placeOfDependency(places, name, users[0]!),
      'graph.unknown-dependency',
      `no task ${verb} '${name}'; referenced by ${someOf(users, SHOWN)}`,
      meant ?? effect,
    );
  });
}

const isReadable = (pattern: string): boolean => new Problems().attempt([], () => namePattern(pattern)) !== undefined;

/** Where one of two tasks names the other in a field that orders them; the place of that task if a pattern means it. */
function placeOfDependency(tasks: Places, one: string, other: string): ValuePath {
  for (const [user, name] of [
    [other, one],
    [one, other],
  ] as const) {
    const found = tasks.get(user);
    const field = found && ORDERING.find((each) => indexOfName(found.task[each], name) >= 0);
    if (found === undefined || field === undefined) continue;
    const index = indexOfName(found.task[field], name);
    if (field !== 'cross_depends' && field !== 'cross_depended_by') return [...found.at, field, index];
    const written = found.given !== undefined && Object.hasOwn(found.given, field) ? field : field.replaceAll('_', '-');
    return [...found.at, written, index, 'name'];
  }
  return (tasks.get(other) ?? tasks.get(one))?.at ?? [];
}

const ORDERING = ['requires', 'required_for', 'tasks', 'groups', 'cross_depends', 'cross_depended_by'] as const;
const indexOfName = (names: unknown, name: string): number =>
  Array.isArray(names) ? names.findIndex((one: unknown) => one === name || (isMapping(one) && one.name === name)) : -1;

/** Spec 3: `role` and `roles` are deprecated. One warning for all tasks, at the first. */
export function warnOfRoles(tasks: readonly PlacedInInput[], problems: Problems): void {
  const using = tasks.filter(({ task }) => task.roles !== undefined);
  const [first] = using;
  if (first === undefined) return;
  const names = using.map(({ task }) => task.id);
  problems.warning(
    first.at,
    'graph.deprecated-roles',
    `'role' and 'roles' are deprecated; used by ${someOf(names, SHOWN)}`,
    "Write 'tags' instead: every node has the names of its roles as tags.",
  );
}
