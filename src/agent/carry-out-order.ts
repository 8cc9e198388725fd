import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../core/data/given.ts';
import { retryPauses } from '../core/retry-pauses.ts';
import type { ExecutionKey, RunTask } from '../core/task-on-node.ts';
import type { ControlOrder } from './control-judge.ts';
import type { Execution } from './journal/execution.ts';
import type { FollowEvent, OutputOffsets } from './journal/follow.ts';
import type { TaskResult } from './journal/result.ts';
import type { EnsureAnswer } from './node-agent.ts';
import {
  type LogChunk,
  OrderRefused,
  type OrderSource,
  OrderWithdrawn,
  type RaiseAlarm,
  type Verifier,
} from './order-source.ts';
import { readableTail } from './output/output-text.ts';

/** How far an execution has come. A heartbeat carries it, so that the next follower continues from there. */
export interface ExecutionProgress {
  readonly gen: number;
  readonly phase: 'fetching' | 'waiting' | 'running' | 'pausing' | 'ending';
  /** Bytes of each stream that are in the log store. */
  readonly offset: OutputOffsets;
  /** The last line of output, at most 200 characters. */
  readonly last: string;
}

export type CarriedOut =
  | {
      readonly kind: 'ended';
      readonly result: TaskResult;
      readonly unshipped?: string;
      /** The earlier attempt that has done the task already: it was not repeated. */
      readonly before?: ExecutionKey;
    }
  /** Nothing was done, and a retry will not change that. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nothing was done: the run ends. */
  | { readonly kind: 'withdrawn'; readonly reason: string }
  /** It cannot be accepted at the moment (the disk is full); nothing was done. */
  | { readonly kind: 'not-accepted'; readonly answer: Extract<EnsureAnswer, { kind: 'refused' }> }
  /** `leave` was aborted. The supervisor continues, and the next caller follows it. */
  | { readonly kind: 'left' };

/** The executor of a node's tasks: its `NodeAgent`. */
export interface ExecutionHost {
  /** An execution that was ensured before. */
  execution(key: ExecutionKey): Execution | undefined | Promise<Execution | undefined>;
  /** Whether an execution that was ensured before has started: it runs, or has ended. */
  hasStarted(key: ExecutionKey): boolean | Promise<boolean>;
  /** Generations of a task that were ensured before, newest first. */
  generations(task: Omit<ExecutionKey, 'generation'>): readonly number[] | Promise<readonly number[]>;
  /** Starts it on the first call only. */
  ensure(execution: Execution): Promise<EnsureAnswer>;
  follow(key: ExecutionKey, from?: Partial<OutputOffsets>, stop?: AbortSignal): AsyncIterable<FollowEvent>;
  /** Requests its cancellation, also before it was ensured. Resolves when the request is recorded. */
  cancel(key: ExecutionKey, reason: string, by?: string): void | Promise<void>;
}

interface CarryOutOptions {
  readonly agent: ExecutionHost;
  readonly orders: OrderSource;
  readonly verify?: Verifier;
  readonly alarm?: RaiseAlarm;
  /** The last progress of an earlier follower of the same execution. */
  readonly from?: ExecutionProgress;
  readonly onProgress: (progress: ExecutionProgress) => void;
  /** When aborted, the task is cancelled and its end awaited. The abort reason may be the `ControlOrder`. */
  readonly cancel: AbortSignal;
  /** When aborted, this follower stops and the task continues. */
  readonly leave: AbortSignal;
  /** Milliseconds for which the log store may be unavailable before the task's end is reported without its output. */
  readonly logPatienceMs?: number;
}

const DEFAULT_LOG_PATIENCE_MS = 60_000;
const LAST_LINE_CHARACTERS = 200;

const OTHER_ORDER =
  'the journal of the node has another order under the name of this task: its result is not for this run';

/**
 * Carries an order out to completion: fetches and verifies it the first time, starts it once, follows it on every
 * call, and ships its output to the log store. Rejects on outages (of the source, of a secret, of the supervisor's
 * start). A retry, here or in the next agent, continues where this call stopped.
 */
