import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context, type Info } from '@temporalio/activity';
import {
  type ControlJudge,
  type ControlOrder,
  carryOutOrder,
  type ExecutionHost,
  type ExecutionProgress,
  type NodeFacts,
  type OrderSource,
  type RaiseAlarm,
  RunHeld,
  type Verifier,
} from '../../src/agent/index.ts';
import { given } from '../../src/core/data/given.ts';
import type { ExecutionKey } from '../../src/core/task-on-node.ts';
import type { AgentFacts, NodeControlActivities, NodeTaskActivities, RunTask, TaskEnd } from '../graph-contract.ts';
import { held, RUN_HELD } from '../run/holds.ts';
import { taskEnd } from './task-end.ts';

/** Dependencies that the activities of one node share. Created by worker/. */
interface NodeTaskDependencies {
  /** The name under which the node's orders are stored. Runs may use another name; the queue is the address. */
  readonly node: string;
  readonly agent: ExecutionHost;
  readonly orders: OrderSource;
  readonly verify?: Verifier;
  readonly alarm?: RaiseAlarm;
  /** Confirms cancellations: a request that only Temporal knows of cancels no task. */
  readonly control: ControlJudge;
  /** Shared with the node's control queue. */
  readonly followed: Followed;
  /** Aborted when this process shuts down. Tasks stay with their supervisors. */
  readonly leaving: AbortSignal;
  /** Called with the token of each attempt that this process takes. */
  readonly taken?: (token: Uint8Array) => void;
  /** How long (milliseconds) the log store may be unavailable at the end of a task. */
  readonly logPatienceMs?: number;
  /** Runs task types that the agent does not have, in this process. Undefined for a task of the agent. */
  readonly further?: (request: RunTask) => WorkHere | undefined;
}

/** A task in this process. Resolves with undefined when it was left; may be called again with the last progress. */
export type WorkHere = (
  onProgress: (progress: ExecutionProgress) => void,
  from: ExecutionProgress | undefined,
  cancel: AbortSignal,
  leave: AbortSignal,
) => Promise<TaskEnd | undefined>;

/** The tasks that this process follows, by `keyOf`. */
export type Followed = Map<string, FollowedTask>;

interface FollowedTask {
  cancel(order: ControlOrder): void;
  /** Sends a heartbeat. To one for an obsolete attempt the server answers so, and the attempt is left. */
  report(): void;
}

/** Data that heartbeats carry from one attempt to the next. */
interface TaskProgress extends ExecutionProgress {
  /** When an attempt last found the run paused (ms): time until then is not the task's. */
  readonly heldUntil?: number;
}

const keyOf = ({ run, task, node, generation }: ExecutionKey): string => JSON.stringify([run, task, node, generation]);

/** How often to check again whether an operator has ordered a cancellation. */
const CHECK_AGAIN_MS = 5_000;
const FIRST_CHECK_MS = 500;

/** Time for a heartbeat to arrive before its limit. */
const SLACK_MS = 6_000;

/**
 * As rarely as the limit allows: each heartbeat is a write of the server. Nothing waits for them: cancellations arrive on
 * the control queue, and so does the question whether the attempt is obsolete.
 */
const heartbeatMs = (limitMs = 30_000): number => Math.max(100, limitMs / 3, limitMs - SLACK_MS);

/** Of a task that this process runs itself: another worker may be the one that a cancellation reaches. */
const OFTEN_MS = 4_000;

/** Starts heartbeats at a random moment of their interval: a thousand tasks may start at the same time. @returns ends them */
function startHeartbeats(report: () => void, everyMs: number): () => void {
  let timer = setTimeout(
    () => {
      report();
      timer = setInterval(report, everyMs);
    },
    (0.2 + 0.8 * Math.random()) * everyMs,
  );
  return () => clearTimeout(timer);
}

/** How soon Temporal retries a task that this agent left to its supervisor. */
const RETRY_AFTER_MS = 500;

