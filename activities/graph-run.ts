import { clusterStatusAfter } from '../src/clusters/cluster-status.ts';
import type { GraphRunInput, PlanningFailure } from '../src/core/graph-run/index.ts';
import { describedRun } from '../src/core/run/description.ts';
import {
  type ClaimHolder,
  type ClusterRecord,
  closeGoneRuns,
  closeRun,
  endIfGone,
  MAX_OPEN,
  type RunRecord,
  type RunTransactions,
  reopenRun,
  type Store,
  StoreError,
  type TransactionRecord,
} from '../src/store/index.ts';
import { CLOSING } from './bookkeeping.ts';
import type { OpenedWithin } from './contract.ts';
import { type ActivityDependencies, type ActivitySettings, openedWithin } from './dependencies.ts';
import { translated } from './failures.ts';
import { closeClaim, isOpenBy, openClaim } from './fencing.ts';
import type { CloseGraphRun, GraphActivities, OpenGraphRun, OpenGraphRunAnswer } from './graph-contract.ts';
import { requestedGraphs } from './requested-graphs.ts';

const OFFLINE_WAIT_SECONDS = 120;

/** Saves a busy part two of three timers. Rows still appear within half a minute. */
const BUSY_SLACK_SECONDS = 15;

/** Claims a cluster for a run, writes the run's transactions and closes them. Safe to repeat. */
export function graphRunActivities(
  deps: ActivityDependencies,
): Pick<GraphActivities, 'open_graph_run' | 'close_graph_run'> {
  return {
    open_graph_run: (request) => translated(async () => ({ ...(await open(deps, request)), ...openedWithin(deps) })),
    close_graph_run: (request) => translated(() => close(deps, request)),
  };
}

/** The answer but for the settings of the installation. */
type OpenedAlone<Answer = OpenGraphRunAnswer> = Answer extends unknown ? Omit<Answer, keyof OpenedWithin> : never;

type Opened<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: PlanningFailure };

async function open(deps: ActivityDependencies, request: OpenGraphRun): Promise<OpenedAlone> {
  const { store } = deps;
  const { input } = request;
  const holder: ClaimHolder = { workflowId: request.workflow_id, runId: request.run_id };
  let cluster: ClusterRecord;
  try {
    cluster = await store.clusters.brief(input.cluster);
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
    const message = `there is no cluster ${input.cluster}`;
    await recordRefused(store, request, message);
    return { ok: false, failure: { kind: 'cluster-not-found', cluster: input.cluster, message } };
  }
  const subject = { cluster: cluster.id };
  const other = await openClaim(deps, subject, holder);
  if (other !== null) {
    const message = `cluster ${cluster.id} (${cluster.name}) is in use by ${other.workflowId}`;
    await endPrepared(store, input, cluster, message);
    await recordRefused(store, request, message);
    return { ok: false, failure: { kind: 'cluster-busy', holder: other.workflowId, message } };
  }
  const opened = await transactionsOf(deps, request, cluster, holder);
  if (!opened.ok) {
    await endPrepared(store, input, cluster, opened.failure.message);
    await recordRefused(store, request, opened.failure.message);
    await store.claims.release(subject, holder);
    return opened;
  }
  const { run, graphs } = opened.value;
  await recordRun(store, request, cluster, opened.value);
  const ofCluster = { kind: 'execute_graph', labels: [['cluster', String(cluster.id)]] } as const;
  await closeGoneRuns(store, deps, (await store.runs.list({ ...ofCluster, open: true, limit: MAX_OPEN })).items);
  return {
    ok: true,
    transaction: run.id,
    execution: request.run_id,
    cluster: { id: cluster.id, name: cluster.name, site: cluster.site },
    graphs: graphs.map(({ id, graphType }) => ({ transaction: id, type: graphType! })),
    search_attributes: await deps.searchAttributes(),
    ...agentWaits(deps.settings),
    busy_slack_seconds: BUSY_SLACK_SECONDS,
  };
}

/**
 * A thousand agents that send heartbeats within the limit of a worker are most of the work of a Temporal server. So the limit of
 * agents is the time in which a run must detect an offline one. Nothing else waits for heartbeats: an agent that was killed
 * returns its attempt when it starts again, cancellations take the control queue, and so does the question that has an agent
 * find out that its attempt is obsolete.
 */
function agentWaits({ heartbeat_seconds, offline_wait_seconds = OFFLINE_WAIT_SECONDS }: ActivitySettings) {
  const agent_heartbeat_seconds = heartbeat_seconds + Math.min(OFFLINE_WAIT_SECONDS, offline_wait_seconds);
  return { heartbeat_seconds, agent_heartbeat_seconds, offline_wait_seconds };
}

