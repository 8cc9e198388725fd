import { ApplicationFailure } from '@temporalio/activity';
import { type DocumentsForRollouts, documentsForRollouts } from '../../src/clusters/newest-documents.ts';
import {
  type PlanningWork,
  type PreparedPiece,
  type PreparedRun,
  planReferenceOf,
  type StoredReference,
} from '../../src/clusters/planning/index.ts';
import { readClusterSources, readGraphLayers } from '../../src/clusters/read-sources.ts';
import { applyRoleTags } from '../../src/clusters/tags/apply-role-tags.ts';
import { nodesBehindRoles } from '../../src/clusters/tags/role-tag-changes.ts';
import { versionsOfCluster } from '../../src/clusters/versions.ts';
import { given } from '../../src/core/data/given.ts';
import type { GraphRequest, GraphRunInput } from '../../src/core/graph-run/input.ts';
import type { TaskOnNode } from '../../src/core/task-on-node.ts';
import type { TaskStatus } from '../../src/core/words.ts';
import type { GraphProblem } from '../../src/graph/index.ts';
import type { Store, TransactionRecord } from '../../src/store/index.ts';
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
  const { child, run, graphs } = await graphOfRun(store, request);
  const { graphType: type } = child;
  const { clusterId } = run;
  if (type === null || clusterId === null)
    throw ApplicationFailure.nonRetryable(`the cluster of run ${request.transaction} was deleted`, 'NoSuchGraph');
  await proveTransaction(deps, run);
  // A plan is the same whatever limits and checks the documents have when it is run.
  const inForce = async (
    reference: StoredReference,
    checks: DocumentsForRollouts['checks'],
  ): Promise<PlanGraphAnswer> => {
    const plan = planReferenceOf(reference);
    const isUnderLimits = plan.mode === 'apply' && (await isLimited(store, cache, clusterId));
    return { ok: true, plan: { ...plan, ...(isUnderLimits && { limits: true as const }), ...given({ checks }) } };
  };
  const { rollouts } = (run.input ?? {}) as Partial<GraphRunInput>;
  // The hash is written last: if it exists, everything else does.
  if (child.planHash !== null) {
    const { checks } = await documentsForRollouts(cache.find, await readClusterSources(store, clusterId), rollouts);
    return inForce((await store.plans.getReference(child.planHash)) as unknown as StoredReference, checks);
  }
  /** Else it asks checks, beside those that the run was started for. */
  const isOfRun = graphs.some(({ id }) => id === child.id);
  let storage: PlanStorage | undefined;
  let checks: DocumentsForRollouts['checks'];
  const receiver = (behind: BehindPlan) => async (piece: PreparedPiece) => {
    // Planning takes a while: a run that was stopped meanwhile does not wait for it.
    signal?.throwIfAborted();
    if (!('reference' in piece)) return storage!.add(piece);
    await proveTransaction(deps, run);
    storage = await storePlan(store, { run, child, isOfRun, behind }, piece);
  };
  // No variable keeps the data of the cluster while a thread plans with its copy: it may have hundreds of megabytes.
  const of = { run, child, clusterId, type, room: request.room };
  const planned = await planningWork(deps, cache, of, signal).then(async (read) => {
    if (!('work' in read)) return read;
    ({ checks } = read);
    return deps.planner.plan('run', read.work, signal, receiver(read.behind));
  });
  const refused = (message: string, problems: readonly string[] = []): PlanGraphAnswer => ({
    ok: false,
    failure: { kind: 'plan-refused', message, problems },
  });
  if ('refused' in planned) return refused(planned.refused);
  if (!planned.ok) {
    const errors = planned.problems.filter(({ severity }) => severity === 'error');
    if (planned.reason === 'no-graph')
      return { ok: false, failure: { kind: 'graph-not-found', type, message: errors[0]!.message } };
    const message = `graph '${type}' cannot be run: ${errors.length} ${errors.length === 1 ? 'problem' : 'problems'}`;
    return refused(message, errors.slice(0, 50).map(problemText));
  }
  signal?.throwIfAborted();
  await proveTransaction(deps, run);
  await storage!.end();
  return inForce(planned.value, checks);
}

interface Planned {
  readonly run: TransactionRecord;
  readonly child: TransactionRecord;
  readonly clusterId: number;
  readonly type: string;
  readonly room: number | undefined;
}

