import { isCancellation, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import type { CloseGraph, OpenGraphRunAnswer } from '../activities/graph-contract.ts';
import { given } from '../src/core/data/given.ts';
import {
  describeGraphRunFailure,
  detailsOfGraphRun,
  explainGraphRunFailure,
  type GraphProgress,
  type GraphRunFailure,
  type GraphRunProgress,
  NO_TASKS,
  nothingToDoText,
  type PartReport,
  type PlanReference,
  parseGraphRunInput,
  reasonOfGraph,
  reportGraphRun,
  statusOfGraphRun,
  taskCapacity,
} from '../src/core/graph-run/index.ts';
import { BEFORE_CHANGES, claimLost, type GraphRunOutcome, isoTime, rejectionIn } from '../src/core/run/index.ts';
import type { GraphEnd, RunResult } from '../src/core/scheduler/index.ts';
import { stateWord } from '../src/core/state-word.ts';
import type { GraphOutcome } from '../src/core/words.ts';
import { bookkeeping, inquiry } from './activity-options.ts';
import { approved, isHeld } from './approval.ts';
import { callActivity } from './border.ts';
import type { GraphRunResult } from './contract.ts';
import { driveGraph, type GraphDrive } from './graph-drive.ts';
import { createNews } from './graph-news.ts';
import { type GraphRun, handleGraphOperators } from './graph-operators.ts';
import { createRun, endOf, identityOf, runInFrame, startProgress } from './run-frame.ts';

type Opened = Extract<OpenGraphRunAnswer, { ok: true }>;

/** People read the details: a shorter interval only costs. */
const SHOW_MS = 1_000;

/** Executes task graphs of a cluster in sequence. Plans each graph right before it runs (docs/design.md#data-flow). */
export async function execute_graph(...args: unknown[]): Promise<GraphRunResult> {
  const progress: GraphRunProgress = {
    ...startProgress(parseGraphRunInput(args)),
    transaction: null,
    cluster: null,
    graphs: [],
    operator: [],
  };
  const { input } = progress;
  const tasksHeld = (input.hold_before ?? []).filter((name) => name !== BEFORE_CHANGES);
  let shownAt = 0;
  let shownFailing = 0;
  const failedNodes = (): number => statusOfGraphRun(progress).failing_nodes;
  const base = createRun(
    progress,
    detailsOfGraphRun,
    (action) => progress.operator.push(action),
    () => ({ kind: 'execute_graph', site: progress.cluster?.site ?? null, cluster: input.cluster }),
    () => {
      shownAt = Date.now();
      const failing = failedNodes();
      if (failing !== shownFailing) run.setAttributes({ FailedNodes: failing });
      shownFailing = failing;
      news?.send();
    },
  );
  const run: GraphRun = Object.assign(base, { drive: null });
  const news = createNews(progress.started_at, () => statusOfGraphRun(progress));
  const { control } = run;
  handleGraphOperators(run);
  return runInFrame<GraphRunProgress, Opened, GraphRunResult>(run, {
    kind: 'execute_graph',
    subject: { cluster: input.cluster },
    status: () => statusOfGraphRun(progress),
    open: (answered) =>
      callActivity(
        'open_graph_run',
        { ...identityOf(progress), started_at: isoTime(progress.started_at), input, answered },
        bookkeeping(`claim cluster ${input.cluster}`),
      ),
    siteOf: ({ cluster }) => cluster.site,
    rowOf: ({ transaction, warnings }) => ({ transaction, warnings }),
    async work(opened) {
      progress.transaction = opened.transaction;
      progress.cluster = opened.cluster;
      progress.graphs = opened.graphs.map(({ type, transaction }) => ({
        type,
        transaction,
        state: 'waiting',
        offline: [],
        statuses: () => [],
        trees: () => [],
      }));
      await executeAll(opened);
    },
    stepFailed: (error): GraphRunFailure =>
      claimLost(error) ?? { kind: 'step-failed', step: statusOfGraphRun(progress).phase, ...error },
    failedNodes,
    outcome() {
      for (const graph of progress.graphs) if (graph.state === 'waiting') graph.state = 'not_reached';
      return outcomeOf(run);
    },
    close({ transaction }) {
      const outcome = progress.outcome!;
      const closing = {
        ...endOf(progress),
        transaction,
        outcome,
        ...(progress.failure ? { reason: describeGraphRunFailure(progress.failure) } : {}),
        report: reportGraphRun(progress),
      };
      return callActivity('close_graph_run', closing, bookkeeping(`close the run: ${outcome}`));
    },
    explain: (failure) => explainGraphRunFailure(failure, progress.transaction),
    result: () => resultOf(progress),
  });

  async function executeAll(opened: Opened): Promise<void> {
    for (const graph of progress.graphs) {
      if (!(await control.mayStart())) return;
      run.setAttributes({ RunPhase: graph.type, GraphType: graph.type });
      const plan = await planNext(opened, graph);
      if (plan === null) return;
      if (isHeld(run, BEFORE_CHANGES) && !(await approved(run, BEFORE_CHANGES)))
        return endUnstarted(opened, graph, 'started');
      const { result, why, reason } = await execute(opened, graph, plan);
      if (result !== 'success') {
        if (result !== 'stopped')
          progress.failure = { kind: 'graph-failed', type: graph.type, ...given({ why }), reason };
        return;
      }
    }
  }

  async function planNext(opened: Opened, graph: GraphProgress): Promise<PlanReference | null> {
    graph.state = 'planning';
    graph.started_at = Date.now();
    run.show();
    const later = progress.graphs.length - 1 - progress.graphs.indexOf(graph);
    const capacity = taskCapacity(workflowInfo().historyLength, later, opened.max_events);
    const request = { transaction: opened.transaction, graph: graph.transaction, room: capacity };
    const options = inquiry(`plan graph ${graph.type}`, opened.heartbeat_seconds);
    const answer = await control
      .readOnly(() => callActivity('plan_graph', request, options))
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
        return null;
      });
    if (answer === null) {
      await endUnstarted(opened, graph, 'planned');
      return null;
    }
    if (answer.ok) return (graph.plan = answer.plan);
    graph.state = 'refused';
    graph.ended_at = Date.now();
    graph.reason = describeGraphRunFailure(answer.failure);
    progress.failure = answer.failure;
    await close(opened, graph, 'refused', {});
    return null;
  }

  async function endUnstarted(opened: Opened, graph: GraphProgress, step: 'planned' | 'started'): Promise<void> {
    graph.state = 'stopped';
    graph.ended_at = Date.now();
    graph.reason = `the run was ${control.cancelled ? 'cancelled' : 'stopped'} before the graph was ${step}`;
    await close(opened, graph, 'stopped', {});
  }

  /** Runs a planned graph to completion and always records how it ended. */
  async function execute(opened: Opened, graph: GraphProgress, plan: PlanReference) {
    let ended: Awaited<ReturnType<GraphDrive['run']>> | null = null;
    let failure: TemporalFailure | null = null;
    try {
      ended = await drive(opened, graph, plan);
    } catch (error) {
      // A bug must block the workflow here, not end it with a wrong report.
      if (!(error instanceof TemporalFailure)) throw error;
      failure = error;
    }
    run.drive = null;
    const result: RunResult = control.cancelled ? 'stopped' : (ended?.end?.result ?? 'failed');
    const outcome = result === 'success' && plan.nothing_to_do !== undefined ? 'nothing_to_do' : result;
    graph.state = outcome;
    graph.ended_at = Date.now();
    if (ended) graph.report = ended.report;
    if (control.cancelled) graph.reason = 'the run was cancelled';
    else if (ended === null) graph.reason = 'the run could not continue';
    else if (outcome === 'nothing_to_do') graph.reason = nothingToDoText(plan.nothing_to_do ?? []);
    else if (result === 'failed') {
      graph.reason =
        ended.reason ?? reasonOfGraph(ended.report.failed_tasks, ended.report.counts.failed, graph.offline);
    }
    await close(opened, graph, outcome, ended?.report.nodes ?? {});
    if (failure !== null) throw failure;
    return { result, why: ended?.end?.why, reason: graph.reason ?? '' };
  }

  async function drive(opened: Opened, graph: GraphProgress, plan: PlanReference) {
    if (plan.parts.length === 0) return NOTHING_TO_DO;
    const { execution, heartbeat_seconds, agent_heartbeat_seconds, busy_slack_seconds, max_events } = opened;
    run.drive = await driveGraph(graph, {
      transaction: opened.transaction,
      plan,
      tasks: {
        graph: graph.transaction,
        execution,
        plan: plan.hash,
        mode: plan.mode === 'noop_run' ? 'noop' : 'apply',
        debug: input.debug ?? false,
        patience: {
          heartbeat_seconds,
          agent_heartbeat_seconds,
          offline_wait_seconds: opened.offline_wait_seconds,
          busy_slack_seconds,
        },
      },
      hold: input.hold_on_failure ?? false,
      holdBefore: tasksHeld,
      decided: () => progress.holds.flatMap(({ before, decision }) => (decision === undefined ? [] : [before])),
      reached: run.reached,
      ...given({ max_events }),
      control,
      attributes: run.attributesOf({
        SiteName: opened.cluster.site,
        StartedBy: input.started_by,
        GraphType: graph.type,
        RunPhase: graph.type,
      }),
      answered: run.refresh,
      show() {
        run.notices.held(graph.state === 'held');
        if (Date.now() - shownAt >= SHOW_MS) run.show();
        return news?.send() ?? null;
      },
    });
    return run.drive.run();
  }

  async function close(opened: Opened, graph: GraphProgress, outcome: GraphOutcome, nodes: CloseGraph['nodes']) {
    const closing = {
      transaction: opened.transaction,
      graph: graph.transaction,
      outcome,
      ...given({ reason: graph.reason }),
      nodes,
    };
    graph.closing = true;
    run.show();
    await callActivity('close_graph', closing, bookkeeping(`end graph ${graph.type}: ${stateWord(outcome)}`));
    graph.closing = false;
  }
}

function outcomeOf({ control, progress }: GraphRun): GraphRunOutcome {
  if (control.cancelled) return 'cancelled';
  if (progress.failure) return 'failed';
  if (rejectionIn(progress.holds) !== undefined) return 'stopped';
  const states = new Set(progress.graphs.map(({ state }) => state));
  if (states.size === 1 && states.has('nothing_to_do')) return 'nothing_to_do';
  return [...states].every((state) => state === 'success' || state === 'nothing_to_do') ? 'success' : 'stopped';
}

/** The result of a plan whose conditions and tags exclude every task. */
const NOTHING_TO_DO: { readonly end: GraphEnd; readonly report: PartReport } = {
  end: { result: 'success' },
  report: {
    counts: NO_TASKS,
    nodes: {},
    failed_tasks: [],
    failed_nodes: [],
  },
};

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
      ...given({ reason }),
    })),
    failed: status.failed,
  };
}
