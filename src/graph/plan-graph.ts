import type { Engine } from '@sitewright/yaql';
import type { ValuePath } from '../core/data/plain-value.ts';
import type { Subgraph } from '../core/scheduler/plan.ts';
import { goesToMaster, hasWork, onlyOrders } from '../core/task-types/index.ts';
import { FieldEvaluator, type NodeScope } from './fields/evaluator.ts';
import type { FormatValues } from './fields/python-format.ts';
import type { ClusterState, OldStates } from './fields/state.ts';
import {
  checkOthers,
  compileTask,
  DEPENDENCY_FIELDS,
  type FieldTemplates,
  parametersOf,
  skipReason,
} from './fields/task-template.ts';
import { instantiate } from './fields/template.ts';
import { truthy } from './fields/truth.ts';
import { valueKey } from './fields/value-key.ts';
import { type EarlierChoice, InstanceIndex, Linker } from './linking/link.ts';
import { below, crossRelations, nearRelations, type Relation } from './linking/relations.ts';
import { NodeResolver, type TaggedNode } from './placing/node-resolver.ts';
import { type Placement, placeTasks } from './placing/place-tasks.ts';
import type { DroppedDependency, Plan, TaskInstance } from './plan.ts';
import { type GraphProblem, GraphProblemError, Problems } from './problem.ts';
import { adaptLegacyTasks, type StageTask } from './tasks/adapt-legacy.ts';
import type { MergedTask, Preparation } from './tasks/merge-layers.ts';
import { namePattern, reportSlowPatterns } from './tasks/name-pattern.ts';
import { withStrategy } from './tasks/strategy.ts';
import { TaskChanges } from './tasks/task-changes.ts';

/** A merged graph and the input of its plan. */
export interface PlanInput {
  readonly tasks: readonly MergedTask[];
  /** The nodes of the run. */
  readonly nodes: readonly TaggedNode[];
  readonly state: ClusterState;
  readonly old?: OldStates;
  /** Tasks that may run; the others keep their places in the order. Absent or empty: all. */
  readonly selectedTasks?: readonly string[];
  /** Only tasks run that have changed since they succeeded on a node, and as if they never had. */
  readonly missed?: boolean;
  /** Values for names in fields that are not in the state, such as MASTER_IP. */
  readonly formatter?: FormatValues;
  readonly subgraphs?: readonly Subgraph[];
  /** Used when old tasks are adapted. */
  readonly legacyPluginTasks?: readonly StageTask[];
  /** Earlier choices of `policy: any`; repeated where they are still candidates. */
  readonly anyChoices?: readonly EarlierChoice[];
  readonly preparations?: readonly Preparation[];
  readonly engine?: Engine;
  /** How to give facts that tasks read and the state lacks, for people. */
  readonly factsHint?: string;
  /** How people call nodes, by uid: problems name them so. Without a name it is the uid. */
  readonly nodeNames?: ReadonlyMap<string, string>;
}

type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly GraphProblem[] };

/**
 * Places tasks on nodes, evaluates their fields, and links them. Reports all problems. `findCycles` looks
 * for cycles separately, so that a graph with one can still be shown.
 */
export function planGraph(input: PlanInput): Planned {
  const problems = new Problems(input.factsHint, input.nodeNames);
  try {
    return planned(input, problems);
  } catch (error) {
    // Where many tasks are looked at for one, a pattern that takes too long ends it all.
    if (!(error instanceof GraphProblemError)) throw error;
    const found = new Problems();
    for (const { task, at } of input.tasks) reportSlowPatterns(task, at, found);
    if (!found.hasErrors) found.error(error.below, error.code, error.message, error.hint);
    return { ok: false, problems: [...problems.all(), ...found.all()] };
  }
}

