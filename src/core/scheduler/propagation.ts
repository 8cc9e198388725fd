/**
 * Propagates the change of one task to others: counts of unfinished and failed predecessors, joins, and the tasks of a
 * failed node. Everything is counted, so that a run visits each edge once.
 */
import { pairOf, taskCount } from './graph.ts';
import { failedBit, finishedBit } from './part-messages.ts';
import { addCandidate, enqueue } from './ready.ts';
import { isInLaterWave } from './rollouts.ts';
import type { Scheduler } from './state.ts';
import { causeNumber } from './state.ts';
import type { SettledStatus } from './status.ts';
import { code, isFailed, isFinal, statusOf } from './status.ts';
import { ABSENT, FAILING, NO_LOSS } from './tolerance.ts';

/** Sets the status of a task and updates the counts of its successors. `settleTouched` applies the consequences. */
export function setStatus(s: Scheduler, task: number, next: number, cause = -1): void {
  const before = s.status[task]!;
  s.status[task] = next;
  const node = s.graph.nodeOf[task]!;
  s.running += holds(next) - holds(before);
  s.unsettled += Number(isFinal(before)) - Number(isFinal(next));
  const why = next === code.failed ? causeNumber(s, pairOf(s.graph, task)) : cause;
  changeLosses(
    s,
    node,
    Number(isFailed(next)) - Number(isFailed(before)),
    Number(isFailed(next) && isAbsence(s, why)) - Number(isFailed(before) && isAbsence(s, s.cause[task]!)),
  );
  if (next === code.failed || before === code.failed) {
    s.failedOn[node]! += next === code.failed ? 1 : -1;
    s.nodeCause[node] = next === code.failed ? why : -1;
    for (const other of s.tasksOfNode[node]!) s.touched.push(other);
  }
  setBits(s, task, (isFinal(next) ? finishedBit : 0) | (isFailed(next) ? failedBit : 0), why);
  announceStatus(s, task, before);
}

const holds = (c: number): number => Number(c === code.running || c === code.retrying);

/** Emits that a task settled or was reopened. */
export function announceStatus(s: Scheduler, task: number, before: number): void {
  const next = s.status[task]!;
  if (!isFinal(next)) {
    if (isFinal(before)) s.commands.push({ type: 'reopened', task });
    return;
  }
  const status = statusOf(next) as SettledStatus;
  s.commands.push({
    type: 'settled',
    task,
    status,
    ...(next === code.blocked ? { cause: s.causes[s.cause[task]!]! } : {}),
  });
}

/** Whether a cause is a node that is offline, not a task that failed. */
export const isAbsence = (s: Scheduler, cause: number): boolean => s.causes[cause]?.task === null;

/**
 * Counts lost tasks on a node (failed or blocked; being offline counts as one).
 * @param absent the change of those that only an offline node explains
 */
export function changeLosses(s: Scheduler, node: number, change: number, absent: number): void {
  const before = lossOf(s, node);
  s.lostOn[node]! += change;
  s.absentOn[node]! += absent;
  const loss = lossOf(s, node);
  if (before === loss) return;
  s.tolerance.set(node, loss);
  s.outbox?.nodes.set(node, loss);
}

/** What a node has lost. */
export function lossOf(s: Scheduler, node: number): number {
  if (s.lostOn[node] === 0) return NO_LOSS;
  return s.lostOn[node] === s.absentOn[node] ? ABSENT : FAILING;
}

/** Sets the bits of a vertex and updates the counts of its successors. */
export function setBits(s: Scheduler, vertex: number, bits: number, cause: number): void {
  const before = s.bits[vertex]!;
  const changed = before !== bits || (s.reopening && s.cause[vertex] !== cause);
  s.bits[vertex] = bits;
  s.cause[vertex] = (bits & failedBit) === 0 ? -1 : cause;
  if (!changed) return;
  const tasks = taskCount(s.graph);
  if (vertex < tasks && s.outbox?.exported[vertex] === 1) s.outbox.tasks.add(vertex);
  const finished = (bits & finishedBit) - (before & finishedBit);
  const failed = ((bits & failedBit) - (before & failedBit)) / failedBit;
  for (const to of s.graph.successors[vertex]!) {
    if (to < tasks) {
      s.unfinished[to]! -= finished;
      s.failedBefore[to]! += failed;
      s.touched.push(to);
    } else {
      const join = to - tasks;
      s.joinUnfinished[join]! -= finished;
      s.joinFailed[join]! += failed;
      changeJoin(s, join);
    }
  }
}

/** Combined bits of the local tasks before a join. */
export const joinBits = (s: Scheduler, join: number): number =>
  (s.joinUnfinished[join] === 0 ? finishedBit : 0) | (s.joinFailed[join]! > 0 ? failedBit : 0);

function changeJoin(s: Scheduler, join: number): void {
  // Only the coordinator changes a join that other parts share.
  if (s.outbox !== undefined && s.graph.part!.joins[join]! >= 0) {
    s.outbox.joins.add(join);
    return;
  }
  const vertex = taskCount(s.graph) + join;
  const bits = joinBits(s, join);
  if (bits !== s.bits[vertex] || s.reopening) setBits(s, vertex, bits, causeBefore(s, vertex));
}

/** The cause of the first failed predecessor, -1 when none failed. */
export function causeBefore(s: Scheduler, vertex: number): number {
  for (const from of s.predecessors[vertex]!) if ((s.bits[from]! & failedBit) !== 0) return s.cause[from]!;
  return -1;
}

/** Applies all consequences of the changes so far: ready, blocked, reopened. */
export function settleTouched(s: Scheduler): void {
  for (let at = 0; at < s.touched.length; at++) updateTask(s, s.touched[at]!);
  s.touched.length = 0;
}

function updateTask(s: Scheduler, task: number): void {
  const status = s.status[task]!;
  const lost = lostBy(s, task);
  if (status === code.waiting || status === code.ready) {
    if (lost >= 0) setStatus(s, task, code.blocked, lost);
    else if (s.unfinished[task] === 0 && !isHeldBack(s, task)) makeReady(s, task);
    else s.status[task] = code.waiting;
  } else if (status === code.blocked) {
    if (lost < 0) {
      setStatus(s, task, code.waiting);
      s.touched.push(task);
    } else if (s.reopening && s.cause[task] !== lost) {
      setStatus(s, task, code.blocked, lost);
    }
  }
}

const isHeldBack = (s: Scheduler, task: number): boolean =>
  s.held.has(s.graph.names[s.graph.nameOf[task]!]!) || isInLaterWave(s, task);

/** Whether a task would be ready if it were not held. */
export const awaitsApproval = (s: Scheduler, task: number): boolean =>
  s.started &&
  s.status[task] === code.waiting &&
  s.unfinished[task] === 0 &&
  isHeldBack(s, task) &&
  !isInLaterWave(s, task);

/** Why a task that has not started is lost, or -1. */
function lostBy(s: Scheduler, task: number): number {
  const node = s.graph.nodeOf[task]!;
  if (s.offline[node] === 1) return causeNumber(s, { task: null, node: s.graph.nodes[node]! });
  if (s.failedOn[node]! > 0) return s.nodeCause[node]!;
  if (s.graph.sync[node] === 0 && s.failedBefore[task]! > 0) return causeBefore(s, task);
  return -1;
}

function makeReady(s: Scheduler, task: number): void {
  s.status[task] = code.ready;
  enqueue(s, task);
  addCandidate(s, s.graph.nodeOf[task]!);
}
