import type { SearchAttributePair } from '@temporalio/common';
import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { type PartReport, type PartStatus, type PlanReference, plannedCounts } from '../src/core/graph-run/index.ts';
import {
  type CoordinatorCommand,
  type CoordinatorEvent,
  coordinate,
  createCoordinator,
  endIn,
  type GraphEnd,
  isQuiet,
  type Rejection,
  type ToPart,
} from '../src/core/scheduler/index.ts';
import { isSameTask, type TaskOnNode } from '../src/core/task-on-node.ts';
import { counted } from '../src/core/text/text.ts';
import { startChildOf } from './border.ts';
import type { RunGraphPartInput } from './contract.ts';
import type { Control } from './control.ts';
import { endOfChild } from './failures.ts';
import { loadCoordination } from './graph-part.ts';
import { type Courier, createCourier, type FromPartSignal, type ToPartSignal } from './graph-signals.ts';

/** Operator requests for single tasks. */
export type RetryOrSkip = 'retry_task' | 'skip_task';

interface SplitPlan {
  readonly input: Omit<RunGraphPartInput, 'part' | 'chunks'>;
  readonly type: string;
  /** Search attributes of the children. */
  readonly attributes: readonly SearchAttributePair[];
  readonly parts: PlanReference['parts'];
  readonly coordinationChunks: number;
  readonly hold: boolean;
  /** Names of tasks that operators have decided about. */
  readonly approved: () => readonly string[];
}

/** Runs a graph in child workflows, one per part, with a coordinator in this workflow. */
interface PartsDriver {
  /** Handles the signal `from_part`. */
  onSignal(signal: FromPartSignal): void;
  statuses(): readonly PartStatus[];
  workflowIds(): readonly string[];
  /** Passes an operator's request to the part that owns the task. Resolves with its rejection, or null. */
  ask(this: void, request: RetryOrSkip, about: TaskOnNode): Promise<Rejection | null>;
  /** Resolves when every part has processed the operators' requests about the whole run so far. */
  acknowledged(): Promise<void>;
  /** Nodes that did not answer before the graph started. */
  readonly offline: readonly string[];
  readonly started: boolean;
  /** Nothing runs, and there are failed tasks that an operator may still retry. */
  readonly held: boolean;
  drive(): Promise<{
    readonly end: GraphEnd | undefined;
    readonly reports: readonly PartReport[];
    /** Which part someone ended, and how: the graph cannot continue without it. */
    readonly lost?: string;
  }>;
}

interface Child {
  readonly id: string;
  status: PartStatus;
  newest: number;
  /** Number of the parent's last message that the child has processed. */
  acknowledged: number;
  ready: readonly string[] | null;
  report: PartReport | null;
  /** Its first run has continued as new. */
  continued: boolean;
  readonly outgoing: ToPart[];
  courier: Courier | null;
  /** Number of the last message that paused, resumed or stopped the child. */
  steered: number;
  readonly requests: (Request & { readonly seq: number })[];
}

/** Of an operator, about a task. */
interface Request {
  readonly about: TaskOnNode;
  answer(rejection: Rejection | null): void;
}

