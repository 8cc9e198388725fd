import type { SearchAttributePair } from '@temporalio/common';
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import { given } from '../../src/core/data/given.ts';
import { hasCapacityForRequest } from '../../src/core/graph-run/history-capacity.ts';
import { mergeReports, type PartReport, reportPart } from '../../src/core/graph-run/part-report.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import type { GraphProgress } from '../../src/core/graph-run/progress.ts';
import { isRolloutHeld, NO_ROLLOUT } from '../../src/core/graph-run/status.ts';
import { sumCounts } from '../../src/core/graph-run/task-counts.ts';
import { treeOfPart } from '../../src/core/graph-run/tree.ts';
import type { RolloutRequest } from '../../src/core/rollout/operate.ts';
import type { MaasSilence } from '../../src/core/run/silence.ts';
import { awaitingApproval } from '../../src/core/scheduler/operator.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import { showRollouts } from '../../src/core/scheduler/rollouts.ts';
import type { GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import type { TaskOnNode } from '../../src/core/task-on-node.ts';
import type { RolloutAction } from '../../src/core/words.ts';
import type { TaskRun } from '../contract.ts';
import type { Control } from '../run/control.ts';
import type { Asking } from '../site/wave-checks.ts';
import type { FromCoordinatorSignal, FromPartSignal } from './messages.ts';
import { loadPart, PartDriver } from './part.ts';
import { PartsDriver, type RetryOrSkip } from './parts.ts';

/** A running graph, as signals and updates reach it. */
export interface GraphDrive {
  onSignal(signal: FromPartSignal): void;
  onReport(signal: FromCoordinatorSignal): void;
  /** Whether MAAS answers the tasks of this workflow. */
  maasSilence(silence: MaasSilence): void;
  /** Why this workflow must reject the request, or null. Called before the update is accepted. */
  objection(request: RetryOrSkip, about: TaskOnNode): Rejection | null;
  ask(request: RetryOrSkip, about: TaskOnNode): Promise<Rejection | null>;
  /** Why a request to the rollouts of the graph must be rejected now, or null. */
  whyNotOperate(action: RolloutAction, request: RolloutRequest): Rejection | null;
  operate(action: RolloutAction, request: RolloutRequest): void;
  /** The same for the checks of a node that are to be asked again. */
  whyNotRetryNode(request: RetryOfChecks): Rejection | null;
  retryNode(request: RetryOfChecks): void;
  /** Whether every history has space for another request in addition to the remaining work. */
  hasCapacity(): boolean;
  /** Resolves when every part has applied the operators' requests about the whole run. */
  acknowledged(): Promise<unknown>;
  /** No `end`: it was cancelled, or failed for the `reason`. */
  run(): Promise<{ readonly end?: GraphEnd | undefined; readonly report: PartReport; readonly reason?: string }>;
}

/** A node by its id, and whether its tasks run again before. */
interface RetryOfChecks {
  readonly node: string;
  readonly tasks?: boolean;
}

interface GraphDriveOptions {
  readonly transaction: number;
  readonly plan: PlanReference;
  readonly tasks: TaskRun;
  readonly hold: boolean;
  /** Names of tasks that wait for approval, and those of them that were decided about. */
  readonly holdBefore: readonly string[];
  readonly decided: () => readonly string[];
  /** Called with the names that wait for approval now, after each turn. */
  reached(names: readonly string[]): void;
  /** Limit of events per history, if it is not the default. */
  readonly max_events?: number;
  readonly control: Control;
  /** For the checks of rollouts; absent: none has any. @param nameOf the name of a node in the documents */
  readonly asking?: ((nameOf: Asking['nameOf']) => Asking) | undefined;
  /** Search attributes of children. */
  readonly attributes: readonly SearchAttributePair[];
  /**
   * Called after each turn.
   *
   * @param silent how many nodes are known not to answer; at least, of more than ten in a part
   * @returns when it wants to be called next (milliseconds), or null
   */
  show(silent: number): number | null;
  /** Called when nodes were asked, and when one has answered. */
  answered(): void;
}

/** Drives a planned graph: a single part in this workflow, several parts in one child each. Keeps `graph` up to date. */
export async function driveGraph(graph: GraphProgress, options: GraphDriveOptions): Promise<GraphDrive> {
  return options.plan.coordination === null
    ? driveHere(graph, options)
    : driveInParts(graph, options, options.plan.coordination);
}

async function driveHere(graph: GraphProgress, options: GraphDriveOptions): Promise<GraphDrive> {
  const { plan, control, hold, tasks } = options;
  const limit = limitOf(options);
  const holds = holdsOf(options);
  const part = await loadPart(plan.hash, 0, plan.parts[0]!.chunks);
  const of = { transaction: options.transaction, graph: graph.transaction, part: 0 };
  const driver = new PartDriver(part, of, { ...tasks, ...limit, ...holds, hold }, control, {
    approved: options.decided,
    ...given({ asking: options.asking?.((node) => part.agents[node]!) }),
    received: () => undefined,
    turned(): number | null {
      const { failed } = driver.ledger.counts;
      const isAsked = (hold && failed > 0) || isRolloutHeld(graph);
      const held = isAsked && driver.scheduler.started && driver.running === 0 && control.paused === null;
      if (options.holdBefore.length > 0) options.reached(awaitingApproval(driver.scheduler));
      if (driver.scheduler.started) graph.state = held ? 'held' : 'running';
      return options.show(driver.ledger.silentNodes().length);
    },
  });
  control.whenStopped(() => driver.agents.stop());
  graph.statuses = () => [{ ...driver.ledger.status(), ...waitsOf(driver) }];
  graph.nameOf = (node) => driver.agents.nameOf(node);
  graph.failing = () => driver.ledger.failing;
  graph.trees = () => [treeOfPart(driver.scheduler)];
  if (part.graph.rollouts !== undefined) graph.rollouts = () => showRollouts(driver.scheduler);
  const toRollout = (action: RolloutAction, request: RolloutRequest) =>
    ({ type: 'rollout', action, request, now: Date.now() }) as const;
  return {
    onSignal: () => undefined,
    onReport: () => undefined,
    maasSilence: ({ since }) => driver.agents.maasSilence(since),
    objection: (type, { task, node }) => driver.objection({ type, task, node }),
    async ask(type, { task, node }) {
      driver.push({ type, task, node });
      return null;
    },
    whyNotOperate: (action, request) => driver.objection(toRollout(action, request)),
    operate: (action, request) => driver.push(toRollout(action, request)),
    whyNotRetryNode: (request) => driver.objection({ type: 'retry_node', ...request }),
    retryNode(request) {
      graph.offline = graph.offline.filter((node) => node !== request.node);
      driver.push({ type: 'retry_node', ...request });
    },
    hasCapacity: () => driver.hasCapacityForRequest(),
    acknowledged: async () => undefined,
    async run() {
      if (plan.mode !== 'dry_run') {
        graph.state = 'asking_nodes';
        graph.unanswered = () => driver.agents.unanswered();
        options.show(0);
        const asking = control.interruptible(() => driver.agents.ask(options.answered)).catch(noneIfCancelled);
        // All that are asked, until they answer.
        options.answered();
        graph.offline = await asking;
      }
      driver.push({ type: 'begin', offline: graph.offline, now: Date.now() });
      const end = await driver.drive();
      return { end: control.cancelled ? undefined : end, report: reportPart(driver.scheduler, driver.ledger) };
    },
  };
}

async function driveInParts(
  graph: GraphProgress,
  options: GraphDriveOptions,
  coordination: NonNullable<PlanReference['coordination']>,
): Promise<GraphDrive> {
  const { plan, control, hold, tasks } = options;
  const driver = new PartsDriver(
    {
      input: {
        ...tasks,
        ...limitOf(options),
        ...holdsOf(options),
        transaction: options.transaction,
        dry_run: plan.mode === 'dry_run',
      },
      type: graph.type,
      attributes: options.attributes,
      parts: plan.parts,
      coordination,
      hold,
      approved: options.decided,
    },
    control,
    () => {
      graph.offline = [...driver.offline];
      if (options.holdBefore.length > 0)
        options.reached([...new Set(driver.statuses().flatMap(({ awaiting = [] }) => awaiting))]);
      graph.state = !driver.started ? 'asking_nodes' : driver.held ? 'held' : 'running';
      options.show(driver.statuses().reduce((sum, { silent }) => sum + silent.length, 0));
    },
  );
  graph.statuses = () => driver.statuses();
  graph.nameOf = (node) => driver.nameOf(node);
  graph.failing = () => driver.statuses().reduce((sum, part) => sum + part.failing_nodes, 0);
  graph.trees = () =>
    driver.workflowIds().map((workflow_id, part) => ({ workflow_id, counts: driver.statuses()[part]!.counts }));
  return {
    onSignal: (signal) => driver.onSignal(signal),
    onReport: (signal) => driver.onReport(signal),
    // Each part hears of its own.
    maasSilence: () => undefined,
    objection() {
      if (!driver.started) return { reason: 'not_started' };
      return control.stopping || control.cancelled ? { reason: 'stopped' } : null;
    },
    ask: (request, about) => driver.ask(request, about),
    // A graph with rollouts is not split.
    whyNotOperate: () => ({ reason: 'rollout', why: NO_ROLLOUT }),
    operate: () => undefined,
    whyNotRetryNode: () => ({ reason: 'rollout', why: NO_ROLLOUT }),
    retryNode: () => undefined,
    // A request about the whole run is sent to each part.
    hasCapacity: () =>
      hasCapacityForRequest(workflowInfo().historyLength, 0, options.max_events) &&
      driver.statuses().every(({ full }) => full !== true),
    acknowledged: () => driver.acknowledged(),
    async run() {
      const { end, reports, lost } = await driver.drive();
      const report = mergeReports(reports, sumCounts(driver.statuses().map((part) => part.counts)));
      return {
        end: control.cancelled ? undefined : end,
        report,
        ...given({ reason: lost }),
      };
    },
  };
}

const waitsOf = ({ waits }: PartDriver) => (waits.length === 0 ? {} : { waits });

const holdsOf = ({ holdBefore }: GraphDriveOptions) => (holdBefore.length === 0 ? {} : { hold_before: holdBefore });

const limitOf = ({ max_events }: GraphDriveOptions) => given({ max_events });

function noneIfCancelled(error: unknown): string[] {
  if (!isCancellation(error)) throw error;
  return [];
}
