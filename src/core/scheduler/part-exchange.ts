/** Message exchange between a part of a split run and its coordinator. See `part-messages.ts` for the messages. */
import { taskCount } from './graph.ts';
import { approve, retryRejection, retryTask, skipRejection, skipTask } from './operator.ts';
import type { FromPart, ToPart } from './part-messages.ts';
import { failedBit } from './part-messages.ts';
import { causeBefore, joinBits, setBits } from './propagation.ts';
import { isQuiet, settleUndone } from './rest.ts';
import { wakeWaiting } from './slots.ts';
import type { Outbox, Scheduler } from './state.ts';
import { causeNumber, isStopping } from './state.ts';
import { code } from './status.ts';

/** Processes a message of the coordinator. Returns the offline nodes if it starts the run. */
export function receiveBatch(s: Scheduler, message: ToPart): { readonly offline: readonly number[] } | undefined {
  const { outbox, graph } = s;
  if (outbox === undefined || graph.part === undefined) throw new Error('this scheduler is not a part');
  if (message.pause !== undefined) s.paused = message.pause;
  if (message.stop === 'user') s.stopped = true;
  else if (message.stop !== undefined) s.halted = message.stop === 'failure';
  // A paused or stopped part returns its unused permits immediately.
  if (message.pause !== undefined || message.stop !== undefined) markAllClasses(s, outbox);
  for (const [task, bits, cause] of message.tasks ?? []) {
    s.reopening ||= bits === 0;
    setBits(
      s,
      outbox.externals.get(task)!,
      bits,
      (bits & failedBit) === 0 || cause === null ? -1 : causeNumber(s, cause),
    );
  }
  for (const [join, bits, cause] of message.joins ?? []) {
    const vertex = taskCount(graph) + outbox.globalJoins.get(join)!;
    s.reopening ||= (s.bits[vertex]! & ~bits) !== 0;
    setBits(s, vertex, bits, (bits & failedBit) === 0 || cause === null ? -1 : causeNumber(s, cause));
  }
  for (const name of message.approve ?? []) approve(s, name);
  for (const asked of message.retry ?? []) {
    const rejection = retryRejection(s, asked);
    if (rejection === undefined) retryTask(s, asked);
    else outbox.rejected.push(rejection);
  }
  for (const asked of message.skip ?? []) {
    const rejection = skipRejection(s, asked);
    if (rejection === undefined) skipTask(s, asked);
    else outbox.rejected.push(rejection);
  }
  for (const [whole, count] of message.grants ?? []) {
    const cls = outbox.classes.get(whole)!;
    s.slots.permits[cls]! += count;
    outbox.demand[cls]! -= count;
    outbox.dirtyClasses.add(cls);
    wakeWaiting(s, cls);
  }
  if (message.close === true) {
    s.finished = true;
    settleUndone(s);
  }
  if (message.begin === undefined || s.started) return undefined;
  markAllClasses(s, outbox);
  const local = new Map(graph.part.nodes.map((whole, n) => [whole, n]));
  return { offline: message.begin.offline.map((whole) => local.get(whole)!) };
}

function markAllClasses(s: Scheduler, outbox: Outbox): void {
  for (let cls = 0; cls < s.slots.needsPermit.length; cls++)
    if (s.slots.needsPermit[cls] === 1) outbox.dirtyClasses.add(cls);
}

/** Sends relevant changes to the coordinator, if there are any. */
export function flushOutbox(s: Scheduler): void {
  const { outbox, graph } = s;
  const part = graph.part;
  if (outbox === undefined || part === undefined || !s.started) return;
  const firstTask = taskCount(graph);
  const named = (cause: number) => (cause < 0 ? null : s.causes[cause]!);
  const tasks = ascending(outbox.tasks).map((t) => [part.tasks[t]!, s.bits[t]!, named(s.cause[t]!)] as const);
  const joins = ascending(outbox.joins).flatMap((j) => {
    const bits = joinBits(s, j);
    const cause = causeBefore(s, firstTask + j);
    const changed = bits !== outbox.joinSent[j] || cause !== outbox.joinCause[j];
    outbox.joinSent[j] = bits;
    outbox.joinCause[j] = cause;
    return changed ? [[part.joins[j]!, bits, named(cause)] as const] : [];
  });
  const failing = [...outbox.nodes].sort(([a], [b]) => a - b).map(([n, on]) => [part.nodes[n]!, on] as const);
  const demand: [number, number][] = [];
  const release: [number, number][] = [];
  for (const cls of ascending(outbox.dirtyClasses)) {
    if (s.slots.needsPermit[cls] !== 1) continue;
    const idle = s.slots.permits[cls]! - s.slots.used[cls]!;
    if (idle > 0) {
      s.slots.permits[cls]! -= idle;
      release.push([part.classes[cls]!, idle]);
    }
    const wanted = s.paused || s.finished || isStopping(s) ? 0 : s.slots.isWaiting[cls]!.size;
    const change = wanted - outbox.demand[cls]!;
    if (change !== 0) demand.push([part.classes[cls]!, change]);
    outbox.demand[cls] = wanted;
  }
  outbox.tasks.clear();
  outbox.joins.clear();
  outbox.nodes.clear();
  outbox.dirtyClasses.clear();
  const rejected = outbox.rejected.splice(0);
  const quiet = isQuiet(s);
  const changed = tasks.length + joins.length + failing.length + demand.length + release.length + rejected.length > 0;
  const closed = s.finished && !outbox.closed;
  if (!changed && !closed && quiet === outbox.quiet && !(quiet && outbox.inbox.last !== outbox.acknowledged)) return;
  outbox.quiet = quiet;
  outbox.acknowledged = outbox.inbox.last;
  const message: FromPart = {
    part: part.index,
    seq: ++outbox.sent,
    seen: outbox.inbox.last,
    quiet,
    ...(tasks.length > 0 ? { tasks } : {}),
    ...(joins.length > 0 ? { joins } : {}),
    ...(failing.length > 0 ? { failing } : {}),
    ...(demand.length > 0 ? { demand } : {}),
    ...(release.length > 0 ? { release } : {}),
    ...(rejected.length > 0 ? { rejected } : {}),
    ...(closed ? { closed: { undone: count(s.status, code.notReached) } } : {}),
  };
  s.commands.push({ type: 'send', message });
  if (closed) {
    outbox.closed = true;
    s.commands.push({ type: 'finish' });
  }
}

const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

const count = (codes: Uint8Array, wanted: number): number => {
  let n = 0;
  for (const c of codes) if (c === wanted) n++;
  return n;
};
