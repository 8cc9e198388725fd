import { NOTHING_OPEN, type RolloutDecisions, type WaveStep } from '../rollout/next-wave.ts';
import type { RootCause } from '../task-on-node.ts';
import { DueTimes } from './due-times.ts';
import type { SchedulerCommand } from './events.ts';
import type { SchedulerGraph } from './graph.ts';
import { taskCount } from './graph.ts';
import type { Inbox } from './inbox.ts';
import { newInbox } from './inbox.ts';
import type { Sender, ToPart } from './part-messages.ts';
import { PriorityQueue } from './priority-queue.ts';
import type { Rejection } from './rejection.ts';
import { code } from './status.ts';
import type { FailureCause, ToleranceCount } from './tolerance.ts';
import { countTolerance } from './tolerance.ts';
import { reversed } from './topology.ts';

export interface SchedulerOptions {
  /** Tasks without work settle immediately, without a `start` command. Default true. */
  readonly instantNoWork?: boolean;
  /** Tasks start only at a `visit` event: for comparisons with the reference. Default false. */
  readonly visits?: boolean;
  /** A run with failed tasks stays open, so that an operator can retry or skip them; `stop` ends it. Default false. */
  readonly hold?: boolean;
  /** Names of tasks that may not start before an `approve` event. Default none. */
  readonly holdBefore?: readonly string[];
  /** Nodes need permits for their machines (`permits` commands, `permitted` events). Default false. */
  readonly isLimited?: boolean;
}

/**
 * One scheduler instance, owned by its driver and changed in place by `apply`: copying 30,000 tasks per event would cost
 * more than the rest of the run. Opaque to callers: `takeSnapshot` and `report` read it.
 */
export interface Scheduler {
  readonly graph: SchedulerGraph;
  readonly options: Required<SchedulerOptions>;
  readonly predecessors: readonly (readonly number[])[];
  readonly tasksOfNode: readonly (readonly number[])[];
  readonly nodeIndex: ReadonlyMap<string, number>;

  /** By task: a `code`. */
  readonly status: Uint8Array;
  /** By task: attempts started so far, and how many of these an operator's retry has forgiven. */
  readonly attempts: Int32Array;
  readonly forgivenAttempts: Int32Array;
  /** By task: 1 = nothing to run. Initially that of the graph; an operator's skip sets it. */
  readonly noWork: Uint8Array;
  /** By name that waits for an `approve` event: its tasks. */
  readonly held: Map<string, readonly number[]>;
  /** By vertex: bits as its successors see them. */
  readonly bits: Uint8Array;
  /** By vertex: why it counts as failed (index into `causes`), or -1. */
  readonly cause: Int32Array;
  readonly causes: RootCause[];
  /** By node and task (null: it is offline): its index in `causes`. */
  readonly causeIndex: Map<string, Map<string | null, number>>;
  /** By task: number of unfinished and of failed predecessors. */
  readonly unfinished: Int32Array;
  readonly failedBefore: Int32Array;
  /** By join: the same for its local tasks. */
  readonly joinUnfinished: Int32Array;
  readonly joinFailed: Int32Array;

  /** By node: the task that holds it, -1 = free. */
  readonly holder: Int32Array;
  readonly offline: Uint8Array;
  /** By node: number of failed tasks, and of failed or blocked tasks. */
  readonly failedOn: Int32Array;
  readonly lostOn: Int32Array;
  /** By node: how many of the lost ones only an offline node explains. */
  readonly absentOn: Int32Array;
  /** By node: the cause that its other tasks inherit while it is failed. */
  readonly nodeCause: Int32Array;
  readonly tolerance: ToleranceCount;

  readonly slots: Slots;
  readonly machines: MachinePermits | undefined;
  readonly rollouts: Rollouts | undefined;
  /** By task with a retry policy: further attempts, and milliseconds between. */
  readonly retryOf: ReadonlyMap<number, { readonly count: number; readonly interval: number }>;
  /** Tasks that wait for a retry. */
  readonly due: DueTimes;
  wakeAt: number | undefined;
  now: number;