function planned(input: PlanInput, problems: Problems): Planned {
  const resolver = new NodeResolver(input.nodes);
  const evaluator = new FieldEvaluator(input);
  const tasks = adapted(input, resolver, problems);
  const selected = input.selectedTasks ?? [];
  const byRoles = input.nodes.some(({ roles }) => roles !== undefined)
    ? new NodeResolver(input.nodes.map(({ uid, tags, roles }) => ({ uid, tags: roles ?? tags })))
    : resolver;
  const placed = placeTasks(tasks, { byTags: resolver, byRoles }, evaluator, selected, problems);
  const draft = new Draft(
    resolver,
    evaluator,
    problems,
    new TaskChanges(input.old, input.preparations),
    input.missed === true,
  );
  for (const placement of placed.placements) if (placement.type !== 'group') draft.add(placement);
  for (const preparation of input.preparations ?? []) draft.prepare(preparation);
  warnOfUnknownSelection(selected, tasks, problems);
  const linked = draft.link(input.anyChoices ?? []);
  if (problems.hasErrors) return { ok: false, problems: problems.all() };
  for (const { merged, unplaced, dropped } of linked.tasks) {
    for (const { field, name } of dropped.filter(({ reason }) => reason === 'no such task')) {
      problems.warning(
        [...merged.at, field],
        'graph.unknown-dependency',
        `task '${merged.task.id}' ${field} '${name}', but there is no such task`,
        'Correct the name; the dependency has no effect in this run.',
      );
    }
    if (unplaced !== undefined && merged.replaces.length > 0 && merged.task.type === 'skipped') {
      problems.warning(
        merged.at,
        'graph.order-lost',
        `the override of '${merged.task.id}' is on no node, so the order through it is lost`,
        'Give it the tags and the dependencies of the task it replaces.',
      );
    }
  }
  const plan: Plan = {
    nodes: resolver.nodes,
    ...linked,
    faultTolerance: placed.groups,
    subgraphs: input.subgraphs ?? [],
    problems: problems.all(),
  };
  return { ok: true, plan };
}

function adapted(input: PlanInput, resolver: NodeResolver, problems: Problems): readonly MergedTask[] {
  if (!truthy(input.state.common.propagate_task_deploy)) return input.tasks;
  return adaptLegacyTasks(input.tasks, input.legacyPluginTasks ?? [], resolver, problems);
}

function warnOfUnknownSelection(selected: readonly string[], tasks: readonly MergedTask[], problems: Problems): void {
  const known = new Set(tasks.map(({ task }) => task.id));
  selected.forEach((id, at) => {
    if (!known.has(id))
      problems.warning(
        ['selected_tasks', at],
        'graph.unknown-selection',
        `no task is named '${id}'`,
        'Correct the name.',
      );
  });
}

/** Relations a task has on one node, before they are linked. */
interface Unlinked {
  readonly relations: readonly (readonly Relation[])[];
}

class Draft {
  readonly #resolver: NodeResolver;
  readonly #evaluator: FieldEvaluator;
  readonly #problems: Problems;
  readonly #changes: TaskChanges;
  readonly #missed: boolean;
  readonly #index = new InstanceIndex();
  readonly #placements: Placement[] = [];
  readonly #instances: (Omit<TaskInstance, 'requires' | 'requiredFor'> & Unlinked)[] = [];
  readonly #relations = new Map<string, readonly Relation[]>();

  constructor(
    resolver: NodeResolver,
    evaluator: FieldEvaluator,
    problems: Problems,
    changes: TaskChanges,
    missed: boolean,
  ) {
    this.#resolver = resolver;
    this.#evaluator = evaluator;
    this.#problems = problems;
    this.#changes = changes;
    this.#missed = missed;
  }

  add(placement: Placement): void {
    const number = this.#placements.length;
    this.#placements.push(placement);
    const { merged } = placement;
    const template = compileTask(merged, this.#problems);
    if (template === undefined) return;
    for (const node of placement.nodes) {
      const name = this.#resolver.nodes[node]!;
      this.#problems.attempt(merged.at, () => this.#addInstance(placement, number, node, template), name);
    }
  }

  /** Places the tasks of a preparation on all nodes that carry out work of its owner themselves, before that work. */
  prepare({ layer, owner, tasks }: Preparation): void {
    const isOwn = ({ merged, type }: Placement): boolean =>
      merged.layer === layer && merged.owner === owner && hasWork(type) && !goesToMaster(type);
    const nodes = new Set<number>();
    const first = tasks.map(({ task: { id } }): Relation => ({ name: namePattern(id), written: id, where: SELF }));
    this.#instances.forEach((instance, at) => {
      if (instance.skip !== undefined || !isOwn(this.#placements[instance.task]!)) return;
      nodes.add(instance.node);
      const [requires = NONE, ...others] = instance.relations;
      this.#instances[at] = { ...instance, relations: [[...requires, ...first], ...others] };
    });
    if (nodes.size === 0) return;
    const placedBy = owner === undefined ? 'the tasks of the release' : `the tasks of plugin ${owner}`;
    for (const merged of tasks)
      this.add({
        merged,
        type: merged.task.type as string,
        deselected: false,
        prepares: true,
        nodes: [...nodes],
        placedBy,
        skippedPrimaries: [],
      });
  }

  #addInstance(placement: Placement, task: number, node: number, template: FieldTemplates): void {
    const { type, merged } = placement;
    const on = this.#resolver.nodes[node]!;
    const hasChanged = this.#changes.hasChanged(merged, on);
    const first = () => this.#evaluator.scopeOfFirst(merged.task.id, on);
    const scope = hasChanged && this.#missed ? first() : this.#evaluator.scope(merged.task.id, on);
    const isLeftOut = () => this.#isLeftOut(placement, hasChanged);
    const skip = skipReason(template, type, isLeftOut, scope);
    const isMissed = () => skip === 'condition' && skipReason(template, type, () => false, first()) === undefined;
    const relations = this.#relationsOf(template, scope);
    const id = instantiate(template.id, scope) as string;
    const marked = hasChanged && (skip === undefined || isMissed()) ? { hasChanged: true as const } : {};
    const common = { task, node, id, ranBefore: scope.ranBefore, ...marked, relations };
    const instance =
      skip === undefined
        ? {
            ...common,
            type,
            parameters: withStrategy(parametersOf(template, scope)),
            failOnError: template.failOnError === undefined ? true : instantiate(template.failOnError, scope),
          }
        : { ...common, type: 'skipped', failOnError: false, skip };
    if (skip === undefined) checkOthers(template, scope);
    // If formatting makes ids equal, the first stays, unless only the later one runs.
    const before = this.#index.at(id, node);
    if (before !== undefined) {
      const { type: earlier } = this.#instances[before]!;
      if (earlier !== instance.type && instance.type !== 'skipped') this.#instances[before] = instance;
      return;
    }
    this.#index.add(id, node, this.#instances.length);
    this.#instances.push(instance);
  }

