import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { findingsForRun } from '../src/clusters/checks/run-findings.ts';
import { clusterStatusAfter } from '../src/clusters/cluster-status.ts';
import { readClusterSources } from '../src/clusters/read-sources.ts';
import { requestedGraphs } from '../src/clusters/requested-graphs.ts';
import { given } from '../src/core/data/given.ts';
import { type PlanningFailure, titleOfGraphRun } from '../src/core/graph-run/index.ts';
import { type Diagnostic, isError } from '../src/core/problems/diagnostic.ts';
import { requestRefused } from '../src/core/run/index.ts';
import { closeGoneRuns, endGoneTransactions, MAX_OPEN } from '../src/runs/gone-holders.ts';
import { wholeGraphReport } from '../src/runs/graph-report.ts';
import {
  type ClaimHolder,
  type ClusterRecord,
  type RunTransactions,
  type Store,
  StoreError,
} from '../src/store/index.ts';
import type { OpenedWithin } from './contract.ts';
import { type ActivityDependencies, type ActivitySettings, isAwaited, openedWithin } from './dependencies.ts';
import { translated } from './failures.ts';
import { assertOwn, closeClaim, endRun, isOpenBy, knownRun, openClaim } from './fencing.ts';
import type { CloseGraphRun, GraphActivities, OpenGraphRun, OpenGraphRunAnswer } from './graph-contract.ts';
import { believedReport } from './recorded-names.ts';
import { withCanceller } from './run-ending.ts';
import { auditStart, listOpened, listRefused, type OpenedRunRow, starterOf } from './run-rows.ts';

const OFFLINE_WAIT_SECONDS = 120;

/** Saves a busy part two of three timers. Rows still appear within half a minute. */
const BUSY_SLACK_SECONDS = 15;

/** Claims a cluster for a run, writes the run's transactions and closes them. Safe to repeat. */
export function graphRunActivities(
  deps: ActivityDependencies,
): Pick<GraphActivities, 'open_graph_run' | 'close_graph_run' | 'find_tried'> {
  return {
    find_tried: () =>
      translated(async () => {
        const { workflowId, runId } = activityInfo().workflowExecution!;
        return { activities: await deps.tried(workflowId, runId) };
      }),

    open_graph_run: (request) => translated(async () => ({ ...(await open(deps, request)), ...openedWithin(deps) })),
    close_graph_run: (request) => translated(() => close(deps, request)),
  };
}

/** The answer but for the settings of the installation. */
type OpenedAlone<Answer = OpenGraphRunAnswer> = Answer extends unknown ? Omit<Answer, keyof OpenedWithin> : never;

