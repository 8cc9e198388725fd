import { given } from '../../core/data/given.ts';
import { kindOf } from '../../core/data/plain-value.ts';
import { onlyOrders } from '../../core/task-types/index.ts';
import type { FieldEvaluator } from '../fields/evaluator.ts';
import { compileTemplate, isExpression } from '../fields/template.ts';
import { truthy } from '../fields/truth.ts';
import { valueKey } from '../fields/value-key.ts';
import { GraphProblemError, type Problems } from '../problem.ts';
import type { MergedTask } from '../tasks/merge-layers.ts';
import type { GraphTask } from '../tasks/task.ts';
import type { NodeResolver, SkippedPrimary } from './node-resolver.ts';

/** A task of the graph with its nodes. */
export interface Placement {
  readonly merged: MergedTask;
  /** The type after evaluation, before a condition or a selection made it `skipped`. */
  readonly type: string;
  /** Not selected: it keeps its place in the order and does not run. */
  readonly deselected: boolean;
  /** Prepares the nodes for tasks that run: no selection leaves it out. */
  readonly prepares?: true;
  /** In the order of placement, each node once. */
  readonly nodes: readonly number[];
  /** The field of the task that placed it. */
  readonly placedBy: string;
  /** Why it is on no node. */
  readonly unplaced?: string;
  /** Nodes that have `primary-TAG` where it asks for `TAG`. */
  readonly skippedPrimaries: readonly SkippedPrimary[];
}

export interface FaultTolerance {
  readonly name: string;
  readonly node_ids: readonly string[];
  readonly fault_tolerance: number;
}

interface Placed {
  readonly placements: readonly Placement[];
  readonly groups: readonly FaultTolerance[];
}

/** Fields that place tasks; their expressions see the cluster's common data. */
const PLACING = ['tags', 'roles', 'groups'] as const;

/** Resolvers that match tasks to nodes. */
interface PlacingResolvers {
  readonly byTags: NodeResolver;
  /** For tasks of plugins without tags: they use the roles of nodes, as before tags existed. */
  readonly byRoles: NodeResolver;
}

/**
 * Places tasks on nodes: by the first of `tags`, `roles` and `groups` that is not empty, where a group of the graph also
 * means its own tags or roles; stages on the sync node; the tasks a group lists also on the group's nodes.
 */
export function placeTasks(
  tasks: readonly MergedTask[],
  { byTags, byRoles }: PlacingResolvers,
  evaluator: FieldEvaluator,
  selected: readonly string[],
  problems: Problems,
): Placed {
  const chosen = new Set(selected);
  const groupTasks = tasks.filter(({ task }) => task.type === 'group');
  const field = (merged: MergedTask, name: string): unknown =>
    problems.attempt([...merged.at, name], () => clusterValue(merged.task[name], merged.task.id, evaluator));
  const listedBy = (merged: MergedTask): unknown =>
    problems.attempt([...merged.at, 'tasks'], () => groupTasksOf(merged.task, evaluator));
  const resolve = (merged: MergedTask): Resolved => {
    const { by, value } = placingField(merged, field);
    if (by === undefined) return { ...NOWHERE, placedBy: '', nothing: 'it has no tags, roles or groups' };
    const placedBy = `${by} ${text(value)}`;
    const resolver = merged.layer === 'plugins' && by !== 'tags' ? byRoles : byTags;
    const found = problems.attempt([...merged.at, by], () => {
      const meant = by === 'groups' ? withGroupRoles(value, groupTasks, resolver, field) : value;
      return { ...resolver.resolve(meant), skippedPrimaries: resolver.skippedPrimaries(meant) };
    });
    if (Array.isArray(value) && value.includes('*')) {
      problems.warning(
        [...merged.at, by],
        'graph.star-in-list',
        "'*' in a list is a tag of that name",
        `For all nodes write ${by}: '*'.`,
      );
    }
    if (found === undefined) return { ...NOWHERE, placedBy };
    const { nodes, skippedPrimaries } = found;
    const hints = skippedPrimaries.map(({ node, tag }) => `; node ${problems.nodeName(node)} has it as ${tag}`);
    const nothing = found.nothing ?? (nodes.length === 0 ? `no node has ${placedBy}${hints.join('')}` : undefined);
    return { nodes, placedBy, skippedPrimaries, ...given({ nothing }) };
  };

  const placements = new Map<string, Placement>();
  for (const merged of tasks) {
    const type = field(merged, 'type');
    if (typeof type !== 'string') {
      problems.error([...merged.at, 'type'], 'graph.bad-type', `the type must be text, not ${kindOf(type)}`);
      continue;
    }
    const deselected = chosen.size > 0 && !chosen.has(merged.task.id) && !onlyOrders(type);
    const { nothing, ...resolved }: Resolved =
      type === 'stage' ? { ...NOWHERE, nodes: [byTags.sync], placedBy: 'stage' } : resolve(merged);
    const unplaced = given({ unplaced: nothing });
    placements.set(merged.task.id, { merged, type, deselected, ...resolved, ...unplaced });
  }
  const groups = [...placements.values()].filter(({ type }) => type === 'group');
  return {
    placements: withGroups(placements, groups, listedBy, problems),
    groups: toleranceOf(groups, byTags, field, problems),
  };
}

