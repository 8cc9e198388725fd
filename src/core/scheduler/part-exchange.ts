/** Message exchange between a part of a split run and its coordinator. See `part-messages.ts` for the messages. */
import { taskCount } from './graph.ts';
import { skipTo, takeInOrder } from './inbox.ts';
import { approve, retryRejection, retryTask, skipRejection, skipTask } from './operator.ts';
import type { Change, Count, FromPart, PartEnd, Sender, ToPart } from './part-messages.ts';
import { failedBit } from './part-messages.ts';
import { causeBefore, joinBits, lossOf, setBits } from './propagation.ts';
import { isQuiet, settleUndone } from './rest.ts';
import { wakeWaiting } from './slots.ts';
import type { Outbox, Scheduler } from './state.ts';
import { causeNumber, isStopping } from './state.ts';
import { code } from './status.ts';
import { NO_LOSS } from './tolerance.ts';

/** Messages whose turn it is now that this one has come: of the coordinator that has the run, and once both sides know the same. */
export function inOrder(
  outbox: Outbox,
  { message, by, first = false }: { readonly message: ToPart; readonly by: Sender; readonly first?: boolean },
): ToPart[] {
  const { coordinator, inbox } = outbox;
  if (coordinator !== null && by.after?.includes(coordinator.run)) outbox.coordinator = by;
  else if (coordinator?.run !== by.run && coordinator?.after?.includes(by.run) !== true) {
    // What a run has sent before its reset may arrive after what was sent since.
    const isLate = coordinator !== null && by.at < coordinator.at;
    if (isLate ? inbox.last === 0 && isInStep(outbox) : coordinator !== null) askToHearAll(outbox);
    if (isLate) return [];
    outbox.coordinator = by;
    outbox.answersAfter = 0;
    inbox.early.clear();
  }
  // A run that was reset has started this part anew, and its coordinator goes on: nobody sends the messages before again.
  if (first && message.hello === true && inbox.last === 0 && message.seq > 1 && isInStep(outbox)) askToHearAll(outbox);
  if (!isInStep(outbox)) {
    // What it has told may be lost to the coordinator: another execution told it, before a reset of this part.
    if (message.hello === true) askToHearAll(outbox);
    inbox.early.set(message.seq, message);
    if (outbox.tells || message.whole !== outbox.awaited || message.seq <= outbox.answersAfter) return [];
    outbox.awaited = 0;
    skipTo(inbox, message.seq);
  }
  const ready = takeInOrder(inbox, message);
  const hello = ready.findIndex((one) => one.hello === true);
  if (hello < 0) return ready;
  askToHearAll(outbox);
  return ready.slice(0, hello);
}

/** Whether both sides know the same, as far as messages have arrived. */
const isInStep = ({ awaited, tells }: Outbox): boolean => awaited === 0 && !tells;

/** Begins again with the answer to `whole`, which says all that came before it. */
function askToHearAll(outbox: Outbox): void {
  outbox.answersAfter = Math.max(outbox.answersAfter, outbox.inbox.last);
  outbox.inbox.last = 0;
  outbox.tells = true;
}

