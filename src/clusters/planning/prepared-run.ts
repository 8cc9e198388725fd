import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import type { PlanReference } from '../../core/graph-run/index.ts';
import { taskKey } from '../../core/task-on-node.ts';
import { explainPlan } from '../../graph/index.ts';
import type { NewPlan, PlannedRow } from '../../store/index.ts';
import { nodeTransitions } from '../node-transitions.ts';
import type { ClusterPlan } from '../plan-cluster.ts';
import { plannedWaves } from '../role-rollouts.ts';
import type { ClusterSources } from '../sources.ts';
import { cutPlan } from './cut-plan.ts';

/** The stored reference of a plan: the one for workflows, with the changes of nodes at the end. */
export interface StoredReference extends PlanReference {
  readonly node_transitions: ReturnType<typeof nodeTransitions>;
  /** Ids of nodes that leave the cluster as they are when the graph ends well. */
  readonly untouched: readonly number[];
}

/** What workflows and people get of it. */
export const planReferenceOf = ({ node_transitions: _, untouched: __, ...reference }: StoredReference): PlanReference =>
  reference;

/** The stored explanation for people: the result of `explainPlan` with the excluded nodes and all warnings. */
interface StoredExplanation extends PlanExplanation {
  readonly left_out: ClusterPlan['leftOut'];
  readonly warnings: readonly string[];
}

/** Everything that a run stores of its plan, in stored form. */
export interface PreparedRun extends Omit<NewPlan, 'hash'> {
  readonly reference: StoredReference;
  /** A row for every task on every node; tasks that will not run have their final status, with the reason. */
  readonly rows: readonly PlannedRow[];
  /** JSON texts: the state used for the plan, and the merged tasks. */
  readonly state: string;
  readonly tasks: string;
  /** JSON text: by task, the digest of what it does, to keep with its success. */
  readonly digests: string;
  /** For the cluster: tag -> primary node, and the choices of `policy: any`. */
  readonly primaries: Readonly<Record<string, number>>;
  readonly anyChoices: Readonly<Record<string, unknown>>;
  /** Ids of the nodes with work. */
  readonly worksOn: readonly number[];
}

/** Converts a plan to its stored form. `capacity` and `prefix` as in `PlanningWork`. */
export function prepareRun(
  sources: ClusterSources,
  planned: ClusterPlan,
  capacity?: number,
  prefix?: string,
): PreparedRun {
  const cut = cutPlan(sources, planned, capacity, prefix);
  const explanation: StoredExplanation = {
    ...explainPlan(planned.plan, planned.input),
    ...plannedWaves(planned.graph),
    left_out: planned.leftOut,
    warnings: planned.problems.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
  };
  return {
    ...cut,
    reference: {
      ...cut.reference,
      node_transitions: nodeTransitions(planned.type, planned.metadata),
      untouched: planned.untouched,
    },
    explanation: JSON.stringify(explanation),
    rows: plannedRows(planned, explanation),
    state: JSON.stringify(planned.input.state),
    tasks: JSON.stringify(planned.plan.tasks.map(({ merged }) => merged.task)),
    digests: digestsOf(planned),
    primaries: planned.primaries,
    anyChoices: planned.anyChoices,
    worksOn: workedNodes(planned),
  };
}

function workedNodes({ graph }: ClusterPlan): number[] {
  if (graph === null) return [];
  const works = new Set(graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1).map((node) => graph.nodes[node]!));
  return [...works].filter((uid) => /^\d+$/.test(uid)).map(Number);
}

const digestsOf = ({ plan }: ClusterPlan): string =>
  JSON.stringify(Object.fromEntries(plan.instances.map(({ id, task }) => [id, plan.tasks[task]!.digest])));

function plannedRows({ plan, graph, only }: ClusterPlan, explanation: StoredExplanation): PlannedRow[] {
  const why = new Map<string, string>();
  for (const { node, skipped } of explanation.nodes)
    for (const { task, why: reason, values } of skipped)
      why.set(taskKey(task, node), values.length === 0 ? reason : `${reason}; ${values.join(', ')}`);
  return plan.instances.map(({ id, node, type, skip, hasChanged }, task): PlannedRow => {
    const uid = plan.nodes[node]!;
    if (graph?.noWork[task] !== 1) return { node: uid, task: id, custom: { type } };
    const left = only?.[task] === 0 ? 'done_before' : 'subgraph';
    const reason = skip ?? left;
    const message =
      why.get(taskKey(id, uid)) ??
      (reason === 'done_before' ? 'done in the run that this one continues' : 'not in the chosen part of the graph');
    return {
      node: uid,
      task: id,
      status: 'skipped',
      message: message.slice(0, 1_000),
      custom: { type, skipped: reason, ...(hasChanged && skip === 'condition' ? { missed: true } : {}) },
    };
  });
}
