import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { LoadGraphPart, RecordTasks } from '../activities/graph-contract.ts';
import {
  createLedger,
  createPace,
  type ExecutablePart,
  HISTORY_FULL,
  hasCapacityForRequest,
  hasCapacityForRetry,
  intervalOfParts,
  isFinal,
  type Ledger,
  outcomeOf,
  restoreLedger,
  shouldContinue,
  type TaskEnd,
} from '../src/core/graph-run/index.ts';
import {
  apply,
  createScheduler,
  endIn,
  type GraphEnd,
  pairOf,
  type Rejection,
  rejectionOf,
  restoreScheduler,
  type Scheduler,
  type SchedulerCommand,
  type SchedulerEvent,
  type SchedulerGraph,
  takeSnapshot,
  workLeft,
  wouldRetry,
} from '../src/core/scheduler/index.ts';
import { counted } from '../src/core/text/text.ts';
import { bookkeeping } from './activity-options.ts';
import { type Pieces, readPiece } from './answers.ts';
import { callActivity } from './border.ts';
import type { KeptPart, PartOf, TaskRun } from './contract.ts';
import type { Control } from './control.ts';
import { type Agents, createAgents } from './task-agents.ts';

interface PartListener {
  /** Names of tasks that operators have decided about. A part of a split graph gets them from the coordinator. */
  readonly approved?: () => readonly string[];
  /** The workflow can continue as new (`save`): the driver does so when that frees history space and nothing runs. */
  readonly canContinue?: true;
  /** Receives commands that are not about single tasks: `send`, `stopping`, `rejected`, `finish`. */
  received(command: SchedulerCommand): void;
  /** Called after each turn. Returns when it needs the next turn at the latest (milliseconds), or null. */
  turned(): number | null;
}

/** Runs one part of a graph: executes the commands of its scheduler. */
export interface PartDriver {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly agents: Agents;
  /** Number of running attempts. */
  readonly running: number;
  push(event: SchedulerEvent): void;
  /** Why the operator's request must be rejected now, or null. */
  objection(request: Extract<SchedulerEvent, { type: 'retry_task' | 'skip_task' }>): Rejection | null;
  /** Whether the history has space for an operator's request in addition to the remaining work. */
  hasCapacityForRequest(): boolean;
  /** Resolves when the scheduler has finished and all rows are written, or after a cancellation when all attempts have ended. */
  drive(): Promise<GraphEnd | undefined>;
  /** Whether `drive` ended in order to continue as new. */
  readonly continuesAsNew: boolean;
  /** The state from which another driver of the part can continue. */
  save(): KeptPart;
}

