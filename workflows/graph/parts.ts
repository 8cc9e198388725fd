import type { SearchAttributePair } from '@temporalio/common';
import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { type PartReport, type PartStatus, type PlanReference, plannedCounts } from '../../src/core/graph-run/index.ts';
import {
  type CoordinatorCommand,
  type CoordinatorEvent,
  coordinate,
  createCoordinator,
  endIn,
  type GraphEnd,
  isQuiet,
  processedBy,
  type Rejection,
  type ToPart,
} from '../../src/core/scheduler/index.ts';
import { isSameTask, type TaskOnNode } from '../../src/core/task-on-node.ts';
import { counted } from '../../src/core/text/text.ts';
import type { FromPartSignal, RunGraphPartInput, ToPartSignal } from '../contract.ts';
import { startChildOf } from '../run/border.ts';
import type { Control } from '../run/control.ts';
import { endOfChild } from '../run/failures.ts';
import { loadCoordination } from './part.ts';
import { type Courier, createCourier } from './signals.ts';
import { stopReachesAgents } from './task-agents.ts';

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

interface Child {
  readonly id: string;
  status: PartStatus;
  newest: number;
  /** Its first run, once it has started. */
  run: string | null;
  /** The execution that it was last heard of, and those that it has replaced. */
  execution: string | null;
  readonly replaced: Set<string>;
  /** Signals that arrived before it was known whether they are its own. */
  readonly early: FromPartSignal[];
  ready: readonly string[] | null;
  report: PartReport | null;
  /** Its first run has continued as new. */
  continued: boolean;
  readonly outgoing: ToPart[];
  courier: Courier | null;
  /** Has it wait for no agent any more. */
  hurry: (() => Promise<void>) | null;
  /** Finds out whether it is still there. */
  probe: (() => Promise<void>) | null;
  /** Number of the last message that paused, resumed or stopped the child. */
  steered: number;
  readonly requests: (Request & { readonly seq: number })[];
}

/** Chance: what a run draws after a reset differs from what it drew before. */
const newStamp = (): number => 1 + Math.floor(Math.random() * 2 ** 31);

/** Of an operator, about a task. */
interface Request {
  readonly about: TaskOnNode;
  answer(rejection: Rejection | null): void;
}

/** How the parts of a graph ended together. */
interface PartsEnd {
  readonly end: GraphEnd | undefined;
  readonly reports: readonly PartReport[];
  /** Which part someone ended, and how: the graph cannot continue without it. */
  readonly lost?: string;
}

/** Runs a graph in child workflows, one per part, with a coordinator in this workflow. */
export class PartsDriver {
  readonly #plan: SplitPlan;
  readonly #control: Control;
  readonly #onTurn: () => void;
  readonly #children: readonly Child[];
  readonly #scope = new CancellationScope({ cancellable: true });
  readonly #inbox: CoordinatorEvent[] = [];
  readonly #waiting: { after: readonly number[] | null; resolve(): void }[] = [];
  readonly #asked: Request[] = [];
  /** What operators have asked of the run, as far as the coordinator knows. */
  readonly #seen = { paused: false, stopping: false, cancelled: false, approved: new Set<string>() };
  /** Of the nodes that parts have mentioned, by their ids. */
  readonly #names = new Map<string, string>();
  #isProbed = false;
  #coordinator: ReturnType<typeof createCoordinator> | null = null;
  #offline: readonly string[] | null = null;
  #broken: { readonly lost: string } | { readonly error: unknown } | null = null;
  #cancelling = false;
  #end: GraphEnd | undefined;

