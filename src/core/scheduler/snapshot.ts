import { given } from '../data/given.ts';
import type { RootCause } from '../task-on-node.ts';
import type { SchedulerGraph } from './graph.ts';
import { taskCount } from './graph.ts';
import { earlyMessages } from './inbox.ts';
import type { Sender, ToPart } from './part-messages.ts';
import { failedBit, finishedBit } from './part-messages.ts';
import { changeLosses, isAbsence, setBits } from './propagation.ts';
import { refillSlots } from './slots.ts';
import type { Scheduler, SchedulerOptions } from './state.ts';
import { causeNumber, createScheduler } from './state.ts';
import { code, isFailed, isFinal } from './status.ts';

/** A scheduler between two events, as compact JSON: one character per task, the rest only where it differs. */
export interface SchedulerSnapshot {
  readonly v: 1;
  /** One digit per task. */
  readonly status: string;
  /** `[task, attempts, forgiven attempts]` where the status does not imply it: one attempt if it ran, else none. */
  readonly attempts: readonly (readonly [number, number, number])[];
  /** Tasks that wait for a retry: `[task, due]`. */
  readonly due: readonly (readonly [number, number])[];
  /** Tasks that an operator skipped. */
  readonly skipped: readonly number[];
  readonly causes: readonly RootCause[];
  /** `[vertex, cause]`. */
  readonly causeOf: readonly (readonly [number, number])[];
  readonly offline: readonly number[];
  /** Names that an operator has approved. Absent: none. */
  readonly approved?: readonly string[];
  /** Nodes with permits for their machines. Absent: none. */
  readonly permitted?: readonly number[];
  readonly now: number;
  readonly wakeAt?: number;
  readonly started: boolean;
  readonly paused: boolean;
  readonly stopped: boolean;
  readonly halted: boolean;
  readonly finished: boolean;
  readonly announced: Scheduler['announced'];
  readonly part?: {
    readonly coordinator: Sender | null;
    readonly last: number;
    readonly early: readonly ToPart[];
    readonly seen: number;
    readonly owes: boolean;
    readonly tells: boolean;
    readonly awaited: number;
    readonly answersAfter: number;
    readonly sent: number;
    readonly acknowledged: number;
    readonly quiet: boolean;
    readonly closed: boolean;
    /** Bits of shared joins and external tasks as the coordinator sent them, by vertex. */
    readonly bits: readonly (readonly [number, number])[];
    readonly joinSent: readonly number[];
    /** By join: index into `causes`, or -1. */
    readonly joinCause: readonly number[];
    readonly demand: readonly number[];
    readonly permits: readonly number[];
  };
}

/** Takes a snapshot between two `apply` calls. */
export function takeSnapshot(s: Scheduler): SchedulerSnapshot {
  const { outbox } = s;
  const tasks = taskCount(s.graph);
  const approved = s.options.holdBefore.filter((name) => !s.held.has(name));
  return {
    v: 1,
    status: s.status.join(''),
    attempts: sparse(s.attempts, (n, t) => n !== usualAttempts(s.status[t]!) || s.forgivenAttempts[t]! > 0).map(
      ([t, n]) => [t, n, s.forgivenAttempts[t]!],
    ),
    due: s.due.list(),
    skipped: sparse(s.noWork, (n, t) => n === 1 && s.graph.noWork[t] === 0).map(([t]) => t),
    causes: [...s.causes],
    causeOf: sparse(s.cause, (c) => c >= 0),
    offline: sparse(s.offline, (n) => n === 1).map(([n]) => n),
    ...(approved.length === 0 ? {} : { approved }),
    ...(s.machines?.held.size ? { permitted: [...s.machines.held] } : {}),
    now: s.now,
    ...given({ wakeAt: s.wakeAt }),
    started: s.started,
    paused: s.paused,
    stopped: s.stopped,
    halted: s.halted,
    finished: s.finished,
    announced: s.announced,
    ...(outbox === undefined
      ? {}
      : {
          part: {
            coordinator: outbox.coordinator,
            last: outbox.inbox.last,
            early: earlyMessages(outbox.inbox),
            seen: outbox.seen,
            owes: outbox.owes,
            tells: outbox.tells,
            awaited: outbox.awaited,
            answersAfter: outbox.answersAfter,
            sent: outbox.sent,
            acknowledged: outbox.acknowledged,
            quiet: outbox.quiet,
            closed: outbox.closed,
            bits: sparse(s.bits, (bits, v) => bits > 0 && isSetByCoordinator(s.graph, v)),
            joinSent: [...outbox.joinSent],
            joinCause: [...outbox.joinCause],
            demand: [...outbox.demand],
            permits: [...s.slots.permits],
          },
        }),
  };

  function isSetByCoordinator(graph: SchedulerGraph, v: number): boolean {
    return v >= tasks + graph.joins || (v >= tasks && graph.part!.joins[v - tasks]! >= 0);
  }
}

