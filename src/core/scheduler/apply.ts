import type { SchedulerCommand, SchedulerEvent } from './events.ts';
import { pairOf, taskCount } from './graph.ts';
import { permit, tellPermits } from './machine-permits.ts';
import {
  approve,
  retryNode,
  retryNodeRejection,
  retryRejection,
  retryTask,
  skipRejection,
  skipTask,
} from './operator.ts';
import { flushOutbox, inOrder, receiveBatch } from './part-exchange.ts';
import { changeLosses, setStatus, settleTouched } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import { endOf } from './report.ts';
import { isHeld, isQuiet, settleUndone } from './rest.ts';
import {
  isBarred,
  judgeRollouts,
  nextSoak,
  noteResult,
  operateRollout,
  recordChecks,
  recordLook,
  whyNotOperateRollout,
} from './rollouts.ts';
import { dispatch, dispatchNode, release, startAttempt } from './slots.ts';
import type { Scheduler } from './state.ts';
import { isAborted, isStopping } from './state.ts';
import { code } from './status.ts';

/**
 * The scheduler's only step: processes events in order and returns commands. Deterministic. The cost is the edges of
 * the changed tasks times the logarithm of a queue, never the size of the run (except at its end, which settles the
 * rest). An event that is not possible now changes nothing and yields `rejected`. Pass all pending events in one call:
 * a part then sends its changes in one message.
 */
export function apply(s: Scheduler, ...events: readonly SchedulerEvent[]): SchedulerCommand[] {
  s.commands = [];
  for (const event of events) {
    const rejection = rejectionOf(s, event);
    if (rejection !== undefined) {
      s.commands.push({ type: 'rejected', rejection });
      continue;
    }
    if ('now' in event && event.now !== undefined) s.now = Math.max(s.now, event.now);
    applyEvent(s, event);
    if (event.type === 'visit') dispatchNode(s, s.nodeIndex.get(event.node)!);
    proceed(s);
    if (s.outbox === undefined && !s.finished && s.started && isQuiet(s) && !isHeld(s)) finish(s);
  }
  tellPermits(s);
  if (s.outbox !== undefined) flushOutbox(s);
  const wakeAt = s.paused || s.finished ? undefined : earliest(s.due.next(), nextSoak(s));
  if (wakeAt !== s.wakeAt && wakeAt !== undefined) s.commands.push({ type: 'wake', at: wakeAt });
  s.wakeAt = wakeAt;
  const { commands } = s;
  s.commands = [];
  return commands;
}

/** Why `apply` would reject the event, without applying it: for validators of operator updates. */
export function rejectionOf(s: Scheduler, event: SchedulerEvent): Rejection | undefined {
  if (event.type === 'received') return s.outbox === undefined ? { reason: 'not_a_part' } : undefined;
  if (s.outbox !== undefined && coordinated.includes(event.type)) return { reason: 'ask_the_coordinator' };
  if (event.type === 'begin') return s.started ? { reason: 'already_started' } : undefined;
  // Operators may pause or stop a run before it starts.
  if (!s.started) return allowedBeforeStart.includes(event.type) ? undefined : { reason: 'not_started' };
  if (s.finished) return { reason: 'finished' };
  if (event.type === 'visit')
    return s.nodeIndex.has(event.node) ? undefined : { reason: 'unknown_node', node: event.node };
  switch (event.type) {
    case 'ended': {
      const { task, attempt } = event;
      if (s.status[task] === code.running && s.attempts[task] === attempt) return undefined;
      return { reason: 'not_running', ...pairOf(s.graph, task), attempt };
    }
    case 'retry_task':
      return retryRejection(s, event);
    case 'skip_task':
      return skipRejection(s, event);
    case 'retry_node':
      return retryNodeRejection(s, event.node, event.tasks);
    case 'rollout': {
      const why = s.stopped ? 'the run is stopping' : whyNotOperateRollout(s, event.action, event.request, event.now);
      return why === null ? undefined : { reason: 'rollout', why };
    }
    default:
      return undefined;
  }
}

/** Events about the whole run. In a split run they reach a part in the coordinator's messages, in order with the rest. */
const coordinated: readonly string[] = ['begin', 'pause', 'resume', 'stop', 'approve', 'retry_task', 'skip_task'];

const allowedBeforeStart: readonly string[] = ['pause', 'resume', 'stop', 'approve'];