interface Resolved extends Pick<Placement, 'nodes' | 'placedBy' | 'skippedPrimaries'> {
  readonly nothing?: string;
}

const NOWHERE = { nodes: [], skippedPrimaries: [] } as const;

type FieldOf = (merged: MergedTask, name: string) => unknown;

/** The field that places a task, and its value: the first that is not empty (spec 3: `tags or role`). */
function placingField(merged: MergedTask, field: FieldOf): { by?: (typeof PLACING)[number]; value?: unknown } {
  let first: { by: (typeof PLACING)[number]; value: unknown } | undefined;
  for (const by of PLACING) {
    if (!Object.hasOwn(merged.task, by)) continue;
    const one = { by, value: field(merged, by) };
    if (truthy(one.value)) return one;
    first ??= one;
  }
  return first ?? {};
}

/**
 * Names of groups, and, for a name that no node has as a tag, the tags or roles of the group task of that name (spec 3:
 * "or lookup task's roles from its group"). Where a node has the tag, and for patterns, the reference looks no further.
 */
function withGroupRoles(
  groups: unknown,
  groupTasks: readonly MergedTask[],
  resolver: NodeResolver,
  field: FieldOf,
): unknown {
  const names = typeof groups === 'string' ? [groups] : groups;
  if (!Array.isArray(names) || groups === '*') return groups;
  const more = new Set<unknown>();
  for (const group of groupTasks) {
    const { id } = group.task;
    if (!names.includes(id) || resolver.resolve([id]).nodes.length > 0) continue;
    const { by, value: own } = placingField(group, field);
    if (by === 'groups') continue;
    for (const role of Array.isArray(own) ? own : [own]) if (typeof role === 'string') more.add(role);
  }
  for (const name of names) more.delete(name);
  return more.size === 0 ? groups : [...names, ...more];
}

/** Adds to each task the nodes of the groups that list it. A group on no node adds nothing. */
function withGroups(
  placements: Map<string, Placement>,
  groups: readonly Placement[],
  listedBy: (group: MergedTask) => unknown,
  problems: Problems,
): Placement[] {
  const added = new Map<string, { nodes: number[]; by: string[] }>();
  for (const { merged, nodes } of groups) {
    const listed = nodes.length === 0 ? undefined : listedBy(merged);
    if (listed === undefined || listed === null) continue;
    if (!Array.isArray(listed)) {
      problems.error(
        [...merged.at, 'tasks'],
        'graph.bad-group',
        `tasks must be a list of task ids, not ${kindOf(listed)}`,
      );
      continue;
    }
    listed.forEach((id: unknown, at) => {
      const known = typeof id === 'string' ? placements.get(id) : undefined;
      if (known === undefined || known.type === 'group') {
        const what = known === undefined ? 'there is no such task' : 'it is a group itself';
        problems.error(
          [...merged.at, 'tasks', at],
          'graph.unknown-group-task',
          `group '${merged.task.id}' lists '${String(id)}': ${what}`,
          'Correct the name, or remove it from the group.',
        );
        return;
      }
      const entry = added.get(known.merged.task.id) ?? { nodes: [], by: [] };
      added.set(known.merged.task.id, entry);
      entry.nodes.push(...nodes);
      entry.by.push(merged.task.id);
    });
  }
  return [...placements.values()].map((placement) => {
    const more = added.get(placement.merged.task.id);
    if (more === undefined) return placement;
    const { unplaced: _, ...rest } = placement;
    const by = [...(placement.nodes.length > 0 ? [placement.placedBy] : []), ...more.by.map((id) => `group ${id}`)];
    return { ...rest, nodes: [...new Set([...placement.nodes, ...more.nodes])], placedBy: by.join(', ') };
  });
}