  constructor(plan: SplitPlan, control: Control, onTurn: () => void) {
    this.#plan = plan;
    this.#control = control;
    this.#onTurn = onTurn;
    const { workflowId } = workflowInfo();
    this.#children = plan.parts.map((planned, part) => ({
      id: `${workflowId}/${plan.input.graph}.${part + 1}`,
      status: { counts: plannedCounts(planned), running: [], failed: [], failing_nodes: 0, silent: [] },
      newest: 0,
      run: null,
      execution: null,
      replaced: new Set(),
      early: [],
      ready: null,
      report: null,
      continued: false,
      outgoing: [],
      courier: null,
      probe: null,
      hurry: null,
      steered: 0,
      requests: [],
    }));
  }

  /** How people call the node. */
  nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }
  statuses(): readonly PartStatus[] {
    return this.#children.map((child) => child.status);
  }
  workflowIds(): readonly string[] {
    return this.#children.map((child) => child.id);
  }
  get started(): boolean {
    return this.#offline !== null;
  }
  /** Nodes that did not answer before the graph started. */
  get offline(): readonly string[] {
    return this.#offline ?? [];
  }
  /** Nothing runs, and there are failed tasks that an operator may still retry. */
  get held(): boolean {
    if (!this.#plan.hold || !this.started || this.#failures() === 0 || this.#control.paused !== null) return false;
    // The last report of a part may be some seconds old: a run that was held by it sent notices while tasks ran.
    return this.#coordinator !== null && isQuiet(this.#coordinator) && !this.#seen.stopping;
  }

  /** Handles the signal `from_part`. */
  onSignal(signal: FromPartSignal): void {
    const child = this.#children[signal.part];
    if (signal.graph !== this.#plan.input.graph || child === undefined) return;
    if (child.run === null) child.early.push(signal);
    if (signal.run !== child.run && !this.#isSuccessor(child, signal)) return;
    if (!this.#isCurrent(child, signal)) return;
    if (signal.seq > child.newest) {
      child.newest = signal.seq;
      if (child.report === null) child.status = signal.news;
      for (const [id, name] of Object.entries(signal.news.names ?? {})) this.#names.set(id, name);
    }
    if (signal.continued) {
      // The signal may arrive before or after the cancellation.
      child.continued = true;
      this.#cancelContinued(child);
    }
    // After a reset it may have been ready long ago: a part has no messages before.
    if (signal.messages.length > 0) child.ready ??= [];
    if (signal.ready) child.ready = signal.ready.offline;
    for (const message of signal.messages) this.#inbox.push({ type: 'received', message });
    this.#control.wake();
  }

  /**
   * Whether another workflow is the part now. After several resets the history may name a part that ended long ago, and whose place
   * one has taken that a run between them started. Whoever was heard last is there.
   */
  #isSuccessor(child: Child, { part, run }: FromPartSignal): boolean {
    if (child.execution === null) return false;
    child.run = run;
    child.execution = null;
    child.newest = 0;
    this.#inbox.push({ type: 'part_reset', part });
    return true;
  }

  /** Whether the signal comes from the execution that the part has now. One that neither is the known one nor continues it is a reset. */
  #isCurrent(child: Child, { part, by }: FromPartSignal): boolean {
    if (by === undefined || by.run === child.execution) return true;
    if (child.replaced.has(by.run)) return false;
    if (child.execution !== null) child.replaced.add(child.execution);
    if (child.execution !== null && by.after !== child.execution) {
      child.newest = 0;
      this.#inbox.push({ type: 'part_reset', part });
    }
    child.execution = by.run;
    // A reset takes the request to cancel back, too; by its id the part is reached as it is now.
    if (this.#cancelling) this.#cancelNow(child);
    return true;
  }

  /** Passes an operator's request to the part that owns the task. Resolves with its rejection, or null. */
  ask(request: RetryOrSkip, { task, node }: TaskOnNode): Promise<Rejection | null> {
    return new Promise((answer) => {
      this.#asked.push({ about: { task, node }, answer });
      this.#inbox.push({ type: request, task, node });
      this.#control.wake();
    });
  }

  /** Resolves when every part has processed the operators' requests about the whole run so far. */
  acknowledged(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ after: null, resolve });
      this.#control.wake();
    });
  }

  async drive(): Promise<PartsEnd> {
    const { input, coordinationChunks, hold } = this.#plan;
    const control = this.#control;
    const coordination = loadCoordination(input.plan, coordinationChunks);
    const running = this.#children.map((child, part) => this.#start(child, part));
    const coordinator = createCoordinator(await coordination, newStamp);
    this.#coordinator = coordinator;
    for (;;) {
      if (control.cancelled && !this.#seen.cancelled) {
        this.#seen.cancelled = true;
        this.#cancelChildren();
      }
      coordinator.hold = hold && this.#failures() > 0;
      const events = this.#gather();
      if (events.length > 0) for (const command of coordinate(coordinator, ...events)) this.#execute(command);
      this.#answerProcessed();
      this.#onTurn();
      const lost = this.#children.find(({ report }) => report !== null && report.end === undefined);
      if (lost && !control.cancelled && this.#broken === null) {
        this.#broken = { lost: `${lost.id} was cancelled` };
        this.#cancelChildren();
      }
      if (this.#children.every((child) => child.report !== null) || this.#broken !== null) break;
      await control.changed();
    }
    await Promise.all(running);
    for (const one of this.#waiting) one.resolve();
    for (const request of [...this.#asked, ...this.#children.flatMap((child) => child.requests)])
      request.answer({ reason: 'finished' });
    return this.#ended();
  }

  #ended(): PartsEnd {
    const reports = this.#children.flatMap((child) => child.report ?? []);
    const broken = this.#broken;
    if (broken === null || this.#control.cancelled) return { end: this.#end, reports };
    if ('error' in broken) throw broken.error;
    return { end: undefined, reports, lost: broken.lost };
  }

  #start(child: Child, part: number): Promise<void> {
    return this.#scope
      .run(() => this.#run(child, part))
      .catch((error: unknown) => {
        const lost = endOfChild(error);
        this.#broken ??= lost === null ? { error } : { lost };
        // The others cannot finish without it.
        this.#cancelChildren();
      })
      .finally(() => this.#control.wake());
  }

  async #run(child: Child, part: number): Promise<void> {
    const { input, parts, type, attributes } = this.#plan;
    const { chunks, tasks, nodes } = parts[part]!;
    const started = await startChildOf('run_graph_part', {
      id: child.id,
      input: { ...input, part, chunks },
      summary: `${type}, part ${part + 1} of ${parts.length}: ${counted(tasks, 'task')} on ${counted(nodes, 'node')}`,
      attributes,
      isPart: true,
    });
    child.run = started.run;
    child.probe = started.probe;
    child.hurry = () =>
      started.signal('to_part', { by: { run: workflowInfo().runId, at: Date.now() }, messages: [], stop: true });
    if (this.#isProbed && stopReachesAgents()) void child.hurry();
    for (const signal of child.early.splice(0)) this.onSignal(signal);
    child.courier = createCourier<ToPartSignal>(
      () => {
        const by = { run: workflowInfo().runId, at: Date.now() };
        return child.outgoing.length === 0 ? null : { by, messages: child.outgoing.splice(0) };
      },
      (signal) => started.signal('to_part', signal),
    );
    child.courier.send();
    child.report = await started.result();
    const { end } = child.report;
    if (end !== undefined) this.#inbox.push({ type: 'ended', part, ...end });
    child.status = { ...child.status, counts: child.report.counts, running: [], silent: [] };
  }

  /** Requests of operators and messages of children, as events. Empty until all children are ready. */
  #gather(): CoordinatorEvent[] {
    const control = this.#control;
    const inbox = this.#inbox;
    const seen = this.#seen;
    if (!this.started) {
      if (control.stopping) this.#probeUnready();
      if (control.cancelled || this.#children.some((child) => child.ready === null)) return [];
      const offline = this.#children.flatMap((child) => child.ready!);
      this.#offline = offline;
      inbox.unshift({ type: 'begin', offline });
    }
    const paused = control.paused !== null;
    if (paused !== seen.paused) inbox.push({ type: paused ? 'pause' : 'resume' });
    seen.paused = paused;
    const approved = this.#plan.approved();
    for (const name of approved) if (!seen.approved.has(name)) inbox.push({ type: 'approve', name });
    seen.approved = new Set(approved);
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) inbox.push({ type: 'stop' });
    seen.stopping = stops;
    return inbox.splice(0);
  }

  /**
   * After a reset a part is waited for in vain that has ended before it was ready, while someone had terminated the run, or of which
   * the reset has lost the signal.
   */
  #probeUnready(): void {
    if (this.#isProbed) return;
    this.#isProbed = true;
    for (const { ready, probe } of this.#children) if (ready === null) void probe?.();
    if (!stopReachesAgents()) return;
    for (const { ready, hurry } of this.#children) if (ready === null) void hurry?.();
  }

  #execute(command: CoordinatorCommand): void {
    switch (command.type) {
      case 'send':
        this.#send(this.#children[command.part]!, command.message);
        return;
      case 'rejected':
        this.#reject(command.rejection);
        return;
      case 'finish':
        this.#end = endIn(command);
        return;
      case 'stopping':
        return;
      default:
        command satisfies never;
    }
  }

  #send(child: Child, message: ToPart): void {
    const { retry = [], skip = [], pause, stop, approve, seq } = message;
    if ((pause ?? stop ?? approve) !== undefined) child.steered = seq;
    for (const task of [...retry, ...skip]) {
      // What the part has not seen before a reset is sent once more.
      for (const from of [child.requests, this.#asked]) {
        const at = from.findIndex(({ about }) => isSameTask(about, task));
        if (at >= 0) child.requests.push({ ...from.splice(at, 1)[0]!, seq });
      }
    }
    child.outgoing.push(message);
    child.courier?.send();
  }

  #reject(rejection: Rejection): void {
    const of = 'task' in rejection ? rejection : null;
    const own = this.#asked.findIndex(({ about }) => of === null || isSameTask(about, of));
    if (own >= 0) this.#asked.splice(own, 1)[0]!.answer(rejection);
    for (const child of this.#children) {
      const at = child.requests.findIndex(({ about }) => of !== null && isSameTask(about, of));
      if (at >= 0) child.requests.splice(at, 1)[0]!.answer(rejection);
    }
  }

  /** A part that has processed a request without rejecting it has accepted it. */
  #answerProcessed(): void {
    const processed = this.#children.map((_, part) => processedBy(this.#coordinator!, part));
    for (const [part, { requests }] of this.#children.entries())
      while (requests.length > 0 && requests[0]!.seq <= processed[part]!) requests.shift()!.answer(null);
    for (const one of this.#waiting.splice(0)) {
      const after = (one.after ??= this.#children.map((child) => child.steered));
      if (this.#children.every((child, part) => child.report !== null || processed[part]! >= after[part]!))
        one.resolve();
      else this.#waiting.push(one);
    }
  }

  #failures(): number {
    return this.#children.reduce((sum, child) => sum + child.status.counts.failed, 0);
  }

  /** Cancelling the scope reaches the first run of each child. A child that has continued as new is cancelled by its id. */
  #cancelChildren(): void {
    this.#cancelling = true;
    this.#scope.cancel();
    for (const child of this.#children) this.#cancelContinued(child);
  }

  #cancelContinued(child: Child): void {
    if (!this.#cancelling || !child.continued) return;
    child.continued = false;
    this.#cancelNow(child);
  }

  #cancelNow(child: Child): void {
    void CancellationScope.nonCancellable(() => getExternalWorkflowHandle(child.id).cancel()).catch(() => undefined);
  }
}