/** The run's transactions: created by the API, by an earlier try of this call, or now. */
async function transactionsOf(
  deps: ActivityDependencies,
  request: OpenGraphRun,
  cluster: ClusterRecord,
  holder: ClaimHolder,
): Promise<Opened<RunTransactions>> {
  const { store } = deps;
  const { input } = request;
  if (input.transaction !== undefined) return await preparedRun(store, input.transaction, cluster, holder);
  const before = await store.transactions.findRun(holder.workflowId, holder.runId);
  if (before !== null) return { ok: true, value: before };
  if (input.from !== undefined) await endEarlierIfGone(deps, input.from, cluster);
  const requested = await requestedGraphs(store, input, cluster);
  if (!requested.ok) return requested;
  const graphs = requested.graphs.map((graph) => ({ graphType: graph.type, input: graph }));
  for (;;) {
    try {
      const value = await store.transactions.createRun({
        clusterId: cluster.id,
        graphs,
        input,
        workflowId: holder.workflowId,
        temporalRunId: holder.runId,
        timeStart: request.started_at,
        mode: input.mode ?? 'apply',
        force: input.force ?? false,
        debug: input.debug ?? false,
        ...(input.started_by === undefined ? {} : { startedBy: input.started_by }),
      });
      return { ok: true, value };
    } catch (error) {
      if (!(error instanceof StoreError) || error.failure.kind !== 'conflict') throw error;
      const { transaction } = error.failure;
      if (transaction === undefined) throw error;
      if (!(await endIfGone(store, isOpenBy(deps), transaction))) {
        return { ok: false, failure: await busyWith(store, transaction) };
      }
    }
  }
}

async function preparedRun(
  store: Store,
  id: number,
  cluster: ClusterRecord,
  holder: ClaimHolder,
): Promise<Opened<RunTransactions>> {
  const refuse = (message: string): Opened<never> => ({ ok: false, failure: { kind: 'not-continuable', message } });
  let given: RunTransactions;
  try {
    given = await store.transactions.getRun(id);
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
    return refuse(`there is no transaction ${id}`);
  }
  const { run } = given;
  if (run.clusterId !== cluster.id)
    return refuse(`transaction ${id} belongs to cluster ${run.clusterId}, not ${cluster.id}`);
  const ours = run.workflowId === holder.workflowId && run.temporalRunId === holder.runId;
  if (ours) return { ok: true, value: given };
  if (isEnded(run)) return refuse(`run ${run.id} has ended: it is ${run.status}`);
  await store.transactions.update(run.id, { workflowId: holder.workflowId, temporalRunId: holder.runId });
  return { ok: true, value: await store.transactions.getRun(id) };
}

/** Ends a transaction that was created only for this run: nothing else would end it. */
async function endPrepared(store: Store, input: GraphRunInput, cluster: ClusterRecord, message: string): Promise<void> {
  if (input.transaction === undefined) return;
  const [given] = await store.transactions.list({ ids: [input.transaction], clusterId: cluster.id });
  if (given === undefined || given.parentId !== null || given.temporalRunId !== null || isEnded(given)) return;
  await store.transactions.endRun(given.id, { status: 'error', message, childMessage: message });
}

const isEnded = ({ status }: TransactionRecord): boolean => status !== 'pending' && status !== 'running';

/** Ends an earlier run whose workflow was terminated: otherwise no run could continue from it. */
async function endEarlierIfGone(deps: ActivityDependencies, id: number, cluster: ClusterRecord) {
  const { store } = deps;
  const [earlier] = await store.transactions.list({ ids: [id], clusterId: cluster.id });
  if (earlier !== undefined) await endIfGone(store, isOpenBy(deps), earlier.id);
}

async function busyWith(store: Store, transaction: number): Promise<PlanningFailure> {
  const { id, workflowId, clusterId } = await store.transactions.get(transaction);
  const holder = workflowId ?? `transaction ${id}`;
  return { kind: 'cluster-busy', holder, message: `run ${id} of cluster ${clusterId} has not ended (${holder})` };
}

/** The run's row in the list of runs. */
const putRow = (
  store: Store,
  { input, workflow_id, run_id, started_at }: OpenGraphRun,
  more: Parameters<typeof describedRun>[1] & { readonly site?: string },
): Promise<RunRecord> => {
  const { site, ...described } = more;
  return store.runs.put({
    id: run_id,
    sequence: 0,
    workflowId: workflow_id,
    temporalRunId: run_id,
    kind: 'execute_graph',
    phase: 'starting',
    startedAt: started_at,
    ...describedRun(input, described),
    parameters: input,
    ...(site === undefined ? {} : { site }),
    ...startedBy(input),
    ...(input.reason === undefined ? {} : { reason: input.reason }),
  });
};