async function open(deps: ActivityDependencies, request: OpenGraphRun): Promise<OpenedAlone> {
  const { store } = deps;
  const { input, run_id } = request;
  const holder: ClaimHolder = { workflowId: request.workflow_id, runId: run_id };
  await assertOwn(deps, { cluster: input.cluster }, holder);
  const starter = await starterOf(deps, holder, input.started_by, request.start);
  const { started_by } = starter;
  const refuse = async (failure: PlanningFailure) => {
    if (!isAwaited(request)) {
      const row = rowOf(request, {
        ...starter,
        described: { labels: { cluster: String(input.cluster) } },
      });
      await listRefused(store, row, failure.message);
    }
    return { ok: false, failure, ...given({ started_by }) } as const;
  };
  let cluster: ClusterRecord;
  try {
    cluster = await store.clusters.brief(input.cluster);
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
    const message = `there is no cluster ${input.cluster}`;
    return refuse({ kind: 'cluster-not-found', cluster: input.cluster, message });
  }
  const subject = { cluster: cluster.id };
  const other = await openClaim(deps, subject, holder);
  if (other !== null) return refuse(await busyWith(store, cluster, other));
  const opened = await transactionsOf(deps, request, cluster, holder, started_by);
  if (!opened.ok) {
    await store.claims.release(subject, holder);
    return refuse(opened.failure);
  }
  const { run, graphs } = opened.transactions;
  await recordRun(store, request, cluster, opened.transactions, starter);
  return {
    ok: true,
    transaction: run.id,
    execution: run_id,
    cluster: { id: cluster.id, name: cluster.name, site: cluster.site },
    graphs: graphs.map(({ id, graphType }) => ({ transaction: id, type: graphType! })),
    warnings: opened.warnings,
    ...given({ started_by }),
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

type Opened =
  | { readonly ok: true; readonly transactions: RunTransactions; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly failure: PlanningFailure };

/** The run's transactions: those of an earlier try of this call, or new ones. */
async function transactionsOf(
  deps: ActivityDependencies,
  request: OpenGraphRun,
  cluster: ClusterRecord,
  { workflowId, runId }: ClaimHolder,
  startedBy: string | undefined,
): Promise<Opened> {
  const { store } = deps;
  const { input } = request;
  const before = await store.transactions.findRun(workflowId, runId);
  if (before !== null) return { ok: true, transactions: before, warnings: [] };
  await endAbandoned(deps, cluster);
  const stored = await readClusterSources(store, cluster.id);
  const sources = (await deps.allocateTags?.(stored)) ?? stored;
  if ('refused' in sources)
    return { ok: false, failure: { kind: 'plan-refused', message: sources.refused, problems: [] } };
  const requested = await requestedGraphs(store, input, sources, deps.settings.master_allowed ?? false);
  if (!requested.ok) return requested;
  const findings = findingsForRun(sources, requested.graphs);
  const errors = findings.filter(isError);
  if (errors.length > 0 && !(input.force ?? false)) return { ok: false, failure: unfit(cluster, errors) };
  const transactions = await store.transactions.createRun({
    clusterId: cluster.id,
    graphs: requested.graphs.map((graph) => ({ graphType: graph.type, input: graph })),
    input,
    workflowId,
    temporalRunId: runId,
    timeStart: request.started_at,
    mode: input.mode ?? 'apply',
    force: input.force ?? false,
    debug: input.debug ?? false,
    ...given({ startedBy }),
  });
  return { ok: true, transactions, warnings: findings.slice(0, MAX_WARNINGS) };
}

const MAX_WARNINGS = 50;

function unfit({ id }: ClusterRecord, errors: readonly Diagnostic[]): PlanningFailure {
  const refused = requestRefused('invalid', errors);
  return {
    ...refused,
    message: errors.map(({ message }) => message).join(' '),
    hint: `${refused.hint} GET /api/v1/clusters/${id}/checks shows all findings; add --force (API: force) to run anyway.`,
  };
}

/** This run has the claim, so runs of the cluster whose records are open have ended without closing them, or do so now. */
async function endAbandoned(deps: ActivityDependencies, { id }: ClusterRecord): Promise<void> {
  const { store } = deps;
  const ofCluster = { kind: 'execute_graph', labels: [['cluster', String(id)]] } as const;
  await closeGoneRuns(store, deps, (await store.runs.list({ ...ofCluster, open: true, limit: MAX_OPEN })).items);
  await endGoneTransactions(store, isOpenBy(deps), id);
}

async function busyWith(store: Store, cluster: ClusterRecord, holder: ClaimHolder): Promise<PlanningFailure> {
  const run = await store.runs.get(holder.runId).catch(() => null);
  const by = run?.startedBy == null ? '' : ` by ${run.startedBy}`;
  const since = run === null ? '' : ` since ${run.startedAt}`;
  return {
    kind: 'cluster-busy',
    holder: holder.workflowId,
    run_id: holder.runId,
    message: `cluster ${cluster.id} (${cluster.name}) is in use by ${run?.number == null ? '' : `run ${run.number}, `}${holder.workflowId}, started${by}${since}`,
  };
}

const rowOf = (
  { input, workflow_id, run_id, started_at }: OpenGraphRun,
  more: Pick<OpenedRunRow, 'described' | 'site' | 'number' | 'started_by' | 'entry'>,
): OpenedRunRow => ({
  ...{ kind: 'execute_graph', workflow_id, run_id, started_at, parameters: input },
  ...given({ reason: input.reason }),
  ...more,
});

/** Of the nodes that a run is limited to. */
async function namesOfNodes(store: Store, { graphs }: OpenGraphRun['input']): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set((graphs ?? []).flatMap(({ nodes }) => nodes ?? []))];
  const nodes = ids.length === 0 ? [] : await store.nodes.list({ ids });
  return new Map(nodes.map(({ id, name }) => [id, name ?? String(id)]));
}

