import type { Engine } from '@sitewright/yaql';
import type { PlannedCheck } from '../core/checks/check.ts';
import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { OwnRollouts } from '../core/graph-run/input.ts';
import { actionOf } from '../core/graph-types.ts';
import { calledText } from '../core/names.ts';
import type { SchedulerGraph } from '../core/scheduler/graph.ts';
import { type Links, stillToDo } from '../core/scheduler/links.ts';
import type { Refusal, Subgraph } from '../core/scheduler/plan.ts';
import { type TaskOnNode, taskKey, taskText } from '../core/task-on-node.ts';
import { counted } from '../core/text/text.ts';
import type { GraphRunMode } from '../core/words.ts';
import { canonicalJson } from '../documents/index.ts';
import {
  type AnyChoice,
  cycleProblems,
  type Fields,
  findCycles,
  type GraphProblem,
  linksOf,
  type OldStates,
  type Plan,
  type PlanInput,
  Problems,
  planGraph,
  schedulerGraph,
} from '../graph/index.ts';
import { type GraphMetadata, mergeGraph } from './graph-layers.ts';
import { warnOfIdlePrimaries } from './idle-primaries.ts';
import { chooseNodes, type NodeLeftOut } from './node-choice.ts';
import { packagePreparations } from './package-preparations.ts';
import { refuseDestruction, untouchedBy, warnOfUntouched } from './removal.ts';
import { rolloutsOfRoles } from './role-rollouts.ts';
import { type ClusterSources, nameOf, type StoredLayer, uidOf } from './sources.ts';
import { clusterState, type Surroundings } from './state/cluster-state.ts';
import { tagCluster } from './tagged-cluster.ts';
import { catalogueOfCluster } from './tags/of-sources.ts';

/** A request to plan one graph of a cluster. */
export interface ClusterPlanRequest {
  readonly type: string;
  /** Ids of nodes, of those that a graph of the type is for; replaces the graph's node filter. */
  readonly nodes?: readonly number[];
  /** Tasks that may run; the others keep their positions in the order. */
  readonly tasks?: readonly string[];
  /** Only tasks run that have changed since they succeeded on a node, as if they never had. */
  readonly missed?: boolean;
  readonly subgraphs?: readonly Subgraph[];
  readonly mode?: GraphRunMode;
  /** Everything counts as changed, and errors of the cluster refuse nothing. */
  readonly force?: boolean;
  /** By role, its rollout instead of that of the release or the cluster; null: none. */
  readonly rollouts?: OwnRollouts;
  /** Maximum number of busy nodes; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /** Tasks that an earlier run has done: plans only the others and everything after them. */
  readonly done?: readonly TaskOnNode[];
}

interface PlanningContext {
  /** States of earlier runs; absent (`force`): everything counts as changed. */
  readonly old?: OldStates;
  readonly surroundings?: Surroundings;
  /** Checks of the cluster's site and packages; absent: the site has no documents. */
  readonly checks?: readonly PlannedCheck[];
  /** Racks in these documents, by the names of machines. */
  readonly racks?: Readonly<Record<string, string>>;
  /** An engine with registered helper functions; default: a new one. */
  readonly engine?: Engine;
}

export interface ClusterPlan {
  /** Of the graph. */
  readonly type: string;
  readonly plan: Plan;
  /** The plan's input, for `explainPlan`, snapshots, and the data of its expressions. */
  readonly input: PlanInput;
  /** The plan for the scheduler, with the same numbers of tasks; null if no node has tasks, so that there is nothing to do. */
  readonly graph: SchedulerGraph | null;
  /** By task: 0 = the earlier run has done it. Absent: there was none. */
  readonly only?: ArrayLike<number>;
  readonly metadata: GraphMetadata;
  readonly leftOut: readonly NodeLeftOut[];
  /** Of the nodes left out, those that a person expects in the run. */
  readonly missed: readonly number[];
  /** Nodes that leave the cluster as they are: no task of the graph `deletion` is for them. */
  readonly untouched: readonly number[];
  /** Of the nodes left out, those that have no operating system yet. */
  readonly notProvisioned: readonly number[];
  /** Tag -> primary node, and the choices of `policy: any`: to store in the cluster when the plan runs. */
  readonly primaries: Readonly<Record<string, number>>;
  readonly anyChoices: Readonly<Record<string, unknown>>;
  /** Warnings; with an error there is no plan. */
  readonly problems: readonly GraphProblem[];
}