/** Runs a task of the node, or follows it if it runs already. Throws only on infrastructure failures. */
export function nodeTaskActivities(deps: NodeTaskDependencies): NodeTaskActivities {
  return {
    run_task: async (request) => {
      const further = deps.further?.(request);
      if (further !== undefined) return await withProgressHeartbeats(request, deps, further, true);
      return await withProgressHeartbeats(request, deps, async (beat, from, cancel, leave) => {
        const { agent, verify, orders, logPatienceMs, alarm } = deps;
        const end = await carryOutOrder(
          { ...request, node: deps.node },
          {
            agent,
            orders,
            onProgress: beat,
            cancel,
            leave,
            ...given({ verify, alarm, from, logPatienceMs }),
          },
        );
        return end.kind === 'left' ? undefined : taskEnd(end, request.output);
      });
    },
  };
}

/**
 * Sends heartbeats with the latest progress while the work runs, and distinguishes two reasons to stop: an operator
 * ordered the cancellation, or only this process exits (shutdown, or the server no longer knows it). A cancellation
 * that only Temporal knows of does not stop the task.
 *
 * @param work resolves with undefined when it was left
 * @param isHere whether this process does the work itself: its start and each step have a heartbeat of their own, because the
 * next attempt continues from what they say
 */
async function withProgressHeartbeats(
  request: RunTask,
  { node, control, leaving, followed, taken }: NodeTaskDependencies,
  work: WorkHere,
  isHere = false,
): Promise<TaskEnd> {
  const { run, task, generation } = request;
  const context = Context.current();
  taken?.(context.info.taskToken);
  const from = context.info.heartbeatDetails as TaskProgress | undefined;
  let progress: ExecutionProgress =
    from?.gen === generation
      ? from
      : { gen: generation, phase: 'fetching', offset: { stdout: 0, stderr: 0 }, last: '' };
  const [cancel, leave, over] = [new AbortController(), new AbortController(), new AbortController()];
  const onLeave = () => leave.abort();
  const onStop = () => {
    if (context.cancellationDetails?.cancelRequested !== true) return onLeave();
    const until = AbortSignal.any([leave.signal, over.signal]);
    void ordered(() => control.cancelled({ run, task, node, generation }), until).then(
      (order) => order !== undefined && cancel.abort(order),
    );
  };
  leaving.addEventListener('abort', onLeave, { once: true });
  if (leaving.aborted) onLeave();
  context.cancellationSignal.addEventListener('abort', onStop, { once: true });
  if (context.cancellationSignal.aborted) onStop();
  let heldUntil = from?.heldUntil;
  const report = () => context.heartbeat({ ...progress, ...given({ heldUntil }) });
  const everyMs = heartbeatMs(context.info.heartbeatTimeoutMs);
  const endHeartbeats = startHeartbeats(report, isHere ? Math.min(OFTEN_MS, everyMs) : everyMs);
  followed.set(keyOf(request), { cancel: (order) => cancel.abort(order), report });
  if (isHere) report();
  try {
    const onProgress = (now: ExecutionProgress) => {
      const isNews = now.phase !== progress.phase || now.last !== progress.last;
      progress = now;
      if (isHere && isNews) report();
    };
    const end = await work(onProgress, from?.gen === generation ? from : undefined, cancel.signal, leave.signal);
    if (end !== undefined) return end;
  } catch (error) {
    if (!leave.signal.aborted) {
      const failure = outage(error);
      if (failure.type === RUN_HELD) {
        heldUntil = Date.now();
        report();
        throw failure;
      }
      if (failure.nonRetryable === true || !isOverdue(context.info, heldUntil)) throw failure;
      return { outcome: 'lost', message: `its agent cannot carry it out or follow it: ${reasonOf(error)}` };
    }
  } finally {
    over.abort();
    endHeartbeats();
    followed.delete(keyOf(request));
    leaving.removeEventListener('abort', onLeave);
    context.cancellationSignal.removeEventListener('abort', onStop);
  }
  // Paused or reset by an operator: the SDK throws the right error.
  if (context.cancellationDetails?.paused === true || context.cancellationDetails?.reset === true)
    await context.cancelled;
  // The next follower continues from here.
  report();
  throw agentGone();
}