  started: boolean;
  paused: boolean;
  stopped: boolean;
  /** The coordinator has stopped the run because of failures. */
  halted: boolean;
  finished: boolean;
  /** Set by the driver when its history is nearly full: operators can retry no task. */
  exhausted: boolean;
  announced: 'user' | FailureCause | 'none';
  running: number;
  unsettled: number;

  /** Tasks to update before the event is done, because their predecessors or node changed. */
  readonly touched: number[];
  /** An operator's event reverts failures: causes must be recomputed. */
  reopening: boolean;
  /** Tasks without work that start and end in this event. */
  readonly instant: number[];
  commands: SchedulerCommand[];
  readonly outbox: Outbox | undefined;
}

/** Permits for the machines of nodes, where limits of their sites need them. A node holds one while it has something to do, and not while it waits for others. */
export interface MachinePermits {
  readonly held: Set<number>;
  /** Nodes that have found no permit for a task of theirs. */
  readonly wanted: Set<number>;
  /** What the driver was told last. */
  told: string;
}

/** The rollouts of a run, and what they keep from starting. */
export interface Rollouts {
  readonly all: readonly GraphRollout[];
  readonly ofNode: ReadonlyMap<number, GraphRollout>;
  /** Nodes of waves that are not open. */
  readonly closed: Set<number>;
  /** Nodes that an operator tries again, until they are well or have failed again. */
  readonly retried: Set<number>;
  /** As many nodes of one have failed as it allows: nothing new starts. */
  isBarred: boolean;
}

export interface GraphRollout {
  readonly plan: NonNullable<SchedulerGraph['rollouts']>[number];
  decisions: RolloutDecisions;
  /** The last decision. */
  step: WaveStep | null;
  lastResultAt: number;
  /** Its nodes are being looked at. */
  isLooking: boolean;
  /** Its checks are being asked. */
  isChecking: boolean;
  /** Nodes whose checks were not well when they were asked last. */
  unwell: ReadonlySet<number>;
}

/** Ready tasks by node and class, free nodes that could start one, and the limits. */
interface Slots {
  /** By task: its class; the number of names for names without a limit. */
  readonly classOf: Int32Array;
  /** By node: its queues, at most one a class. */
  readonly queues: readonly { readonly cls: number; readonly ready: PriorityQueue }[][];
  readonly queueOf: readonly PriorityQueue[];
  readonly inQueue: Uint8Array;
  readonly candidates: PriorityQueue;
  readonly isCandidate: Uint8Array;
  /** By class: free nodes that found it full. */
  readonly waiting: readonly PriorityQueue[];
  /** By class: nodes in `waiting`, so that none is added twice. */
  readonly isWaiting: readonly Set<number>[];
  readonly used: Int32Array;
  /** By class: permits held, in a part. */
  readonly permits: Int32Array;
  /** By class: 1 = needs a permit. */
  readonly needsPermit: Uint8Array;
  busy: number;
}

/** A part's changes since its last message, and its sent state. */
export interface Outbox {
  readonly inbox: Inbox<ToPart>;
  /** Whose messages count; null before the first. */
  coordinator: Sender | null;
  /** Stamp of the last message that was processed, and whether the coordinator waits to hear of it. */
  seen: number;
  owes: boolean;
  /** The coordinator has to hear everything. */
  tells: boolean;
  /** Number of the message that told everything and is not answered yet, or 0. */
  awaited: number;
  /** The answer has a higher number than this: one to another execution of the part, before a reset, may name the same message. */
  answersAfter: number;
  /** Number of messages sent so far. */
  sent: number;
  readonly classes: ReadonlyMap<number, number>;
  readonly rejected: Rejection[];
  readonly globalJoins: ReadonlyMap<number, number>;
  readonly externals: ReadonlyMap<number, number>;
  readonly exported: Uint8Array;
  readonly tasks: Set<number>;
  readonly joins: Set<number>;
  readonly nodes: Map<number, number>;
  /** By class: demand as the coordinator knows it. */
  readonly demand: Int32Array;
  readonly dirtyClasses: Set<number>;
  quiet: boolean;
  acknowledged: number;
  /** `finish` has been ordered. */
  closed: boolean;
  /** By join: the last sent count. */
  readonly joinSent: Uint8Array;
  readonly joinCause: Int32Array;
}

