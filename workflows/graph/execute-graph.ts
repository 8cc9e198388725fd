import type { SearchAttributePair } from '@temporalio/common';
import { isCancellation, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import * as z from 'zod/mini';
import type { CloseGraph, OpenGraphRunAnswer } from '../../activities/graph-contract.ts';
import type { GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { Wire } from '../../src/core/contracts/wire.ts';
import { given } from '../../src/core/data/given.ts';
import { flag, lineOf, optional } from '../../src/core/data/schema.ts';
import {
  describeGraphRunFailure,
  describeRejection,
  explainGraphRunFailure,
  type GraphRunFailure,
} from '../../src/core/graph-run/failure.ts';
import { hasCapacityForRequest, taskCapacity } from '../../src/core/graph-run/history-capacity.ts';
import { parseGraphRunInput } from '../../src/core/graph-run/input.ts';
import { nodesByEnd, type PartReport } from '../../src/core/graph-run/part-report.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import type { GraphProgress, GraphRunProgress } from '../../src/core/graph-run/progress.ts';
import { nothingToDoText, reasonOfGraph, recordsLost, reportGraphRun } from '../../src/core/graph-run/report.ts';
import {
  detailsOfGraphRun,
  isRolloutHeld,
  nodeNameIn,
  statusOfGraphRun,
  withNames,
} from '../../src/core/graph-run/status.ts';
import { doneOf, NO_TASKS } from '../../src/core/graph-run/task-counts.ts';
import { treeOfGraphRun } from '../../src/core/graph-run/tree.ts';
import { BEFORE_CHANGES, rejectionIn } from '../../src/core/run/approval.ts';
import { MAX, noteFields } from '../../src/core/run/description.ts';
import { claimLost, type StepError } from '../../src/core/run/failure.ts';
import { type OperatorAction, readRequest, retryNode } from '../../src/core/run/operator.ts';
import { isoTime } from '../../src/core/run/progress.ts';
import type { MaasSilence } from '../../src/core/run/silence.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import type { RunResult } from '../../src/core/scheduler/status.ts';
import type { GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import { stateWord } from '../../src/core/state-word.ts';
import type { GraphOutcome, GraphRunOutcome, RunAction } from '../../src/core/words.ts';
import type { GraphRunContract, GraphRunResult, TaskRun, UpdateName } from '../contract.ts';
import { bookkeeping, inquiry } from '../run/activity-options.ts';
import { callActivity, childGoneHandler, handle, probeHandler } from '../run/border.ts';
import { failure } from '../run/failures.ts';
import {
  approvalHandlers,
  maasSilenceHandler,
  openedHandler,
  rolloutHandlers,
  steeringHandlers,
} from '../run/operators.ts';
import { Run, RunEnded, startProgress } from '../run/run.ts';
import type { Asking } from '../site/wave-checks.ts';
import { askInGraphs } from './asking.ts';
import { driveGraph, type GraphDrive } from './drive.ts';
import { readFromCoordinator, readFromPart } from './messages.ts';
import type { RetryOrSkip } from './parts.ts';
import { createNews } from './signals.ts';

type Opened = Extract<OpenGraphRunAnswer, { ok: true }>;

/** People read the details: a shorter interval only costs. */
const SHOW_MS = 1_000;

/** Temporal's list shows the nodes that failed to a tenth until the run ends: each change of the number costs an event. */
const SHOWN_SHARE = 0.1;

/** Executes task graphs of a cluster in sequence. Plans each graph right before it runs (docs/explain/design.md#data-flow). */
export async function execute_graph(...args: unknown[]): Promise<GraphRunResult> {
  return new GraphRun(args).run();
}

/** A run of task graphs of a cluster. */
class GraphRun extends Run<GraphRunProgress, Opened, GraphRunResult> {
  /** The running graph; null between graphs. */
  drive: GraphDrive | null = null;
  protected readonly kind = 'execute_graph';
  readonly #news;
  #shownAt = 0;
  #shownFailing = 0;
  #shownSilent = 0;
  #hasHeldRollout = false;

  constructor(args: readonly unknown[]) {
    super({
      ...startProgress(parseGraphRunInput(args)),
      transaction: null,
      cluster: null,
      graphs: [],
      operator: [],
    });
    this.#news = createNews(this.progress.started_at, () => withNames(this.progress, this.status()));
    handleGraphOperators(this);
  }

  protected get subject() {
    return { cluster: this.progress.input.cluster };
  }

  protected async work(opened: Opened): Promise<void> {
    const { progress } = this;
    progress.transaction = opened.transaction;
    progress.cluster = opened.cluster;
    progress.graphs = opened.graphs.map(({ type, transaction }) => ({
      type,
      transaction,
      state: 'waiting',
      offline: [],
      statuses: () => [],
      failing: () => 0,
      trees: () => [],
    }));
    for (const graph of progress.graphs) {
      await this.goOn();
      this.setAttributes({ RunPhase: graph.type, GraphType: graph.type });
      const plan = await this.#plan(opened, graph);
      await this.approval(BEFORE_CHANGES).catch((ended: unknown) =>
        this.#endUnstarted(opened, graph, 'started', ended),
      );
      await this.#execute(opened, graph, plan);
    }
  }

  async #plan(opened: Opened, graph: GraphProgress): Promise<PlanReference> {
    const { progress } = this;
    graph.state = 'planning';
    graph.started_at = Date.now();
    this.show();
    const later = progress.graphs.length - 1 - progress.graphs.indexOf(graph);
    const capacity = taskCapacity(workflowInfo().historyLength, later, opened.max_events);
    const request = { transaction: opened.transaction, graph: graph.transaction, room: capacity };
    const options = inquiry(`plan graph ${graph.type}`, opened.heartbeat_seconds);
    const answer = await this.control
      .readOnly(() => callActivity('plan_graph', request, options))
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
        return this.#endUnstarted(opened, graph, 'planned', new RunEnded());
      });
    if (answer.ok) return (graph.plan = answer.plan);
    graph.state = 'refused';
    graph.ended_at = Date.now();
    graph.reason = describeGraphRunFailure(answer.failure);
    progress.failure = answer.failure;
    await this.#closeGraph(opened, graph, 'refused');
    throw new RunEnded();
  }

  /** @throws `ended`, once the graph is closed */
  async #endUnstarted(
    opened: Opened,
    graph: GraphProgress,
    step: 'planned' | 'started',
    ended: unknown,
  ): Promise<never> {
    if (!(ended instanceof RunEnded)) throw ended;
    graph.state = 'stopped';
    graph.ended_at = Date.now();
    graph.reason = `the run was ${this.control.cancelled ? 'cancelled' : 'stopped'} before the graph was ${step}`;
    await this.#closeGraph(opened, graph, 'stopped');
    throw ended;
  }

  /** Runs a planned graph to completion and always records how it ended. @throws `RunEnded` unless it succeeded */
  async #execute(opened: Opened, graph: GraphProgress, plan: PlanReference): Promise<void> {
    const { control } = this;
    let ended: Awaited<ReturnType<GraphDrive['run']>> | null = null;
    let lost: TemporalFailure | null = null;
    try {
      ended = await this.#drive(opened, graph, plan);
    } catch (error) {
      // A bug must block the workflow here, not end it with a wrong report.
      if (!(error instanceof TemporalFailure)) throw error;
      lost = error;
    }
    this.drive = null;
    const isCutShort = control.cancelled || (control.stopping && ended !== null && hasOnlyLosses(ended.report, graph));
    const result: RunResult = isCutShort ? 'stopped' : (ended?.end?.result ?? 'failed');
    const outcome = result === 'success' && plan.nothing_to_do !== undefined ? 'nothing_to_do' : result;
    graph.state = outcome;
    graph.ended_at = Date.now();
    if (ended) graph.report = ended.report;
    if (control.cancelled) graph.reason = 'the run was cancelled';
    else if (ended === null) graph.reason = 'the run could not continue';
    else if (outcome === 'nothing_to_do') graph.reason = nothingToDoText(plan.nothing_to_do ?? []);
    else if (result === 'failed') {
      graph.reason =
        ended.reason ??
        reasonOfGraph(ended.report.failed_tasks, ended.report.counts.failed, graph.offline, graph.nameOf);
    }
    await this.#closeGraph(opened, graph, outcome, ended?.report);
    if (lost !== null) throw lost;
    if (result === 'success') return;
    if (result === 'stopped') throw new RunEnded();
    this.fail({
      kind: 'graph-failed',
      type: graph.type,
      ...given({ why: ended?.end?.why }),
      reason: graph.reason ?? '',
    });
  }

  async #drive(opened: Opened, graph: GraphProgress, plan: PlanReference) {
    if (plan.parts.length === 0) return NOTHING_TO_DO;
    const { progress } = this;
    const { input } = progress;
    const overrides = input.override_limits !== undefined;
    const { execution, heartbeat_seconds, agent_heartbeat_seconds, busy_slack_seconds, max_events } = opened;
    const tasks: TaskRun = {
      graph: graph.transaction,
      execution,
      plan: plan.hash,
      mode: plan.mode === 'noop_run' ? 'noop' : 'apply',
      debug: input.debug ?? false,
      ...(plan.mode === 'check' && { output: true as const }),
      ...(plan.limits && { limits: { cluster: opened.cluster.id, ...(overrides && { overrides: true }) } }),
      patience: {
        heartbeat_seconds,
        agent_heartbeat_seconds,
        offline_wait_seconds: opened.offline_wait_seconds,
        busy_slack_seconds,
      },
    };
    const attributes = this.attributesOf({
      SiteName: opened.cluster.site,
      StartedBy: this.startedBy,
      GraphType: graph.type,
      RunPhase: graph.type,
    });
    this.drive = await driveGraph(graph, {
      transaction: opened.transaction,
      plan,
      tasks,
      hold: input.hold_on_failure ?? false,
      holdBefore: (input.hold_before ?? []).filter((name) => name !== BEFORE_CHANGES),
      decided: () => progress.holds.flatMap(({ before, decision }) => (decision === undefined ? [] : [before])),
      reached: (names) => this.reached(names),
      ...given({ max_events }),
      control: this.control,
      ...given({ asking: this.#asking(opened, plan, tasks, attributes) }),
      attributes,
      answered: () => this.refresh(),
      show: (silent) => {
        this.notices.held(graph.state === 'held');
        this.#showHeldRollout(graph);
        // Nothing else may happen while nodes are silent.
        if (silent !== this.#shownSilent || Date.now() - this.#shownAt >= SHOW_MS) this.refresh();
        this.#shownSilent = silent;
        this.#showFailing();
        return this.#news?.send() ?? null;
      },
    });
    return this.drive.run();
  }

  #asking(
    { transaction, cluster, heartbeat_seconds }: Opened,
    { checks: known }: PlanReference,
    tasks: TaskRun,
    attributes: readonly SearchAttributePair[],
  ) {
    if (known === undefined) return undefined;
    const { checks, ...documents } = known;
    const of = { ...documents, cluster: cluster.id, run_id: tasks.execution };
    return (nameOf: Asking['nameOf']): Asking => {
      const asking = { of, checks, heartbeat_seconds, nameOf };
      return { ...asking, askInRun: askInGraphs(asking, { transaction, tasks, attributes }) };
    };
  }

  /** So that runs with a held rollout can be found in Temporal: `RunPhase='held'`. */
  #showHeldRollout(graph: GraphProgress): void {
    const isHeld = graph.state === 'held' && isRolloutHeld(graph);
    if (isHeld !== this.#hasHeldRollout) this.setAttributes({ RunPhase: isHeld ? 'held' : graph.type });
    this.#hasHeldRollout = isHeld;
  }

  async #closeGraph(opened: Opened, graph: GraphProgress, outcome: GraphOutcome, report?: PartReport) {
    const closing = {
      transaction: opened.transaction,
      graph: graph.transaction,
      outcome,
      ...given({ reason: graph.reason }),
      nodes: report === undefined ? {} : nodesByEnd(report),
      done: report === undefined ? 0 : doneOf(report.counts),
    } satisfies CloseGraph;
    graph.closing = true;
    this.show();
    const options = bookkeeping(`end graph ${graph.type}: ${stateWord(outcome)}`);
    if ((await callActivity('close_graph', closing, options)) === 'records-missing') this.warn(recordsLost(graph.type));
    graph.closing = false;
  }

  override maasSilence(silence: MaasSilence): void {
    super.maasSilence(silence);
    this.drive?.maasSilence(silence);
  }
  override show(): void {
    super.show();
    this.#showFailing();
    this.#news?.send();
  }
  override refresh(): void {
    super.refresh();
    this.#shownAt = Date.now();
  }
  /** By the count alone and not by the clock: a replay may see a workflow task at another time than the worker that carried it out. */
  #showFailing(): void {
    const failing = this.failedNodes();
    if (Math.abs(failing - this.#shownFailing) <= SHOWN_SHARE * this.#shownFailing) return;
    this.setAttributes({ FailedNodes: failing });
    this.#shownFailing = failing;
  }
  status() {
    return statusOfGraphRun(this.progress);
  }
  report() {
    return reportGraphRun(this.progress);
  }
  acted(action: OperatorAction<RunAction>): void {
    this.progress.operator.push(action);
  }

  /** Why an operator's request was rejected. */
  textOf(rejection: Rejection): string {
    return describeRejection(rejection, (node) => nodeNameIn(this.progress, node));
  }

  protected details(): string {
    return detailsOfGraphRun(this.progress);
  }
  protected failedNodes(): number {
    return this.progress.graphs.reduce((sum, graph) => sum + graph.failing(), 0);
  }
  protected open(answered: boolean) {
    const { started_at, input } = this.progress;
    const request = { ...this.identity, started_at: isoTime(started_at), input, answered, start: this.start };
    return callActivity('open_graph_run', request, bookkeeping(`claim cluster ${input.cluster}`));
  }
  protected siteOf({ cluster }: Opened): string | null {
    return cluster.site;
  }
  protected rowOf({ transaction, warnings }: Opened) {
    return { number: transaction, warnings };
  }
  protected stepFailed(error: StepError): GraphRunFailure {
    return claimLost(error) ?? { kind: 'step-failed', step: this.status().phase, ...error };
  }

  protected outcome(): GraphRunOutcome {
    const { control, progress } = this;
    for (const graph of progress.graphs) if (graph.state === 'waiting') graph.state = 'not_reached';
    if (control.cancelled) return 'cancelled';
    if (progress.failure) return 'failed';
    if (rejectionIn(progress.holds) !== undefined) return 'stopped';
    const states = new Set(progress.graphs.map(({ state }) => state));
    if (states.size === 1 && states.has('nothing_to_do')) return 'nothing_to_do';
    return [...states].every((state) => state === 'success' || state === 'nothing_to_do') ? 'success' : 'stopped';
  }

  protected async close({ transaction }: Opened): Promise<void> {
    const { progress } = this;
    const outcome = progress.outcome!;
    const closing = {
      ...this.end,
      transaction,
      outcome,
      ...(progress.failure ? { reason: describeGraphRunFailure(progress.failure) } : {}),
      report: this.report(),
    };
    await callActivity('close_graph_run', closing, bookkeeping(`close the run: ${outcome}`));
  }
  protected explain(why: GraphRunFailure) {
    return explainGraphRunFailure(why, this.progress.input.cluster, this.progress.transaction);
  }
  protected result(): GraphRunResult {
    const { input, outcome, transaction } = this.progress;
    const status = this.status();
    return {
      outcome: outcome ?? 'failed',
      cluster: input.cluster,
      transaction,
      graphs: status.graphs.map(({ type, transaction: id, state, counts, reason }) => ({
        type,
        transaction: id,
        state,
        counts,
        ...given({ reason }),
      })),
      failed: status.failed,
    };
  }
}

