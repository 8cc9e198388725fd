import { isMapping, type ValuePath } from '../core/data/plain-value.ts';
import { cycleText } from './linking/find-cycles.ts';
import { cyclesIn, firstCycles } from './linking/graph-cycles.ts';
import { type GraphProblem, Problems } from './problem.ts';
import type { MergedTask, PlacedInInput } from './tasks/merge-layers.ts';
import { reportSlowPatterns } from './tasks/name-pattern.ts';
import type { GraphTask } from './tasks/task.ts';
import { taskGraph } from './tasks/task-graph.ts';

/**
 * Checks a merged graph without nodes: tasks that wait for each other on one node are an error,
 * undefined names a warning. The shape of the tasks was checked when they were read.
 */
export function checkGraph(tasks: readonly MergedTask[]): readonly GraphProblem[] {
  const problems = new Problems();
  const graph = taskGraph(tasks.map(({ task }) => task));
  const byName = new Map(tasks.map((one) => [one.task.id, one]));
  const inGroups = listedBy(tasks);
  const together = function* () {
    for (const names of cyclesIn(graph)) if (!areNeverTogether(names, byName, inGroups)) yield names;
  };
  for (const path of firstCycles(together())) {
    const [before, after] = [path[0]!, path[1] ?? path[0]!];
    problems.error(
      placeOfDependency(byName, before, after),
      'graph.cycle',
      cycleText(path),
      'Each task must end before the next starts: remove one of these dependencies.',
    );
  }
  const groups = tasks.filter(({ task }) => task.type === 'group');
  const listedInGroup = listedBy(groups);
  graph.forEachNode((name, { task }) => {
    if (task !== undefined) return;
    const users = [...graph.inNeighbors(name), ...graph.outNeighbors(name)].filter((one) => byName.has(one));
    problems.warning(
      placeOfDependency(byName, name, users[0] ?? ''),
      'graph.unknown-dependency',
      `no task is named '${name}'; referenced by ${users.slice(0, 3).join(', ')}`,
      listedInGroup.has(name)
        ? 'Correct the name, or remove it from the group: no run of the graph can be planned unless another layer defines the task.'
        : 'Correct the name; the dependency has no effect.',
    );
  });
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

/** Entries of these tasks' lists of tasks. */
const listedBy = (tasks: readonly MergedTask[]): ReadonlySet<unknown> =>
  new Set(tasks.flatMap(({ task }) => (Array.isArray(task.tasks) ? (task.tasks as readonly unknown[]) : [])));

/**
 * Whether no node has all these tasks: one is for the primary node of a tag only, another for its other nodes only. Tasks
 * wait for each other on one node; whether they do is seen when they are placed.
 */
function areNeverTogether(
  names: readonly string[],
  tasks: ReadonlyMap<string, PlacedInInput>,
  inGroups: ReadonlySet<unknown>,
): boolean {
  const only = new Set(
    names.flatMap((name) => {
      // Its groups add it to their own nodes.
      const places = inGroups.has(name) ? [] : placesOf(tasks.get(name)?.task, tasks);
      return places.length === 1 ? places : [];
    }),
  );
  return [...only].some((tag) => only.has(`primary-${tag}`));
}

/** Tags or roles of a task, or those of its groups. */
function placesOf(task: GraphTask | undefined, tasks: ReadonlyMap<string, PlacedInInput>): readonly unknown[] {
  const own = [task?.tags, task?.roles].find((names) => Array.isArray(names) && names.length > 0);
  if (Array.isArray(own)) return own;
  const groups = Array.isArray(task?.groups) ? task.groups : [];
  return groups.flatMap((group) => {
    const { tags, roles } = tasks.get(String(group))?.task ?? {};
    const names = [tags, roles].find((some) => Array.isArray(some) && some.length > 0);
    // A group that is not here is placed by its name.
    return Array.isArray(names) ? names : [group];
  });
}

/** Where one of two tasks names the other in a field that orders them; the place of that task if a pattern means it. */
export function placeOfDependency(tasks: ReadonlyMap<string, PlacedInInput>, one: string, other: string): ValuePath {
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
  const names = using.slice(0, 3).map(({ task }) => task.id);
  const more = using.length > names.length ? ` and ${using.length - names.length} more` : '';
  problems.warning(
    first.at,
    'graph.deprecated-roles',
    `'role' and 'roles' are deprecated; used by ${names.join(', ')}${more}`,
    "Write 'tags' instead: every node has the names of its roles as tags.",
  );
}
