import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { LoadGraphPart } from '../activities/graph-contract.js';
import {
  createLedger,
  createPace,
  type ExecutablePart,
  hasRoomForRequest,
  hasRoomForRetry,
  isFinal,
  type KeptRows,
  type Ledger,
  NO_ROOM,
  outcomeOf,
  restoreLedger,
  shouldContinue,
  type TaskEnd,
} from '../src/core/graph-run/index.js';
import {
  apply,
  type Coordination,
  createScheduler,
  isTriedAgain,
  type Rejection,
  type RunResult,
  rejectionOf,
  restoreScheduler,
  type Scheduler,
  type SchedulerCommand,
  type SchedulerEvent,
  type SchedulerGraph,
  type SchedulerSnapshot,
  takeSnapshot,
  workLeft,
} from '../src/core/scheduler/index.js';
import { bookkeeping } from './activity-options.js';
import { callActivity } from './border.js';
import type { Control } from './control.js';
import { type Agents, createAgents, type TaskRun } from './task-agents.js';
import { createAlarm } from './task-clock.js';
import { createRecords } from './task-records.js';

/** Where a part belongs. */
export interface PartOf {
  readonly transaction: number;
  readonly graph: number;
  readonly part: number;
}

export interface PartListener {
  /** Another run of the workflow can go on (`keep`): the driver leaves off when that makes room and nothing runs. */
  readonly canContinue?: true;
  /** Commands that are not about single tasks: `tell`, `stopping`, `rejected`, `finish`. */
  received(command: SchedulerCommand): void;
  /** After each turn; returns when it wants another (milliseconds) though nothing happens. */
  turned(): number | null;
}

/** One part of a graph while it runs: a scheduler, and hands that do what it says. */
export interface PartDriver {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly agents: Agents;
  /** Attempts that are under way. */
  readonly running: number;
  push(event: SchedulerEvent): void;
  /** Why the operator's request makes no sense now. */
  objection(request: Extract<SchedulerEvent, { type: 'retry_task' | 'skip_task' }>): Rejection | null;
  /** Whether the history has room for an operator's request beside what is left to do. */
  hasRoomForRequest(): boolean;
  /** Until the scheduler has finished and all rows are written; after a cancellation, until what ran has ended. */
  drive(): Promise<RunResult | undefined>;
  /** Whether `drive` ended since another run of the workflow is to go on. */
  readonly leftOff: boolean;
  /** All that another driver of the part needs to go on. */
  keep(): KeptPart;
}

/** A part between two runs of its workflow, as plain JSON. */
export interface KeptPart {
  readonly scheduler: SchedulerSnapshot;
  readonly rows: KeptRows;
  /** What has happened and was not answered yet. */
  readonly inbox: readonly SchedulerEvent[];
  readonly wakeAt: number | null;
  /** Records that were written. */
  readonly records: number;
}