type ClusterPlanning =
  | ({ readonly ok: true } & ClusterPlan)
  /** `no-graph`: no layer has a task of this type. */
  | { readonly ok: false; readonly reason: 'no-graph' | 'refused'; readonly problems: readonly GraphProblem[] };

/**
 * Plans one graph of a cluster: merges its layers, chooses and tags the nodes, computes the state, assigns the tasks to
 * nodes, evaluates, links and checks them. Reports all problems with their places: `release.tasks[3].condition` in a
 * graph; `nodes[0]`, `tasks[1]`, `subgraphs[0]` in the request.
 *
 * ```ts
 * const sources = await readClusterSources(store, clusterId);
 * const layers = await readGraphLayers(store, sources, 'default');
 * const old = oldStatesOf(sources, await store.taskStates.read(clusterId));   // omit for `force`
 * const planned = planCluster(sources, layers, { type: 'default' }, { old, surroundings: { masterIp } });
 * if (!planned.ok) refuse(planned.problems);
 * ```
 */
export function planCluster(
  sources: ClusterSources,
  layers: readonly StoredLayer[],
  request: ClusterPlanRequest,
  context: PlanningContext = {},
): ClusterPlanning {
  const nodeNames = new Map(sources.nodes.map((node) => [uidOf(node), nameOf(node)]));
  const problems = new Problems(undefined, nodeNames);
  const merged = mergeGraph(layers, problems);
  const isDeletion = actionOf(request.type) === 'delete';
  // Where nothing has to be undone, nodes leave all the same.
  if (!problems.hasErrors && merged.tasks.length === 0 && !isDeletion) {
    problems.error(['type'], 'graph.not-found', noTasks(sources, request.type, layers.length), hintOfTypes);
    return { ok: false, reason: 'no-graph', problems: problems.all() };
  }
  refuseUnknownTasks(request, merged.tasks, problems);
  const chosen = chooseNodes(
    sources,
    request.type,
    request.nodes,
    merged.metadata.nodeFilter,
    problems,
    context.engine,
  );
  const tagged = tagCluster(
    sources,
    chosen.nodes.map(({ id }) => id),
  );
  const input: PlanInput = {
    ...inputOf(sources, merged.tasks, tagged.nodes, context),
    selectedTasks: request.tasks ?? [],
    ...given({ missed: request.missed }),
    subgraphs: request.subgraphs ?? [],
    nodeNames,
  };
  const planned = planGraph(input);
  const refuse = (found: readonly GraphProblem[]): ClusterPlanning => ({
    ok: false,
    reason: 'refused',
    problems: [...problems.all(), ...found],
  });
  if (!planned.ok) return refuse(planned.problems);
  if (problems.hasErrors) return refuse([]);
  const { plan } = planned;
  refuseDestruction(sources, plan, problems);
  if (problems.hasErrors) return refuse(plan.problems);
  const links = linksOf(plan);
  const only = request.done && stillToDo(links, isIn(request.done, plan));
  const limits = request.max_nodes === undefined ? {} : { limits: { max_nodes: request.max_nodes } };
  const rollouts = rolloutsOfRoles(catalogueOfCluster(sources), chosen.nodes, problems, {
    ...given({ own: request.rollouts, checks: context.checks, racks: context.racks }),
  });
  if (problems.hasErrors) return refuse(plan.problems);
  const compiled = schedulerGraph(plan, { ...given({ mode: request.mode, only }), ...limits, rollouts }, links);
  if (!compiled.ok && compiled.refusal.reason !== 'empty_graph') {
    return refuse([...plan.problems, ...refusalProblems(compiled.refusal, plan, links, request, sources)]);
  }
  const untouched = isDeletion && isWhole(request) ? untouchedBy(plan, chosen.nodes) : [];
  warnOfUntouched(untouched, request.type, problems);
  warnOfMissed(plan, sources.cluster.id, request.type, problems);
  warnOfIdlePrimaries(plan, tagged.nodes, problems);
  return {
    ok: true,
    type: request.type,
    plan,
    input,
    graph: compiled.ok ? compiled.graph : null,
    ...given({ only }),
    metadata: merged.metadata,
    leftOut: chosen.leftOut,
    missed: chosen.missed,
    untouched,
    notProvisioned: chosen.notProvisioned,
    primaries: { ...sources.cluster.primaries, ...tagged.primaries },
    anyChoices: choicesToStore(sources.cluster.anyChoices, plan.anyChoices),
    problems: [...problems.all(), ...plan.problems],
  };
}