  #isLeftOut({ type, deselected, prepares }: Placement, hasChanged: boolean): boolean {
    if (deselected) return true;
    if (prepares || onlyOrders(type)) return false;
    return this.#missed && !hasChanged;
  }

  #relationsOf(template: FieldTemplates, scope: NodeScope): readonly (readonly Relation[])[] {
    return template.dependencies.map((dependency, at) => {
      if (dependency === undefined) return NONE;
      const value = instantiate(dependency, scope);
      const field = DEPENDENCY_FIELDS[at]!;
      const key = `${at < 2 ? 'n' : 'c'}${valueKey(value)}`;
      let relations = this.#relations.get(key);
      if (relations === undefined) {
        relations = below([field], () => (at < 2 ? nearRelations(value) : crossRelations(value)));
        this.#relations.set(key, relations);
      }
      return relations;
    });
  }

  link(earlier: readonly EarlierChoice[]): Pick<Plan, 'tasks' | 'instances' | 'byNode' | 'targets' | 'anyChoices'> {
    const linker = new Linker(this.#index, this.#resolver, earlier);
    const found = this.#placements.map(() => new Map<string, DroppedDependency | null>());
    const instances = this.#instances.map(({ relations, ...instance }): TaskInstance => {
      const sets: [number[], number[]] = [[], []];
      const ends = found[instance.task]!;
      relations.forEach((list, at) => {
        const field = DEPENDENCY_FIELDS[at]!;
        for (const relation of list) {
          const set = this.#linkOne(linker, relation, instance, field);
          const key = `${field} ${relation.written}`;
          if (set !== undefined) {
            if (!sets[at % 2]!.includes(set)) sets[at % 2]!.push(set);
            ends.set(key, null);
          } else if (!ends.has(key)) {
            const reason = this.#isKnown(relation) ? 'not on the nodes it looks at' : 'no such task';
            ends.set(key, { field, name: relation.written, reason });
          }
        }
      });
      return { ...instance, requires: exact(sets[0]), requiredFor: exact(sets[1]) };
    });
    const byNode: number[][] = this.#resolver.nodes.map(() => []);
    for (const [at, { node }] of instances.entries()) byNode[node]!.push(at);
    const tasks = this.#placements.map((placement, at) => ({
      ...placement,
      digest: this.#changes.digestOf(placement.merged),
      dropped: [...found[at]!.values()].filter((one) => one !== null),
    }));
    return { tasks, instances, byNode, targets: linker.targets, anyChoices: linker.anyChoices };
  }

  #linkOne(
    linker: Linker,
    relation: Relation,
    instance: { task: number; node: number },
    field: string,
  ): number | undefined {
    const { merged } = this.#placements[instance.task]!;
    const path: ValuePath = [...merged.at, field];
    return this.#problems.attempt(
      path,
      () => linker.resolve(relation, instance.node),
      this.#resolver.nodes[instance.node]!,
    );
  }

  /** Whether some task of the graph matches, on a node of this run or not. */
  #isKnown({ name }: Relation): boolean {
    return this.#placements.some(({ merged }) => name.matches(merged.task.id));
  }
}

const NONE: readonly Relation[] = [];
const NO_SETS: readonly number[] = [];

/** Without the room that a list has to grow: there are two for each task on each node. */
const exact = (list: readonly number[]): readonly number[] => (list.length === 0 ? NO_SETS : list.slice());
const SELF = { on: 'self' } as const;
