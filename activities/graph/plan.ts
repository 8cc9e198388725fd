import { ApplicationFailure } from '@temporalio/activity';
import { documentsForRollouts } from '../../src/clusters/newest-documents.ts';
import { type PreparedRun, planReferenceOf, type StoredReference } from '../../src/clusters/planning/index.ts';
import { readClusterSources, readGraphLayers } from '../../src/clusters/read-sources.ts';
import type { ClusterSources } from '../../src/clusters/sources.ts';
import { applyRoleTags } from '../../src/clusters/tags/apply-role-tags.ts';
import { nodesBehindRoles } from '../../src/clusters/tags/role-tag-changes.ts';
import { type ClusterVersions, versionsOfCluster } from '../../src/clusters/versions.ts';
import { given } from '../../src/core/data/given.ts';
import type { GraphRequest, GraphRunInput, PlanReference } from '../../src/core/graph-run/index.ts';
import type { TaskOnNode } from '../../src/core/task-on-node.ts';
import type { TaskStatus } from '../../src/core/words.ts';
import type { GraphProblem } from '../../src/graph/index.ts';
import type { RunTransactions, Store, TransactionRecord } from '../../src/store/index.ts';
import { CHECK_GRAPH, type CheckGraphRequest, checkLayer, graphsOfChecks } from '../check/node-checks.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type {
  AskingGraph,
  GraphActivities,
  OpenChecks,
  OpenChecksAnswer,
  PlanGraph,
  PlanGraphAnswer,
} from '../graph-contract.ts';
import { withHeartbeats } from '../run/heartbeats.ts';
import { isLimited } from '../run/permits.ts';
import { graphOfRun, proveTransaction } from '../run/transactions.ts';
import type { SiteCache } from '../site/cache.ts';

/** Plans graphs with the current states and returns stored plans in chunks. Safe to repeat. */
export function planGraphActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<GraphActivities, 'plan_graph' | 'open_checks' | 'load_graph_part'> {
  return {
    plan_graph: (request) => withHeartbeats(deps, ({ signal }) => plan(deps, cache, request, signal)),
    open_checks: (request) => withHeartbeats(deps, ({ signal }) => openChecks(deps, cache, request, signal)),
    load_graph_part: ({ hash, part, chunk }) =>
      translated(async () => ({ text: await deps.store.plans.getChunk(hash, part, chunk) })),
  };
}

/** A workflow of its own has them, which continues as new: it has room for all. */
const ROOM_TO_ASK = Number.MAX_SAFE_INTEGER;

async function openChecks(
  deps: ActivityDependencies,
  cache: SiteCache,
  { transaction, turn, checks }: OpenChecks,
  signal: AbortSignal | undefined,
): Promise<OpenChecksAnswer> {
  const { store } = deps;
  const { run } = await store.transactions.getRun(transaction);
  await proveTransaction(deps, run);
  if (run.clusterId === null) return { ok: false, why: 'the cluster of the run was deleted' };
  const requested = await graphsOfChecks(store, cache, checks, run.clusterId);
  if (!requested.ok) return { ok: false, why: requested.failure.message };
  const graphs = requested.graphs.map((graph) => ({ graphType: graph.type, input: { ...graph, checks } }));
  const planned: AskingGraph[] = [];
  for (const { id, graphType } of await store.transactions.addAsking(transaction, turn, graphs)) {
    const answer = await plan(deps, cache, { transaction, graph: id, room: ROOM_TO_ASK }, signal);
    if (!answer.ok) return { ok: false, why: answer.failure.message };
    planned.push({ transaction: id, type: graphType!, plan: answer.plan });
  }
  return { ok: true, graphs: planned };
}

