import { CancellationScope, uuid4, workflowInfo } from '@temporalio/workflow';
import type { PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import { plannedCounts } from '../../src/core/graph-run/status.ts';
import { NO_TASKS } from '../../src/core/graph-run/task-counts.ts';
import type { PartEnd } from '../../src/core/scheduler/part-messages.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import type { GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import { counted } from '../../src/core/text/text.ts';
import type { CoordinatePartsInput } from '../contract.ts';
import { startChildOf } from '../run/border.ts';
import { CHILD_MISSING, failure } from '../run/failures.ts';
import type { PartsCoordinator, PartsEnding } from './coordinator.ts';
import type { FromCoordinatorSignal, PartRequest, Steering, ToCoordinatorSignal } from './messages.ts';
import { type Courier, createCourier } from './signals.ts';

interface DistantOf {
  readonly id: string;
  readonly graph: number;
  readonly type: string;
  readonly parts: PlanReference['parts'];
  readonly input: CoordinatePartsInput;
  wake(): void;
  answer(id: string, rejection: Rejection | null): void;
  moved(part: number, hasContinued: boolean): void;
  /** It has ended before its parts have: someone has ended it. */
  lost(error: unknown): void;
}

/**
 * A coordinator in a workflow of its own (`coordinate_parts`), which continues as new when its history is long. A workflow with children cannot: they
 * would end, or no one would wait for them.
 */
export class DistantCoordinator implements PartsCoordinator {
  readonly #of: DistantOf;
  readonly #scope = new CancellationScope({ cancellable: true });
  readonly #counts: PartStatus['counts'][];
  readonly #names = new Map<string, string>();
  readonly #started: [number, string][] = [];
  readonly #ended: { readonly part: number; readonly counts: PartStatus['counts']; readonly end?: PartEnd }[] = [];
  readonly #asked: PartRequest[] = [];
  readonly #acknowledge: string[] = [];
  /** What operators wait for. */
  readonly #open = new Map<string, Rejection | null>();
  #status: PartStatus = { counts: NO_TASKS, running: [], failed: [], failing_nodes: 0, silent: [] };
  #steering: Steering | null = null;
  #told = '';
  #courier: Courier | null = null;
  #offline: readonly string[] | null = null;
  #quiet = false;
  #isDone = false;
  #end: GraphEnd | undefined;

  constructor(of: DistantOf) {
    this.#of = of;
    this.#counts = of.parts.map(plannedCounts);
  }

  async start<Started>(startParts: () => Started): Promise<Started> {
    const { id, type, parts, input } = this.#of;
    const child = await this.#scope.run(() =>
      startChildOf('coordinate_parts', {
        id,
        input,
        summary: `${type}, coordinator of ${counted(parts.length, 'part')}`,
        isPart: true,
      }),
    );
    this.#courier = createCourier<ToCoordinatorSignal>(
      () => this.#next(),
      (signal) => child.signal('to_coordinator', signal),
    );
    void child
      .result()
      .then(
        ({ end }) => {
          this.#end = end;
          const isOwn = end !== undefined || this.#scope.consideredCancelled;
          if (!isOwn) this.#of.lost(failure(CHILD_MISSING, `${id} was cancelled`));
        },
        (error: unknown) => this.#of.lost(error),
      )
      .finally(() => {
        this.#isDone = true;
        this.#of.wake();
      });
    return startParts();
  }

  /** It ends once it has heard that all parts have ended as it told them; otherwise it is ended. */
  async ended({ parts, turn, changed, isCutShort }: PartsEnding): Promise<void> {
    turn();
    await parts;
    turn();
    while (!this.#isDone) {
      if (isCutShort()) this.#scope.cancel();
      await changed();
    }
  }

  get id(): string {
    return this.#of.id;
  }
  get started(): boolean {
    return this.#offline !== null;
  }
  get offline(): readonly string[] {
    return this.#offline ?? [];
  }
  get quiet(): boolean {
    return this.#quiet;
  }
  get end(): GraphEnd | undefined {
    return this.#end;
  }
  nameOf(node: string): string {
    return this.#names.get(node) ?? node;
  }
  /** Of each part the counts alone; last, what people are shown of all of them. */
  statuses(): readonly PartStatus[] {
    const each = this.#counts.map((counts) => ({ counts, running: [], failed: [], failing_nodes: 0, silent: [] }));
    return [...each, { ...this.#status, counts: NO_TASKS }];
  }
  failures(): number {
    return this.#counts.reduce((sum, counts) => sum + counts.failed, 0);
  }
  unready(): readonly number[] {
    return this.started ? [] : [...this.#counts.keys()];
  }

  onPart(): void {}
  onCoordinator({ graph, started, status, counts, quiet, answers, moved }: FromCoordinatorSignal): void {
    if (graph !== this.#of.graph) return;
    if (started) this.#offline = started.offline;
    this.#status = status;
    this.#quiet = quiet;
    for (const [node, name] of Object.entries(status.names ?? {})) this.#names.set(node, name);
    for (const [part, some] of counts) if (part in this.#counts) this.#counts[part] = { ...NO_TASKS, ...some };
    for (const [id, rejection] of answers) {
      this.#open.delete(id);
      this.#of.answer(id, rejection);
    }
    for (const [part, hasContinued] of moved) this.#of.moved(part, hasContinued);
    this.#of.wake();
  }

  /** The part finds its coordinator by its id. */
  attach(part: number, run: string): void {
    this.#started.push([part, run]);
    this.#courier?.send();
  }
  settle(part: number, counts: PartStatus['counts'], end?: PartEnd): void {
    this.#counts[part] = counts;
    this.#ended.push({ part, counts, ...(end && { end }) });
  }
  ask(request: PartRequest): void {
    this.#open.set(request.id, { reason: 'finished' });
    this.#asked.push(request);
  }
  acknowledge(id: string): void {
    this.#open.set(id, null);
    this.#acknowledge.push(id);
  }
  turn(steering: Steering, isCancelling: boolean): void {
    this.#steering = { ...steering, cancelled: isCancelling };
    this.#courier?.send();
  }
  /** It may answer what this workflow asked before a reset, and a replay must ask by the same id: chance does both. */
  newRequest(): string {
    return uuid4();
  }
  finish(): void {
    for (const [id, rejection] of this.#open) this.#of.answer(id, rejection);
    this.#open.clear();
  }

  #next(): ToCoordinatorSignal | null {
    const steering = this.#steering;
    const [started, ended, asked, acknowledge] = [this.#started, this.#ended, this.#asked, this.#acknowledge];
    const text = JSON.stringify(steering);
    const isNews = text !== this.#told || [started, ended, asked, acknowledge].some((list) => list.length > 0);
    if (steering === null || !isNews) return null;
    this.#told = text;
    return {
      graph: this.#of.graph,
      by: { run: workflowInfo().runId, at: Date.now() },
      steering,
      started: started.splice(0),
      ended: ended.splice(0),
      asked: asked.splice(0),
      acknowledge: acknowledge.splice(0),
    };
  }
}
