import { isSameTask, type RootCause, type TaskOnNode } from '../task-on-node.ts';
import type { Inbox } from './inbox.ts';
import { newInbox, skipTo, takeInOrder } from './inbox.ts';
import type { Change, FromPart, PartEnd, ToPart } from './part-messages.ts';
import { failedBit, finishedBit } from './part-messages.ts';
import type { Coordination } from './partition.ts';
import type { Permits } from './permits.ts';
import { createPermits } from './permits.ts';
import type { Rejection } from './rejection.ts';
import type { GraphEnd, ToleranceCount } from './tolerance.ts';
import { ABSENT, countTolerance, endOfGraph, NO_LOSS } from './tolerance.ts';

export type CoordinatorEvent =
  | { readonly type: 'begin'; readonly offline?: readonly string[] }
  | { readonly type: 'received'; readonly message: FromPart }
  /** What follows from this part is of another execution of it, which has forgotten what it told, and was told, before. */
  | { readonly type: 'part_reset'; readonly part: number }
  /** The part has ended as it was told to. */
  | ({ readonly type: 'ended'; readonly part: number } & PartEnd)
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'stop' }
  | { readonly type: 'approve'; readonly name: string }
  | ({ readonly type: 'retry_task' | 'skip_task' } & TaskOnNode);

export type CoordinatorCommand =
  /** Signal the child, which passes the message to its scheduler. In order, at most one per child and call. */
  | { readonly type: 'send'; readonly part: number; readonly message: ToPart }
  | { readonly type: 'stopping'; readonly why: 'user' | 'critical' | 'tolerance' | 'none' }
  | { readonly type: 'rejected'; readonly rejection: Rejection }
  | ({ readonly type: 'finish' } & GraphEnd);

/**
 * Coordinates the parts of a split run: forwards messages between parts, counts joins and fault tolerance, grants permits
 * for limits, and detects the end. Owned by one driver and changed in place by `coordinate`.
 */
export interface Coordinator {
  readonly plan: Coordination;
  readonly tolerance: ToleranceCount;
  permits: Permits;
  readonly taskListeners: ReadonlyMap<number, readonly number[]>;
  readonly joins: ReadonlyMap<number, CoordinatedJoin>;
  readonly nodeIndex: ReadonlyMap<string, number>;
  readonly stamp: () => number;
  /** By task that other parts wait for: its last change, and from which part. */
  readonly changed: Map<number, { readonly giver: number; readonly change: Change }>;
  /** By part: number of messages sent to it, those of them that it has not acknowledged, and the last that it has. */
  readonly sent: number[];
  readonly unseen: ToPart[][];
  readonly seen: { readonly seq: number; readonly stamp: number }[];
  readonly quiet: boolean[];
  /** Parts that have heard from another coordinator and must tell everything first. */
  readonly strangers: Set<number>;
  /** Parts that have been reset, and of which nothing counts before they have told everything. */
  readonly forgetful: Set<number>;
  readonly ended: Set<number>;
  readonly approved: Set<string>;
  offline: readonly number[];
  readonly inboxes: Inbox<FromPart>[];
  readonly drafts: Map<number, Draft>;
  started: boolean;
  paused: boolean;
  stopped: boolean;
  announced: 'user' | 'critical' | 'tolerance' | 'none';
  closing: boolean;
  undone: number;
  finished: boolean;
  /** Set by the driver: the run does not end when nothing runs, unless the user stopped it. */
  hold: boolean;
}

interface CoordinatedJoin {
  readonly givers: readonly number[];
  readonly takers: readonly number[];
  /** By giver: bits and cause. */
  readonly received: { bits: number; cause: RootCause | null }[];
  bits: number;
  cause: RootCause | null;
}

/** A message under construction. */
type Draft = { -readonly [K in Exclude<keyof ToPart, Listed | 'seq' | 'stamp'>]?: Exclude<ToPart[K], undefined> } & {
  tasks?: Change[];
  joins?: Change[];
  grants?: [number, number][];
  retry?: TaskOnNode[];
  skip?: TaskOnNode[];
  approve?: string[];
};
type Listed = 'tasks' | 'joins' | 'grants' | 'retry' | 'skip' | 'approve';