function refuseUnknownTasks(request: ClusterPlanRequest, tasks: PlanInput['tasks'], problems: Problems): void {
  const known = new Set(tasks.map(({ task }) => task.id));
  request.tasks?.forEach((id, at) => {
    if (!known.has(id))
      problems.error(
        ['tasks', at],
        'graph.unknown-selection',
        `graph '${request.type}' has no task '${id}'`,
        'Correct the name.',
      );
  });
}

/** What a plan takes from the cluster, whatever is asked of it. */
function inputOf(
  sources: ClusterSources,
  tasks: PlanInput['tasks'],
  nodes: PlanInput['nodes'],
  { surroundings, old, engine }: PlanningContext,
) {
  const state = clusterState(sources, nodes, surroundings);
  return {
    tasks,
    nodes,
    state,
    formatter: given({ MASTER_IP: surroundings?.masterIp ?? state.common.master_ip }),
    legacyPluginTasks: sources.plugins.flatMap(({ name: owner, path, legacyTasks }) =>
      legacyTasks.map((task, at) => ({ task, at: ['plugins', owner, 'tasks.yaml', at], owner, ...given({ path }) })),
    ),
    anyChoices: choicesOf(sources.cluster.anyChoices),
    preparations: packagePreparations(sources),
    factsHint: `Give them: sitewright cluster facts ${sources.cluster.id} --upload FILE.`,
    ...given({ old, engine }),
  };
}

const isWhole = ({ tasks, missed, subgraphs, done }: ClusterPlanRequest): boolean =>
  [tasks, subgraphs].every((list = []) => list.length === 0) && done === undefined && missed !== true;

function isIn(done: readonly TaskOnNode[], { instances, nodes }: Plan): (task: number) => boolean {
  const keys = new Set(done.map(taskText));
  return (task) => keys.has(taskKey(instances[task]!.id, nodes[instances[task]!.node]!));
}

function noTasks({ cluster, release }: ClusterSources, type: string, layers: number): string {
  const checked = `${calledText('cluster', cluster)}, its plugins and ${calledText('release', release)}`;
  return layers === 0
    ? `there is no graph of type '${type}' in ${checked}`
    : `graph '${type}' has no tasks in ${checked}`;
}

const hintOfTypes = 'Upload its tasks, or use another type.';

