import { ApplicationFailure } from '@temporalio/activity';
import {
  type ClusterPlan,
  nodeTransitions,
  oldStatesOf,
  planCluster,
  readClusterSources,
  readGraphLayers,
} from '../src/clusters/index.js';
import type { GraphRequest, GraphRunInput, PlanReference } from '../src/core/graph-run/index.js';
import { type EarlierTask, taskKey } from '../src/core/scheduler/index.js';
import { explainPlan, type GraphProblem, type PlanExplanation } from '../src/graph/index.js';
import type { PlannedTaskRow, RunTransactions, Store, TaskHistoryRow, TransactionRecord } from '../src/store/index.js';
import type { ActivityDependencies } from './dependencies.js';
import { translated } from './failures.js';
import type { GraphActivities, PlanGraph, PlanGraphAnswer } from './graph-contract.js';
import { type CutPlan, cutPlan } from './plan-parts.js';

/** Plans graphs with the states of now, and hands stored plans out in pieces. Safe to repeat. */
export function planGraphActivities(
  deps: ActivityDependencies,
): Pick<GraphActivities, 'plan_graph' | 'load_graph_part'> {
  return {
    plan_graph: (request) => translated(() => plan(deps, request)),
    load_graph_part: ({ hash, part, chunk }) =>
      translated(async () => ({ text: await deps.store.plans.getChunk(hash, part, chunk) })),
  };
}

/** What is stored of a plan beside what workflows are told: what becomes of nodes when it ends. */
export interface StoredReference extends PlanReference {
  readonly node_transitions: ReturnType<typeof nodeTransitions>;
}

/** The stored text for people: `explainPlan`'s answer with the nodes that were left out and all warnings. */
export interface StoredExplanation extends PlanExplanation {
  readonly left_out: ClusterPlan['leftOut'];
  readonly warnings: readonly string[];
}

async function plan(deps: ActivityDependencies, request: PlanGraph): Promise<PlanGraphAnswer> {
  const { store } = deps;
  const run = await store.transactions.getRun(request.transaction);
  const child = run.graphs.find(({ id }) => id === request.graph);
  if (child === undefined || child.graphType === null || run.run.clusterId === null) {
    throw ApplicationFailure.nonRetryable(
      `transaction ${request.graph} is no graph of run ${request.transaction}`,
      'NoSuchGraph',
    );
  }
  // The hash is written last: with it all the rest is there.
  if (child.planHash !== null) {
    const { node_transitions: _, ...reference } = (await store.plans.getReference(
      child.planHash,
    )) as unknown as StoredReference;
    return { ok: true, plan: reference };
  }
  const input = (run.run.input ?? {}) as Partial<GraphRunInput>;
  const asked = (child.input ?? {}) as Partial<GraphRequest>;
  const sources = await readClusterSources(store, run.run.clusterId);
  const layers = await readGraphLayers(store, sources, child.graphType);
  const old = run.run.force ? undefined : oldStatesOf(sources, await store.taskStates.read(sources.cluster.id));
  const earlier = input.from === undefined ? undefined : await earlierTasks(store, input.from, child.graphType);
  const masterIp = deps.settings.master_ip;
  const planned = planCluster(
    sources,
    layers,
    {
      type: child.graphType,
      mode: run.run.mode,
      ...(asked.nodes === undefined ? {} : { nodes: asked.nodes }),
      ...(asked.tasks === undefined ? {} : { tasks: asked.tasks }),
      ...(input.subgraphs === undefined ? {} : { subgraphs: input.subgraphs }),
      ...(input.max_nodes === undefined ? {} : { max_nodes: input.max_nodes }),
      ...(earlier === undefined ? {} : { earlier }),
    },
    {
      surroundings: masterIp === undefined ? {} : { masterIp },
      ...(old === undefined ? {} : { old }),
      ...(deps.yaql === undefined ? {} : { engine: deps.yaql }),
    },
  );
  if (!planned.ok) {
    const errors = planned.problems.filter(({ severity }) => severity === 'error');
    if (planned.reason === 'no-graph')
      return {
        ok: false,
        failure: { kind: 'graph-not-found', type: child.graphType, message: errors[0]!.message },
      };
    const message = `graph '${child.graphType}' cannot be run: ${errors.length} ${errors.length === 1 ? 'problem' : 'problems'}`;
    return { ok: false, failure: { kind: 'plan-refused', message, problems: errors.slice(0, 50).map(problemText) } };
  }
  const cut = cutPlan(sources, planned);
  await keep(store, run, child, planned, cut, sources.cluster);
  return { ok: true, plan: cut.reference };
}