/** Adds a run that has its cluster to the list of runs and to the audit log. */
async function recordRun(
  store: Store,
  request: OpenGraphRun,
  cluster: ClusterRecord,
  { run, graphs }: RunTransactions,
): Promise<void> {
  const { input, run_id, started_at } = request;
  const row = await putRow(store, request, {
    title: `${graphs.map(({ graphType }) => graphType).join(', ')} on cluster ${cluster.name}`,
    labels: { cluster: String(cluster.id), transaction: String(run.id) },
    ...(cluster.site === null ? {} : { site: cluster.site }),
  });
  await reopenRun(store, row);
  await store.audit.append({
    id: `start-${run_id}`,
    at: started_at,
    actor: input.started_by ?? 'temporal',
    action: 'run.execute_graph',
    target: `cluster/${cluster.id}`,
    details: { transaction: run.id },
    ...(input.reason === undefined ? {} : { reason: input.reason }),
  });
}

/** Adds a run that did not get its cluster, closed, to the list of runs: it never comes to closing itself. */
async function recordRefused(store: Store, request: OpenGraphRun, reason: string): Promise<void> {
  const { cluster, transaction } = request.input;
  const [given] = transaction === undefined ? [] : await store.transactions.list({ ids: [transaction] });
  // Another run's transaction, given by mistake, is not ours to end.
  const own = given?.workflowId === request.workflow_id ? { transaction: String(given.id) } : {};
  const labels = { cluster: String(cluster), ...own };
  const row = await putRow(store, request, { labels });
  if (row.outcome === null) await closeRun(store, row, { outcome: 'failed', at: new Date(), reason });
}

const startedBy = ({ started_by }: GraphRunInput) => (started_by === undefined ? {} : { startedBy: started_by });

const RUN_STATUS = {
  success: 'ready',
  nothing_to_do: 'ready',
  failed: 'error',
  stopped: 'stopped',
  cancelled: 'stopped',
} as const;

async function close(deps: ActivityDependencies, request: CloseGraphRun): Promise<void> {
  const { store } = deps;
  const { transaction, outcome, reason, ended_at, workflow_id, run_id } = request;
  const holder: ClaimHolder = { workflowId: workflow_id, runId: run_id };
  const { run } = await store.transactions.getRun(transaction);
  if (run.clusterId !== null) await closeClaim(deps, { cluster: run.clusterId }, holder);
  await store.runs.putReport(run_id, CLOSING, request.report);
  const logged = { cluster: run.clusterId, run: run_id, transaction, outcome, report: request.report };
  deps.log?.(logged, `execute_graph of cluster ${run.clusterId} has ended`);
  await store.runs.put({
    id: run_id,
    sequence: CLOSING,
    workflowId: workflow_id,
    kind: 'execute_graph',
    startedAt: run.timeStart ?? ended_at,
    phase: 'finished',
    outcome,
    endedAt: ended_at,
    failedNodes: sumOf(request.report.graphs, ({ failing_nodes }) => failing_nodes),
    failedTasks: sumOf(request.report.graphs, ({ counts }) => counts.failed ?? 0),
    done: sumOf(request.report.graphs, ({ done }) => done),
    total: sumOf(request.report.graphs, ({ total }) => total),
    failure: reason ?? null,
  });
  if (run.clusterId !== null) await releaseCluster(store, run, run.clusterId, holder, outcome);
  // Last: once the run has ended, the next one may start and must find the cluster free.
  await store.transactions.endRun(transaction, {
    status: RUN_STATUS[outcome],
    timeEnd: ended_at,
    ...(reason === undefined ? {} : { message: reason }),
  });
  await pruneOldPlans(store, ended_at);
}

const sumOf = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

/** Plans are kept while a transaction refers to them, and for this long after they were last created. */
const PLAN_KEPT_MS = 30 * 24 * 60 * 60_000;

/** A failure here must not fail the run: the next run prunes again. */
async function pruneOldPlans(store: Store, now: string): Promise<void> {
  try {
    await store.plans.prune(new Date(Date.parse(now) - PLAN_KEPT_MS).toISOString());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

/** Does nothing unless this run holds the claim: a repeated call may arrive when the next run has it. */
async function releaseCluster(
  store: Store,
  run: TransactionRecord,
  clusterId: number,
  holder: ClaimHolder,
  outcome: CloseGraphRun['outcome'],
): Promise<void> {
  const subject = { cluster: clusterId };
  const held = await store.claims.holder(subject);
  if (held === null || held.workflowId !== holder.workflowId || held.runId !== holder.runId) return;
  if (run.mode === 'apply') {
    const nodes = await store.nodes.list({ clusterId });
    await store.clusters.update(clusterId, { status: clusterStatusAfter(nodes, outcome) });
  }
  await store.claims.release(subject, holder);
}