function applyEvent(s: Scheduler, event: SchedulerEvent): void {
  switch (event.type) {
    case 'begin': {
      const offline = (event.offline ?? []).flatMap((id) => s.nodeIndex.get(id) ?? []);
      startRun(s, offline);
      return;
    }
    case 'ended':
      noteResult(s, s.graph.nodeOf[event.task]!);
      if (event.outcome === 'not_reached') withdraw(s, event.task);
      else end(s, event.task, event.outcome === 'success', event.final);
      return;
    case 'pause':
      s.paused = true;
      return;
    case 'resume':
      s.paused = false;
      return;
    case 'stop':
      s.stopped = true;
      return;
    case 'approve':
      approve(s, event.name);
      return;
    case 'retry_task':
      retryTask(s, event);
      return;
    case 'skip_task':
      skipTask(s, event);
      return;
    case 'retry_node':
      retryNode(s, event.node, event.tasks);
      return;
    case 'received': {
      for (const message of inOrder(s.outbox!, event)) {
        const start = receiveBatch(s, message);
        if (start !== undefined) startRun(s, start.offline);
      }
      return;
    }
    case 'permitted':
      permit(s, event.nodes);
      return;
    case 'rollout':
      operateRollout(s, event.action, event.request, event.now);
      return;
    case 'looked':
      recordLook(s, event.rollout, event.at, event.unseen);
      return;
    case 'checked':
      recordChecks(s, event);
      return;
    case 'tick':
    case 'visit':
      return;
    default:
      event satisfies never;
  }
}

function startRun(s: Scheduler, offline: readonly number[]): void {
  s.started = true;
  for (const node of offline) {
    if (s.offline[node] === 1 || s.graph.mode === 'dry_run') continue;
    s.offline[node] = 1;
    changeLosses(s, node, 1, 1);
  }
  for (let task = 0; task < taskCount(s.graph); task++) {
    // A dry run runs nothing: its tasks end like tasks without work.
    if (s.graph.mode === 'dry_run') setStatus(s, task, code.skipped);
    else if (s.offline[s.graph.nodeOf[task]!] === 1 || s.unfinished[task] === 0) s.touched.push(task);
  }
}

function end(s: Scheduler, task: number, succeeded: boolean, final = false): void {
  if (s.noWork[task] === 1) {
    settle(s, task, code.skipped);
  } else if (succeeded) {
    settle(s, task, code.success);
  } else {
    const policy = s.retryOf.get(task);
    if (policy !== undefined && !final && wouldRetry(s, task)) {
      setStatus(s, task, code.retrying);
      const due = s.now + policy.interval;
      s.due.set(task, due);
      s.commands.push({ type: 'retrying', task, attempt: s.attempts[task]!, due });
    } else {
      settle(s, task, failure(s, task));
    }
  }
}

/** The stop, which may not have arrived here yet, leaves it undone; or failed, if it is a retry. */
function withdraw(s: Scheduler, task: number): void {
  if (s.attempts[task]! - s.forgivenAttempts[task]! > 1) {
    end(s, task, false);
    return;
  }
  s.attempts[task]! -= 1;
  setStatus(s, task, code.waiting);
  s.touched.push(task);
  release(s, task);
}

/** Whether the task would be retried if its running attempt failed now. */
export function wouldRetry(s: Scheduler, task: number): boolean {
  const policy = s.retryOf.get(task);
  const tried = s.attempts[task]! - s.forgivenAttempts[task]!;
  return policy !== undefined && tried <= policy.count && !isStopping(s) && !isBarred(s, task);
}

const failure = (s: Scheduler, task: number): number => (s.graph.forgiven[task] === 1 ? code.ignored : code.failed);

/** Ends a task that holds its node. */
function settle(s: Scheduler, task: number, status: number): void {
  setStatus(s, task, status);
  release(s, task);
}

/** Applies all consequences: statuses of dependents, due retries, starts, ends of tasks without work. */
function proceed(s: Scheduler): void {
  for (;;) {
    settleTouched(s);
    s.reopening = false;
    if (judgeRollouts(s)) continue;
    if (cancelRetries(s)) continue;
    announceStop(s);
    if (!s.paused && !s.finished) for (const task of s.due.take(s.now)) startAttempt(s, task);
    if (!s.options.visits) dispatch(s);
    if (s.instant.length === 0) break;
    for (const task of s.instant.splice(0)) end(s, task, true);
  }
}

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/** When the run stops, or a rollout lets nothing start, tasks that wait for a retry end with their last failure. */
function cancelRetries(s: Scheduler): boolean {
  const isOver = isStopping(s);
  if (!isOver && s.rollouts?.isBarred !== true) return false;
  const waiting = s.due.list().filter(([task]) => isOver || isBarred(s, task));
  for (const [task] of waiting) {
    s.due.cancel(task);
    settle(s, task, failure(s, task));
  }
  return waiting.length > 0;
}

function announceStop(s: Scheduler): void {
  const { stop } = s.tolerance;
  const failed = stop !== 'none' ? stop : s.halted ? 'tolerance' : isAborted(s) ? 'rollout' : 'none';
  const why = s.stopped ? 'user' : failed;
  if (why === s.announced) return;
  s.announced = why;
  s.commands.push({ type: 'stopping', why });
}

/** Settles tasks that a stop left undone, and ends the run. */
function finish(s: Scheduler): void {
  settleUndone(s);
  s.finished = true;
  s.commands.push({ type: 'finish', ...endOf(s) });
}
