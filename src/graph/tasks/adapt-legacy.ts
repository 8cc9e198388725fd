import { given } from '../../core/data/given.ts';
import type { ValuePath } from '../../core/data/plain-value.ts';
import type { NodeResolver } from '../placing/node-resolver.ts';
import type { Problems } from '../problem.ts';
import type { MergedTask } from './merge-layers.ts';
import { inOwnersFolder } from './owner-folder.ts';
import type { Fields, GraphTask } from './task.ts';
import { type DefinitionGraph, reachable, taskGraph } from './task-graph.ts';

/** From this version on, a task declares its dependencies on other nodes. */
const CROSS_DEPENDENCIES = '2.0.0';

/** `[major, minor, patch, pre-release]`; undefined for a text that is not a version. */
export function versionNumbers(text: unknown): readonly number[] | undefined {
  const found = typeof text === 'string' ? /^(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?$/.exec(text) : null;
  if (found === null) return undefined;
  const [, major, minor, patch = '0', stage, number] = found;
  return [
    Number(major),
    Number(minor),
    Number(patch),
    stage === undefined ? Number.POSITIVE_INFINITY : (stage === 'a' ? 0 : 1e9) + Number(number),
  ];
}

/** Whether a task is from before dependencies between nodes. */
function isLegacy(version: unknown): boolean {
  const numbers = versionNumbers(version ?? '0.0.0') ?? versionNumbers(CROSS_DEPENDENCIES)!;
  const least = versionNumbers(CROSS_DEPENDENCIES)!;
  const at = numbers.findIndex((number, i) => number !== least[i]);
  return at >= 0 && numbers[at]! < least[at]!;
}

const start = (name: string): string => `${name}_start`;
const end = (name: string): string => `${name}_end`;
const rolesOf = (task: GraphTask | Fields): unknown => task.roles ?? task.groups;

/** A task of a plugin from before graphs, ordered by its `stage`. */
export interface StageTask {
  readonly task: Fields;
  readonly at: ValuePath;
  /** The plugin, and the folder of its files on the nodes, where the task runs. */
  readonly owner?: string;
  readonly path?: string;
}

/**
 * Adapts tasks without dependencies between nodes to a graph that has them: each group becomes a pair of brackets,
 * `NAME_start` and `NAME_end`, with the group's order between nodes; an old task goes between the brackets of
 * its roles on its own node, one before `pre_deployment_end` or after `post_deployment_start` between those stages.
 * Tasks that plugins ordered by stage follow that stage one after another.
 */
export function adaptLegacyTasks(
  tasks: readonly MergedTask[],
  pluginTasks: readonly StageTask[],
  resolver: NodeResolver,
  problems: Problems,
): MergedTask[] {
  const graph = taskGraph(tasks.map(({ task }) => task));
  const stages = {
    pre_deployment: between(graph, 'pre_deployment'),
    post_deployment: between(graph, 'post_deployment'),
  };
  const adapts = pluginTasks.length > 0 || tasks.some(isOldTask);
  const known = namesAfter(tasks, adapts);
  const out: MergedTask[] = [];
  const legacy: { readonly merged: MergedTask; readonly depends: readonly Fields[] }[] = [];
  const groups = new Map<string, { readonly merged: MergedTask; readonly depends: Fields[] }>();
  for (const merged of tasks) {
    const { task } = merged;
    if (task.type === 'group') groups.set(task.id, { merged, depends: [] });
    if (task.type === 'group' || task.type === 'stage') {
      out.push(merged);
      continue;
    }
    const stage = stages.pre_deployment.has(task.id)
      ? 'pre_deployment'
      : stages.post_deployment.has(task.id)
        ? 'post_deployment'
        : undefined;
    const tags =
      stage === undefined
        ? (problems.attempt([...merged.at, 'roles'], () => resolver.tagsMatching(rolesOf(task))) ?? [])
        : [];
    const ends = (stage === undefined ? tags.map(end) : [end(stage)]).filter((name) => known.has(name));
    const given = Array.isArray(task.required_for) ? (task.required_for as unknown[]) : [];
    const bound = { ...merged, task: { ...task, required_for: [...new Set([...given, ...ends])] } };
    if (!isLegacy(task.version)) out.push(bound);
    else {
      const depends =
        stage === undefined
          ? tags.map((tag) => ({ name: start(tag), role: 'self' }))
          : [{ name: start(stage), role: null }];
      legacy.push({ merged: bound, depends: depends.filter(({ name }) => known.has(name)) });
    }
  }
  if (!adapts) return out;
  out.push(...brackets(groups));
  for (const { merged, depends } of legacy) {
    out.push({ ...merged, task: { ...merged.task, version: CROSS_DEPENDENCIES, cross_depends: depends } });
  }
  return [...out, ...chains(pluginTasks, tasks, problems)];
}

const isOldTask = ({ task }: MergedTask): boolean =>
  task.type !== 'group' && task.type !== 'stage' && isLegacy(task.version);

/** Names that exist once all is adapted: nothing is made to wait for another, of which people would be warned. */
function namesAfter(tasks: readonly MergedTask[], adapts: boolean): ReadonlySet<string> {
  const groups = adapts ? tasks.filter(({ task }) => task.type === 'group') : [];
  return new Set([...tasks.map(({ task }) => task.id), ...groups.flatMap(({ task: { id } }) => [start(id), end(id)])]);
}

/** Tasks from the start to the end of a stage, both included. */
function between(graph: DefinitionGraph, stage: string): ReadonlySet<string> {
  // A graph has the pre-deployment stage if it has its end, and the post-deployment stage if it has its start.
  if (!graph.hasNode(stage === 'pre_deployment' ? end(stage) : start(stage))) return new Set();
  const after = reachable(graph, start(stage), 'outbound');
  const before = reachable(graph, end(stage), 'inbound');
  return new Set([...after].filter((name) => before.has(name)));
}

function brackets(
  groups: ReadonlyMap<string, { readonly merged: MergedTask; readonly depends: Fields[] }>,
): MergedTask[] {
  const waits = (later: string, earlier: string): void => {
    const before = groups.get(earlier);
    const after = groups.get(later);
    if (before !== undefined && after !== undefined)
      after.depends.push({ name: end(earlier), role: rolesOf(before.merged.task) });
  };
  const names = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  for (const [id, { merged }] of groups) {
    for (const earlier of names(merged.task.requires)) waits(id, earlier);
    for (const later of names(merged.task.required_for)) waits(later, id);
  }
  return [...groups].flatMap(([id, { merged, depends }]) => {
    const common = { type: 'skipped', version: CROSS_DEPENDENCIES, roles: rolesOf(merged.task) };
    const opening = {
      id: start(id),
      ...common,
      cross_depends: depends,
      cross_depended_by: [{ name: end(id), role: 'self' }],
    };
    return [opening, { id: end(id), ...common }].map((task) => ({ ...merged, task, replaces: [] }));
  });
}

function chains(pluginTasks: readonly StageTask[], tasks: readonly MergedTask[], problems: Problems): MergedTask[] {
  const successors = (name: string): string[] => {
    const stages = tasks.filter(({ task }) => task.type === 'stage').map(({ task }) => task);
    const graph = taskGraph(stages);
    return graph.hasNode(name) ? graph.outNeighbors(name) : [];
  };
  const sorted = pluginTasks
    .flatMap((one) => {
      const { task, at } = one;
      if (typeof task.stage !== 'string') {
        problems.error(
          [...at, 'stage'],
          'graph.no-stage',
          'the task has no stage',
          'Write stage: post_deployment, or post_deployment/100.',
        );
        return [];
      }
      const [stage, ...rest] = task.stage.split('/');
      return [{ ...one, stage: stage!, priority: Number(rest.at(-1) ?? 0) || 0 }];
    })
    .sort((a, b) => (a.stage < b.stage ? -1 : a.stage > b.stage ? 1 : a.priority - b.priority));
  const out: MergedTask[] = [];
  let [stage, number, depends, dependedBy]: [string | undefined, number, Fields[], Fields[]] = [undefined, 0, [], []];
  for (const one of sorted) {
    if (one.stage !== stage) {
      stage = one.stage;
      number = 0;
      const ending = end(stage);
      depends = tasks.some(({ task }) => task.id === ending) ? [{ name: ending, role: null }] : [];
      const [next] = successors(end(stage));
      dependedBy = next === undefined ? [] : [{ name: next, role: null }];
    }
    const roles = one.task.roles ?? one.task.role ?? one.task.groups;
    const { parameters = {}, condition = true, type } = one.task;
    const id = `${stage}_${number}`;
    const task: GraphTask = {
      id,
      type,
      roles,
      version: CROSS_DEPENDENCIES,
      cross_depends: depends,
      cross_depended_by: dependedBy,
      parameters,
      condition,
    };
    out.push({
      ...inOwnersFolder(task, one.path),
      at: one.at,
      layer: 'plugins',
      ...given({ owner: one.owner }),
      replaces: [],
    });
    depends = [{ name: id, role: roles }];
    number += 1;
  }
  return out;
}
