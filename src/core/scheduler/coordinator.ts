import { isSameTask, type RootCause, type TaskOnNode } from '../task-on-node.ts';
import type { Inbox } from './inbox.ts';
import { newInbox, takeInOrder } from './inbox.ts';
import type { Change, FromPart, ToPart } from './part-messages.ts';
import { failedBit, finishedBit } from './part-messages.ts';
import type { Coordination } from './partition.ts';
import type { Permits } from './permits.ts';
import { createPermits } from './permits.ts';
import type { Rejection } from './rejection.ts';
import type { GraphEnd, ToleranceCount } from './tolerance.ts';
import { ABSENT, countTolerance, endOfGraph } from './tolerance.ts';

export type CoordinatorEvent =
  | { readonly type: 'begin'; readonly offline?: readonly string[] }
  | { readonly type: 'received'; readonly message: FromPart }
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
interface Coordinator {
  readonly plan: Coordination;
  readonly tolerance: ToleranceCount;
  permits: Permits;
  readonly taskListeners: ReadonlyMap<number, readonly number[]>;
  readonly joins: ReadonlyMap<number, CoordinatedJoin>;
  readonly nodeIndex: ReadonlyMap<string, number>;
  /** By part: messages sent to it, and messages it has acknowledged. */
  readonly sent: number[];
  readonly seen: number[];
  readonly quiet: boolean[];
  readonly inboxes: readonly Inbox<FromPart>[];
  readonly drafts: Map<number, Draft>;
  started: boolean;
  paused: boolean;
  stopped: boolean;
  announced: 'user' | 'critical' | 'tolerance' | 'none';
  closing: boolean;
  closed: number;
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
type Draft = { -readonly [K in Exclude<keyof ToPart, Listed | 'seq'>]?: Exclude<ToPart[K], undefined> } & {
  tasks?: Change[];
  joins?: Change[];
  grants?: [number, number][];
  retry?: TaskOnNode[];
  skip?: TaskOnNode[];
  approve?: string[];
};
type Listed = 'tasks' | 'joins' | 'grants' | 'retry' | 'skip' | 'approve';

export function createCoordinator(plan: Coordination): Coordinator {
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
    sent: each(0),
    seen: each(0),
    quiet: each(false),
    inboxes: Array.from({ length: plan.parts }, () => newInbox<FromPart>()),
    drafts: new Map(),
    started: false,
    paused: false,
    stopped: false,
    announced: 'none',
    closing: false,
    closed: 0,
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
    case 'received':
      for (const message of takeInOrder(c.inboxes[event.message.part]!, event.message)) {
        receive(c, message);
        for (const rejection of message.rejected ?? []) commands.push({ type: 'rejected', rejection });
      }
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

/** Grants permits, detects the end, and sends the collected messages. */
function conclude(c: Coordinator, commands: CoordinatorCommand[]): void {
  announceStop(c, commands);
  if (!c.paused && c.announced === 'none') {
    for (const [part, cls, count] of c.permits.grant()) {
      (draftFor(c, part).grants ??= []).push([cls, count]);
    }
  }
  if (!c.closing && c.drafts.size === 0 && isOver(c)) {
    c.closing = true;
    sendToAll(c, (draft) => {
      draft.close = true;
    });
  }
  for (const [part, draft] of [...c.drafts].sort(([a], [b]) => a - b)) {
    c.sent[part]!++;
    commands.push({ type: 'send', part, message: { seq: c.sent[part]!, ...draft } });
  }
  c.drafts.clear();
  if (c.closed === c.plan.parts && !c.finished) {
    c.finished = true;
    commands.push({ type: 'finish', ...endOf(c) });
  }
}

function rejectionOf(c: Coordinator, event: CoordinatorEvent): Rejection | undefined {
  if (event.type === 'received') return undefined;
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
  const nodes = offline.flatMap((id) => c.nodeIndex.get(id) ?? []);
  for (const node of nodes) c.tolerance.set(node, ABSENT);
  // The first message contains the verdict, so that nothing starts before it.
  for (let part = 0; part < c.plan.parts; part++) {
    draftFor(c, part).begin = { offline: nodes.filter((node) => c.plan.partOf[node] === part) };
  }
}

function receive(c: Coordinator, message: FromPart): void {
  const { part } = message;
  c.seen[part] = message.seen;
  c.quiet[part] = message.quiet;
  for (const [node, loss] of message.failing ?? []) c.tolerance.set(node, loss);
  for (const [task, bits, cause] of message.tasks ?? []) {
    for (const listener of c.taskListeners.get(task) ?? []) {
      (draftFor(c, listener).tasks ??= []).push([task, bits, cause]);
    }
  }
  for (const [number, bits, cause] of message.joins ?? []) {
    const join = c.joins.get(number)!;
    join.received[join.givers.indexOf(part)] = { bits, cause };
    updateJoin(c, number, join);
  }
  c.permits.receive(part, message.demand ?? [], message.release ?? []);
  if (message.closed !== undefined) {
    c.closed++;
    c.undone += message.closed.undone;
  }
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
  const stopFor = (why: Coordinator['announced']) => (why === 'user' || why === 'none' ? why : 'failure');
  if (stopFor(why) !== stopFor(c.announced)) {
    sendToAll(c, (draft) => {
      draft.stop = stopFor(why);
    });
  }
  c.announced = why;
  commands.push({ type: 'stopping', why });
}

/** Nothing runs in any part, and nothing starts without an operator: each has processed all messages to it. */
export const isQuiet = (c: Coordinator): boolean =>
  c.started && c.quiet.every((quiet) => quiet) && c.sent.every((sent, part) => sent === c.seen[part]);

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
