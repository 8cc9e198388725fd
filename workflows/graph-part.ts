import { CancellationScope, scheduleActivity } from '@temporalio/workflow';
import type { GraphPartChunk, LoadGraphPart } from '../activities/graph-contract.js';
import { createLedger, type ExecutablePart, type Ledger, outcomeOf } from '../src/core/graph-run/index.js';
import {
  createScheduler,
  type RunResult,
  reduce,
  type Scheduler,
  type SchedulerCommand,
  type SchedulerEvent,
} from '../src/core/scheduler/index.js';
import { bookkeeping } from './activity-options.js';
import type { Control } from './control.js';
import { ACTIVITIES } from './protocol.js';
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
  /** Commands that are not about single tasks: `tell`, `stopping`, `rejected`, `finish`. */
  heard(command: SchedulerCommand): void;
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
  /** Until the scheduler has finished and all rows are written; after a cancellation, until what ran has ended. */
  drive(): Promise<RunResult | undefined>;
}

export function createPartDriver(
  part: ExecutablePart,
  of: PartOf,
  run: TaskRun & { readonly hold: boolean },
  control: Control,
  listener: PartListener,
): PartDriver {
  const scheduler = createScheduler(part.graph, { hold: run.hold });
  const ledger = createLedger(part.graph);
  const agents = createAgents(part, run);
  const records = createRecords(ledger, of, control.wake);
  const alarm = createAlarm(control.wake);
  const tasks = new CancellationScope({ cancellable: true });
  const whole = part.graph.part === undefined;
  const inbox: SchedulerEvent[] = [];
  const told = { paused: false, stopping: false, cancelled: false };
  let running = 0;
  let wakeAt: number | null = null;
  let stopping = false;
  let finished = false;
  let result: RunResult | undefined;

  /** What operators want, ahead of all else. A part hears of it from the coordinator. */
  function steer(): void {
    if (control.cancelled && !told.cancelled) {
      told.cancelled = true;
      tasks.cancel();
    }
    if (!whole) return;
    const paused = control.paused !== null;
    if (paused !== told.paused) inbox.unshift(paused ? { type: 'pause' } : { type: 'resume', now: Date.now() });
    told.paused = paused;
    const stops = control.stopping || control.cancelled;
    if (stops && !told.stopping) inbox.unshift({ type: 'stop' });
    told.stopping = stops;
  }

  function start(command: Extract<SchedulerCommand, { type: 'start' }>): void {
    const { task, node, attempt } = command;
    running++;
    const silence = {
      silent: (is: boolean) => ledger.silent(node, is),
      givesUp: () => stopping || control.cancelled,
    };
    void tasks
      .run(() => agents.run(task, node, attempt, silence))
      .then((end) => {
        running--;
        ledger.ended(task, end);
        inbox.push({ type: 'ended', task, attempt, outcome: outcomeOf(end), now: Date.now() });
        control.wake();
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
    listener.heard(command);
  }

  return {
    scheduler,
    ledger,
    agents,
    get running() {
      return running;
    },
    push(event) {
      inbox.push(event);
      control.wake();
    },
    async drive() {
      for (;;) {
        const now = Date.now();
        steer();
        if (wakeAt !== null && wakeAt <= now) {
          wakeAt = null;
          inbox.push({ type: 'tick', now });
        }
        if (inbox.length > 0) for (const command of reduce(scheduler, ...inbox.splice(0))) obey(command, now);
        records.flush();
        const again = listener.turned();
        if (running === 0 && (finished || control.cancelled)) break;
        alarm.set(earliest(wakeAt, records.dueAt(), again));
        await control.changed();
      }
      alarm.stop();
      await records.drain();
      return result;
    },
  };
}

const earliest = (...times: readonly (number | null)[]): number | null =>
  times.reduce((least, time) => (time !== null && (least === null || time < least) ? time : least), null);

/** Reads a stored piece of a plan, all chunks at once. */
export async function loadPiece<T>(hash: string, piece: LoadGraphPart['part'], chunks: number): Promise<T> {
  const read = (chunk: number): Promise<GraphPartChunk> => {
    const request: LoadGraphPart = { hash, part: piece, chunk };
    const name = piece === 'coordination' ? piece : `part ${piece + 1}`;
    const options = bookkeeping(`load ${name} of the plan${chunks > 1 ? ` (${chunk + 1} of ${chunks})` : ''}`);
    return scheduleActivity<GraphPartChunk>(ACTIVITIES.load_graph_part, [request], options);
  };
  const pieces = await Promise.all(Array.from({ length: chunks }, (_, chunk) => read(chunk)));
  return JSON.parse(pieces.map((one) => one.text).join('')) as T;
}