export function createPartsDriver(plan: SplitPlan, control: Control, onTurn: () => void): PartsDriver {
  const inbox: CoordinatorEvent[] = [];
  const waiting: { after: readonly number[] | null; resolve(): void }[] = [];
  const asked: Request[] = [];
  const children = plan.parts.map(
    (planned, part): Child => ({
      id: `${workflowInfo().workflowId}/${plan.input.graph}.${part + 1}`,
      status: { counts: plannedCounts(planned), running: [], failed: [], failing_nodes: 0, silent: [] },
      newest: 0,
      acknowledged: 0,
      ready: null,
      report: null,
      continued: false,
      outgoing: [],
      courier: null,
      steered: 0,
      requests: [],
    }),
  );
  const scope = new CancellationScope({ cancellable: true });
  const seen = { paused: false, stopping: false, cancelled: false, approved: new Set<string>() };
  const state = { started: false, offline: [] as string[] };
  let broken: { readonly lost: string } | { readonly error: unknown } | null = null;
  let cancelling = false;
  let quiet = (): boolean => false;

  async function run(child: Child, part: number): Promise<void> {
    const { chunks, tasks, nodes } = plan.parts[part]!;
    const input: RunGraphPartInput = { ...plan.input, part, chunks };
    const started = await startChildOf('run_graph_part', {
      id: child.id,
      input,
      summary: `${plan.type}, part ${part + 1} of ${plan.parts.length}: ${counted(tasks, 'task')} on ${counted(nodes, 'node')}`,
      attributes: plan.attributes,
      isPart: true,
    });
    child.courier = createCourier<ToPartSignal>(
      () => (child.outgoing.length === 0 ? null : { messages: child.outgoing.splice(0) }),
      (signal) => started.signal('to_part', signal),
    );
    child.courier.send();
    child.report = await started.result();
    child.status = { ...child.status, counts: child.report.counts, running: [], silent: [] };
  }

  /** Requests of operators and messages of children, as events. Empty until all children are ready. */
  function gather(): CoordinatorEvent[] {
    if (!state.started) {
      if (control.cancelled || children.some((child) => child.ready === null)) return [];
      state.started = true;
      state.offline = children.flatMap((child) => child.ready!);
      inbox.unshift({ type: 'begin', offline: state.offline });
    }
    const paused = control.paused !== null;
    if (paused !== seen.paused) inbox.push({ type: paused ? 'pause' : 'resume' });
    seen.paused = paused;
    for (const name of plan.approved()) if (!seen.approved.has(name)) inbox.push({ type: 'approve', name });
    seen.approved = new Set(plan.approved());
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) inbox.push({ type: 'stop' });
    seen.stopping = stops;
    return inbox.splice(0);
  }

  const failures = (): number => children.reduce((sum, child) => sum + child.status.counts.failed, 0);

  /** Cancelling the scope reaches the first run of each child. A child that has continued as new is cancelled by its id. */
  function cancelChildren(): void {
    cancelling = true;
    scope.cancel();
    children.forEach(cancelContinued);
  }

  function cancelContinued(child: Child): void {
    if (!cancelling || !child.continued) return;
    child.continued = false;
    void CancellationScope.nonCancellable(() => getExternalWorkflowHandle(child.id).cancel()).catch(() => undefined);
  }

  async function drive() {
    const coordination = loadCoordination(plan.input.plan, plan.coordinationChunks);
    const running = children.map((child, part) =>
      scope
        .run(() => run(child, part))
        .catch((error: unknown) => {
          const lost = endOfChild(error);
          broken ??= lost === null ? { error } : { lost };
          // The others cannot finish without it.
          cancelChildren();
        })
        .finally(() => control.wake()),
    );
    const coordinator = createCoordinator(await coordination);
    quiet = () => isQuiet(coordinator);
    let end: GraphEnd | undefined;

    const execute = (command: CoordinatorCommand): void => {
      switch (command.type) {
        case 'send': {
          const child = children[command.part]!;
          const { retry = [], skip = [], pause, stop, approve, seq } = command.message;
          if ((pause ?? stop ?? approve) !== undefined) child.steered = seq;
          for (const task of [...retry, ...skip]) {
            const at = asked.findIndex(({ about }) => isSameTask(about, task));
            if (at >= 0) child.requests.push({ ...asked.splice(at, 1)[0]!, seq });
          }
          child.outgoing.push(command.message);
          child.courier?.send();
          return;
        }
        case 'rejected': {
          const { rejection } = command;
          const of = 'task' in rejection ? rejection : null;
          const own = asked.findIndex(({ about }) => of === null || isSameTask(about, of));
          if (own >= 0) asked.splice(own, 1)[0]!.answer(rejection);
          for (const child of children) {
            const at = child.requests.findIndex(({ about }) => of !== null && isSameTask(about, of));
            if (at >= 0) child.requests.splice(at, 1)[0]!.answer(rejection);
          }
          return;
        }
        case 'finish':
          end = endIn(command);
          return;
        case 'stopping':
          return;
        default:
          command satisfies never;
      }
    };

    for (;;) {
      if (control.cancelled && !seen.cancelled) {
        seen.cancelled = true;
        cancelChildren();
      }
      coordinator.hold = plan.hold && failures() > 0;
      const events = gather();
      if (events.length > 0) for (const command of coordinate(coordinator, ...events)) execute(command);
      // A part that has processed a request without rejecting it has accepted it.
      for (const child of children) {
        while (child.requests.length > 0 && child.requests[0]!.seq <= child.acknowledged)
          child.requests.shift()!.answer(null);
      }
      for (const one of waiting.splice(0)) {
        const after = (one.after ??= children.map((child) => child.steered));
        if (children.every((child, part) => child.report !== null || child.acknowledged >= after[part]!)) one.resolve();
        else waiting.push(one);
      }
      onTurn();
      const lost = children.find((child) => child.report !== null);
      if (lost && !coordinator.closing && !control.cancelled && broken === null) {
        broken = { lost: `${lost.id} was cancelled` };
        cancelChildren();
      }
      if (children.every((child) => child.report !== null) || broken !== null) break;
      await control.changed();
    }
    await Promise.all(running);
    for (const one of waiting) one.resolve();
    for (const request of [...asked, ...children.flatMap((child) => child.requests)])
      request.answer({ reason: 'finished' });
    const reports = children.flatMap((child) => child.report ?? []);
    if (broken === null || control.cancelled) return { end, reports };
    if ('error' in broken) throw broken.error;
    return { end: undefined, reports, lost: broken.lost };
  }

  return {
    onSignal(signal) {
      const child = children[signal.part];
      if (signal.graph !== plan.input.graph || child === undefined) return;
      if (signal.seq > child.newest) {
        child.newest = signal.seq;
        if (child.report === null) child.status = signal.news;
      }
      child.acknowledged = Math.max(child.acknowledged, signal.processed);
      if (signal.continued) {
        // The signal may arrive before or after the cancellation.
        child.continued = true;
        cancelContinued(child);
      }
      if (signal.ready) child.ready = signal.ready.offline;
      for (const message of signal.messages) inbox.push({ type: 'received', message });
      control.wake();
    },
    statuses: () => children.map((child) => child.status),
    workflowIds: () => children.map((child) => child.id),
    ask(request, { task, node }) {
      return new Promise((answer) => {
        asked.push({ about: { task, node }, answer });
        inbox.push({ type: request, task, node });
        control.wake();
      });
    },
    acknowledged() {
      return new Promise((resolve) => {
        waiting.push({ after: null, resolve });
        control.wake();
      });
    },
    get offline() {
      return state.offline;
    },
    get started() {
      return state.started;
    },
    get held() {
      if (!plan.hold || !state.started || failures() === 0 || control.paused !== null) return false;
      // The last report of a part may be some seconds old: a run that was held by it sent notices while tasks ran.
      return quiet() && !seen.stopping;
    },
    drive,
  };
}
