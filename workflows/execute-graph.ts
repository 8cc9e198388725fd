import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  condition,
  scheduleActivity,
  setCurrentDetails,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  CloseGraph,
  CloseGraphRun,
  OpenGraphRun,
  OpenGraphRunAnswer,
  PlanGraph,
  PlanGraphAnswer,
} from '../activities/graph-contract.js';
import {
  describeGraphRunFailure,
  detailsOfGraphRun,
  type FailedTask,
  type GraphProgress,
  type GraphRunFailure,
  type GraphRunProgress,
  nextGraphStep,
  type PartReport,
  type PlanReference,
  parseGraphRunInput,
  reasonOfGraph,
  reportGraphRun,
  statusOfGraphRun,
  taskRoom,
} from '../src/core/graph-run/index.js';
import { failureType, type GraphRunOutcome } from '../src/core/run/index.js';
import type { RunResult } from '../src/core/scheduler/index.js';
import { bookkeeping, planning } from './activity-options.js';
import { createControl } from './control.js';
import { driveGraph, type GraphDrive } from './graph-drive.js';
import { type GraphRun, handleGraphOperators } from './graph-operators.js';
import { ACTIVITIES, type SearchAttributeName } from './protocol.js';

/** What a finished run returns to Temporal; the full report is in the store. */
export interface GraphRunResult {
  readonly outcome: GraphRunOutcome;
  readonly cluster: number;
  readonly transaction: number | null;
  readonly graphs: readonly {
    readonly type: string;
    readonly transaction: number;
    readonly state: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly reason?: string;
  }[];
  readonly failed: readonly FailedTask[];
}

type Opened = Extract<OpenGraphRunAnswer, { ok: true }>;

/** Details are for people: more often than this only costs. */
const SHOW_MS = 1_000;

