import { activityInfo } from '@temporalio/activity';
import { findingsForRun } from '../../src/clusters/checks/run-findings.ts';
import { clusterStatusAfter } from '../../src/clusters/node-transitions.ts';
import { readClusterSources } from '../../src/clusters/read-sources.ts';
import { requestedGraphs } from '../../src/clusters/requested-graphs.ts';
import type { GraphRunReport } from '../../src/core/contracts/graph-run.ts';
import { given } from '../../src/core/data/given.ts';
import type { PlanningFailure } from '../../src/core/graph-run/failure.ts';
import { modeOf } from '../../src/core/graph-run/input.ts';
import { recordsLost } from '../../src/core/graph-run/report.ts';
import { doneOf } from '../../src/core/graph-run/task-counts.ts';
import { titleOfGraphRun } from '../../src/core/graph-run/title.ts';
import { type Diagnostic, isError } from '../../src/core/problems/diagnostic.ts';
import { requestRefused } from '../../src/core/run/failure.ts';
import type { SiteRunInput } from '../../src/core/site-run/input.ts';
import { GRAPH_RUN_KIND } from '../../src/core/words.ts';
import { resultsOfRun } from '../../src/runs/check-results.ts';
import { closeClaim, knownRun } from '../../src/runs/claims.ts';
import { wholeGraphReport } from '../../src/runs/graph-report.ts';
import { closeRecord, type OpenedRun, openGraphRecord } from '../../src/runs/life.ts';
import { type Checked, openRun, starterOf } from '../../src/runs/open-run.ts';
import {
  type ClaimHolder,
  type ClusterRecord,
  type NewRun,
  type RunTransactions,
  type Store,
  StoreError,
  type TransactionRecord,
  unlessNotFound,
} from '../../src/store/index.ts';
import { graphsOfCheckRun } from '../check/node-checks.ts';
import type { OpenedAlone } from '../contract.ts';
import { type ActivityDependencies, type ActivitySettings, isAwaited, openedWithin } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { CloseGraphRun, GraphActivities, OpenGraphRun, OpenGraphRunAnswer } from '../graph-contract.ts';
import { withCanceller } from '../run/ending.ts';
import { ownExecution } from '../run/fencing.ts';
import { believedReport } from '../run/recorded-names.ts';
import { transactionsOf } from '../run/transactions.ts';
import type { SiteCache } from '../site/cache.ts';

const OFFLINE_WAIT_SECONDS = 120;

/** Saves a busy part two of three timers. Rows still appear within half a minute. */
const BUSY_SLACK_SECONDS = 15;

/** Claims a cluster for a run, writes the run's transactions and closes them. Safe to repeat. */
export function graphRunActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<GraphActivities, 'open_graph_run' | 'close_graph_run' | 'find_tried'> {
  return {
    find_tried: () =>
      translated(async () => {
        const { workflowId, runId } = activityInfo().workflowExecution!;
        return { activities: await deps.tried(workflowId, runId) };
      }),

    open_graph_run: (request) =>
      translated(async () => ({ ...(await open(deps, cache, request)), ...openedWithin(deps) })),
    close_graph_run: (request) => translated(() => close(deps, request)),
  };
}