/** Restores a scheduler from a snapshot. It returns the same commands for the same events. */
export function restoreScheduler(
  graph: SchedulerGraph,
  snapshot: SchedulerSnapshot,
  options: SchedulerOptions = {},
): Scheduler {
  const s = createScheduler(graph, options);
  for (const name of snapshot.approved ?? []) s.held.delete(name);
  for (const node of snapshot.permitted ?? []) s.machines?.held.add(node);
  for (const cause of snapshot.causes) causeNumber(s, cause);
  const causeOf = new Map(snapshot.causeOf);
  for (const [vertex, bits] of snapshot.part?.bits ?? []) setBits(s, vertex, bits, causeOf.get(vertex) ?? -1);
  for (let task = 0; task < s.status.length; task++) {
    const c = Number(snapshot.status[task]);
    const node = graph.nodeOf[task]!;
    s.status[task] = c;
    s.attempts[task] = usualAttempts(c);
    if (c === code.running || c === code.retrying) s.running++;
    if (!isFinal(c)) continue;
    s.unsettled--;
    if (isFailed(c)) changeLosses(s, node, 1, Number(isAbsence(s, causeOf.get(task) ?? -1)));
    if (c === code.failed) {
      s.failedOn[node]!++;
      s.nodeCause[node] = causeOf.get(task)!;
    }
    setBits(s, task, finishedBit | (isFailed(c) ? failedBit : 0), causeOf.get(task) ?? -1);
  }
  for (const [vertex, cause] of snapshot.causeOf) s.cause[vertex] = cause;
  for (const node of snapshot.offline) {
    s.offline[node] = 1;
    changeLosses(s, node, 1, 1);
  }
  for (const [task, attempts, forgiven] of snapshot.attempts) {
    s.attempts[task] = attempts;
    s.forgivenAttempts[task] = forgiven;
  }
  for (const task of snapshot.skipped) s.noWork[task] = 1;
  for (const [task, due] of snapshot.due) s.due.set(task, due);
  s.now = snapshot.now;
  s.wakeAt = snapshot.wakeAt;
  s.started = snapshot.started;
  s.paused = snapshot.paused;
  s.stopped = snapshot.stopped;
  s.halted = snapshot.halted;
  s.finished = snapshot.finished;
  s.announced = snapshot.announced;
  // Restoring the counts touched tasks whose consequences are already part of the snapshot.
  s.touched.length = 0;
  if (s.outbox !== undefined && snapshot.part !== undefined) restoreOutbox(s, s.outbox, snapshot.part);
  refillSlots(s);
  return s;
}

const neverRan: readonly number[] = [code.waiting, code.ready, code.notReached, code.blocked];

const usualAttempts = (status: number): number => (neverRan.includes(status) ? 0 : 1);

function restoreOutbox(
  s: Scheduler,
  outbox: NonNullable<Scheduler['outbox']>,
  part: NonNullable<SchedulerSnapshot['part']>,
) {
  outbox.tasks.clear();
  outbox.joins.clear();
  outbox.nodes.clear();
  outbox.coordinator = part.coordinator;
  outbox.inbox.last = part.last;
  for (const message of part.early) outbox.inbox.early.set(message.seq, message);
  outbox.seen = part.seen;
  outbox.owes = part.owes;
  outbox.tells = part.tells;
  outbox.awaited = part.awaited;
  outbox.answersAfter = part.answersAfter;
  outbox.sent = part.sent;
  outbox.acknowledged = part.acknowledged;
  outbox.quiet = part.quiet;
  outbox.closed = part.closed;
  outbox.joinSent.set(part.joinSent);
  outbox.joinCause.set(part.joinCause);
  outbox.demand.set(part.demand);
  s.slots.permits.set(part.permits);
  for (let cls = 0; cls < part.permits.length; cls++) outbox.dirtyClasses.add(cls);
}

function sparse(numbers: ArrayLike<number>, wanted: (n: number, at: number) => boolean): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at < numbers.length; at++) if (wanted(numbers[at]!, at)) found.push([at, numbers[at]!]);
  return found;
}