/**
 * The tasks that a group lists. A group never runs, so that an expression which compares with the last success is about that of
 * the tasks it lists: each is listed if the expression lists it in comparison with its own.
 */
function groupTasksOf(group: GraphTask, evaluator: FieldEvaluator): unknown {
  const asOf = (task: string): unknown => clusterValue(group.tasks, task, evaluator);
  const first = asOf(group.id);
  if (!Array.isArray(first)) return first;
  const mentioned = new Set<unknown>(first);
  const listed: unknown[] = [];
  for (const id of mentioned) {
    const own = typeof id === 'string' ? asOf(id) : first;
    const ids: readonly unknown[] = Array.isArray(own) ? own : first;
    for (const other of ids) mentioned.add(other);
    if (ids.includes(id)) listed.push(id);
  }
  return listed;
}

function toleranceOf(
  groups: readonly Placement[],
  resolver: NodeResolver,
  field: FieldOf,
  problems: Problems,
): FaultTolerance[] {
  return groups.flatMap(({ merged, nodes }) => {
    if (nodes.length === 0) return [];
    const given = field(merged, 'fault_tolerance');
    const tolerated = problems.attempt([...merged.at, 'fault_tolerance'], () => faultTolerance(given, nodes.length));
    if (tolerated === undefined) return [];
    const ids = nodes.map((node) => resolver.nodes[node]!).sort();
    return [{ name: merged.task.id, node_ids: ids, fault_tolerance: tolerated }];
  });
}

/** The value of a field outside any node: expressions see the common data as `$`. */
function clusterValue(value: unknown, task: string, evaluator: FieldEvaluator): unknown {
  if (isExpression(value)) {
    const template = compileTemplate(value);
    return template.kind === 'yaql' ? evaluator.clusterScope(task).evaluate(template.expression, template.path) : value;
  }
  if (Array.isArray(value) && value.some(isExpression)) return value.map((item) => clusterValue(item, task, evaluator));
  return value;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : valueKey(value));

/**
 * How many of `total` nodes of a group may fail: a number, `"N%"` rounded down, or a negative number of nodes that must
 * not fail. If absent or text that is not a number: one more than `total`. Throws GraphProblemError for other values.
 */
function faultTolerance(given: unknown, total: number): number {
  const never = total + 1;
  if (given === undefined || given === null) return never;
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') {
    throw new GraphProblemError(
      'graph.bad-fault-tolerance',
      `fault_tolerance is ${kindOf(given)}`,
      'Write a number or "N%".',
    );
  }
  const text = typeof given === 'string' ? given.trim() : given;
  if (text === '')
    throw new GraphProblemError(
      'graph.bad-fault-tolerance',
      'fault_tolerance is empty',
      'Write a number or "N%", or remove it.',
    );
  const percent = typeof text === 'string' && text.endsWith('%');
  const number = typeof text === 'string' ? wholeNumber(percent ? text.slice(0, -1) : text) : Math.trunc(Number(text));
  if (number === undefined) return never;
  const value = percent ? Math.floor((number * total) / 100) : number;
  return value < 0 ? Math.max(0, total + value) : value;
}

const wholeNumber = (text: string): number | undefined =>
  /^\s*[-+]?\d+\s*$/.test(text) ? Number(text.trim()) : undefined;