/** @param stamp a number that no other message to a part has, also not one from before a reset: chance. Not 0 */
export function createCoordinator(plan: Coordination, stamp: () => number): Coordinator {
  const each = <T>(value: T): T[] => new Array<T>(plan.parts).fill(value);
  return {
    plan,
    tolerance: countTolerance(plan),
    permits: createPermits(plan),
    taskListeners: new Map(plan.tasks),
    joins: new Map(
      plan.joins.map(([join, givers, takers]) => [
        join,
        { givers, takers, received: givers.map(() => ({ bits: 0, cause: null })), bits: 0, cause: null },
      ]),
    ),
    nodeIndex: new Map(plan.nodes.map((id, node) => [id, node])),
    stamp,
    changed: new Map(),
    sent: each(0),
    unseen: Array.from({ length: plan.parts }, () => []),
    seen: each({ seq: 0, stamp: 0 }),
    quiet: each(false),
    strangers: new Set(),
    forgetful: new Set(),
    ended: new Set(),
    approved: new Set(),
    offline: [],
    inboxes: Array.from({ length: plan.parts }, () => newInbox<FromPart>()),
    drafts: new Map(),
    started: false,
    paused: false,
    stopped: false,
    announced: 'none',
    closing: false,
    undone: 0,
    finished: false,
    hold: false,
  };
}

/**
 * The coordinator's only step, like `apply` for the parts. Each call sends at most one message per part.
 */
export function coordinate(c: Coordinator, ...events: readonly CoordinatorEvent[]): CoordinatorCommand[] {
  const commands: CoordinatorCommand[] = [];
  for (const event of events) {
    const rejection = rejectionOf(c, event);
    if (rejection === undefined) apply(c, event, commands);
    else commands.push({ type: 'rejected', rejection });
  }
  conclude(c, commands);
  return commands;
}

function apply(c: Coordinator, event: CoordinatorEvent, commands: CoordinatorCommand[]): void {
  switch (event.type) {
    case 'begin':
      begin(c, event.offline ?? []);
      break;
    case 'ended':
      endPart(c, event);
      break;
    case 'received':
      for (const message of inOrder(c, event.message)) {
        receive(c, message);
        for (const rejection of message.rejected ?? []) commands.push({ type: 'rejected', rejection });
      }
      break;
    case 'part_reset':
      if (c.ended.has(event.part)) break;
      c.inboxes[event.part] = newInbox();
      c.forgetful.add(event.part);
      // Also if it was asked before: its answer may be one of what does not count.
      c.strangers.delete(event.part);
      askToHearAll(c, event.part);
      break;
    case 'pause':
    case 'resume':
      c.paused = event.type === 'pause';
      sendToAll(c, (draft) => {
        draft.pause = c.paused;
      });
      break;
    case 'stop':
      c.stopped = true;
      break;
    case 'approve':
      c.approved.add(event.name);
      sendToAll(c, (draft) => {
        (draft.approve ??= []).push(event.name);
      });
      break;
    case 'retry_task':
      (draftFor(c, ownerOf(c, event)!).retry ??= []).push({ task: event.task, node: event.node });
      break;
    case 'skip_task':
      (draftFor(c, ownerOf(c, event)!).skip ??= []).push({ task: event.task, node: event.node });
      break;
    default:
      event satisfies never;
  }
}

/** Messages of a part whose turn it is now that this one has come. */
function inOrder(c: Coordinator, message: FromPart): FromPart[] {
  const { part, seq, whole } = message;
  const inbox = c.inboxes[part]!;
  if (c.forgetful.has(part) && whole === undefined) {
    inbox.early.set(seq, message);
    return [];
  }
  c.forgetful.delete(part);
  if (whole !== undefined && seq > inbox.last) skipTo(inbox, seq);
  return takeInOrder(inbox, message);
}

/** Grants permits, detects the end, and sends the collected messages. */
function conclude(c: Coordinator, commands: CoordinatorCommand[]): void {
  announceStop(c, commands);
  // What a stranger holds is not known.
  if (!c.paused && c.announced === 'none' && c.strangers.size === 0) {
    for (const [part, cls, count] of c.permits.grant()) {
      (draftFor(c, part).grants ??= []).push([cls, count]);
    }
  }
  for (const part of c.ended) c.drafts.delete(part);
  if (!c.closing && c.drafts.size === 0 && isOver(c)) {
    c.closing = true;
    sendToAll(c, (draft) => {
      draft.close = true;
    });
  }
  for (const [part, draft] of [...c.drafts].sort(([a], [b]) => a - b)) {
    c.sent[part]!++;
    const content = draft.whole === undefined ? draft : { ...draft, ...everythingFor(c, part) };
    const message = { seq: c.sent[part]!, stamp: c.stamp(), ...content };
    c.unseen[part]!.push(message);
    commands.push({ type: 'send', part, message });
  }
  c.drafts.clear();
  if (c.ended.size === c.plan.parts && !c.finished) {
    c.finished = true;
    commands.push({ type: 'finish', ...endOf(c) });
  }
}