export function createPartDriver(
  part: ExecutablePart,
  of: PartOf,
  run: TaskRun & { readonly hold: boolean; readonly most_events?: number },
  control: Control,
  listener: PartListener,
  kept?: KeptPart,
): PartDriver {
  const scheduler =
    kept === undefined
      ? createScheduler(part.graph, { hold: run.hold })
      : restoreScheduler(part.graph, kept.scheduler, { hold: run.hold });
  const ledger = kept === undefined ? createLedger(part.graph) : restoreLedger(scheduler, kept.rows);
  const agents = createAgents(part, run);
  const records = createRecords(ledger, of, control.wake, kept?.records);
  const alarm = createAlarm(control.wake);
  const pace = createPace(run.patience.busy_slack_seconds);
  const tasks = new CancellationScope({ cancellable: true });
  const whole = part.graph.part === undefined;
  const inbox: SchedulerEvent[] = [...(kept?.inbox ?? [])];
  const seen = { paused: false, stopping: false, cancelled: false };
  let running = 0;
  let wakeAt: number | null = kept?.wakeAt ?? null;
  let stopping = kept !== undefined && kept.scheduler.announced !== 'none';
  let finished = false;
  let leftOff = false;
  let result: RunResult | undefined;

  /** What operators want, ahead of all else. A part receives it from the coordinator. */
  function steer(): void {
    if (control.cancelled && !seen.cancelled) {
      seen.cancelled = true;
      tasks.cancel();
    }
    if (!whole) return;
    const paused = control.paused !== null;
    if (paused !== seen.paused) inbox.unshift(paused ? { type: 'pause' } : { type: 'resume', now: Date.now() });
    seen.paused = paused;
    const stops = control.stopping || control.cancelled;
    if (stops && !seen.stopping) inbox.unshift({ type: 'stop' });
    seen.stopping = stops;
  }

  const givesUp = (): boolean => stopping || control.cancelled;

  /** What the history must hold beside; on a single node nothing, since it may leave off behind each task. */
  const isLone = listener.canContinue === true && hasLoneNode(part.graph);
  const workAhead = (): number => (isLone ? 0 : workLeft(scheduler));

  /** First attempts always fit into the history; asked where it matters only, since it looks at every task. */
  const hasRoom = (): boolean => isLone || hasRoomForRetry(workflowInfo().historyLength, workAhead(), run.most_events);

  /** Behind half a history on a single node; else only where it brings room back, since parts are cut to size. */
  const shouldLeaveOff = (): boolean =>
    listener.canContinue === true &&
    shouldContinue(workflowInfo().historyLength, run.most_events) &&
    (isLone || !hasRoom());

  function isExhausted(): boolean {
    scheduler.exhausted ||= !hasRoom();
    return scheduler.exhausted;
  }

  function ended(task: string, attempt: number, end: TaskEnd): void {
    running--;
    const outcome = outcomeOf(end);
    const full = outcome === 'failed' && !isFinal(end) && isTriedAgain(scheduler, task) && isExhausted();
    ledger.ended(task, full ? { ...end, message: `${end.message ?? end.outcome}; ${NO_ROOM}` } : end);
    const final = full || isFinal(end) ? { final: true as const } : {};
    inbox.push({ type: 'ended', task, attempt, outcome, ...final, now: Date.now() });
    control.wake();
  }

  function start({ task, node, attempt }: Extract<SchedulerCommand, { type: 'start' }>): void {
    running++;
    agents.run(task, node, attempt, {
      silent: (is) => ledger.silent(node, is),
      givesUp,
      ended: (end) => ended(task, attempt, end),
    });
  }

  function obey(command: SchedulerCommand, now: number): void {
    switch (command.type) {
      case 'start':
        // After a cancellation nothing starts, whatever the scheduler does not know of it yet.
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
        result = command.result;
        break;
      case 'retrying':
      case 'settled':
      case 'reopened':
        ledger.note(command, now);
        return;
      case 'tell':
      case 'rejected':
        break;
      default:
        command satisfies never;
    }
    listener.received(command);
  }

  /** All that happened is answered at once; what that starts shares one scope, since each makes promises. */
  function turn(now: number): void {
    const commands = apply(scheduler, ...inbox.splice(0));
    let bug: { readonly error: unknown } | null = null;
    void tasks.run(async () => {
      try {
        for (const command of commands) obey(command, now);
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
      if (event.type === 'retry_task' || (event.type === 'told' && event.message.retry !== undefined)) isExhausted();
      inbox.push(event);
      control.wake();
    },
    objection(request) {
      const rejection = rejectionOf(scheduler, request) ?? null;
      // Validators ask this, so it must change nothing.
      return rejection === null && request.type === 'retry_task' && !hasRoom() ? { reason: 'exhausted' } : rejection;
    },
    hasRoomForRequest: () => hasRoomForRequest(workflowInfo().historyLength, workAhead(), run.most_events),
    get leftOff() {
      return leftOff;
    },
    keep: () => ({
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
        // Here and not behind the turn: what ended is not answered yet, so that nothing new has started.
        leftOff = running === 0 && !finished && !control.cancelled && shouldLeaveOff();
        if (leftOff) break;
        if (wakeAt !== null && wakeAt <= now) {
          wakeAt = null;
          inbox.push({ type: 'tick', now });
        }
        if (inbox.length > 0) turn(now);
        records.flush();
        const again = listener.turned();
        if (running === 0 && (finished || control.cancelled)) break;
        // What could not even be sent has ended already.
        if (inbox.length > 0) continue;
        // Rows and news that are due are written in any turn; a retry begins at its time.
        pace.turned(now);
        const due = earliest(records.dueAt(), again);
        alarm.set(earliest(wakeAt, due === null ? null : due + pace.slack(now)));
        await control.changed();
      }
      alarm.stop();
      await records.drain();
      return result;
    },
  };
}

/** Whether all work of a part is on one node, so that nothing else runs when a task ends. */
function hasLoneNode(graph: SchedulerGraph): boolean {
  const working = new Set(graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1));
  return working.size === 1;
}

const earliest = (...times: readonly (number | null)[]): number | null =>
  times.reduce((least, time) => (time !== null && (least === null || time < least) ? time : least), null);

/** What the pieces of a stored plan are: its parts, and what their coordinator works on. */
interface Pieces {
  readonly part: ExecutablePart;
  readonly coordination: Coordination;
}

export const loadPart = (hash: string, part: number, chunks: number): Promise<Pieces['part']> =>
  loadPiece<'part'>(hash, part, `part ${part + 1}`, chunks);

export const loadCoordination = (hash: string, chunks: number): Promise<Pieces['coordination']> =>
  loadPiece<'coordination'>(hash, 'coordination', 'coordination', chunks);

/** Reads a stored piece of a plan, all chunks at once. */
async function loadPiece<Piece extends keyof Pieces>(
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
  return JSON.parse(pieces.map((one) => one.text).join(''));
}
