import { CancellationScope, log, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { given } from '../../src/core/data/given.ts';
import { shouldContinue } from '../../src/core/graph-run/history-capacity.ts';
import { intervalOfParts } from '../../src/core/graph-run/pace.ts';
import { mergeStatuses, type PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { CoordinatedEnd, CoordinatePartsInput, KeptCoordination, WorkflowContracts } from '../contract.ts';
import { assertStartedByRun, handle, probeHandler, signalById, signalParent } from '../run/border.ts';
import { Control } from '../run/control.ts';
import { CoordinatorDriver } from './coordinator.ts';
import {
  type FromCoordinatorSignal,
  readFromPart,
  readToCoordinator,
  type Steering,
  type ToCoordinatorSignal,
} from './messages.ts';
import { Alarm, loadCoordination } from './part.ts';
import { createCourier } from './signals.ts';

/** Changed counts are told less often the longer a graph runs, to save history events of its run. */
const REPORT_SHARE = 0.1;
/** So is what comes and goes: nodes that do not answer, waits for permits. */
const CHANGE_SHARE = 0.01;
const CHANGE_MS = 1_000;
/** More failures are told at once only if they are so many more. */
const FAILED_SHARE = 0.1;

/** So many of the nodes that did not answer before the graph started. */
const NAMED = 100;

/** It holds what has been sent to it in the meantime, too. */
const MAX_BYTES = 4_000_000;

/** Coordinates the parts of a graph with so many that their messages would fill the history of its run. Started by `execute_graph` only. */
export async function coordinate_parts(input: CoordinatePartsInput): Promise<CoordinatedEnd> {
  assertStartedByRun();
  return new Coordinating(input).run();
}

class Coordinating {
  readonly #input: CoordinatePartsInput;
  readonly #control = new Control(() => undefined);
  readonly #driver: CoordinatorDriver;
  readonly #runs: readonly string[];
  readonly #answers: [string, FromCoordinatorSignal['answers'][number][1]][];
  /** Told once the run cancels its parts: until then it reaches them as they are. */
  readonly #moved: Map<number, boolean>;
  readonly #startedAt: number;
  readonly #toldCounts: string[] = [];
  readonly #alarm = new Alarm(() => this.#control.wake(), 'wait for the next report');
  #steering: Steering;
  #by: ToCoordinatorSignal['by'] | null;
  #reportedAt: number;
  #told = NOTHING_TOLD;

  constructor(input: CoordinatePartsInput) {
    const { kept } = input;
    this.#input = input;
    this.#runs = kept?.runs ?? [];
    this.#answers = (kept?.answers ?? []).map(([id, rejection]) => [id, rejection]);
    this.#moved = new Map(kept?.moved);
    this.#steering = kept?.steering ?? { paused: false, stops: false, cancelled: false, approved: [] };
    this.#by = kept?.by ?? null;
    this.#startedAt = kept?.startedAt ?? Date.now();
    this.#reportedAt = kept?.reportedAt ?? 0;
    const control = this.#control;
    this.#driver = new CoordinatorDriver(
      {
        graph: input.graph,
        parts: input.parts,
        hold: input.hold,
        by: () => ({ run: workflowInfo().runId, at: Date.now(), after: this.#runs }),
        wake: () => control.wake(),
        answer: (id, rejection) => {
          this.#answers.push([id, rejection]);
        },
        moved: (part, hasContinued) => {
          this.#moved.set(part, hasContinued || this.#moved.get(part) === true);
        },
      },
      kept?.coordinator,
    );
    for (const [part, { run }] of (kept?.coordinator.peers ?? []).entries()) if (run !== null) this.#attach(part, run);
    this.#handle();
  }

  #handle(): void {
    handle<WorkflowContracts['coordinate_parts']>({
      signals: {
        ...probeHandler(),
        to_coordinator: { read: readToCoordinator, handle: (signal) => this.#take(signal) },
        from_part: { read: readFromPart, handle: (signal) => this.#driver.onSignal(signal) },
      },
      updates: {},
      queries: {
        status: {
          description: 'Counts of the tasks of all parts, failing first.',
          answer: () => mergeStatuses(this.#driver.statuses()),
        },
      },
      warn: log.warn,
    });
    void CancellationScope.current().cancelRequested.catch(() => this.#control.cancel());
  }

  run(): Promise<CoordinatedEnd> {
    return CancellationScope.nonCancellable(async () => {
      const { plan, chunks } = this.#input;
      const control = this.#control;
      const driver = this.#driver;
      driver.begin(await loadCoordination(plan, chunks));
      const courier = createCourier<FromCoordinatorSignal>(
        () => this.#report(),
        (signal) => signalParent('from_coordinator', signal),
      );
      let continues = false;
      for (;;) {
        driver.turn(this.#steering);
        courier.send();
        if (driver.end !== undefined || control.cancelled) break;
        continues = this.#isLong();
        if (continues) break;
        this.#alarm.set(this.#dueAt());
        await control.changed();
      }
      this.#alarm.stop();
      await driver.drain();
      if (continues && !control.cancelled) return this.#continueAsNew(courier);
      driver.finish();
      await courier.drain();
      return given({ end: driver.end });
    });
  }

  async #continueAsNew(courier: ReturnType<typeof createCourier>): Promise<never> {
    await courier.drain();
    const kept: KeptCoordination = {
      coordinator: this.#driver.keep(),
      runs: [...this.#runs, workflowInfo().runId],
      steering: this.#steering,
      by: this.#by,
      answers: this.#answers,
      moved: [...this.#moved],
      startedAt: this.#startedAt,
      reportedAt: this.#reportedAt,
    };
    // A new history: any later build may take it. Servers up to 1.29 keep it where it was.
    const toCurrentBuild = { initialVersioningBehavior: 'AUTO_UPGRADE' } as const;
    return makeContinueAsNewFunc<typeof coordinate_parts>(toCurrentBuild)({ ...this.#input, kept });
  }

  #isLong(): boolean {
    const { historyLength, historySize } = workflowInfo();
    return shouldContinue(historyLength, this.#input.max_events) || historySize > MAX_BYTES;
  }

  #attach(part: number, run: string): void {
    const id = this.#input.ids[part];
    if (id !== undefined) this.#driver.attach(part, run, (signal) => signalById(id, 'to_part', signal));
  }

  #take(signal: ToCoordinatorSignal): void {
    if (signal.graph !== this.#input.graph) return;
    const { by, steering, started, ended, asked, acknowledge } = signal;
    if (this.#by !== null && this.#by.run !== by.run) {
      // What a run has sent before its reset may arrive after what was sent since.
      if (by.at < this.#by.at) return;
      this.#tellAll();
    }
    this.#by = by;
    this.#steering = steering;
    for (const [part, run] of started) this.#attach(part, run);
    for (const { part, counts, end } of ended) this.#driver.settle(part, counts, end);
    for (const request of asked) this.#driver.ask(request);
    for (const id of acknowledge) this.#driver.acknowledge(id);
    this.#control.wake();
  }

  /** A run that was reset has forgotten what it was told. */
  #tellAll(): void {
    this.#toldCounts.splice(0);
    this.#told = NOTHING_TOLD;
  }

  #status(): PartStatus {
    return mergeStatuses(this.#driver.statuses());
  }

  get #quiet(): boolean {
    return this.#input.hold && this.#driver.failures() > 0 && this.#driver.quiet;
  }

  #now(status: PartStatus): Told {
    const { awaiting, silent, waits, full, counts } = status;
    return {
      started: this.#driver.started,
      events: JSON.stringify([awaiting, this.#quiet]),
      changes: JSON.stringify([silent.length > 0, waits, full]),
      counts: JSON.stringify([counts.failed, counts.running, counts.waiting]),
      failed: counts.failed,
    };
  }

  /** When the next report is due, if nothing else happens. Null: there is nothing to tell. */
  #dueAt(now = this.#now(this.#status())): number | null {
    const told = this.#told;
    const isUrgent =
      now.started !== told.started ||
      now.events !== told.events ||
      now.failed > told.failed * (1 + FAILED_SHARE) ||
      this.#answers.length > 0 ||
      (this.#steering.cancelled && this.#moved.size > 0);
    if (isUrgent) return 0;
    if (now.changes === told.changes && now.counts === told.counts) return null;
    const passed = Date.now() - this.#startedAt;
    if (now.changes !== told.changes) return this.#reportedAt + Math.max(CHANGE_MS, CHANGE_SHARE * passed);
    return this.#reportedAt + Math.max(intervalOfParts(this.#input.parts.length), REPORT_SHARE * passed);
  }

  #report(): FromCoordinatorSignal | null {
    const status = this.#status();
    const now = this.#now(status);
    const due = this.#dueAt(now);
    if (due === null || due > Date.now()) return null;
    const { started, offline } = this.#driver;
    const isNew = started && !this.#told.started;
    this.#told = now;
    this.#reportedAt = Date.now();
    return {
      graph: this.#input.graph,
      ...(isNew && { started: { offline } }),
      status: { ...status, names: this.#namesIn(status, isNew ? offline.slice(0, NAMED) : []) },
      counts: this.#changedCounts(),
      quiet: this.#quiet,
      answers: this.#answers.splice(0),
      moved: this.#steering.cancelled ? this.#takeMoved() : [],
    };
  }

  #takeMoved(): FromCoordinatorSignal['moved'] {
    const moved = [...this.#moved];
    this.#moved.clear();
    return moved;
  }

  /** How people call the nodes that it mentions. */
  #namesIn({ running, failed, silent }: PartStatus, others: readonly string[]): Readonly<Record<string, string>> {
    const nodes = new Set([...[...running, ...failed].map(({ node }) => node), ...silent, ...others]);
    return Object.fromEntries([...nodes].map((node) => [node, this.#driver.nameOf(node)]));
  }

  #changedCounts(): FromCoordinatorSignal['counts'] {
    return this.#driver.statuses().flatMap(({ counts }, part) => {
      const some = Object.fromEntries(Object.entries(counts).filter(([, tasks]) => tasks > 0));
      const text = JSON.stringify(some);
      if (this.#toldCounts[part] === text) return [];
      this.#toldCounts[part] = text;
      return [[part, some] as const];
    });
  }
}

/** What the run has been told. */
interface Told {
  readonly started: boolean;
  /** What someone waits for. */
  readonly events: string;
  /** What is told sooner than counts. */
  readonly changes: string;
  readonly counts: string;
  readonly failed: number;
}

const NOTHING_TOLD: Told = { started: false, events: '', changes: '', counts: '', failed: 0 };