function problemText({ path, message, hint }: GraphProblem): string {
  const text = `${path === undefined ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
  return text.length > 1_000 ? `${text.slice(0, 999)}…` : text;
}

/** Everything a run and its readers need, in an order in which a death between any two is no harm. */
async function keep(
  store: Store,
  { run }: RunTransactions,
  child: TransactionRecord,
  planned: ClusterPlan,
  cut: CutPlan,
  cluster: { readonly id: number; readonly settings: unknown; readonly networks: unknown },
): Promise<void> {
  const explanation: StoredExplanation = {
    ...explainPlan(planned.plan, planned.input),
    left_out: planned.leftOut,
    warnings: planned.problems.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
  };
  const reference: StoredReference = { ...cut.reference, node_transitions: nodeTransitions(planned.metadata) };
  await store.plans.put({
    hash: cut.reference.hash,
    reference,
    parts: cut.parts,
    coordination: cut.coordination,
    orders: cut.orders,
    explanation: JSON.stringify(explanation),
  });
  await store.taskHistory.plan(child.id, plannedRows(planned, explanation));
  for (const of of [child.id, run.id]) {
    await store.transactions.putSnapshot(of, 'deployment_info', JSON.stringify(planned.input.state));
    await store.transactions.putSnapshot(of, 'cluster_settings', JSON.stringify(cluster.settings));
    await store.transactions.putSnapshot(of, 'network_configuration', JSON.stringify(cluster.networks));
  }
  await store.transactions.putSnapshot(
    child.id,
    'tasks',
    JSON.stringify(planned.plan.tasks.map(({ merged }) => merged.task)),
  );
  if (run.mode === 'apply') {
    await store.clusters.update(cluster.id, { primaries: planned.primaries, anyChoices: planned.anyChoices });
    await beginOnNodes(store, planned);
  }
  await store.transactions.update(child.id, {
    status: 'running',
    planHash: cut.reference.hash,
    timeStart: new Date().toISOString(),
  });
}

/** Nodes on which something will run forget their last failure, and show that they are worked on. */
async function beginOnNodes(store: Store, { graph, primaries }: ClusterPlan): Promise<void> {
  if (graph === null) return;
  const works = new Set(graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1).map((node) => graph.nodes[node]!));
  const ids = [...works].filter((uid) => /^\d+$/.test(uid)).map(Number);
  if (ids.length === 0) return;
  const primaryOf = new Map<number, string[]>();
  for (const [tag, node] of Object.entries(primaries)) primaryOf.set(node, [...(primaryOf.get(node) ?? []), tag]);
  await store.nodes.updateMany(
    ids.map((id) => ({ id, change: { progress: 1, errorMsg: null, primaryRoles: primaryOf.get(id) ?? [] } })),
  );
}

/** A row for every task on every node; what will not run is settled already, and says why. */
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

/** How the tasks of the same graph ended in an earlier run. */
async function earlierTasks(store: Store, from: number, type: string): Promise<Readonly<Record<string, EarlierTask>>> {
  const { graphs } = await store.transactions.getRun(from);
  const earlier = graphs.find(({ graphType }) => graphType === type);
  if (earlier === undefined) return {};
  const rows = await store.taskHistory.list(earlier.id);
  return Object.fromEntries(rows.map((row) => [taskKey(row.task, row.node), earlierTask(row)]));
}

/** A task that has work and was skipped without a try was left undone by a stop. */
function earlierTask({ status, attempts, custom }: TaskHistoryRow): EarlierTask {
  const planned = typeof custom === 'object' && custom !== null && 'skipped' in custom;
  return { status, ...(status === 'skipped' && attempts === 0 && !planned ? { undone: true } : {}) };
}