async function open(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: OpenGraphRun,
): Promise<OpenedAlone<OpenGraphRunAnswer>> {
  const { store, searchAttributes, settings } = deps;
  const { input, run_id, workflow_id, started_at, start } = request;
  const clusterOf = () => store.clusters.brief(input.cluster);
  const opened = await openRun<PlanningFailure, MadeRun>(deps, ownExecution(), {
    subject: { cluster: input.cluster },
    run: {
      ...{ kind: GRAPH_RUN_KIND, workflow_id, run_id, started_at, parameters: input },
      ...given({ started_by: input.started_by, reason: input.reason }),
      described: { labels: { cluster: String(input.cluster) } },
    },
    start,
    isAwaited: isAwaited(request),
    absent: { kind: 'cluster-not-found', cluster: input.cluster, message: `there is no cluster ${input.cluster}` },
    busy: async (holder) => busyWith(store, await clusterOf(), holder),
    check: async () => (await overrideRefused(deps, request)) ?? checked(deps, cache, request, await clusterOf()),
    details: ({ run, graphs }) => ({
      transaction: run.id,
      graphs: graphs.map(({ graphType }) => graphType),
      mode: run.mode,
      ...given({ override_limits: input.override_limits }),
    }),
    explain: ({ message }) => message,
  });
  if (!opened.ok) return opened;
  const { made, ...answer } = opened;
  const { cluster, run, graphs, warnings } = made;
  return {
    ...answer,
    transaction: run.id,
    execution: run_id,
    cluster: { id: cluster.id, name: cluster.name, site: cluster.site },
    graphs: graphs.map(({ id, graphType }) => ({ transaction: id, type: graphType! })),
    warnings,
    search_attributes: await searchAttributes(),
    ...agentWaits(settings),
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

interface MadeRun extends RunTransactions {
  readonly cluster: ClusterRecord;
  readonly warnings: readonly Diagnostic[];
}

/** Which graphs the request means, and whether the cluster is fit for them; of an earlier try of this call, what that has made. */
async function checked(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: OpenGraphRun,
  cluster: ClusterRecord,
): Promise<Checked<PlanningFailure, MadeRun>> {
  const { store } = deps;
  const { input } = request;
  const before = await store.transactions.findRun(request.workflow_id, request.run_id);
  const recorded =
    (graphs: NewRun['graphs'], warnings: readonly Diagnostic[]) =>
    async (run: OpenedRun): Promise<MadeRun> => ({
      ...(await recordRun(store, request, cluster, graphs, run)),
      ...{ cluster, warnings },
    });
  if (before !== null) return { ok: true, record: recorded(before.graphs.map(graphOf), []) };
  const stored = await readClusterSources(store, cluster.id);
  const sources = (await deps.allocateTags?.(stored)) ?? stored;
  if ('refused' in sources)
    return { ok: false, failure: { kind: 'plan-refused', message: sources.refused, problems: [] } };
  const requested =
    input.checks === undefined
      ? await requestedGraphs(store, input, sources, deps.settings.master_allowed ?? false)
      : await graphsOfCheckRun(store, cache, input.checks, cluster.id);
  if (!requested.ok) return requested;
  const findings = findingsForRun(sources, requested.graphs);
  const errors = findings.filter(isError);
  // Where a node cannot be asked, nothing is known of it: that is what the check says.
  const isForced = (input.force ?? false) || input.checks !== undefined;
  if (errors.length > 0 && !isForced) return { ok: false, failure: unfit(cluster, errors) };
  const graphs = requested.graphs.map((graph) => ({ graphType: graph.type, input: graph }));
  return { ok: true, record: recorded(graphs, findings.slice(0, MAX_WARNINGS)) };
}

/** Only an API knows who may go beyond limits. The run of a site that may hands it on to its own. */
async function overrideRefused(
  deps: ActivityDependencies,
  { input, workflow_id: workflowId, run_id: runId, start }: OpenGraphRun,
): Promise<{ readonly ok: false; readonly failure: PlanningFailure } | undefined> {
  const reason = input.override_limits;
  if (reason === undefined) return undefined;
  const { entry, parent } = await starterOf(deps, { workflowId, runId }, input.started_by, start);
  if (entry !== undefined) return undefined;
  const { parameters } = parent === undefined ? {} : await deps.store.runs.get(parent);
  if ((parameters as Partial<SiteRunInput> | undefined)?.override_limits === reason) return undefined;
  const finding = {
    ...({ severity: 'error', code: 'limits.override-refused', path: 'override_limits' } as const),
    message: 'limits can be overridden only by a run that is started through the API, which checks the right to',
    hint: "Start it with 'sitewright graph execute' and --override-limits REASON, or without override_limits.",
  };
  return { ok: false, failure: requestRefused('invalid', [finding]) };
}

const graphOf = ({ graphType, input }: TransactionRecord) => ({ graphType: graphType!, input });

const MAX_WARNINGS = 50;

function unfit({ id }: ClusterRecord, errors: readonly Diagnostic[]): PlanningFailure {
  const refused = requestRefused('invalid', errors);
  return {
    ...refused,
    message: errors.map(({ message }) => message).join(' '),
    hint: `${refused.hint} GET /api/v1/clusters/${id}/checks shows all findings; add --force (API: force) to run anyway.`,
  };
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

/** Of the nodes that a run is limited to. */
async function namesOfNodes(store: Store, { graphs }: OpenGraphRun['input']): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set((graphs ?? []).flatMap(({ nodes }) => nodes ?? []))];
  const nodes = ids.length === 0 ? [] : await store.nodes.list({ ids });
  return new Map(nodes.map(({ id, name }) => [id, name ?? String(id)]));
}

/** Writes a run that has its cluster, with its transactions. */
async function recordRun(
  store: Store,
  { input, workflow_id, run_id, started_at }: OpenGraphRun,
  cluster: ClusterRecord,
  graphs: NewRun['graphs'],
  run: OpenedRun,
): Promise<RunTransactions> {
  const names = await namesOfNodes(store, input);
  const title = titleOfGraphRun(input, cluster.name, {
    types: graphs.map(({ graphType }) => graphType),
    nameOf: (node) => names.get(node) ?? String(node),
  });
  const transactions = {
    ...{ clusterId: cluster.id, graphs, input, workflowId: workflow_id, temporalRunId: run_id, timeStart: started_at },
    ...{ mode: modeOf(input), force: input.force ?? false, debug: input.debug ?? false },
    ...given({ startedBy: run.started_by }),
  };
  return openGraphRecord(store, transactions, (made) => ({
    ...run,
    described: { title, labels: { cluster: String(cluster.id) } },
    number: made.run.id,
    ...(cluster.site !== null && { site: cluster.site }),
  }));
}

async function close(deps: ActivityDependencies, request: CloseGraphRun): Promise<void> {
  const { store } = deps;
  const { transaction, outcome, reason, ended_at, workflow_id, run_id, report } = request;
  const holder: ClaimHolder = { workflowId: workflow_id, runId: run_id };
  const me = ownExecution();
  const found = transactionsOf(store, transaction, ({ temporalRunId }) => temporalRunId === run_id);
  const { run } = await knownRun(deps, { cluster: report.cluster }, holder, me, found);
  const subject = { cluster: run.clusterId! };
  const generation = await closeClaim(deps, subject, holder, me, ended_at);
  if (generation !== null) {
    const named = await believedReport(store, run_id, report, true);
    const known = { ...named, operator: await withCanceller(store, run_id, named.operator) };
    const site = (await store.clusters.brief(subject.cluster).catch(unlessNotFound))?.site ?? null;
    const full = {
      ...(await withLostRecords(store, await wholeGraphReport(store, known))),
      ...(site !== null && (await resultsOfRun(store, site, run_id))),
    };
    const ended = { cluster: run.clusterId, run: run_id, transaction, outcome, ...given({ reason }) };
    deps.log?.(ended, `execute_graph of cluster ${run.clusterId} has ended`);
    const row = {
      id: run_id,
      workflowId: workflow_id,
      kind: GRAPH_RUN_KIND,
      startedAt: run.timeStart ?? ended_at,
      outcome,
      endedAt: ended_at,
      failedNodes: sumOf(report.graphs, ({ failing_nodes }) => failing_nodes),
      failedTasks: sumOf(report.graphs, ({ counts }) => counts.failed ?? 0),
      done: sumOf(report.graphs, ({ done }) => done),
      total: sumOf(report.graphs, ({ total }) => total),
      failure: reason ?? null,
    };
    // Together: of a run that is terminated in between, no one would end the transaction as it ended.
    const closed = { subject, generation, run: row, report: full, transaction, graphs: full.graphs };
    await closeRecord(store, closed, async (within) => {
      if (run.mode !== 'apply') return;
      const nodes = await within.nodes.list({ clusterId: subject.cluster });
      await within.clusters.change(subject.cluster, { status: clusterStatusAfter(nodes, outcome) });
    });
  }
  await pruneOldPlans(store, ended_at);
}

/** A store that was restored since a graph was closed has lost what only `close_graph` looks at. */
async function withLostRecords(store: Store, report: GraphRunReport): Promise<GraphRunReport> {
  const lost = await Promise.all(
    report.graphs.map(async ({ transaction, type, counts }) => {
      const kept = await store.taskHistory.count(transaction).catch(unlessNotFound);
      return kept === undefined || doneOf(kept) < doneOf(counts) ? [recordsLost(type)] : [];
    }),
  );
  return { ...report, warnings: [...new Set([...report.warnings, ...lost.flat()])] };
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