/** Executes task graphs of a cluster, one after the other; each is planned when its turn comes (design §4). */
export async function execute_graph(...args: unknown[]): Promise<GraphRunResult> {
  const parsed = parseGraphRunInput(args);
  if (!parsed.ok) {
    const failure: GraphRunFailure = { kind: 'invalid-input', problems: parsed.problems };
    throw ApplicationFailure.nonRetryable(describeGraphRunFailure(failure), failureType(failure), parsed.problems);
  }
  const { input } = parsed;
  const info = workflowInfo();
  const control = createControl((action) => {
    progress.operator.push(action);
    show();
  });
  const progress: GraphRunProgress = {
    input,
    workflow_id: info.workflowId,
    run_id: info.runId,
    started_at: Date.now(),
    transaction: null,
    cluster: null,
    graphs: [],
    operator: [],
    paused: null,
    stopping: false,
  };
  const run: GraphRun = { progress, control, drive: null, show };
  let shownAt = 0;
  let failingNodes = 0;
  let known: readonly string[] = [];

  function show(): void {
    progress.paused = control.paused;
    progress.stopping = control.stopping;
    shownAt = Date.now();
    setCurrentDetails(detailsOfGraphRun(progress));
    const { failing_nodes } = statusOfGraphRun(progress);
    if (failing_nodes !== failingNodes) setAttributes({ FailedNodes: failing_nodes });
    failingNodes = failing_nodes;
  }

  /** Only what the server knows: an unknown attribute would fail every workflow task from then on. */
  function setAttributes(values: Partial<Record<SearchAttributeName, string | number>>): void {
    const kept = Object.entries(values).filter(([name]) => known.includes(name));
    if (kept.length === 0) return;
    upsertSearchAttributes(
      Object.fromEntries(kept.map(([name, value]) => [name, [value]])) as Record<string, string[]>,
    );
  }

  handleGraphOperators(run);
  show();
  void CancellationScope.current().cancelRequested.catch(() => control.cancel());

  await CancellationScope.nonCancellable(async () => {
    const opening: OpenGraphRun = {
      workflow_id: info.workflowId,
      run_id: info.runId,
      started_at: new Date(progress.started_at).toISOString(),
      input,
    };
    const opened = await scheduleActivity<OpenGraphRunAnswer>(
      ACTIVITIES.open_graph_run,
      [opening],
      bookkeeping(`claim cluster ${input.cluster}`),
    );
    if (!opened.ok) {
      // Nothing is ours to close: the cluster belongs to another run, or there is none.
      progress.failure = opened.failure;
      progress.outcome = 'failed';
      return;
    }
    known = opened.search_attributes;
    progress.transaction = opened.transaction;
    progress.cluster = opened.cluster;
    progress.graphs = opened.graphs.map(
      ({ type, transaction }): GraphProgress => ({
        type,
        transaction,
        state: 'waiting',
        offline: [],
        news: () => [],
        trees: () => [],
      }),
    );
    setAttributes({
      ...(opened.cluster.site === null ? {} : { SiteName: opened.cluster.site }),
      ...(input.started_by === undefined ? {} : { StartedBy: input.started_by }),
      FailedNodes: 0,
    });
    await executeAll(opened).catch((error: unknown) => {
      if (control.cancelled && !(error instanceof ActivityFailure)) return;
      progress.failure = { kind: 'step-failed', step: statusOfGraphRun(progress).phase, ...rootOf(error) };
    });
    for (const graph of progress.graphs) if (graph.state === 'waiting') graph.state = 'not_begun';
    progress.outcome = outcomeOfRun();
    progress.ended_at = Date.now();
    show();
    setAttributes({ RunPhase: progress.outcome });
    const closing: CloseGraphRun = {
      transaction: opened.transaction,
      workflow_id: info.workflowId,
      run_id: info.runId,
      outcome: progress.outcome,
      ...(progress.failure ? { reason: describeGraphRunFailure(progress.failure) } : {}),
      ended_at: new Date(progress.ended_at).toISOString(),
      report: reportGraphRun(progress),
    };
    const options = bookkeeping(`close the run: ${progress.outcome}`);
    await scheduleActivity<void>(ACTIVITIES.close_graph_run, [closing], options);
    await condition(allHandlersFinished);
  });

  if (progress.outcome === 'cancelled') throw new CancelledFailure(`run of cluster ${input.cluster} was cancelled`);
  if (progress.failure) {
    const { failure, transaction } = progress;
    throw ApplicationFailure.create({
      message: `${describeGraphRunFailure(failure)}. Next: ${nextGraphStep(failure, transaction)}`,
      type: failureType(failure),
      nonRetryable: true,
      details: [failure, resultOf(progress)],
    });
  }
  return resultOf(progress);

  async function executeAll(opened: Opened): Promise<void> {
    for (const graph of progress.graphs) {
      if (!(await control.mayStart())) return;
      setAttributes({ RunPhase: graph.type, GraphType: graph.type });
      const plan = await planNext(opened, graph);
      if (plan === null) return;
      const { result, reason } = await execute(opened, graph, plan);
      if (result !== 'success') {
        if (result !== 'stopped') progress.failure = { kind: 'graph-failed', type: graph.type, result, reason };
        return;
      }
    }
  }

  async function planNext(opened: Opened, graph: GraphProgress): Promise<PlanReference | null> {
    graph.state = 'planning';
    graph.started_at = Date.now();
    show();
    const later = progress.graphs.length - 1 - progress.graphs.indexOf(graph);
    const request: PlanGraph = {
      transaction: opened.transaction,
      graph: graph.transaction,
      room: taskRoom(workflowInfo().historyLength, later, opened.most_events),
    };
    const answer = await scheduleActivity<PlanGraphAnswer>(
      ACTIVITIES.plan_graph,
      [request],
      planning(`plan graph ${graph.type}`, opened.heartbeat_seconds),
    );
    if (answer.ok) return (graph.plan = answer.plan);
    graph.state = 'refused';
    graph.ended_at = Date.now();
    graph.reason = describeGraphRunFailure(answer.failure);
    progress.failure = answer.failure;
    await close(opened, graph, 'failure', {});
    return null;
  }

  /** Runs a planned graph to its end, and writes that down whatever it was. */
  async function execute(opened: Opened, graph: GraphProgress, plan: PlanReference) {
    let ended: Awaited<ReturnType<GraphDrive['run']>> | null = null;
    let failure: TemporalFailure | null = null;
    try {
      ended = await drive(opened, graph, plan);
    } catch (error) {
      // A bug of ours must stop the workflow where it is, not end it with a wrong report.
      if (!(error instanceof TemporalFailure)) throw error;
      failure = error;
    }
    run.drive = null;
    const result: RunResult = control.cancelled ? 'stopped' : (ended?.result ?? 'failure');
    graph.state = result;
    graph.ended_at = Date.now();
    if (ended) graph.report = ended.report;
    if (control.cancelled) graph.reason = 'the run was cancelled';
    else if (ended === null) graph.reason = 'the run could not go on';
    else if (result === 'failure' || result === 'stopped_by_tolerance') {
      graph.reason = reasonOfGraph(ended.report.failed_tasks, ended.report.counts.failed, graph.offline);
    }
    await close(opened, graph, result, ended?.report.nodes ?? {});
    if (failure !== null) throw failure;
    return { result, reason: graph.reason ?? '' };
  }

  async function drive(opened: Opened, graph: GraphProgress, plan: PlanReference) {
    if (plan.parts.length === 0) return NOTHING_TO_DO;
    const { heartbeat_seconds, offline_wait_seconds, busy_slack_seconds, most_events } = opened;
    run.drive = await driveGraph(graph, {
      transaction: opened.transaction,
      plan,
      tasks: {
        graph: graph.transaction,
        plan: plan.hash,
        mode: plan.mode === 'noop_run' ? 'noop' : 'apply',
        debug: input.debug ?? false,
        patience: {
          heartbeat_seconds,
          offline_wait_seconds,
          ...(busy_slack_seconds === undefined ? {} : { busy_slack_seconds }),
        },
      },
      hold: input.hold_on_failure ?? false,
      ...(most_events === undefined ? {} : { most_events }),
      control,
      show() {
        if (Date.now() - shownAt >= SHOW_MS) show();
      },
    });
    return run.drive.run();
  }

  async function close(opened: Opened, graph: GraphProgress, result: RunResult, nodes: CloseGraph['nodes']) {
    const closing: CloseGraph = {
      transaction: opened.transaction,
      graph: graph.transaction,
      result,
      ...(graph.reason === undefined ? {} : { reason: graph.reason }),
      nodes,
    };
    graph.closing = true;
    show();
    await scheduleActivity<void>(ACTIVITIES.close_graph, [closing], bookkeeping(`end graph ${graph.type}: ${result}`));
    graph.closing = false;
  }

  function outcomeOfRun(): GraphRunOutcome {
    if (control.cancelled) return 'cancelled';
    if (progress.failure) return 'failed';
    return progress.graphs.every((graph) => graph.state === 'success') ? 'success' : 'stopped';
  }
}