function refusalProblems(
  refusal: Refusal,
  plan: Plan,
  links: Links,
  request: ClusterPlanRequest,
  { cluster, nodes }: ClusterSources,
): readonly GraphProblem[] {
  const problems = new Problems();
  switch (refusal.reason) {
    case 'bad_subgraph':
      for (const entry of refusal.entries) {
        const at = (request.subgraphs ?? []).findIndex(({ start = [], end = [] }) =>
          [...start, ...end].includes(entry),
        );
        problems.error(
          at < 0 ? ['subgraphs'] : ['subgraphs', at],
          'graph.bad-subgraph',
          `'${entry}' matches no task of this run`,
          'Write TASK or TASK/NODES, e.g. netconfig/1,3-5.',
        );
      }
      break;
    case 'bad_strategy':
      for (const at of refusal.tasks) {
        const { id, node, task } = plan.instances[at]!;
        problems.error(
          [...plan.tasks[task]!.merged.at, 'parameters', 'strategy'],
          'graph.bad-strategy',
          `the strategy of '${taskKey(id, plan.nodes[node]!)}' has no valid amount`,
          'Write {type: parallel, amount: N} with a number of 0 or more, or {type: one_by_one}.',
        );
      }
      break;
    case 'later_wave_needed': {
      const [task, needs] = [refusal.task, refusal.needs].map((one, at) => {
        const { id, node: on } = plan.instances[one]!;
        const node = nodes.find((row) => uidOf(row) === plan.nodes[on]);
        return `'${taskKey(id, node === undefined ? plan.nodes[on]! : nameOf(node))}' (wave ${refusal.waves[at]} of role ${refusal.rollouts[at]})`;
      });
      problems.error(
        ['tasks'],
        'rollout.later-wave-needed',
        `${task} waits for ${needs}, which starts only when earlier waves are done`,
        `Remove the dependency between nodes; or give this cluster a copy of the role without a rollout: sitewright role update --cluster ${cluster.id} --name ${refusal.rollouts[0]}`,
      );
      break;
    }
    case 'cycle':
      return cycleProblems(plan, findCycles(plan, links));
    case 'empty_graph':
      break;
  }
  return problems.all();
}

type EarlierChoice = NonNullable<PlanInput['anyChoices']>[number];

/** Previous choices of `policy: any` as stored in a cluster, by the tags to choose from. */
function choicesOf(stored: Fields): readonly EarlierChoice[] {
  return Object.values(stored).flatMap((one) =>
    isMapping(one) && Array.isArray(one.roles) && Array.isArray(one.chosen)
      ? [{ roles: one.roles, chosen: one.chosen.map(String) }]
      : [],
  );
}

/** Merges the choices of a new plan into the stored ones; choices of other graphs stay. */
function choicesToStore(stored: Fields, choices: readonly AnyChoice[]): Fields {
  const now = choices.map(({ roles, chosen }) => [canonicalJson(roles), { roles, chosen }]);
  return { ...stored, ...Object.fromEntries(now) };
}

const TASKS = 10;
const NODES = 5;

/**
 * Warns of tasks that have changed since they succeeded on a node and do not run there, only because their conditions compare with that
 * success. Without a change of the data they would never run in the new version.
 */
function warnOfMissed(plan: Plan, cluster: number, type: string, problems: Problems): void {
  const missed = new Map<number, string[]>();
  for (const { task, node, skip, hasChanged } of plan.instances)
    if (hasChanged && skip === 'condition') missed.set(task, [...(missed.get(task) ?? []), plan.nodes[node]!]);
  if (missed.size === 0) return;
  const names = [...missed].map(
    ([task, uids]) => `${plan.tasks[task]!.merged.task.id} (${problems.nodesText(uids, NODES)})`,
  );
  const more = names.length > TASKS ? ` and ${names.length - TASKS} more` : '';
  const [has, their] =
    missed.size === 1 ? ['has', 'it ran, but its condition is'] : ['have', 'they ran, but their conditions are'];
  problems.warning(
    ['tasks'],
    'graph.missed-tasks',
    `${counted(missed.size, 'task')} ${has} changed since ${their} false: ${names.slice(0, TASKS).join(', ')}${more}; a run with --missed carries out just these`,
    `sitewright graph execute --cluster ${cluster} --type ${type} --missed`,
  );
}