/** A scheduler before its first event. `graph` comes from `compilePlan` or `partition`. */
export function createScheduler(graph: SchedulerGraph, options: SchedulerOptions = {}): Scheduler {
  const tasks = taskCount(graph);
  const vertices = graph.successors.length;
  const predecessors = reversed(graph.successors);
  const tasksOfNode: number[][] = graph.nodes.map(() => []);
  const held = new Map<string, number[]>((options.holdBefore ?? []).map((name) => [name, []]));
  for (let t = 0; t < tasks; t++) {
    tasksOfNode[graph.nodeOf[t]!]!.push(t);
    held.get(graph.names[graph.nameOf[t]!]!)?.push(t);
  }
  const s: Scheduler = {
    graph,
    options: {
      instantNoWork: options.instantNoWork ?? true,
      visits: options.visits ?? false,
      hold: options.hold ?? false,
      holdBefore: options.holdBefore ?? [],
      isLimited: options.isLimited ?? false,
    },
    predecessors,
    tasksOfNode,
    nodeIndex: new Map(graph.nodes.map((id, n) => [id, n])),
    status: new Uint8Array(tasks).fill(code.waiting),
    attempts: new Int32Array(tasks),
    forgivenAttempts: new Int32Array(tasks),
    noWork: Uint8Array.from(graph.noWork),
    held,
    bits: new Uint8Array(vertices),
    cause: new Int32Array(vertices).fill(-1),
    causes: [],
    causeIndex: new Map(),
    unfinished: Int32Array.from({ length: tasks }, (_, t) => predecessors[t]!.length),
    failedBefore: new Int32Array(tasks),
    joinUnfinished: Int32Array.from({ length: graph.joins }, (_, j) => predecessors[tasks + j]!.length),
    joinFailed: new Int32Array(graph.joins),
    holder: new Int32Array(graph.nodes.length).fill(-1),
    offline: new Uint8Array(graph.nodes.length),
    failedOn: new Int32Array(graph.nodes.length),
    lostOn: new Int32Array(graph.nodes.length),
    absentOn: new Int32Array(graph.nodes.length),
    nodeCause: new Int32Array(graph.nodes.length).fill(-1),
    tolerance: countTolerance(graph),
    slots: createSlots(graph, tasksOfNode),
    rollouts: startRollouts(graph),
    machines: options.isLimited ? { held: new Set(), wanted: new Set(), told: '' } : undefined,
    retryOf: new Map(graph.retries.map(([t, count, interval]) => [t, { count, interval }])),
    due: new DueTimes(),
    wakeAt: undefined,
    now: 0,
    started: false,
    paused: false,
    stopped: false,
    halted: false,
    finished: false,
    exhausted: false,
    announced: 'none',
    running: 0,
    unsettled: tasks,
    touched: [],
    reopening: false,
    instant: [],
    commands: [],
    outbox: createOutbox(graph),
  };
  return s;
}