/** A stop does not wait to learn how tasks on silent nodes end: that is no failure of theirs. */
const hasOnlyLosses = ({ counts, lost = 0 }: PartReport, { offline }: GraphProgress): boolean =>
  lost > 0 && counts.failed === lost && offline.length === 0;

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

/** About a task of a running graph. */
export const taskRequest = z.strictObject({ ...noteFields, task: lineOf(MAX.name), node: lineOf(MAX.name) });
type TaskRequest = Wire<typeof taskRequest>;

const nodeRequest = z.extend(retryNode, optional({ tasks: flag }));
type NodeRequest = Wire<typeof nodeRequest>;

const nodeUpdate = (run: GraphRun, status: () => GraphRunStatus) => ({
  description:
    'Asks the checks of a node again that are not well, with "tasks" after its tasks have run again: {"node": "NODE", "tasks": true, "reason": "..."}',
  read: (payload: unknown) => readRequest(nodeRequest, payload),
  validate({ node, tasks }: NodeRequest) {
    validateCapacity(run, 'retry_node');
    const rejection = run.drive === null ? NO_GRAPH : run.drive.whyNotRetryNode({ node, ...given({ tasks }) });
    if (rejection !== null) throw refused(run.textOf(rejection));
  },
  handle(request: NodeRequest) {
    const { node, tasks } = request;
    run.drive!.retryNode({ node, ...given({ tasks }) });
    run.progress.operator.push({ action: 'retry_node', at: isoTime(Date.now()), ...request });
    run.show();
    return status();
  },
});