/** What is stored beside a plan: the cluster as it was. */
interface BehindPlan {
  readonly cluster: number;
  /** JSON texts. */
  readonly settings: string;
  readonly networks: string;
  readonly versions: string;
  readonly nodesBehindRoles: Parameters<typeof applyRoleTags>[2];
}

/** Reads everything that determines the plan. */
async function planningWork(
  deps: ActivityDependencies,
  cache: SiteCache,
  { run, child, clusterId, type, room }: Planned,
  signal: AbortSignal | undefined,
) {
  const { store } = deps;
  const stored = await readClusterSources(store, clusterId);
  const input = (run.input ?? {}) as Partial<GraphRunInput>;
  const { checks, racks } = await documentsForRollouts(cache.find, stored, input.rollouts);
  const asked = (child.input ?? {}) as Partial<GraphRequest & Pick<GraphRunInput, 'checks'>>;
  const asks = asked.checks ?? input.checks;
  const versions = await versionsOfCluster(store, clusterId);
  const sources = (await deps.allocateTags?.(stored)) ?? stored;
  if ('refused' in sources) return sources;
  const layers =
    asks !== undefined && child.graphType === CHECK_GRAPH
      ? [await checkLayer(deps, cache, asks, clusterId, (asked as CheckGraphRequest).asked, signal)]
      : await readGraphLayers(store, sources, type);
  const done = input.from === undefined ? undefined : await tasksDone(store, input.from, type);
  const { nodes, tasks, missed } = asked;
  const { subgraphs, max_nodes, rollouts } = input;
  const { mode, force } = child;
  const { master_ip: masterIp, prefix, master_allowed: masterAllowed } = deps.settings;
  const work: PlanningWork = {
    sources,
    layers,
    request: { type, mode, force, ...given({ nodes, tasks, missed, subgraphs, max_nodes, rollouts, done }) },
    ...(force && !missed ? {} : { states: await store.taskStates.read(sources.cluster.id) }),
    surroundings: given({ masterIp }),
    ...given({ checks: checks?.checks, racks, prefix, masterAllowed, capacity: room }),
  };
  const behind: BehindPlan = {
    cluster: sources.cluster.id,
    settings: JSON.stringify(sources.cluster.settings),
    networks: JSON.stringify(sources.cluster.networks),
    versions: JSON.stringify(versions),
    nodesBehindRoles: nodesBehindRoles(sources),
  };
  return { work, behind, checks };
}

function problemText({ path, message, hint }: GraphProblem): string {
  const text = `${path === undefined ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
  return text.length > 1_000 ? `${text.slice(0, 999)}…` : text;
}

interface PlanStorage {
  add(piece: Exclude<PreparedPiece, PreparedRun>): Promise<void>;
  end(): Promise<void>;
}

/** Stores everything a run and its readers need, in an order that is safe if the process dies between two steps. */
async function storePlan(
  store: Store,
  {
    run,
    child,
    isOfRun,
    behind,
  }: Pick<Planned, 'run' | 'child'> & { readonly isOfRun: boolean; readonly behind: BehindPlan },
  prepared: PreparedRun,
): Promise<PlanStorage> {
  const { hash } = prepared.reference;
  const both = isOfRun ? [child.id, run.id] : [child.id];
  const plan = await store.plans.write({ ...prepared, hash });
  const state = await store.transactions.writeSnapshot(both, 'deployment_info');
  return {
    add: async (piece) => {
      if ('state' in piece) return state.add(piece.state);
      await plan.add(piece);
      await store.taskHistory.plan(child.id, piece.rows);
    },
    end: async () => {
      await plan.end();
      await state.end();
      await store.transactions.putSnapshot(both, 'cluster_settings', behind.settings);
      await store.transactions.putSnapshot(both, 'network_configuration', behind.networks);
      await store.transactions.putSnapshot(child.id, 'tasks', prepared.tasks);
      await store.transactions.putSnapshot(child.id, 'task_digests', prepared.digests);
      await store.transactions.putSnapshot(child.id, 'versions', behind.versions);
      if (child.mode === 'apply') {
        const { primaries, anyChoices } = prepared;
        await applyRoleTags(store, behind.cluster, behind.nodesBehindRoles);
        await store.clusters.change(behind.cluster, { primaries, anyChoices });
        await markNodesStarted(store, prepared);
      }
      await store.transactions.update(child.id, {
        status: 'running',
        planHash: hash,
        timeStart: new Date().toISOString(),
      });
    },
  };
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