function createSlots(graph: SchedulerGraph, tasksOfNode: readonly (readonly number[])[]): Slots {
  const others = graph.names.length;
  const classOf = Int32Array.from(graph.nameOf, (name) => (graph.nameLimit[name]! > 0 ? name : others));
  const queueOf = new Array<PriorityQueue>(classOf.length);
  const queues = tasksOfNode.map((tasks) => {
    const byClass = new Map<number, PriorityQueue>();
    for (const t of tasks) {
      const cls = classOf[t]!;
      let ready = byClass.get(cls);
      if (ready === undefined) byClass.set(cls, (ready = new PriorityQueue((task) => graph.rank[task]!)));
      queueOf[t] = ready;
    }
    return [...byClass].map(([cls, ready]) => ({ cls, ready }));
  });
  return {
    classOf,
    queues,
    queueOf,
    inQueue: new Uint8Array(classOf.length),
    candidates: new PriorityQueue((node) => node),
    isCandidate: new Uint8Array(graph.nodes.length),
    waiting: Array.from({ length: others + 1 }, () => new PriorityQueue((node) => node)),
    isWaiting: Array.from({ length: others + 1 }, () => new Set<number>()),
    used: new Int32Array(others + 1),
    permits: new Int32Array(others + 1),
    needsPermit: Uint8Array.from({ length: others + 1 }, (_, cls) => graph.part?.permits[cls] ?? 0),
    busy: 0,
  };
}

/** Undefined for a graph without any. */
function startRollouts({ rollouts = [] }: SchedulerGraph): Rollouts | undefined {
  if (rollouts.length === 0) return undefined;
  const all = rollouts.map(
    (plan): GraphRollout => ({
      ...{ plan, decisions: NOTHING_OPEN, step: null, lastResultAt: 0 },
      ...{ isLooking: false, isChecking: false, unwell: new Set() },
    }),
  );
  return {
    all,
    ofNode: new Map(all.flatMap((one) => one.plan.waves.flat().map((node) => [node, one] as const))),
    closed: new Set(all.flatMap(({ plan }) => plan.waves.flat())),
    retried: new Set(),
    isBarred: false,
  };
}

function createOutbox(graph: SchedulerGraph): Outbox | undefined {
  const { part } = graph;
  if (part === undefined) return undefined;
  const tasks = taskCount(graph);
  const exported = new Uint8Array(tasks);
  for (const t of part.exported) exported[t] = 1;
  return {
    inbox: newInbox(),
    coordinator: null,
    seen: 0,
    owes: false,
    tells: false,
    awaited: 0,
    answersAfter: 0,
    sent: 0,
    classes: new Map(part.classes.map((whole, cls) => [whole, cls])),
    rejected: [],
    globalJoins: new Map(part.joins.flatMap((whole, j) => (whole < 0 ? [] : [[whole, j] as const]))),
    externals: new Map(part.externals.map((whole, e) => [whole, tasks + graph.joins + e])),
    exported,
    tasks: new Set(),
    joins: new Set(),
    nodes: new Map(),
    demand: new Int32Array(graph.names.length + 1),
    dirtyClasses: new Set(),
    quiet: false,
    acknowledged: 0,
    closed: false,
    joinSent: new Uint8Array(graph.joins),
    joinCause: new Int32Array(graph.joins).fill(-1),
  };
}

/** The number of a cause; adds new ones. */
export function causeNumber(s: Scheduler, { task, node }: RootCause): number {
  let ofNode = s.causeIndex.get(node);
  if (ofNode === undefined) s.causeIndex.set(node, (ofNode = new Map()));
  let at = ofNode.get(task);
  if (at === undefined) {
    at = s.causes.length;
    s.causes.push({ task, node });
    ofNode.set(task, at);
  }
  return at;
}

/** The number of a task that an operator names. Linear in the tasks of its node. */
export function taskAt({ graph, nodeIndex, tasksOfNode }: Scheduler, name: string, node: string): number | undefined {
  const at = nodeIndex.get(node);
  return at === undefined ? undefined : tasksOfNode[at]!.find((task) => graph.names[graph.nameOf[task]!] === name);
}

/** Whether nothing new may start. */
export const isStopping = (s: Scheduler): boolean =>
  s.stopped || s.halted || s.tolerance.stop !== 'none' || isAborted(s);

/** Whether an operator has ended a rollout. */
export const isAborted = ({ rollouts }: Scheduler): boolean =>
  rollouts?.all.some(({ decisions }) => decisions.aborted) ?? false;