export function createPartDriver(
  part: ExecutablePart,
  of: PartOf,
  run: TaskRun & {
    readonly hold: boolean;
    readonly hold_before?: readonly string[];
    readonly max_events?: number;
  },
  control: Control,
  listener: PartListener,
  kept?: KeptPart,
): PartDriver {
  const options = { hold: run.hold, holdBefore: run.hold_before ?? [] };
  const scheduler =
    kept === undefined ? createScheduler(part.graph, options) : restoreScheduler(part.graph, kept.scheduler, options);
  const ledger = kept === undefined ? createLedger(part.graph) : restoreLedger(scheduler, kept.rows);
  const agents = createAgents(part, run);
  const records = new Records(ledger, of, () => control.wake(), intervalOf(part), kept?.records);
  const alarm = new Alarm(() => control.wake());
  const pace = createPace(run.patience.busy_slack_seconds);
  const tasks = new CancellationScope({ cancellable: true });
  const whole = part.graph.part === undefined;
  const inbox: SchedulerEvent[] = [...(kept?.inbox ?? [])];
  const seen = { paused: false, stopping: false, cancelled: false };
  let running = 0;
  let wakeAt: number | null = kept?.wakeAt ?? null;
  let stopping = kept !== undefined && kept.scheduler.announced !== 'none';
  let finished = false;
  let continuesAsNew = false;
  let end: GraphEnd | undefined;

  /** Puts operators' requests before all other events. A part of a split graph receives them from the coordinator. */
  function steer(): void {
    if (control.cancelled && !seen.cancelled) {
      seen.cancelled = true;
      tasks.cancel();
      agents.cancelAll();
    }
    if (!whole) return;
    const paused = control.paused !== null;
    if (paused !== seen.paused) inbox.unshift(paused ? { type: 'pause' } : { type: 'resume', now: Date.now() });
    seen.paused = paused;
    for (const name of listener.approved?.() ?? [])
      if (scheduler.held.has(name)) inbox.unshift({ type: 'approve', name });
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) inbox.unshift({ type: 'stop' });
    seen.stopping = stops;
  }

  const isStopping = (): boolean => stopping || control.cancelled;

  /** Work that the history must still hold. None on a single node, which can continue as new after each task. */
  const isLone = listener.canContinue === true && hasLoneNode(part.graph);
  const workAhead = (): number => (isLone ? 0 : workLeft(scheduler));

  /** First attempts always fit into the history. Expensive: checks every task. */
  const hasCapacity = (): boolean =>
    isLone || hasCapacityForRetry(workflowInfo().historyLength, workAhead(), run.max_events);

  /** After half a history on a single node. Otherwise only if it frees space, because parts are cut to fit. */
  const shouldContinueAsNew = (): boolean =>
    listener.canContinue === true &&
    shouldContinue(workflowInfo().historyLength, run.max_events) &&
    (isLone || !hasCapacity());

  function isExhausted(): boolean {
    scheduler.exhausted ||= !hasCapacity();
    return scheduler.exhausted;
  }

  function ended(task: number, attempt: number, end: TaskEnd): void {
    running--;
    const outcome = outcomeOf(end);
    const full = outcome === 'failed' && !isFinal(end) && wouldRetry(scheduler, task) && isExhausted();
    ledger.ended(task, full ? { ...end, message: `${end.message ?? end.outcome}; ${HISTORY_FULL}` } : end);
    const final = full || isFinal(end) ? { final: true as const } : {};
    inbox.push({ type: 'ended', task, attempt, outcome, ...final, now: Date.now() });
    control.wake();
  }

  function start({ task, attempt }: Extract<SchedulerCommand, { type: 'start' }>): void {
    running++;
    const { node } = pairOf(part.graph, task);
    agents.run(task, attempt, {
      silent: (is) => ledger.silent(node, is),
      isStopping,
      ended: (end) => ended(task, attempt, end),
    });
  }

  function execute(command: SchedulerCommand, now: number): void {
    switch (command.type) {
      case 'start':
        // Nothing starts after a cancellation, even if the scheduler has not processed it yet.
        if (control.cancelled) return;
        ledger.note(command, now);
        start(command);
        return;
      case 'wake':
        wakeAt = command.at;
        return;
      case 'stopping':
        stopping = command.why !== 'none';
        break;
      case 'finish':
        finished = true;
        end = endIn(command);
        break;
      case 'retrying':
      case 'settled':
      case 'reopened':
        ledger.note(command, now);
        return;
      case 'send':
      case 'rejected':
        break;
      default:
        command satisfies never;
    }
    listener.received(command);
  }

  /** Processes all events together. All started work shares one scope, because each scope creates promises. */
  function turn(now: number): void {
    const commands = apply(scheduler, ...inbox.splice(0));
    let bug: { readonly error: unknown } | null = null;
    void tasks.run(async () => {
      try {
        for (const command of commands) execute(command, now);
      } catch (error) {
        bug = { error };
      }
    });
    if (bug !== null) throw (bug as { readonly error: unknown }).error;
  }

  return {
    scheduler,
    ledger,
    agents,
    get running() {
      return running;
    },
    push(event) {
      if (event.type === 'retry_task' || (event.type === 'received' && event.message.retry !== undefined))
        isExhausted();
      inbox.push(event);
      control.wake();
    },
    objection(request) {
      const rejection = rejectionOf(scheduler, request) ?? null;
      // Validators call this, so it must change nothing.
      return rejection === null && request.type === 'retry_task' && !hasCapacity()
        ? { reason: 'exhausted' }
        : rejection;
    },
    hasCapacityForRequest: () => hasCapacityForRequest(workflowInfo().historyLength, workAhead(), run.max_events),
    get continuesAsNew() {
      return continuesAsNew;
    },
    save: () => ({
      scheduler: takeSnapshot(scheduler),
      rows: ledger.keep(),
      inbox: [...inbox],
      wakeAt,
      records: records.sequence,
    }),
    async drive() {
      for (;;) {
        const now = Date.now();
        steer();
        // Before the turn, while the events are not processed yet: nothing new has started.
        continuesAsNew = running === 0 && !finished && !control.cancelled && shouldContinueAsNew();
        if (continuesAsNew) break;
        if (wakeAt !== null && wakeAt <= now) {
          wakeAt = null;
          inbox.push({ type: 'tick', now });
        }
        if (inbox.length > 0) turn(now);
        records.flush();
        const again = listener.turned();
        if (running === 0 && (finished || control.cancelled)) break;
        // Attempts that could not be sent have ended already.
        if (inbox.length > 0) continue;
        // Any turn writes due rows and reports, so their timer may be late. A retry starts on time.
        pace.turned(now);
        const due = earliest(records.dueAt(), again);
        alarm.set(earliest(wakeAt, due === null ? null : due + pace.slack(now)));
        await control.changed();
      }
      alarm.stop();
      await records.drain();
      return end;
    },
  };
}

/** Least time (ms) between two reports or records of a part. */
export const intervalOf = ({ graph }: ExecutablePart): number => intervalOfParts(graph.part?.count ?? 1);

/** Whether all work of a part is on one node: nothing else runs when a task ends. */
function hasLoneNode(graph: SchedulerGraph): boolean {
  const working = new Set(graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1));
  return working.size === 1;
}

const earliest = (...times: readonly (number | null)[]): number | null =>
  times.reduce((least, time) => (time !== null && (least === null || time < least) ? time : least), null);