/** A plan without a task: what its conditions and tags left over is nothing. */
const NOTHING_TO_DO: { readonly result: RunResult; readonly report: PartReport } = {
  result: 'success',
  report: {
    counts: { waiting: 0, running: 0, retrying: 0, successful: 0, ignored: 0, skipped: 0, failed: 0, dep_failed: 0 },
    nodes: {},
    failed_tasks: [],
    failed_nodes: [],
  },
};

/** What an activity or a child that gave up has to say, without the wrapping. */
function rootOf(error: unknown): { type: string; message: string } {
  if (!(error instanceof ActivityFailure) && !(error instanceof ChildWorkflowFailure)) throw error;
  let cause: Error | undefined = error.cause;
  while (cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure) cause = cause.cause;
  const type = cause instanceof ApplicationFailure ? (cause.type ?? 'error') : (cause?.name ?? 'error');
  return { type, message: cause?.message ?? error.message };
}

function resultOf(progress: GraphRunProgress): GraphRunResult {
  const status = statusOfGraphRun(progress);
  return {
    outcome: progress.outcome ?? 'failed',
    cluster: progress.input.cluster,
    transaction: progress.transaction,
    graphs: status.graphs.map(({ type, transaction, state, counts, reason }) => ({
      type,
      transaction,
      state,
      counts,
      ...(reason === undefined ? {} : { reason }),
    })),
    failed: status.failed,
  };
}
