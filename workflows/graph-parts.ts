import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { NO_TASKS, type PartNews, type PartReport } from '../src/core/graph-run/index.js';
import {
  type CoordinatorCommand,
  type CoordinatorEvent,
  coordinate,
  createCoordinator,
  type Rejection,
  type RunResult,
  type ToPart,
} from '../src/core/scheduler/index.js';
import { startChildOf } from './border.js';
import type { Control } from './control.js';
import type { TaskUpdate } from './graph-drive.js';
import { loadCoordination } from './graph-part.js';
import { type Courier, createCourier, type FromPartSignal, type ToPartSignal } from './graph-signals.js';
import type { RunGraphPartInput } from './run-graph-part.js';

export interface SplitPlan {
  readonly input: Omit<RunGraphPartInput, 'part' | 'chunks'>;
  readonly type: string;
  readonly parts: readonly { readonly chunks: number; readonly tasks: number; readonly nodes: number }[];
  readonly coordinationChunks: number;
  readonly hold: boolean;
}

/** A graph that child workflows run, a part each, held together by a coordinator here. */
export interface PartsDriver {
  /** For `from_part`. */
  onSignal(signal: FromPartSignal): void;
  news(): readonly PartNews[];
  workflowIds(): readonly string[];
  /** Passes an operator's request to the part that owns the task; resolves with its objection, or null. */
  ask(this: void, request: TaskUpdate, task: string): Promise<Rejection | null>;
  /** Resolves when every part has taken in what operators said about the whole run so far. */
  acknowledged(): Promise<void>;
  /** Nodes that did not answer before the graph began. */
  readonly offline: readonly string[];
  readonly begun: boolean;
  /** All is quiet, and tasks are failed that an operator may still retry. */
  readonly held: boolean;
  drive(): Promise<{ readonly result: RunResult | undefined; readonly reports: readonly PartReport[] }>;
}

interface Child {
  readonly id: string;
  news: PartNews;
  newest: number;
  heard: number;
  ready: readonly string[] | null;
  report: PartReport | null;
  /** Its first run has continued as new. */
  continued: boolean;
  readonly outgoing: ToPart[];
  courier: Courier | null;
  /** Number of the last message that paused, resumed or stopped the child. */
  steered: number;
  readonly requests: { readonly seq: number; readonly task: string; answer(rejection: Rejection | null): void }[];
}