function rejectionOf(c: Coordinator, event: CoordinatorEvent): Rejection | undefined {
  if (event.type === 'received' || event.type === 'part_reset' || event.type === 'ended') return undefined;
  if (event.type === 'begin') return c.started ? { reason: 'already_started' } : undefined;
  if (!c.started) return { reason: 'not_started' };
  if (c.closing) return { reason: 'finished' };
  if ('task' in event && ownerOf(c, event) === undefined)
    return { reason: 'unknown_task', task: event.task, node: event.node };
  return undefined;
}

function ownerOf(c: Coordinator, { node }: TaskOnNode): number | undefined {
  const at = c.nodeIndex.get(node);
  return at === undefined ? undefined : c.plan.partOf[at];
}

function begin(c: Coordinator, offline: readonly string[]): void {
  c.started = true;
  c.offline = offline.flatMap((id) => c.nodeIndex.get(id) ?? []);
  for (const node of c.offline) c.tolerance.set(node, ABSENT);
  // The first message contains the verdict, so that nothing starts before it.
  for (let part = 0; part < c.plan.parts; part++) draftFor(c, part).begin = { offline: offlineIn(c, part) };
}

const offlineIn = (c: Coordinator, part: number): number[] => c.offline.filter((node) => c.plan.partOf[node] === part);

function receive(c: Coordinator, message: FromPart): void {
  const { part, whole, demand = [], release = [] } = message;
  if (whole === undefined) acknowledge(c, part, message.seen);
  else hearAll(c, message);
  c.quiet[part] = message.quiet;
  for (const [node, loss] of message.failing ?? []) c.tolerance.set(node, loss);
  for (const change of message.tasks ?? []) passOn(c, part, change);
  for (const [number, bits, cause] of message.joins ?? []) setJoin(c, part, number, { bits, cause });
  if (whole === undefined) c.permits.receive(part, demand, release);
  else c.permits.correct(part, demand, whole.held);
}

/** What a part has seen of which nothing is known here was sent before a reset: parts know more than this coordinator. */
function acknowledge(c: Coordinator, part: number, stamp: number): void {
  if (stamp === 0 || stamp === c.seen[part]!.stamp || c.strangers.has(part)) return;
  const unseen = c.unseen[part]!;
  const at = unseen.findIndex((message) => message.stamp === stamp);
  if (at >= 0) c.seen[part] = unseen.splice(0, at + 1).at(-1)!;
  else for (let other = 0; other < c.plan.parts; other++) askToHearAll(c, other);
}

function askToHearAll(c: Coordinator, part: number): void {
  if (c.strangers.has(part) || c.ended.has(part)) return;
  c.strangers.add(part);
  draftFor(c, part).hello = true;
}

/** A part tells everything: what it does not name is as at the beginning. Nothing that was sent to it meanwhile counts. */
function hearAll(c: Coordinator, { part, seq, tasks = [], joins = [] }: FromPart): void {
  // If it does so unasked, it has heard from another coordinator: so may the others.
  if (!c.strangers.has(part))
    for (let other = 0; other < c.plan.parts; other++) if (other !== part) askToHearAll(c, other);
  c.strangers.delete(part);
  // It does not take the close.
  c.closing = false;
  const draft = draftFor(c, part);
  draft.whole = seq;
  delete draft.hello;
  for (const { retry = [], skip = [] } of c.unseen[part]!.splice(0)) {
    if (retry.length > 0) (draft.retry ??= []).push(...retry);
    if (skip.length > 0) (draft.skip ??= []).push(...skip);
  }
  for (const [node, of] of c.plan.partOf.entries()) if (of === part) c.tolerance.set(node, NO_LOSS);
  const named = new Set(tasks.map(([task]) => task));
  for (const [task, { giver }] of c.changed) if (giver === part && !named.has(task)) passOn(c, part, [task, 0, null]);
  const namedJoins = new Set(joins.map(([join]) => join));
  for (const [number, join] of c.joins)
    if (join.givers.includes(part) && !namedJoins.has(number)) setJoin(c, part, number, { bits: 0, cause: null });
}
/** Tells the parts that wait for the task. */
function passOn(c: Coordinator, giver: number, change: Change): void {
  const [task, bits, cause] = change;
  const known = c.changed.get(task)?.change ?? [task, 0, null];
  if (known[1] === bits && isSameCause(known[2], cause)) return;
  c.changed.set(task, { giver, change });
  for (const listener of c.taskListeners.get(task) ?? []) (draftFor(c, listener).tasks ??= []).push(change);
}