/** Adds a run that has its cluster to the list of runs and to the audit log. */
async function recordRun(
  store: Store,
  request: OpenGraphRun,
  cluster: ClusterRecord,
  { run, graphs }: RunTransactions,
  starter: Pick<OpenedRunRow, 'started_by' | 'entry'>,
): Promise<void> {
  const names = await namesOfNodes(store, request.input);
  const row = rowOf(request, {
    ...starter,
    described: {
      title: titleOfGraphRun(request.input, cluster.name, {
        types: graphs.flatMap(({ graphType }) => graphType ?? []),
        nameOf: (node) => names.get(node) ?? String(node),
      }),
      labels: { cluster: String(cluster.id) },
    },
    number: run.id,
    ...(cluster.site === null ? {} : { site: cluster.site }),
  });
  await listOpened(store, row);
  await auditStart(store, row, `cluster/${cluster.id}`, {
    transaction: run.id,
    graphs: graphs.map(({ graphType }) => graphType),
    mode: run.mode,
  });
}

async function close(deps: ActivityDependencies, request: CloseGraphRun): Promise<void> {
  const { store } = deps;
  const { transaction, outcome, reason, ended_at, workflow_id, run_id, report } = request;
  const holder: ClaimHolder = { workflowId: workflow_id, runId: run_id };
  const { run } = await knownRun(deps, { cluster: report.cluster }, holder, store.transactions.getRun(transaction));
  if (run.temporalRunId !== run_id)
    throw ApplicationFailure.nonRetryable(`transaction ${transaction} is not of run ${run_id}`, 'NoSuchGraph');
  const subject = { cluster: run.clusterId! };
  const generation = await closeClaim(deps, subject, holder, ended_at);
  if (generation !== null) {
    const named = await believedReport(store, run_id, report, true);
    const known = { ...named, operator: await withCanceller(store, run_id, named.operator) };
    const full = await wholeGraphReport(store, known);
    const ended = { cluster: run.clusterId, run: run_id, transaction, outcome, ...given({ reason }) };
    deps.log?.(ended, `execute_graph of cluster ${run.clusterId} has ended`);
    const row = {
      id: run_id,
      workflowId: workflow_id,
      kind: 'execute_graph',
      startedAt: run.timeStart ?? ended_at,
      phase: 'finished',
      outcome,
      endedAt: ended_at,
      failedNodes: sumOf(report.graphs, ({ failing_nodes }) => failing_nodes),
      failedTasks: sumOf(report.graphs, ({ counts }) => counts.failed ?? 0),
      done: sumOf(report.graphs, ({ done }) => done),
      total: sumOf(report.graphs, ({ total }) => total),
      failure: reason ?? null,
    } as const;
    // Together: of a run that is terminated in between, no one would end the transaction as it ended.
    await store.atomically(async (within) => {
      await endRun(within, subject, generation, row, full);
      await within.transactions.endRun(transaction, {
        status: outcome,
        timeEnd: ended_at,
        ...given({ message: reason }),
      });
      if (run.mode !== 'apply') return;
      const nodes = await within.nodes.list({ clusterId: subject.cluster });
      await within.clusters.update(subject.cluster, { status: clusterStatusAfter(nodes, outcome) });
    });
  }
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