export function createPartsDriver(plan: SplitPlan, control: Control, onTurn: () => void): PartsDriver {
  const inbox: CoordinatorEvent[] = [];
  const waiting: { after: readonly number[] | null; resolve(): void }[] = [];
  const asked: { readonly task: string; answer(rejection: Rejection | null): void }[] = [];
  const children = plan.parts.map(
    ({ tasks }, part): Child => ({
      id: `${workflowInfo().workflowId}/${plan.input.graph}.${part + 1}`,
      news: { counts: { ...NO_TASKS, waiting: tasks }, running: [], failed: [], failing_nodes: 0, silent: [] },
      newest: 0,
      heard: 0,
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
  const seen = { paused: false, stopping: false, cancelled: false };
  const state = { begun: false, offline: [] as string[] };
  let broken: { readonly error: unknown } | null = null;
  let cancelling = false;

  async function run(child: Child, part: number): Promise<void> {
    const { chunks, tasks, nodes } = plan.parts[part]!;
    const input: RunGraphPartInput = { ...plan.input, part, chunks };
    const started = await startChildOf('run_graph_part', {
      id: child.id,
      input,
      summary: `${plan.type}, part ${part + 1} of ${plan.parts.length}: ${tasks} tasks on ${nodes} nodes`,
    });
    child.courier = createCourier<ToPartSignal>(
      () => (child.outgoing.length === 0 ? null : { messages: child.outgoing.splice(0) }),
      (signal) => started.signal('to_part', signal),
    );
    child.courier.send();
    child.report = await started.result();
    child.news = { ...child.news, counts: child.report.counts, running: [], silent: [] };
  }

  /** What operators want and what children sent, as events. Before the beginning nothing but that counts. */
  function gather(): CoordinatorEvent[] {
    if (!state.begun) {
      if (control.cancelled || children.some((child) => child.ready === null)) return [];
      state.begun = true;
      state.offline = children.flatMap((child) => child.ready!);
      inbox.unshift({ type: 'begin', offline: state.offline });
    }
    const paused = control.paused !== null;
    if (paused !== seen.paused) inbox.push({ type: paused ? 'pause' : 'resume' });
    seen.paused = paused;
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) inbox.push({ type: 'stop' });
    seen.stopping = stops;
    return inbox.splice(0);
  }

  const failures = (): number => children.reduce((sum, child) => sum + child.news.counts.failed, 0);

  /** Cancelling the scope asks the first run of each child; one that has continued as new is asked by its id. */
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
          broken ??= { error };
          // The others cannot come to an end without it.
          cancelChildren();
        })
        .finally(control.wake),
    );
    const coordinator = createCoordinator(await coordination);
    let result: RunResult | undefined;

    const obey = (command: CoordinatorCommand): void => {
      switch (command.type) {
        case 'tell': {
          const child = children[command.part]!;
          const { retry = [], skip = [], pause, stop, seq } = command.message;
          if ((pause ?? stop) !== undefined) child.steered = seq;
          for (const task of [...retry, ...skip]) {
            const at = asked.findIndex((request) => request.task === task);
            if (at >= 0) child.requests.push({ ...asked.splice(at, 1)[0]!, seq });
          }
          child.outgoing.push(command.message);
          child.courier?.send();
          return;
        }
        case 'rejected': {
          const { rejection } = command;
          const of = 'task' in rejection ? rejection.task : null;
          const own = asked.findIndex((request) => of === null || request.task === of);
          if (own >= 0) asked.splice(own, 1)[0]!.answer(rejection);
          for (const child of children) {
            const at = child.requests.findIndex((request) => request.task === of);
            if (at >= 0) child.requests.splice(at, 1)[0]!.answer(rejection);
          }
          return;
        }
        case 'finish':
          result = command.result;
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
      if (events.length > 0) for (const command of coordinate(coordinator, ...events)) obey(command);
      // A part that has received a request and did not reject it has met it.
      for (const child of children) {
        while (child.requests.length > 0 && child.requests[0]!.seq <= child.heard) child.requests.shift()!.answer(null);
      }
      for (const one of waiting.splice(0)) {
        const after = (one.after ??= children.map((child) => child.steered));
        if (children.every((child, part) => child.report !== null || child.heard >= after[part]!)) one.resolve();
        else waiting.push(one);
      }
      onTurn();
      if (children.every((child) => child.report !== null) || broken !== null) break;
      await control.changed();
    }
    await Promise.all(running);
    for (const one of waiting) one.resolve();
    for (const request of [...asked, ...children.flatMap((child) => child.requests)])
      request.answer({ reason: 'finished' });
    if (broken !== null && !control.cancelled) throw broken.error;
    return { result, reports: children.flatMap((child) => child.report ?? []) };
  }

  return {
    onSignal(signal) {
      const child = children[signal.part];
      if (signal.graph !== plan.input.graph || child === undefined) return;
      if (signal.seq > child.newest) {
        child.newest = signal.seq;
        if (child.report === null) child.news = signal.news;
      }
      child.heard = Math.max(child.heard, signal.heard);
      if (signal.continued) {
        // It may say so before the cancellation or after it.
        child.continued = true;
        cancelContinued(child);
      }
      if (signal.ready) child.ready = signal.ready.offline;
      for (const message of signal.messages) inbox.push({ type: 'heard', message });
      control.wake();
    },
    news: () => children.map((child) => child.news),
    workflowIds: () => children.map((child) => child.id),
    ask(request, task) {
      return new Promise((answer) => {
        asked.push({ task, answer });
        inbox.push({ type: request, task });
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
    get begun() {
      return state.begun;
    },
    get held() {
      const idle = children.every(({ news }) => news.counts.running + news.counts.retrying === 0);
      return plan.hold && state.begun && idle && failures() > 0 && control.paused === null;
    },
    drive,
  };
}