export async function carryOutOrder(key: RunTask, options: CarryOutOptions): Promise<CarriedOut> {
  const { agent, orders, cancel, leave } = options;
  // The next follower repeats a cancellation that did not arrive; the node enforces its own time limit.
  let followed: ExecutionKey = key;
  const onCancel = async () => {
    const { reason, by } = orderIn(cancel);
    await agent.cancel(key, reason, by);
    if (followed !== key) await agent.cancel(followed, reason, by);
  };
  const cancelOnAbort = () => void onCancel().catch(() => undefined);
  if (cancel.aborted) await onCancel();
  else cancel.addEventListener('abort', cancelOnAbort, { once: true });
  try {
    // A started task was verified on arrival, and must be followed even while the source is unavailable.
    const known = await agent.execution(key);
    const isFollowed = known !== undefined && isOf(known, key) && (await agent.hasStarted(key));
    const execution = isFollowed ? known : await fetchOrder(key, options);
    if ('kind' in execution) return execution;
    for await (const before of known === undefined ? earlierAttempts(agent, execution) : []) {
      followed = before;
      await closedIfFresh(agent, before);
      if (cancel.aborted) await onCancel();
      const { from: _, ...rest } = options;
      const end = await followToEnd({ ...key, ...before }, orders, rest, leave);
      if (end.kind === 'left') return end;
      followed = key;
      if (wasNotRun(end.result)) continue;
      if (end.result.outcome !== 'success' && end.result.outcome !== 'skipped') break;
      return await notRepeated(key, before, end.result, options);
    }
    const answer = await ensured(agent, execution);
    if (answer.kind === 'refused') {
      const { failure } = answer;
      if (failure.kind !== 'refused') return { kind: 'not-accepted', answer };
      return { kind: 'refused', reason: failure.problems.map(({ message }) => message).join('; ') };
    }
    if (answer.kind === 'conflict') {
      await options.alarm?.('other-order', OTHER_ORDER, key).catch(() => undefined);
      return { kind: 'refused', reason: OTHER_ORDER };
    }
    return await followToEnd(key, orders, options, leave);
  } finally {
    cancel.removeEventListener('abort', cancelOnAbort);
  }
}

function orderIn({ reason }: AbortSignal): ControlOrder {
  const given = typeof reason === 'object' && reason !== null && !(reason instanceof Error);
  return given ? (reason as ControlOrder) : { reason: 'the run requested it' };
}

/** Whether the journal's execution is the one requested, without a look at the order: the plan's digest covers that. */
const isOf = ({ plan, type, mode = 'apply', debug }: Execution, key: RunTask): boolean =>
  plan === key.plan && type === key.type && mode === key.mode && debug === key.debug;

