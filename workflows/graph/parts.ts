import type { SearchAttributePair } from '@temporalio/common';
import { CancellationScope, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { given } from '../../src/core/data/given.ts';
import type { PartReport } from '../../src/core/graph-run/part-report.ts';
import type { PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import type { Coordination } from '../../src/core/scheduler/partition.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import type { GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import type { TaskOnNode } from '../../src/core/task-on-node.ts';
import { counted } from '../../src/core/text/text.ts';
import type { RunGraphPartInput } from '../contract.ts';
import { startChildOf } from '../run/border.ts';
import type { Control } from '../run/control.ts';
import { endOfChild } from '../run/failures.ts';
import { CoordinatorDriver, type CoordinatorOf, type PartsCoordinator, type PartsEnding } from './coordinator.ts';
import { DistantCoordinator } from './distant-coordinator.ts';
import type { FromCoordinatorSignal, FromPartSignal, PartRequest } from './messages.ts';
import { loadCoordination } from './part.ts';
import { stopReachesAgents } from './task-agents.ts';

/** Operator requests for single tasks. */
export type RetryOrSkip = PartRequest['type'];

interface SplitPlan {
  readonly input: Omit<RunGraphPartInput, 'part' | 'chunks'>;
  readonly type: string;
  /** Search attributes of the children. */
  readonly attributes: readonly SearchAttributePair[];
  readonly parts: PlanReference['parts'];
  readonly coordination: NonNullable<PlanReference['coordination']>;
  readonly hold: boolean;
  /** Names of tasks that operators have decided about. */
  readonly approved: () => readonly string[];
}

interface Child {
  readonly id: string;
  report: PartReport | null;
  /** Its first run has continued as new. */
  continued: boolean;
  /** Has it wait for no agent any more. */
  hurry: (() => Promise<void>) | null;
  /** Finds out whether it is still there. */
  probe: (() => Promise<void>) | null;
}

/** How the parts of a graph ended together. */
interface PartsEnd {
  readonly end: GraphEnd | undefined;
  readonly reports: readonly PartReport[];
  /** Which part someone ended, and how: the graph cannot continue without it. */
  readonly lost?: string;
}

/** Runs a graph in child workflows, one per part, with a coordinator in this workflow or, of very many parts, in another child. */
export class PartsDriver {
  readonly #plan: SplitPlan;
  readonly #control: Control;
  readonly #onTurn: () => void;
  readonly #children: readonly Child[];
  readonly #coordinator: PartsCoordinator;
  readonly #scope = new CancellationScope({ cancellable: true });
  /** By id of a request: whoever waits for its answer. */
  readonly #answers = new Map<string, (rejection: Rejection | null) => void>();
  #isProbed = false;
  #isCancelled = false;
  #broken: { readonly lost: string } | { readonly error: unknown } | null = null;
  #cancelling = false;

  constructor(plan: SplitPlan, control: Control, onTurn: () => void) {
    this.#plan = plan;
    this.#control = control;
    this.#onTurn = onTurn;
    const { workflowId } = workflowInfo();
    const { graph } = plan.input;
    this.#children = plan.parts.map((_, part) => ({
      id: `${workflowId}/${graph}.${part + 1}`,
      report: null,
      continued: false,
      probe: null,
      hurry: null,
    }));
    const of = {
      graph,
      parts: plan.parts,
      wake: () => control.wake(),
      answer: (id: string, rejection: Rejection | null) => {
        this.#answers.get(id)?.(rejection);
        this.#answers.delete(id);
      },
      moved: (part: number, hasContinued: boolean) => this.#moved(this.#children[part]!, hasContinued),
    };
    const { hold, type, parts } = plan;
    const { chunks, apart } = plan.coordination;
    const { plan: hash, max_events } = plan.input;
    const input = { graph, plan: hash, chunks, parts, ids: this.workflowIds(), hold, ...given({ max_events }) };
    const lost = (error: unknown): void => this.#lose(error);
    this.#coordinator = apart
      ? new DistantCoordinator({ ...of, id: `${workflowId}/${graph}.coordinator`, type, input, lost })
      : new OwnCoordinator({ ...of, hold, by }, () => loadCoordination(hash, chunks));
  }

  /** How people call the node. */
  nameOf(id: string): string {
    return this.#coordinator.nameOf(id);
  }
  statuses(): readonly PartStatus[] {
    return this.#coordinator.statuses();
  }
  workflowIds(): readonly string[] {
    return this.#children.map((child) => child.id);
  }
  get started(): boolean {
    return this.#coordinator.started;
  }
  /** Nodes that did not answer before the graph started. */
  get offline(): readonly string[] {
    return this.#coordinator.offline;
  }
  /** Nothing runs, and there are failed tasks that an operator may still retry. */
  get held(): boolean {
    if (!this.#plan.hold || !this.started || this.#coordinator.failures() === 0 || this.#control.paused !== null)
      return false;
    // The last report of a part may be some seconds old: a run that was held by it sent notices while tasks ran.
    return this.#coordinator.quiet;
  }

  /** Handles the signal `from_part`. */
  onSignal(signal: FromPartSignal): void {
    this.#coordinator.onPart(signal);
  }
  /** Handles the signal `from_coordinator`. */
  onReport(signal: FromCoordinatorSignal): void {
    this.#coordinator.onCoordinator(signal);
  }

  /** Passes an operator's request to the part that owns the task. Resolves with its rejection, or null. */
  ask(type: RetryOrSkip, { task, node }: TaskOnNode): Promise<Rejection | null> {
    return this.#answerTo((id) => this.#coordinator.ask({ id, type, task, node }));
  }

  /** Resolves when every part has processed the operators' requests about the whole run so far. */
  acknowledged(): Promise<unknown> {
    return this.#answerTo((id) => this.#coordinator.acknowledge(id));
  }

  #answerTo(request: (id: string) => void): Promise<Rejection | null> {
    return new Promise((answer) => {
      const id = this.#coordinator.newRequest();
      this.#answers.set(id, answer);
      request(id);
      this.#control.wake();
    });
  }

  async drive(): Promise<PartsEnd> {
    const control = this.#control;
    const coordinator = this.#coordinator;
    const running = await coordinator.start(() => this.#children.map((child, part) => this.#start(child, part)));
    for (;;) {
      if (control.cancelled && !this.#isCancelled) {
        this.#isCancelled = true;
        this.#cancelChildren();
      }
      if (!coordinator.started && control.stopping) this.#probeUnready();
      this.#turn();
      this.#onTurn();
      const lost = this.#children.find(({ report }) => report !== null && report.end === undefined);
      if (lost && !control.cancelled && this.#broken === null) {
        this.#broken = { lost: `${lost.id} was cancelled` };
        this.#cancelChildren();
      }
      if (this.#children.every((child) => child.report !== null) || this.#broken !== null) break;
      await control.changed();
    }
    await coordinator.ended({
      parts: Promise.all(running),
      turn: () => this.#turn(),
      changed: () => control.changed(),
      isCutShort: () => control.cancelled || this.#children.some(({ report }) => report?.end === undefined),
    });
    coordinator.finish();
    return this.#ended();
  }

  #turn(): void {
    const { paused, stopping, cancelled } = this.#control;
    const stops = stopping || cancelled;
    const approved = this.#plan.approved();
    this.#coordinator.turn({ paused: paused !== null, stops, cancelled, approved }, this.#cancelling);
  }

  #ended(): PartsEnd {
    const reports = this.#children.flatMap((child) => child.report ?? []);
    const broken = this.#broken;
    if (broken === null || this.#control.cancelled) return { end: this.#coordinator.end, reports };
    if ('error' in broken) throw broken.error;
    return { end: undefined, reports, lost: broken.lost };
  }

  #start(child: Child, part: number): Promise<void> {
    return this.#scope
      .run(() => this.#run(child, part))
      .catch((error: unknown) => this.#lose(error))
      .finally(() => this.#control.wake());
  }

  /** The others cannot finish without a part, nor without their coordinator. */
  #lose(error: unknown): void {
    const lost = endOfChild(error);
    this.#broken ??= lost === null ? { error } : { lost };
    this.#cancelChildren();
  }

  async #run(child: Child, part: number): Promise<void> {
    const { input, parts, type, attributes } = this.#plan;
    const { chunks, tasks, nodes } = parts[part]!;
    const coordinator = this.#coordinator;
    const started = await startChildOf('run_graph_part', {
      id: child.id,
      input: {
        ...input,
        part,
        chunks,
        ...given({ coordinator: coordinator.id }),
      },
      summary: `${type}, part ${part + 1} of ${parts.length}: ${counted(tasks, 'task')} on ${counted(nodes, 'node')}`,
      attributes,
      isPart: true,
    });
    child.probe = started.probe;
    child.hurry = () => started.signal('to_part', { by: by(), messages: [], stop: true });
    if (this.#isProbed && stopReachesAgents()) void child.hurry();
    coordinator.attach(part, started.run, (signal) => started.signal('to_part', signal));
    child.report = await started.result();
    coordinator.settle(part, child.report.counts, child.report.end);
  }

  /**
   * After a reset a part is waited for in vain that has ended before it was ready, while someone had terminated the run, or of which
   * the reset has lost the signal.
   */
  #probeUnready(): void {
    if (this.#isProbed) return;
    this.#isProbed = true;
    const unready = this.#coordinator.unready().map((part) => this.#children[part]!);
    for (const { probe } of unready) void probe?.();
    if (!stopReachesAgents()) return;
    for (const { hurry } of unready) void hurry?.();
  }

  /** Cancelling the scope reaches the first run of each child. A child that has continued as new is cancelled by its id. */
  #cancelChildren(): void {
    this.#cancelling = true;
    this.#scope.cancel();
    for (const child of this.#children) this.#cancelContinued(child);
  }

  /** A signal that tells so may arrive before or after the cancellation. */
  #moved(child: Child, hasContinued: boolean): void {
    if (hasContinued) child.continued = true;
    if (hasContinued) this.#cancelContinued(child);
    else if (this.#cancelling) this.#cancelNow(child);
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

/** In the workflow that has started the parts. */
export class OwnCoordinator extends CoordinatorDriver implements PartsCoordinator {
  readonly id = undefined;
  readonly #load: () => Promise<Coordination>;
  #requests = 0;

  constructor(of: CoordinatorOf, load: () => Promise<Coordination>) {
    super(of);
    this.#load = load;
  }

  async start<Started>(startParts: () => Started): Promise<Started> {
    const loading = this.#load();
    const started = startParts();
    this.begin(await loading);
    return started;
  }
  ended({ parts }: PartsEnding): Promise<unknown> {
    return parts;
  }
  newRequest(): string {
    return String(++this.#requests);
  }
  onPart(signal: FromPartSignal): void {
    this.onSignal(signal);
  }
  onCoordinator(): void {}
}

const by = () => ({ run: workflowInfo().runId, at: Date.now() });
