import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { LoadGraphPart, RecordTasks } from '../../activities/graph-contract.ts';
import { given } from '../../src/core/data/given.ts';
import {
  HISTORY_FULL,
  hasCapacityForRequest,
  hasCapacityForRetry,
  shouldContinue,
} from '../../src/core/graph-run/history-capacity.ts';
import { Ledger, restoreLedger } from '../../src/core/graph-run/ledger.ts';
import { createPace, intervalOfParts } from '../../src/core/graph-run/pace.ts';
import type { PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { ExecutablePart } from '../../src/core/graph-run/plan-reference.ts';
import { isFinal, outcomeOf, type TaskEnd } from '../../src/core/graph-run/task-end.ts';
import type { PermitWait } from '../../src/core/permits/answer.ts';
import { claimLost } from '../../src/core/run/failure.ts';
import { apply, rejectionOf, wouldRetry } from '../../src/core/scheduler/apply.ts';
import type { SchedulerCommand, SchedulerEvent } from '../../src/core/scheduler/events.ts';
import { pairOf, type SchedulerGraph } from '../../src/core/scheduler/graph.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import { workLeft } from '../../src/core/scheduler/rest.ts';
import { restoreScheduler, takeSnapshot } from '../../src/core/scheduler/snapshot.ts';
import { createScheduler, type Scheduler } from '../../src/core/scheduler/state.ts';
import { endIn, type GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import { counted, someOf } from '../../src/core/text/text.ts';
import type { KeptPart, PartOf, TaskRun } from '../contract.ts';
import { bookkeeping } from '../run/activity-options.ts';
import { type Pieces, readPiece } from '../run/answers.ts';
import { callActivity, oftenEntered } from '../run/border.ts';
import type { Control } from '../run/control.ts';
import { stepError } from '../run/failures.ts';
import { type Asking, WaveChecks } from '../site/wave-checks.ts';
import { GraphPermits } from './permits.ts';
import { Agents } from './task-agents.ts';

interface PartListener {
  /** Asks the checks of rollouts. */
  readonly asking?: Asking | undefined;
  /** Names of tasks that operators have decided about. A part of a split graph gets them from the coordinator. */
  readonly approved?: () => readonly string[];
  /** The workflow can continue as new (`save`): the driver does so when that frees history space and nothing runs. */
  readonly canContinue?: true;
  /** Receives commands that are not about single tasks: `send`, `stopping`, `rejected`, `finish`. */
  received(command: SchedulerCommand): void;
  /** Called after each turn. Returns when it needs the next turn at the latest (milliseconds), or null. */
  turned(): number | null;
}

interface PartRun extends TaskRun {
  readonly hold: boolean;
  readonly hold_before?: readonly string[];
  readonly max_events?: number;
}

/** Runs one part of a graph: executes the commands of its scheduler. */
export class PartDriver {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly agents: Agents;
  readonly #graph: SchedulerGraph;
  readonly #run: PartRun;
  readonly #control: Control;
  readonly #listener: PartListener;
  readonly #records: Records;
  readonly #alarm: Alarm;
  readonly #pace: ReturnType<typeof createPace>;
  /** All attempts: one scope for them, because each scope creates promises. */
  readonly #tasks = oftenEntered();
  /** Whether all work is on one node, so that the workflow can continue as new after each task. */
  readonly #isLone: boolean;
  readonly #inbox: SchedulerEvent[];
  /** What operators have asked of the run, as far as the scheduler knows. */
  readonly #seen = { paused: false, stopping: false, cancelled: false };
  #permits: GraphPermits | null = null;
  /** By number of a rollout, what asks its checks. */
  readonly #checks = new Map<number, WaveChecks>();
  #checkFailure: { readonly error: unknown } | null = null;
  #running = 0;
  #wakeAt: number | null;
  #stopping: boolean;
  #finished = false;
  #continuesAsNew = false;
  #end: GraphEnd | undefined;

  constructor(
    part: ExecutablePart,
    of: PartOf,
    run: PartRun,
    control: Control,
    listener: PartListener,
    kept?: KeptPart,
  ) {
    const { graph } = part;
    const options = { hold: run.hold, holdBefore: run.hold_before ?? [], isLimited: run.limits !== undefined };
    this.#graph = graph;
    this.#run = run;
    this.#control = control;
    this.#listener = listener;
    this.scheduler =
      kept === undefined ? createScheduler(graph, options) : restoreScheduler(graph, kept.scheduler, options);
    this.ledger = kept === undefined ? new Ledger(graph) : restoreLedger(this.scheduler, kept.rows);
    this.agents = new Agents(part, run);
    this.#records = new Records(this.ledger, of, () => control.wake(), intervalOf(part), kept?.records);
    if (run.limits !== undefined)
      this.#permits = new GraphPermits({
        base: {
          subject: { cluster: run.limits.cluster },
          run_id: run.execution,
          ...given({ overrides: run.limits.overrides }),
        },
        nodes: graph.nodes,
        control,
        granted: (nodes) => this.push({ type: 'permitted', nodes }),
      });
    this.#alarm = new Alarm(() => control.wake());
    this.#pace = createPace(run.patience.busy_slack_seconds);
    this.#isLone = listener.canContinue === true && hasLoneNode(graph);
    this.#inbox = [...(kept?.inbox ?? [])];
    this.#wakeAt = kept?.wakeAt ?? null;
    this.#stopping = kept !== undefined && kept.scheduler.announced !== 'none';
  }

  /** What its nodes wait for before they are touched. */
  get waits(): readonly PermitWait[] {
    return this.#permits?.waits ?? [];
  }
  /** Number of running attempts. */
  get running(): number {
    return this.#running;
  }
  /** Whether `drive` ended in order to continue as new. */
  get continuesAsNew(): boolean {
    return this.#continuesAsNew;
  }

  /** Its state, with the names of the nodes that it mentions. */
  status({ offline = [], isAsking }: { readonly offline?: readonly string[]; readonly isAsking: boolean }): PartStatus {
    const status = this.ledger.status();
    const silent = isAsking ? this.agents.unanswered().slice(0, 10) : status.silent;
    const nodes = [...status.running, ...status.failed].map(({ node }) => node);
    const names = [...new Set([...nodes, ...silent, ...offline])].map((id) => [id, this.agents.nameOf(id)]);
    const waits = this.waits.length === 0 ? {} : { waits: this.waits };
    return { ...status, ...waits, silent, names: Object.fromEntries(names) };
  }

  push(event: SchedulerEvent): void {
    if (event.type === 'retry_task' || (event.type === 'received' && event.message.retry !== undefined))
      this.#isExhausted();
    this.#inbox.push(event);
    this.#control.wake();
  }

  /** Why the operator's request must be rejected now, or null. Validators call this, so it changes nothing. */
  objection(
    request: Extract<SchedulerEvent, { type: 'retry_task' | 'retry_node' | 'skip_task' | 'rollout' }>,
  ): Rejection | null {
    const rejection = rejectionOf(this.scheduler, request) ?? null;
    const startsTasks = request.type === 'retry_task' || request.type === 'retry_node';
    return rejection === null && startsTasks && !this.#hasCapacity() ? { reason: 'exhausted' } : rejection;
  }

  /** Whether the history has space for an operator's request in addition to the remaining work. */
  hasCapacityForRequest(): boolean {
    return hasCapacityForRequest(workflowInfo().historyLength, this.#workAhead(), this.#run.max_events);
  }

  /** The state from which another driver of the part can continue. */
  save(): KeptPart {
    return {
      scheduler: takeSnapshot(this.scheduler),
      rows: this.ledger.keep(),
      inbox: [...this.#inbox],
      wakeAt: this.#wakeAt,
      records: this.#records.sequence,
    };
  }

  /**
   * Resolves when the scheduler has finished and all rows are written, or after a cancellation when all attempts have ended.
   * Rejects if rows could not be written: at once if that is because the run has lost its claim.
   */
  async drive(): Promise<GraphEnd | undefined> {
    const control = this.#control;
    for (;;) {
      const now = Date.now();
      this.#steer();
      // Before the turn, while the events are not processed yet: nothing new has started.
      this.#continuesAsNew =
        this.#running === 0 && !this.#finished && !this.#isCutShort() && this.#shouldContinueAsNew();
      if (this.#continuesAsNew) break;
      if (this.#wakeAt !== null && this.#wakeAt <= now) {
        this.#wakeAt = null;
        this.#inbox.push({ type: 'tick', now });
      }
      this.#takeAnswers();
      if (this.#inbox.length > 0) this.#turn(now);
      this.#records.flush();
      const again = this.#listener.turned();
      if (this.#running === 0 && (this.#finished || this.#isCutShort())) break;
      // Attempts that could not be sent have ended already.
      if (this.#inbox.length > 0) continue;
      // Any turn writes due rows and reports, so their timer may be late. A retry starts on time.
      this.#pace.turned(now);
      const due = earliest(this.#records.dueAt(), again);
      this.#alarm.set(earliest(this.#wakeAt, due === null ? null : due + this.#pace.slack(now)));
      await control.changed();
    }
    this.#alarm.stop();
    for (const checks of this.#checks.values()) checks.ask(null);
    if (this.#checkFailure !== null) throw this.#checkFailure.error;
    if (this.#permits !== null) {
      await this.#permits.settled();
      if (this.#permits.failure) throw this.#permits.failure.error;
    }
    await this.#records.drain();
    return this.#end;
  }

  /** Nothing starts any more. A run that has lost its cluster does not wait for its operators: the cluster is another run's. */
  #isCutShort(): boolean {
    const failure = this.#permits?.failure ?? this.#checkFailure;
    return this.#control.cancelled || this.#records.hasLostClaim || failure !== null;
  }

  /** Puts operators' requests before all other events. A part of a split graph receives them from the coordinator. */
  #steer(): void {
    const control = this.#control;
    const seen = this.#seen;
    if (control.cancelled && !seen.cancelled) {
      seen.cancelled = true;
      this.#tasks.cancel();
      this.agents.cancelAll();
    }
    if (this.#graph.part !== undefined) return;
    const paused = control.paused !== null;
    if (paused !== seen.paused) this.#inbox.unshift(paused ? { type: 'pause' } : { type: 'resume', now: Date.now() });
    seen.paused = paused;
    for (const name of this.#listener.approved?.() ?? [])
      if (this.scheduler.held.has(name)) this.#inbox.unshift({ type: 'approve', name });
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) this.#inbox.unshift({ type: 'stop' });
    seen.stopping = stops;
  }

  /** Processes all events together. */
  #turn(now: number): void {
    const commands = apply(this.scheduler, ...this.#inbox.splice(0));
    this.#tasks.enter(() => {
      for (const command of commands) this.#execute(command, now);
    });
  }

  #execute(command: SchedulerCommand, now: number): void {
    switch (command.type) {
      case 'start':
        // Not even if the scheduler has not processed it yet.
        if (this.#isCutShort()) return;
        this.ledger.note(command, now);
        this.#start(command);
        return;
      case 'wake':
        this.#wakeAt = command.at;
        return;
      case 'permits':
        this.#permits?.tell(command.wants, command.back);
        return;
      case 'look':
        void this.#look(command, now);
        return;
      case 'check':
        this.#check(command, now);
        return;
      case 'stopping':
        this.#stopping = command.why !== 'none';
        break;
      case 'finish':
        this.#finished = true;
        this.#end = endIn(command);
        break;
      case 'retrying':
      case 'settled':
      case 'reopened':
        this.ledger.note(command, now);
        return;
      case 'send':
      case 'rejected':
        break;
      default:
        command satisfies never;
    }
    this.#listener.received(command);
  }

  #start({ task, attempt }: Extract<SchedulerCommand, { type: 'start' }>): void {
    this.#running++;
    const { node } = pairOf(this.#graph, task);
    this.agents.run(task, attempt, {
      silent: (is) => {
        this.ledger.silent(node, is);
        // People are shown whom it waits for.
        this.#control.wake();
      },
      isStopping: () => this.#stopping || this.#control.cancelled,
      ended: (end) => this.#ended(task, attempt, end),
    });
  }

  /** Asks the agents of a wave after its soak. Not to know how a node is counts as not well. */
  async #look({ rollout, nodes }: Extract<SchedulerCommand, { type: 'look' }>, at: number): Promise<void> {
    const silent = await this.agents.silentOf(nodes).catch(() => null);
    if (silent === null) return;
    const unseen = silent.length === 0 ? undefined : `no answer from ${someOf(silent, 5)}`;
    this.push({ type: 'looked', rollout, at, now: Date.now(), ...given({ unseen }) });
  }

  /** Asks the checks of a wave. Whoever operates the rollout meanwhile does not wait for their answers. */
  #check({ rollout, checks: names, nodes }: Extract<SchedulerCommand, { type: 'check' }>, now: number): void {
    const { asking } = this.#listener;
    if (asking === undefined) {
      const findings = names.map((name) => ({ name, each: 'wave', unwell: [], unasked: NO_CHECKS }) as const);
      this.push({ type: 'checked', rollout, at: now, findings, now });
      return;
    }
    const checks = this.#checks.get(rollout) ?? new WaveChecks(asking, () => this.#control.wake());
    this.#checks.set(rollout, checks);
    checks.ask(null);
    checks.ask({ group: rollout, checks: names, nodes });
  }

  #takeAnswers(): void {
    for (const [rollout, checks] of this.#checks)
      try {
        const answers = checks.take();
        if (answers === null) continue;
        const { findings, askedAt: at } = answers;
        this.#inbox.push({ type: 'checked', rollout, at, findings, now: Date.now() });
      } catch (error) {
        this.#checkFailure ??= { error };
      }
  }

  #ended(task: number, attempt: number, end: TaskEnd): void {
    this.#running--;
    const outcome = outcomeOf(end);
    const isFull = outcome === 'failed' && !isFinal(end) && wouldRetry(this.scheduler, task) && this.#isExhausted();
    this.ledger.ended(task, isFull ? { ...end, message: `${end.message ?? end.outcome}; ${HISTORY_FULL}` } : end);
    const final = isFull || isFinal(end) ? { final: true as const } : {};
    this.#inbox.push({ type: 'ended', task, attempt, outcome, ...final, now: Date.now() });
    this.#control.wake();
  }

  /** Work that the history must still hold. None on a single node, which can continue as new after each task. */
  #workAhead(): number {
    return this.#isLone ? 0 : workLeft(this.scheduler);
  }
  /** First attempts always fit into the history. Expensive: checks every task. */
  #hasCapacity(): boolean {
    const { max_events } = this.#run;
    return this.#isLone || hasCapacityForRetry(workflowInfo().historyLength, this.#workAhead(), max_events);
  }
  /** After half a history on a single node. Otherwise only if it frees space, because parts are cut to fit. */
  #shouldContinueAsNew(): boolean {
    return (
      this.#listener.canContinue === true &&
      shouldContinue(workflowInfo().historyLength, this.#run.max_events) &&
      (this.#isLone || !this.#hasCapacity())
    );
  }
  #isExhausted(): boolean {
    this.scheduler.exhausted ||= !this.#hasCapacity();
    return this.scheduler.exhausted;
  }
}

const NO_CHECKS = 'the documents of the site of this cluster have no such check';

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

/** Of the clock of sequences. */
const TICK_MS = 100;

/** Writes history rows in batches in the background: one batch at a time, in order. */
class Records {
  readonly #ledger: Ledger;
  readonly #of: PartOf;
  readonly #wake: () => void;
  readonly #everyMs: number;
  readonly #earlier: number;
  readonly #began = Date.now();
  #sequence: number;
  #written = 0;
  #last = Date.now();
  #writing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  /**
   * @param everyMs least time between two batches that are not full
   * @param earlier sequence of the last batch that was written in earlier histories
   */
  constructor(ledger: Ledger, of: PartOf, wake: () => void, everyMs: number, earlier = 0) {
    this.#ledger = ledger;
    this.#of = of;
    this.#wake = wake;
    this.#everyMs = everyMs;
    this.#earlier = earlier;
    this.#sequence = earlier;
  }

  /** Of the last batch. */
  get sequence(): number {
    return this.#sequence;
  }
  get hasLostClaim(): boolean {
    return this.#failure !== null && claimLost(stepError(this.#failure.error)) !== undefined;
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
    return this.#written * EVENTS_A_RECORD * 5 < workflowInfo().historyLength + FREE_EVENTS * 5;
  }

  #write(): void {
    this.#last = Date.now();
    this.#written += 1;
    // It grows with time, so that what is written after a reset is newer than what was written before.
    this.#sequence = Math.max(this.#sequence, this.#earlier + Math.floor((Date.now() - this.#began) / TICK_MS)) + 1;
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

  constructor(onRing: () => void, summary = 'wait for the next retry, record or report') {
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