/** The execution to run, or why it is not run. */
async function fetchOrder(
  key: RunTask,
  { orders, verify }: CarryOutOptions,
): Promise<Execution | Extract<CarriedOut, { kind: 'refused' | 'withdrawn' }>> {
  try {
    const order = await orders.fetch(key);
    const reason = (await verify?.(order, key)) ?? mismatch(order.execution, key);
    return reason === undefined ? { ...order.execution, plan: key.plan } : { kind: 'refused', reason };
  } catch (error) {
    if (error instanceof OrderWithdrawn) return { kind: 'withdrawn', reason: error.message };
    if (error instanceof OrderRefused) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

function mismatch(execution: Execution, key: RunTask): string | undefined {
  for (const name of ['run', 'task', 'node', 'generation', 'type'] as const)
    if (execution[name] !== key[name])
      return `the order is for ${name} ${String(execution[name])}, not ${String(key[name])}`;
  const mode = execution.mode ?? 'apply';
  return mode === key.mode ? undefined : `the order is to ${mode}, and the run asks for ${key.mode}`;
}

async function ensured(agent: ExecutionHost, execution: Execution): Promise<EnsureAnswer> {
  try {
    return await agent.ensure(execution);
  } catch (error) {
    if (!(error instanceof OrderRefused)) throw error;
    // It is in the journal by now: cancelled there, it cannot start later.
    await agent.cancel(execution, error.message, 'its source');
    return await agent.ensure(execution);
  }
}

/**
 * Executions of the same task in the node's journal, newest first: earlier attempts, and those of the runs that this one
 * continues. The orchestrator may not know how they ended.
 */
async function* earlierAttempts(agent: ExecutionHost, execution: Execution): AsyncGenerator<ExecutionKey> {
  const { task, node, generation, type, mode = 'apply', earlier = [] } = execution;
  for (const run of [execution.run, ...earlier]) {
    if (run === execution.run && generation === 1) continue;
    for (const number of await agent.generations({ run, task, node })) {
      if (run === execution.run && number >= generation) continue;
      const key = { run, task, node, generation: number };
      const known = await agent.execution(key);
      if (known?.type === type && (known.mode ?? 'apply') === mode) yield key;
    }
  }
}

/** An attempt whose agent died before its supervisor had it: nobody starts it any more, and its end would be waited for in vain. */
async function closedIfFresh(agent: ExecutionHost, before: ExecutionKey): Promise<void> {
  const known = await agent.execution(before);
  if (known === undefined || (await agent.hasStarted(before))) return;
  await agent.cancel(before, 'a later attempt takes its place');
  await agent.ensure(known);
}

/** Cancelled or refused before it started: the attempt before it counts. */
const wasNotRun = ({ outcome, tries }: TaskResult): boolean =>
  tries.length === 0 && (outcome === 'cancelled' || outcome === 'refused');

/** Ends a task with the result of the attempt that has done it. */
async function notRepeated(
  key: RunTask,
  before: ExecutionKey,
  result: TaskResult,
  { orders, leave, logPatienceMs = DEFAULT_LOG_PATIENCE_MS }: CarryOutOptions,
): Promise<CarriedOut> {
  const none = { bytes: 0, dropped: 0, tail: '', binary: false };
  const own = { ...result, output: { stdout: none, stderr: none } };
  await shipLog(orders, key, { kind: 'ended', result: own }, { patienceMs: logPatienceMs, leave });
  return { kind: 'ended', result, before };
}

async function followToEnd(
  key: ExecutionKey,
  orders: OrderSource,
  options: CarryOutOptions,
  leave: AbortSignal,
): Promise<Extract<CarriedOut, { kind: 'ended' | 'left' }>> {
  const { agent, from, onProgress } = options;
  const offset = from?.gen === key.generation ? { ...from.offset } : { stdout: 0, stderr: 0 };
  let progress: ExecutionProgress = { gen: key.generation, phase: 'waiting', offset, last: from?.last ?? '' };
  const report = (change: Partial<ExecutionProgress>) => {
    progress = { ...progress, ...change };
    onProgress(progress);
  };
  const patienceMs = options.logPatienceMs ?? DEFAULT_LOG_PATIENCE_MS;
  let unshipped: string | undefined;
  const ship = async (chunk: Parameters<OrderSource['ship']>[1]): Promise<void> => {
    if (unshipped === undefined) unshipped = await shipLog(orders, key, chunk, { patienceMs, leave });
  };
  for await (const event of agent.follow(key, offset, leave)) {
    if (leave.aborted) break;
    switch (event.kind) {
      case 'progress':
        report({ phase: event.progress.phase });
        break;
      case 'output': {
        await ship(event);
        const end = event.offset + event.bytes.length;
        report({ offset: { ...progress.offset, [event.stream]: end }, last: lastLine(event.bytes) || progress.last });
        break;
      }
      case 'gap':
        break;
      case 'ended':
        await ship(event);
        return { kind: 'ended', result: event.result, ...given({ unshipped }) };
    }
    // Without this pause, a follower with much to read would block the event loop.
    await delay(0);
  }
  return { kind: 'left' };
}

function lastLine(bytes: Uint8Array): string {
  const lines = readableTail(bytes.subarray(-4 * LAST_LINE_CHARACTERS)).split('\n');
  return (lines.findLast((line) => line.trim() !== '') ?? '').slice(-LAST_LINE_CHARACTERS);
}

const FIRST_PAUSE_MS = 100;
/** With thousands of agents, a gateway that is back has a quarter of a minute for them all. */
const LONGEST_PAUSE_MS = 15_000;

/**
 * Ships one chunk to the log store, with retries while the store is unavailable.
 * @returns why it gave up; undefined when the chunk is stored (or no one needs it any more)
 */
async function shipLog(
  orders: OrderSource,
  key: ExecutionKey,
  chunk: LogChunk,
  { patienceMs, leave }: { readonly patienceMs: number; readonly leave: AbortSignal },
): Promise<string | undefined> {
  const giveUpAt = performance.now() + patienceMs;
  const nextPause = retryPauses(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (;;) {
    try {
      await orders.ship(key, chunk);
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof OrderRefused || performance.now() >= giveUpAt) return reason;
    }
    await delay(nextPause(), undefined, { signal: leave }).catch(() => undefined);
    if (leave.aborted) return undefined;
  }
}