async function plan(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: PlanGraph,
  signal: AbortSignal | undefined,
): Promise<PlanGraphAnswer> {
  const { store } = deps;
  const { child, ...run } = await graphOfRun(store, request);
  if (child.graphType === null || run.run.clusterId === null)
    throw ApplicationFailure.nonRetryable(`the cluster of run ${request.transaction} was deleted`, 'NoSuchGraph');
  await proveTransaction(deps, run.run);
  // A plan is the same whatever limits and checks the documents have when it is run.
  const { clusterId } = run.run;
  const stored = await readClusterSources(store, clusterId);
  const input = (run.run.input ?? {}) as Partial<GraphRunInput>;
  const { checks, racks } = await documentsForRollouts(cache.find, stored, input.rollouts);
  const inForce = async (plan: PlanReference): Promise<PlanReference> => ({
    ...plan,
    ...(plan.mode === 'apply' && (await isLimited(store, cache, clusterId)) && { limits: true as const }),
    ...given({ checks }),
  });
  // The hash is written last: if it exists, everything else does.
  if (child.planHash !== null) {
    const reference = (await store.plans.getReference(child.planHash)) as unknown as StoredReference;
    return { ok: true, plan: await inForce(planReferenceOf(reference)) };
  }
  const asked = (child.input ?? {}) as Partial<GraphRequest & Pick<GraphRunInput, 'checks'>>;
  const asks = asked.checks ?? input.checks;
  const versions = await versionsOfCluster(store, run.run.clusterId);
  const sources = (await deps.allocateTags?.(stored)) ?? stored;
  if ('refused' in sources)
    return { ok: false, failure: { kind: 'plan-refused', message: sources.refused, problems: [] } };
  const layers =
    asks !== undefined && child.graphType === CHECK_GRAPH
      ? [await checkLayer(deps, cache, asks, clusterId, (asked as CheckGraphRequest).asked, signal)]
      : await readGraphLayers(store, sources, child.graphType);
  const done = input.from === undefined ? undefined : await tasksDone(store, input.from, child.graphType);
  const { master_ip: masterIp, prefix, master_allowed: masterAllowed } = deps.settings;
  const planned = await deps.planner.plan(
    'run',
    {
      sources,
      layers,
      request: {
        type: child.graphType,
        mode: child.mode,
        force: child.force,
        ...given({
          nodes: asked.nodes,
          tasks: asked.tasks,
          missed: asked.missed,
          subgraphs: input.subgraphs,
          max_nodes: input.max_nodes,
          rollouts: input.rollouts,
          done,
        }),
      },
      ...(child.force && !asked.missed ? {} : { states: await store.taskStates.read(sources.cluster.id) }),
      surroundings: given({ masterIp }),
      ...given({ checks: checks?.checks, racks, prefix, masterAllowed }),
      capacity: request.room,
    },
    signal,
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
  // Planning takes a while: a run that was stopped meanwhile does not wait for it.
  signal?.throwIfAborted();
  await proveTransaction(deps, run.run);
  await storePlan(store, run, child, planned.value, sources, versions);
  return { ok: true, plan: await inForce(planReferenceOf(planned.value.reference)) };
}

function problemText({ path, message, hint }: GraphProblem): string {
  const text = `${path === undefined ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
  return text.length > 1_000 ? `${text.slice(0, 999)}…` : text;
}

/** Stores everything a run and its readers need, in an order that is safe if the process dies between two steps. */
async function storePlan(
  store: Store,
  { run, graphs }: RunTransactions,
  child: TransactionRecord,
  prepared: PreparedRun,
  sources: ClusterSources,
  versions: ClusterVersions,
): Promise<void> {
  const { cluster } = sources;
  const { hash } = prepared.reference;
  await store.plans.put({ ...prepared, hash });
  await store.taskHistory.plan(child.id, prepared.rows);
  const isOfRun = graphs.some(({ id }) => id === child.id);
  for (const transaction of isOfRun ? [child.id, run.id] : [child.id]) {
    await store.transactions.putSnapshot(transaction, 'deployment_info', prepared.state);
    await store.transactions.putSnapshot(transaction, 'cluster_settings', JSON.stringify(cluster.settings));
    await store.transactions.putSnapshot(transaction, 'network_configuration', JSON.stringify(cluster.networks));
  }
  await store.transactions.putSnapshot(child.id, 'tasks', prepared.tasks);
  await store.transactions.putSnapshot(child.id, 'task_digests', prepared.digests);
  await store.transactions.putSnapshot(child.id, 'versions', JSON.stringify(versions));
  if (child.mode === 'apply') {
    await applyRoleTags(store, cluster.id, nodesBehindRoles(sources));
    await store.clusters.update(cluster.id, { primaries: prepared.primaries, anyChoices: prepared.anyChoices });
    await markNodesStarted(store, prepared);
  }
  await store.transactions.update(child.id, {
    status: 'running',
    planHash: hash,
    timeStart: new Date().toISOString(),
  });
}

/** Clears the last failure of the nodes on which tasks will run, and shows that work is in progress. */
async function markNodesStarted(store: Store, { worksOn, primaries }: PreparedRun): Promise<void> {
  if (worksOn.length === 0) return;
  const primaryOf = new Map<number, string[]>();
  for (const [tag, node] of Object.entries(primaries)) primaryOf.set(node, [...(primaryOf.get(node) ?? []), tag]);
  await store.nodes.updateMany(
    worksOn.map((id) => ({ id, change: { progress: 1, errorMsg: null, primaryRoles: primaryOf.get(id) ?? [] } })),
  );
}

/** Ignored errors and operators' skips, too: the earlier run continued after them. */
const DONE: readonly TaskStatus[] = ['success', 'ignored', 'skipped'];

/** Tasks of the same graph that an earlier run has done. */
async function tasksDone(store: Store, from: number, type: string): Promise<readonly TaskOnNode[]> {
  const { graphs } = await store.transactions.getRun(from);
  const earlier = graphs.find(({ graphType }) => graphType === type);
  if (earlier === undefined) return [];
  const rows = await store.taskHistory.list(earlier.id);
  return rows.flatMap(({ task, node, status }) => (DONE.includes(status) ? [{ task, node }] : []));
}