/** The pieces of a stored plan: its parts, and the input of their coordinator. */
export const loadPart = (hash: string, part: number, chunks: number): Promise<Pieces['part']> =>
  loadPiece('part', hash, part, `part ${part + 1}`, chunks);

export const loadCoordination = (hash: string, chunks: number): Promise<Pieces['coordination']> =>
  loadPiece('coordination', hash, 'coordination', 'coordination', chunks);

/** Reads all chunks of a stored piece of a plan in parallel. */
async function loadPiece<Piece extends keyof Pieces>(
  piece: Piece,
  hash: string,
  part: LoadGraphPart['part'],
  name: string,
  chunks: number,
): Promise<Pieces[Piece]> {
  const read = (chunk: number) => {
    const options = bookkeeping(`load ${name} of the plan${chunks > 1 ? ` (${chunk + 1} of ${chunks})` : ''}`);
    return callActivity('load_graph_part', { hash, part, chunk }, options);
  };
  const pieces = await Promise.all(Array.from({ length: chunks }, (_, chunk) => read(chunk)));
  return readPiece(piece, pieces.map((one) => one.text).join(''));
}

/** A full batch is written immediately; fewer rows wait. */
const ROWS = 300;

/** Events that one record costs when nothing else happens at the same time. */
const EVENTS_A_RECORD = 11;
/** Records may take a fifth of a history. The first few are free, so that a short run shows its rows immediately. */
const FREE_EVENTS = 220;

/** Writes history rows in batches in the background: one batch at a time, in order. */
class Records {
  readonly #ledger: Ledger;
  readonly #of: PartOf;
  readonly #wake: () => void;
  readonly #everyMs: number;
  readonly #earlier: number;
  #sequence: number;
  #last = Date.now();
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  /**
   * @param everyMs least time between two batches that are not full
   * @param earlier number of batches that were written in earlier histories
   */
  constructor(ledger: Ledger, of: PartOf, wake: () => void, everyMs: number, earlier = 0) {
    this.#ledger = ledger;
    this.#of = of;
    this.#wake = wake;
    this.#everyMs = everyMs;
    this.#earlier = earlier;
    this.#sequence = earlier;
  }

  /** Number of batches written or being written. */
  get sequence(): number {
    return this.#sequence;
  }
  /** Writes due records. Call it after every event. */
  flush(): void {
    const { pending } = this.#ledger;
    if (this.#writing !== null || pending === 0) return;
    const aged = Date.now() - this.#last >= this.#everyMs && this.#isAffordable();
    if (pending >= ROWS || aged) this.#write();
  }
  /** The time (ms) at which to call `flush` again if no event does so earlier; null when no rows wait. */
  dueAt(): number | null {
    const waits = this.#writing === null && this.#ledger.pending > 0 && this.#isAffordable();
    return waits ? this.#last + this.#everyMs : null;
  }
  /** Writes everything. Rejects if any record could not be written. */
  async drain(): Promise<void> {
    while (this.#writing !== null || this.#ledger.pending > 0) {
      if (this.#writing === null) this.#write();
      await this.#writing;
    }
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Limits timed records in proportion to other events: a long run must not fill its history with them. */
  #isAffordable(): boolean {
    const written = this.#sequence - this.#earlier;
    return written * EVENTS_A_RECORD * 5 < workflowInfo().historyLength + FREE_EVENTS * 5;
  }

  #write(): void {
    this.#last = Date.now();
    this.#sequence += 1;
    const record: RecordTasks = { ...this.#of, sequence: this.#sequence, rows: this.#ledger.takeRows() };
    const options = bookkeeping(`record ${counted(record.rows.length, 'task')}`);
    this.#writing = callActivity('record_tasks', record, options)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#writing = null;
        this.#wake();
      });
  }
}

/** One timer at a time. It is reset only when something is due earlier, because each reset costs events. */
export class Alarm {
  readonly #onRing: () => void;
  readonly #summary: string;
  #current: { readonly at: number; readonly scope: CancellationScope } | null = null;

  constructor(onRing: () => void, summary = 'until the next retry, record or report is due') {
    this.#onRing = onRing;
    this.#summary = summary;
  }

  /** Rings at this time (milliseconds) or earlier. null: nothing is due. */
  set(at: number | null): void {
    // A later time needs no new timer: the timer rings early, finds nothing due and is set again.
    if (at === null || (this.#current !== null && this.#current.at <= at)) return;
    this.stop();
    const scope = new CancellationScope({ cancellable: true });
    const mine = { at, scope };
    this.#current = mine;
    void scope
      .run(() => sleep(Math.max(1, at - Date.now()), { summary: this.#summary }))
      .then(
        () => {
          if (this.#current === mine) this.#current = null;
          this.#onRing();
        },
        (error: unknown) => {
          if (!isCancellation(error)) throw error;
        },
      );
  }
  stop(): void {
    this.#current?.scope.cancel();
    this.#current = null;
  }
}