/** Processes a message of the coordinator. Returns the offline nodes if it starts the run. */
export function receiveBatch(s: Scheduler, message: ToPart): { readonly offline: readonly number[] } | undefined {
  const { outbox, graph } = s;
  if (outbox === undefined || graph.part === undefined) throw new Error('this scheduler is not a part');
  const { retry, skip, pause, stop, approve: approved } = message;
  outbox.seen = message.stamp;
  // What another part has forgotten in a reset changes nothing here any more.
  if (s.finished) return undefined;
  outbox.owes ||= (retry ?? skip ?? pause ?? stop ?? approved) !== undefined;
  if (message.whole !== undefined) s.stopped = message.stop === 'user';
  if (message.pause !== undefined) s.paused = message.pause;
  if (message.stop === 'user') s.stopped = true;
  else if (message.stop !== undefined) s.halted = message.stop === 'failure';
  // A paused or stopped part returns its unused permits immediately.
  if (message.pause !== undefined || message.stop !== undefined) markAllClasses(s, outbox);
  const { tasks = [], joins = [] } = message;
  const vertexOfTask = (task: number): number => outbox.externals.get(task)!;
  const vertexOfJoin = (join: number): number => taskCount(graph) + outbox.globalJoins.get(join)!;
  setVertices(s, vertexOfTask, tasks);
  setVertices(s, vertexOfJoin, joins);
  if (message.whole !== undefined) {
    setVertices(s, vertexOfTask, unnamed(tasks, outbox.externals.keys()));
    setVertices(s, vertexOfJoin, unnamed(joins, outbox.globalJoins.keys()));
  }
  for (const name of approved ?? []) approve(s, name);
  for (const asked of retry ?? []) {
    const rejection = retryRejection(s, asked);
    if (rejection === undefined) retryTask(s, asked);
    else outbox.rejected.push(rejection);
  }
  for (const asked of skip ?? []) {
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
  if (message.close === true && !isQuiet(s)) {
    // It does again what it has forgotten in a reset, of which the coordinator does not know.
    askToHearAll(outbox);
  } else if (message.close === true) {
    s.finished = true;
    settleUndone(s);
  }
  if (message.begin === undefined || s.started) return undefined;
  markAllClasses(s, outbox);
  const local = new Map(graph.part.nodes.map((whole, n) => [whole, n]));
  return { offline: message.begin.offline.map((whole) => local.get(whole)!) };
}

/** 0 for those of `all` that the changes do not name. */
function unnamed(changes: readonly Change[], all: Iterable<number>): Change[] {
  const named = new Set(changes.map(([number]) => number));
  return [...all].filter((number) => !named.has(number)).map((number) => [number, 0, null]);
}

function setVertices(s: Scheduler, vertexOf: (number: number) => number, changes: readonly Change[]): void {
  for (const [number, bits, cause] of changes) {
    const vertex = vertexOf(number);
    s.reopening ||= (s.bits[vertex]! & ~bits) !== 0;
    setBits(s, vertex, bits, (bits & failedBit) === 0 || cause === null ? -1 : causeNumber(s, cause));
  }
}

function markAllClasses(s: Scheduler, outbox: Outbox): void {
  for (let cls = 0; cls < s.slots.needsPermit.length; cls++)
    if (s.slots.needsPermit[cls] === 1) outbox.dirtyClasses.add(cls);
}

/** Sends relevant changes to the coordinator, if there are any; everything, if it has to hear everything. */
export function flushOutbox(s: Scheduler): void {
  const { outbox, graph } = s;
  if (outbox === undefined || graph.part === undefined || !(s.started || outbox.tells)) return;
  if (outbox.tells) outbox.seen = 0;
  const content = outbox.tells ? everything(s, outbox) : changes(s, outbox);
  const rejected = outbox.rejected.splice(0);
  outbox.tasks.clear();
  outbox.joins.clear();
  outbox.nodes.clear();
  outbox.dirtyClasses.clear();
  const quiet = isQuiet(s);
  const hasSeen = quiet && outbox.seen !== outbox.acknowledged;
  if (Object.keys(content).length > 0 || rejected.length > 0 || quiet !== outbox.quiet || hasSeen || outbox.owes) {
    outbox.quiet = quiet;
    outbox.acknowledged = outbox.seen;
    outbox.owes = false;
    const message: FromPart = {
      part: graph.part.index,
      seq: ++outbox.sent,
      seen: outbox.seen,
      quiet,
      ...content,
      ...listed({ rejected }),
    };
    if (outbox.tells) outbox.awaited = message.seq;
    outbox.tells = false;
    s.commands.push({ type: 'send', message });
  }
  if (!s.finished || outbox.closed) return;
  outbox.closed = true;
  s.commands.push({ type: 'finish' });
}

type Content = Pick<FromPart, 'whole' | 'tasks' | 'joins' | 'failing' | 'demand' | 'release'>;

/** What has changed since the last message. */
function changes(s: Scheduler, outbox: Outbox): Content {
  const part = s.graph.part!;
  const joins = ascending(outbox.joins).filter((j) => {
    const [bits, cause] = [joinBits(s, j), causeBefore(s, taskCount(s.graph) + j)];
    return bits !== outbox.joinSent[j] || cause !== outbox.joinCause[j];
  });
  const failing = [...outbox.nodes].sort(([a], [b]) => a - b).map(([n, loss]) => [part.nodes[n]!, loss] as const);
  const demand: Count[] = [];
  const release: Count[] = [];
  for (const cls of ascending(outbox.dirtyClasses)) {
    if (s.slots.needsPermit[cls] !== 1) continue;
    const idle = dropIdlePermits(s, cls);
    if (idle > 0) release.push([part.classes[cls]!, idle]);
    const before = outbox.demand[cls]!;
    const wanted = demandFor(s, outbox, cls);
    if (wanted !== before) demand.push([part.classes[cls]!, wanted - before]);
  }
  return listed({
    tasks: ascending(outbox.tasks).map((task) => changeOfTask(s, task)),
    joins: joins.map((join) => changeOfJoin(s, outbox, join)),
    failing,
    demand,
    release,
  });
}

function everything(s: Scheduler, outbox: Outbox): Content {
  const part = s.graph.part!;
  const demand: Count[] = [];
  const held: Count[] = [];
  part.classes.forEach((whole, cls) => {
    if (s.slots.needsPermit[cls] !== 1) return;
    dropIdlePermits(s, cls);
    const wanted = demandFor(s, outbox, cls);
    if (wanted > 0) demand.push([whole, wanted]);
    if (s.slots.permits[cls]! > 0) held.push([whole, s.slots.permits[cls]!]);
  });
  const isSaid = ([, bits]: Change): boolean => bits !== 0;
  return {
    whole: { held },
    ...listed({
      tasks: [...outbox.exported.keys()]
        .filter((task) => outbox.exported[task] === 1)
        .map((task) => changeOfTask(s, task))
        .filter(isSaid),
      joins: [...outbox.globalJoins.values()].map((join) => changeOfJoin(s, outbox, join)).filter(isSaid),
      failing: losses(s),
      demand,
    }),
  };
}

function dropIdlePermits(s: Scheduler, cls: number): number {
  const idle = s.slots.permits[cls]! - s.slots.used[cls]!;
  s.slots.permits[cls]! -= idle;
  return idle;
}

/** Number of nodes that want a permit, which the coordinator hears of now. */
function demandFor(s: Scheduler, outbox: Outbox, cls: number): number {
  const wanted = s.paused || s.finished || isStopping(s) ? 0 : s.slots.isWaiting[cls]!.size;
  outbox.demand[cls] = wanted;
  return wanted;
}

const changeOfTask = (s: Scheduler, task: number): Change => [
  s.graph.part!.tasks[task]!,
  s.bits[task]!,
  causeOf(s, s.cause[task]!),
];

/** The combined state of this part's tasks before the join, which the coordinator hears of now. */
function changeOfJoin(s: Scheduler, outbox: Outbox, join: number): Change {
  const [bits, cause] = [joinBits(s, join), causeBefore(s, taskCount(s.graph) + join)];
  outbox.joinSent[join] = bits;
  outbox.joinCause[join] = cause;
  return [s.graph.part!.joins[join]!, bits, causeOf(s, cause)];
}

const causeOf = (s: Scheduler, cause: number) => (cause < 0 ? null : s.causes[cause]!);

const losses = (s: Scheduler): Count[] =>
  s.graph.part!.nodes.flatMap((whole, n) => {
    const loss = lossOf(s, n);
    return loss === NO_LOSS ? [] : [[whole, loss] as const];
  });

/** How a part ended; nothing if its coordinator has not closed it. */
export function endOfPart(s: Scheduler): PartEnd | undefined {
  if (s.outbox === undefined || !s.finished) return undefined;
  return { undone: count(s.status, code.notReached), failing: losses(s) };
}

/** Without empty lists. */
const listed = <T extends object>(lists: T): Partial<T> =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => (list as readonly unknown[]).length > 0)) as Partial<T>;

const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

const count = (codes: Uint8Array, wanted: number): number => {
  let n = 0;
  for (const c of codes) if (c === wanted) n++;
  return n;
};