/** Sets the handlers for operators of a graph run: signals, updates and queries (docs/explain/design.md#the-temporal-surface). */
function handleGraphOperators(run: GraphRun): void {
  const { progress, control } = run;
  const status = () => run.status();
  const steering = steeringHandlers({
    control,
    run,
    status,
    settled: () => run.drive?.acknowledged(),
    validate: (name) => validateCapacity(run, name),
  });
  const approvals = approvalHandlers(run, { status, settled: () => run.drive?.acknowledged() });
  const rollouts = rolloutHandlers(run, status, {
    whyNot(action, request) {
      const rejection = run.drive === null ? NO_GRAPH : run.drive.whyNotOperate(action, request);
      return rejection === null ? null : run.textOf(rejection);
    },
    take(asked) {
      run.drive!.operate(asked.action, asked);
      progress.operator.push(asked);
    },
  });
  const taskUpdate = (action: RetryOrSkip, description: string) => ({
    description,
    read: (payload: unknown) => readRequest(taskRequest, payload),
    validate: (request: TaskRequest) => validate(run, action, request),
    async handle(request: TaskRequest) {
      const rejection = await run.drive!.ask(action, request);
      if (rejection !== null) throw refused(run.textOf(rejection));
      progress.operator.push({ action, at: isoTime(Date.now()), ...request });
      run.show();
      return status();
    },
  });
  handle<GraphRunContract>({
    signals: {
      ...steering.signals,
      ...rollouts.signals,
      ...approvals.signals,
      ...maasSilenceHandler((silence) => run.maasSilence(silence)),
      ...childGoneHandler(),
      ...probeHandler(),
      from_part: { read: readFromPart, handle: (signal) => run.drive?.onSignal(signal) },
      from_coordinator: { read: readFromCoordinator, handle: (signal) => run.drive?.onReport(signal) },
    },
    updates: {
      opened: openedHandler(run),
      ...steering.updates,
      ...rollouts.updates,
      ...approvals.updates,
      retry_task: taskUpdate(
        'retry_task',
        'Retries a failed task and the tasks that failed because of it: {"task": "NAME", "node": "NODE", "reason": "..."}',
      ),
      skip_task: taskUpdate(
        'skip_task',
        'Skips a task that has not started, or ignores the failure of one that failed: {"task": "NAME", "node": "NODE"}',
      ),
      retry_node: nodeUpdate(run, status),
    },
    queries: {
      status: { description: 'Phase, n of m tasks, failing first.', answer: status },
      report: {
        description: 'Report so far: every graph, with reasons.',
        answer: () => run.report(),
      },
      tree: {
        description: 'Graphs, nodes and tasks. A big graph has parts: each is a workflow that answers the same query.',
        answer: () => treeOfGraphRun(progress, status()),
      },
      plan: {
        description: 'The hash and size of the stored plan of each graph.',
        answer: () => progress.graphs.flatMap(({ type, plan }) => (plan === undefined ? [] : [{ type, ...plan }])),
      },
    },
    warn: (text) => run.warn(text),
    wake: () => run.control.wake(),
  });
}

const NO_GRAPH: Rejection = { reason: 'rollout', why: 'no graph runs at the moment' };

const refused = (message: string) => failure('TaskRequestRefused', message);

function validate(run: GraphRun, name: RetryOrSkip, request: TaskRequest): void {
  if (run.drive === null) {
    throw refused(
      run.progress.outcome === undefined
        ? 'no graph runs at the moment'
        : 'the run has ended: start a new run that continues from it instead (--from)',
    );
  }
  validateCapacity(run, name);
  const rejection = run.drive.objection(name, request);
  if (rejection !== null) throw refused(run.textOf(rejection));
}

/** A rejected update leaves no trace in the history. An accepted one costs a dozen events here and more in each part. */
function validateCapacity(run: GraphRun, name: UpdateName): void {
  if (run.drive?.hasCapacity() ?? hasCapacityForRequest(workflowInfo().historyLength, 0)) return;
  const otherwise = name === 'pause' || name === 'resume' ? `; the signal ${name} is still accepted` : '';
  throw refused(`${describeRejection({ reason: 'exhausted' })}${otherwise}`);
}
