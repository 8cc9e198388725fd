import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.js';
import type { PlanReference } from '../../core/graph-run/index.js';
import { taskKey } from '../../core/scheduler/index.js';
import { explainPlan } from '../../graph/index.js';
import type { PlannedTaskRow, PlanOrder } from '../../store/index.js';
import { type ClusterPlan, type ClusterSources, nodeTransitions } from '../index.js';
import { cutPlan } from './cut-plan.js';

/** What is stored of a plan beside what workflows are told: what becomes of nodes when it ends. */
export interface StoredReference extends PlanReference {
  readonly node_transitions: ReturnType<typeof nodeTransitions>;
}

/** The stored text for people: `explainPlan`'s answer with the nodes that were left out and all warnings. */
export interface StoredExplanation extends PlanExplanation {
  readonly left_out: ClusterPlan['leftOut'];
  readonly warnings: readonly string[];
}

/** All that a run stores of its plan, as it is stored. */
export interface PreparedRun {
  readonly reference: StoredReference;
  readonly parts: readonly (readonly string[])[];
  readonly coordination: readonly string[];
  readonly orders: readonly PlanOrder[];
  /** JSON text of a `StoredExplanation`. */
  readonly explanation: string;
  /** A row for every task on every node; what will not run is settled already, and says why. */
  readonly rows: readonly PlannedTaskRow[];
  /** JSON texts: the state the plan was made with, and the merged tasks. */
  readonly state: string;
  readonly tasks: string;
  /** For the cluster: tag -> primary node, and what `policy: any` took. */
  readonly primaries: Readonly<Record<string, number>>;
  readonly anyChoices: Readonly<Record<string, unknown>>;
  /** Ids of the nodes on which something will run. */
  readonly worksOn: readonly number[];
}

/** Turns a plan into what its run stores. `room` as in `PlanningWork`. */
export function prepareRun(sources: ClusterSources, planned: ClusterPlan, room?: number): PreparedRun {
  const cut = cutPlan(sources, planned, room);
  const explanation: StoredExplanation = {
    ...explainPlan(planned.plan, planned.input),
    left_out: planned.leftOut,
    warnings: planned.problems.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
  };
  return {
    reference: { ...cut.reference, node_transitions: nodeTransitions(planned.metadata) },
    parts: cut.parts,
    coordination: cut.coordination,
    orders: cut.orders,
    explanation: JSON.stringify(explanation),
    rows: plannedRows(planned, explanation),
    state: JSON.stringify(planned.input.state),
    tasks: JSON.stringify(planned.plan.tasks.map(({ merged }) => merged.task)),
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

function plannedRows({ plan, graph, scheduler }: ClusterPlan, explanation: StoredExplanation): PlannedTaskRow[] {
  const why = new Map<string, string>();
  for (const { node, skipped } of explanation.nodes)
    for (const { task, why: reason, values } of skipped)
      why.set(taskKey(task, node), values.length === 0 ? reason : `${reason}; ${values.join(', ')}`);
  const only = scheduler.only === undefined ? undefined : new Set(scheduler.only);
  return plan.instances.map(({ id, node, type, skip }, task): PlannedTaskRow => {
    const uid = plan.nodes[node]!;
    const key = taskKey(id, uid);
    if (graph?.noWork[task] !== 1) return { node: uid, task: id, custom: { type } };
    const left = only !== undefined && !only.has(key) ? 'done_before' : 'subgraph';
    const reason = skip ?? left;
    const message =
      why.get(key) ??
      (reason === 'done_before' ? 'done in the run that this one continues' : 'not in the chosen part of the graph');
    return {
      node: uid,
      task: id,
      status: 'skipped',
      message: message.slice(0, 1_000),
      custom: { type, skipped: reason },
    };
  });
}