/** An agent that left an attempt: Temporal reschedules it immediately. */
export const agentGone = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'its agent ended; the supervisor keeps the task, and the next agent follows it',
    type: 'AgentGone',
    nextRetryDelay: RETRY_AFTER_MS,
  });

/** Checks until an operator has ordered the cancellation. Undefined when `until` is aborted first. */
async function ordered(
  ask: () => Promise<ControlOrder | undefined>,
  until: AbortSignal,
): Promise<ControlOrder | undefined> {
  for (let pauseMs = FIRST_CHECK_MS; !until.aborted; pauseMs = Math.min(2 * pauseMs, CHECK_AGAIN_MS)) {
    try {
      const order = await ask();
      if (order !== undefined) return order;
      pauseMs = CHECK_AGAIN_MS;
    } catch {
      // The source of orders is unavailable. The task's own time limit applies meanwhile.
    }
    await delay(pauseMs, undefined, { signal: until }).catch(() => undefined);
  }
  return undefined;
}

/** A dependency of the agent is unavailable. Only the message is passed to Temporal. */
const outage = (error: unknown): ApplicationFailure =>
  error instanceof ApplicationFailure
    ? error
    : error instanceof RunHeld
      ? held(error.message)
      : ApplicationFailure.create({ message: reasonOf(error), type: 'AgentCannot' });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 250);

/** Whether attempts have gone on for longer than the task may take: more of them would change nothing. */
const isOverdue = (info: Info, heldUntil = 0): boolean =>
  info.currentAttemptScheduledTimestampMs - Math.max(info.scheduledTimestampMs, heldUntil) > info.startToCloseTimeoutMs;

interface NodeControlDependencies {
  readonly node: string;
  readonly agent: Pick<ExecutionHost, 'cancel' | 'execution' | 'hasStarted'> & {
    facts(): NodeFacts | Promise<NodeFacts>;
  };
  readonly version: string;
  /** Task types in addition to the agent's. */
  readonly taskTypes?: readonly string[];
  readonly control: ControlJudge;
  readonly followed: Followed;
  /** Identifies this process. */
  readonly instance: string;
  /** Stops taking tasks. Resolves when no task is followed any more. The process may exit afterwards. */
  readonly drain: () => Promise<void>;
}

/** Activities that a node serves even while one of its tasks runs. */
export function nodeControlActivities(deps: NodeControlDependencies): NodeControlActivities {
  const { node, agent, version } = deps;
  return {
    ping: async ({ attempt }): Promise<AgentFacts> => {
      for (const task of deps.followed.values()) task.report();
      const { bootId, taskTypes, containment } = await agent.facts();
      const types = [...new Set([...taskTypes, ...(deps.taskTypes ?? [])])].sort();
      const facts = { node, agent_version: version, boot_id: bootId, task_types: types, containment };
      if (attempt === undefined) return facts;
      const key = { ...attempt, node };
      return { ...facts, started: (await agent.execution(key)) !== undefined && (await agent.hasStarted(key)) };
    },
    cancel_task: async (attempt) => {
      const { run, task, generation } = attempt;
      const key = { run, task, node, generation };
      const order = await deps.control.cancelled(key);
      if (order === undefined)
        throw ApplicationFailure.nonRetryable(
          `no operator has ordered the cancellation of ${task} on ${node}`,
          'NotOrdered',
        );
      const follower = deps.followed.get(keyOf(attempt));
      // Without a follower in this process, the journal passes it to the supervisor, and to the next follower.
      if (follower === undefined) await agent.cancel(key, order.reason, order.by);
      else follower.cancel(order);
    },
    drain: async () => {
      if ((await deps.control.drained(node, deps.instance)) === undefined)
        throw ApplicationFailure.nonRetryable(
          `no operator has ordered to drain the agent of ${node}: use 'sitewright agent drain --site SITE --node NODE'`,
          'NotOrdered',
        );
      await deps.drain();
      const unfinished = (await agent.facts()).unfinished.map(
        ({ run, task, generation }) => `${run}/${task}/${generation}`,
      );
      return { unfinished };
    },
  };
}