function setJoin(c: Coordinator, giver: number, number: number, state: CoordinatedJoin['received'][number]): void {
  const join = c.joins.get(number)!;
  join.received[join.givers.indexOf(giver)] = state;
  updateJoin(c, number, join);
}

/** What a part has to know, whatever it has heard from another coordinator. */
function everythingFor(c: Coordinator, part: number): Omit<ToPart, 'seq' | 'stamp'> {
  const tasks = [...c.changed].flatMap(([task, { change }]) =>
    c.taskListeners.get(task)?.includes(part) === true && change[1] !== 0 ? [change] : [],
  );
  const joins = [...c.joins].flatMap(([number, { takers, bits, cause }]) =>
    takers.includes(part) && bits !== 0 ? [[number, bits, cause] as const] : [],
  );
  return {
    begin: { offline: offlineIn(c, part) },
    pause: c.paused,
    stop: stopFor(c.announced),
    tasks,
    joins,
    approve: [...c.approved],
    ...(c.closing ? { close: true } : {}),
  };
}

function endPart(c: Coordinator, { part, undone, failing }: { readonly part: number } & PartEnd): void {
  if (c.ended.has(part)) return;
  c.ended.add(part);
  c.strangers.delete(part);
  c.undone += undone;
  for (const [node, loss] of failing) c.tolerance.set(node, loss);
  c.permits.correct(part, [], []);
}

/** A join is finished when it is finished in every part with tasks before it, and failed when it failed in any. */
function updateJoin(c: Coordinator, number: number, join: CoordinatedJoin): void {
  const failed = join.received.find((received) => (received.bits & failedBit) !== 0);
  const finished = join.received.every((received) => (received.bits & finishedBit) !== 0);
  const bits = (finished ? finishedBit : 0) | (failed === undefined ? 0 : failedBit);
  const cause = failed?.cause ?? null;
  if (bits === join.bits && isSameCause(cause, join.cause)) return;
  join.bits = bits;
  join.cause = cause;
  for (const taker of join.takers) {
    (draftFor(c, taker).joins ??= []).push([number, bits, cause]);
  }
}

const isSameCause = (a: RootCause | null, b: RootCause | null): boolean =>
  a === null || b === null ? a === b : isSameTask(a, b);

function announceStop(c: Coordinator, commands: CoordinatorCommand[]): void {
  const why = c.stopped ? 'user' : c.tolerance.stop;
  if (why === c.announced) return;
  if (stopFor(why) !== stopFor(c.announced)) {
    sendToAll(c, (draft) => {
      draft.stop = stopFor(why);
    });
  }
  c.announced = why;
  commands.push({ type: 'stopping', why });
}

const stopFor = (why: Coordinator['announced']) => (why === 'user' || why === 'none' ? why : 'failure');

/** Nothing runs in any part, and nothing starts without an operator: each has processed all messages to it. */
export const isQuiet = (c: Coordinator): boolean =>
  c.started &&
  c.strangers.size === 0 &&
  c.quiet.every((quiet, part) => c.ended.has(part) || (quiet && c.unseen[part]!.length === 0));

/** Number of the last message to the part that it has processed. */
export const processedBy = (c: Coordinator, part: number): number => c.seen[part]!.seq;

/** Everything is quiet, and no operator is waited for. */
const isOver = (c: Coordinator): boolean => isQuiet(c) && (c.stopped || !(c.hold || c.paused));

const endOf = (c: Coordinator): GraphEnd => endOfGraph(c.tolerance, c.stopped && c.undone > 0 ? 'stopped' : 'success');

function draftFor(c: Coordinator, part: number): Draft {
  let draft = c.drafts.get(part);
  if (draft === undefined) c.drafts.set(part, (draft = {}));
  return draft;
}

function sendToAll(c: Coordinator, write: (draft: Draft) => void): void {
  for (let part = 0; part < c.plan.parts; part++) write(draftFor(c, part));
}
