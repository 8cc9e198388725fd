/**
 * Chooses which task starts where: one per node, the heaviest ready task with a free slot, nodes in plan order, within
 * the limits per name and per run. A node that finds a name full waits for that name and is woken by a released slot,
 * so that no event visits all nodes.
 */
import { taskCount } from './graph.ts';
import { hasPermit } from './machine-permits.ts';
import { setStatus } from './propagation.ts';
import { addCandidate, enqueue } from './ready.ts';
import { isBarred } from './rollouts.ts';
import type { Scheduler } from './state.ts';
import { isStopping } from './state.ts';
import { code } from './status.ts';

/** Starts all tasks that may start now. */
export function dispatch(s: Scheduler): void {
  if (!mayStart(s)) return;
  const { candidates, isCandidate } = s.slots;
  while (!runIsFull(s)) {
    const node = candidates.pop();
    if (node === undefined) return;
    isCandidate[node] = 0;
    visit(s, node);
    for (const { cls } of s.slots.queues[node]!) wakeWaiting(s, cls);
  }
}

/** Starts the best task of one node, like a visit in the reference. */
export function dispatchNode(s: Scheduler, node: number): void {
  if (mayStart(s) && !runIsFull(s)) visit(s, node);
}

const mayStart = (s: Scheduler): boolean => s.started && !s.paused && !s.finished && !isStopping(s);

const runIsFull = (s: Scheduler): boolean => s.graph.nodeLimit > 0 && s.slots.busy >= s.graph.nodeLimit;

function visit(s: Scheduler, node: number): void {
  if (s.holder[node] !== -1 || s.offline[node] === 1 || s.failedOn[node]! > 0) return;
  const { slots, graph } = s;
  let best = -1;
  for (const { cls, ready } of slots.queues[node]!) {
    let top = ready.peek();
    while (top !== undefined && s.status[top] !== code.ready) {
      slots.inQueue[ready.pop()!] = 0;
      top = ready.peek();
    }
    if (top !== undefined && isOpen(s, cls) && (best === -1 || graph.rank[top]! < graph.rank[best]!)) best = top;
  }
  if (best !== -1) {
    if (isBarred(s, best) || !hasPermit(s, node, best)) return;
    slots.queueOf[best]!.pop();
    slots.inQueue[best] = 0;
    start(s, best);
    return;
  }
  for (const { cls, ready } of slots.queues[node]!) if (ready.size > 0) waitFor(s, cls, node);
}

function isOpen(s: Scheduler, cls: number): boolean {
  const { used, permits, needsPermit } = s.slots;
  if (needsPermit[cls] === 1) return used[cls]! < permits[cls]!;
  return cls === s.graph.names.length || used[cls]! < s.graph.nameLimit[cls]!;
}

function waitFor(s: Scheduler, cls: number, node: number): void {
  const { waiting, isWaiting } = s.slots;
  if (isWaiting[cls]!.has(node)) return;
  isWaiting[cls]!.add(node);
  waiting[cls]!.push(node);
  s.outbox?.dirtyClasses.add(cls);
}

/** Wakes the first waiting node. After it, the next is woken if a slot is still free. */
export function wakeWaiting(s: Scheduler, cls: number): void {
  const { waiting, isWaiting } = s.slots;
  while (isOpen(s, cls)) {
    const node = waiting[cls]!.pop();
    if (node === undefined) return;
    isWaiting[cls]!.delete(node);
    s.outbox?.dirtyClasses.add(cls);
    // A busy node becomes a candidate when it is free; the slot goes to the next node.
    if (s.holder[node] === -1) {
      addCandidate(s, node);
      return;
    }
  }
}

function start(s: Scheduler, task: number): void {
  const { slots } = s;
  s.holder[s.graph.nodeOf[task]!] = task;
  slots.busy++;
  slots.used[slots.classOf[task]!]!++;
  setStatus(s, task, code.running);
  startAttempt(s, task);
}

/** Starts the first attempt of a task, or a retry on the node it holds. */
export function startAttempt(s: Scheduler, task: number): void {
  s.attempts[task]!++;
  if (s.status[task] !== code.running) setStatus(s, task, code.running);
  const work = s.noWork[task] === 0;
  if (!work && s.options.instantNoWork) {
    s.instant.push(task);
    return;
  }
  s.commands.push({ type: 'start', task, attempt: s.attempts[task]!, work });
}

/** Releases a task's node and slots. */
export function release(s: Scheduler, task: number): void {
  const { slots } = s;
  const node = s.graph.nodeOf[task]!;
  const cls = slots.classOf[task]!;
  s.holder[node] = -1;
  slots.busy--;
  slots.used[cls]!--;
  s.outbox?.dirtyClasses.add(cls);
  addCandidate(s, node);
  wakeWaiting(s, cls);
}

/** Rebuilds queues and candidates from the statuses, for a restored scheduler. */
export function refillSlots(s: Scheduler): void {
  for (let task = 0; task < taskCount(s.graph); task++) {
    const status = s.status[task]!;
    const node = s.graph.nodeOf[task]!;
    if (status === code.running || status === code.retrying) {
      s.holder[node] = task;
      s.slots.busy++;
      s.slots.used[s.slots.classOf[task]!]!++;
    } else if (status === code.ready) {
      enqueue(s, task);
    }
  }
  for (const node of s.tasksOfNode.keys()) addCandidate(s, node);
}
