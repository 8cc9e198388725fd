/** Operator actions on single tasks of a running graph. */

import type { TaskOnNode } from '../task-on-node.ts';
import { awaitsApproval, changeLosses, setStatus } from './propagation.ts';
import { addCandidate } from './ready.ts';
import type { Rejection } from './rejection.ts';
import { askAgain, noteRetry, whyNotRetryNode } from './rollouts.ts';
import { release } from './slots.ts';
import { isStopping, type Scheduler, taskAt } from './state.ts';
import { code, isFinal, statusOf } from './status.ts';

/** Lets the tasks of a name start that were held until an operator approves. */
export function approve(s: Scheduler, name: string): void {
  const tasks = s.held.get(name);
  s.held.delete(name);
  if (s.started) s.touched.push(...(tasks ?? []));
}

/** Names of tasks that only wait for an operator's approval. Linear in their number: on request. */
export const awaitingApproval = (s: Scheduler): string[] =>
  s.finished || isStopping(s)
    ? []
    : [...s.held].flatMap(([name, tasks]) => (tasks.some((task) => awaitsApproval(s, task)) ? [name] : []));

/** Why the task cannot be retried now. Only failed tasks can, unless the run is stopped or exhausted. */
export function retryRejection(s: Scheduler, { task: name, node }: TaskOnNode): Rejection | undefined {
  const task = taskAt(s, name, node);
  if (task === undefined) return { reason: 'unknown_task', task: name, node };
  if (s.stopped) return { reason: 'stopped' };
  if (s.exhausted) return { reason: 'exhausted' };
  const c = s.status[task]!;
  return c === code.failed ? undefined : { reason: 'not_failed', task: name, node, status: statusOf(c) };
}

/** Why the task cannot be skipped now: it runs, has succeeded, or depends on a failed task (its cause). */
export function skipRejection(s: Scheduler, { task: name, node }: TaskOnNode): Rejection | undefined {
  const task = taskAt(s, name, node);
  if (task === undefined) return { reason: 'unknown_task', task: name, node };
  const c = s.status[task]!;
  if (c === code.failed || c === code.waiting || c === code.ready || c === code.retrying) return undefined;
  const cause = c === code.blocked ? { cause: s.causes[s.cause[task]!]! } : {};
  return { reason: 'not_skippable', task: name, node, status: statusOf(c), ...cause };
}

/**
 * Reopens a failed task with all attempts of its policy, its node, and tasks that were lost only because of it. A sync
 * point that opened meanwhile stays open.
 */
export function retryTask(s: Scheduler, asked: TaskOnNode): void {
  const task = taskAt(s, asked.task, asked.node)!;
  s.reopening = true;
  s.forgivenAttempts[task] = s.attempts[task]!;
  setStatus(s, task, code.waiting);
  s.touched.push(task);
  noteRetry(s, s.graph.nodeOf[task]!);
}

/** Why a node cannot be tried again now. One did not answer before the run; of others the checks are asked again. */
export function retryNodeRejection(s: Scheduler, node: string, tasks = false): Rejection | undefined {
  if (s.stopped) return { reason: 'stopped' };
  const isOffline = s.offline[s.nodeIndex.get(node) ?? -1] === 1;
  if ((tasks || isOffline) && s.exhausted) return { reason: 'exhausted' };
  if (isOffline) return undefined;
  const why = whyNotRetryNode(s, node);
  return why === null ? undefined : { reason: 'rollout', why };
}

/**
 * Lets the tasks of a node start that did not answer before the run. Has the checks of any other asked again; with `tasks` after all of
 * its work has run again. What others have done after it stays done.
 */
export function retryNode(s: Scheduler, node: string, tasks = false): void {
  const number = s.nodeIndex.get(node)!;
  if (s.offline[number] === 1) {
    s.offline[number] = 0;
    s.reopening = true;
    changeLosses(s, number, -1, -1);
    s.touched.push(...s.tasksOfNode[number]!);
    noteRetry(s, number);
    return;
  }
  askAgain(s, node);
  if (!tasks) return;
  s.reopening = true;
  for (const task of s.tasksOfNode[number]!) {
    if (s.noWork[task] === 1 || !isFinal(s.status[task]!)) continue;
    s.forgivenAttempts[task] = s.attempts[task]!;
    setStatus(s, task, code.waiting);
    s.touched.push(task);
  }
  noteRetry(s, number);
}

/**
 * Skips a task. One that has not started keeps its place in the order: its successors still wait for its predecessors.
 * A failed one counts as skipped, and tasks that were lost with it are reopened.
 */
export function skipTask(s: Scheduler, asked: TaskOnNode): void {
  const task = taskAt(s, asked.task, asked.node)!;
  const c = s.status[task]!;
  s.noWork[task] = 1;
  // Its node may wait for a permit, which it needs no more.
  if (s.machines !== undefined) addCandidate(s, s.graph.nodeOf[task]!);
  // So may the wave of its node.
  if (s.rollouts !== undefined) {
    s.touched.push(task);
    addCandidate(s, s.graph.nodeOf[task]!);
  }
  if (c === code.failed) {
    s.reopening = true;
    setStatus(s, task, code.skipped);
  } else if (c === code.retrying) {
    s.due.cancel(task);
    setStatus(s, task, code.skipped);
    release(s, task);
  }
}
