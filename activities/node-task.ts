import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  type ControlJudge,
  type ControlOrder,
  carryOutOrder,
  type ExecutionHost,
  type ExecutionProgress,
  type NodeFacts,
  type OrderKey,
  type OrderSource,
  type OrderVerifier,
} from '../src/agent/index.js';
import type { AgentFacts, NodeControlActivities, NodeTaskActivities, RunTask, TaskEnd } from './graph-contract.js';
import { taskEnd } from './node-task-end.js';

/** What the activities of one node share; made by worker/. */
export interface NodeTaskDependencies {
  /** The name under which the node has its orders; runs may call it by another. The queue is its address. */
  readonly node: string;
  readonly agent: ExecutionHost;
  readonly orders: OrderSource;
  readonly verify?: OrderVerifier;
  /** Temporal's word alone ends no task. */
  readonly control: ControlJudge;
  /** Aborted: this process goes, tasks stay with their supervisors. */
  readonly leaving: AbortSignal;
  /** Milliseconds for which the log store may be away at a task's end. */
  readonly logPatienceMs?: number;
  /** Runs what the agent has no type for, in this process; undefined for a task that is the agent's. */
  readonly further?: (request: RunTask) => FurtherTask | undefined;
}

/** A task in this process. Resolves with undefined when it was left, and may be called again with what it told last. */
export type FurtherTask = (
  onProgress: (progress: ExecutionProgress) => void,
  from: ExecutionProgress | undefined,
  cancel: AbortSignal,
  leave: AbortSignal,
) => Promise<TaskEnd | undefined>;

/** How often a cancellation that nobody ordered is asked about again: an operator may order it later. */
const ASK_AGAIN_MS = 5_000;
const ASK_FIRST_MS = 500;

/** How soon a task is asked for again that this agent left to its supervisor. */
const AGAIN_AFTER_MS = 500;

/** Runs a task of the node, or follows it where it runs already. Only infrastructure throws. */
export function nodeTaskActivities(deps: NodeTaskDependencies): NodeTaskActivities {
  return {
    run_task: async (request) => {
      const further = deps.further?.(request);
      if (further !== undefined) return await beating(request, deps, further);
      return await beating(request, deps, async (beat, from, cancel, leave) => {
        const { agent, verify, orders, logPatienceMs } = deps;
        const end = await carryOutOrder(orderKey(request, deps.node), {
          agent,
          orders,
          onProgress: beat,
          cancel,
          leave,
          ...(verify === undefined ? {} : { verify }),
          ...(from === undefined ? {} : { from }),
          ...(logPatienceMs === undefined ? {} : { logPatienceMs }),
        });
        return end.kind === 'left' ? undefined : taskEnd(end);
      });
    },
  };
}

const orderKey = ({ run, task, generation, plan, type, mode, debug }: RunTask, node: string): OrderKey => ({
  run,
  task,
  node,
  generation,
  plan,
  type,
  mode,
  ...(debug === undefined ? {} : { debug }),
});

/**
 * Heartbeats with the latest progress while the work goes on, and tells apart why it is to stop: an operator has the
 * task cancelled, or only this process goes (shut down, or unknown to the server meanwhile). A cancellation that only
 * Temporal knows of stops nothing: the task goes on to its end.
 * @param work undefined when it was left
 */
async function beating(
  { run, task, generation }: RunTask,
  { node, control, leaving }: NodeTaskDependencies,
  work: FurtherTask,
): Promise<TaskEnd> {
  const context = Context.current();
  const from = context.info.heartbeatDetails as ExecutionProgress | undefined;
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
  // A cancellation comes with the answer to a beat.
  const every = Math.min(2_000, Math.max(100, (context.info.heartbeatTimeoutMs ?? 30_000) / 3));
  const beat = setInterval(() => context.heartbeat(progress), every);
  context.heartbeat(progress);
  try {
    const onProgress = (now: ExecutionProgress) => {
      const phaseChanged = now.phase !== progress.phase;
      progress = now;
      if (phaseChanged) context.heartbeat(progress);
    };
    const end = await work(onProgress, from?.gen === generation ? from : undefined, cancel.signal, leave.signal);
    if (end !== undefined) return end;
  } catch (error) {
    if (!leave.signal.aborted) throw outage(error);
  } finally {
    over.abort();
    clearInterval(beat);
    leaving.removeEventListener('abort', onLeave);
    context.cancellationSignal.removeEventListener('abort', onStop);
  }
  // Paused or reset by an operator: the SDK has its own words for these.
  if (context.cancellationDetails?.paused === true || context.cancellationDetails?.reset === true)
    await context.cancelled;
  throw ApplicationFailure.create({
    message: 'the agent is going; its supervisor keeps the task, and the next agent follows it',
    type: 'AgentGone',
    nextRetryDelay: AGAIN_AFTER_MS,
  });
}

/** Asks until an operator has ordered it; undefined when the asking is over before. */
async function ordered(
  ask: () => Promise<ControlOrder | undefined>,
  until: AbortSignal,
): Promise<ControlOrder | undefined> {
  for (let pauseMs = ASK_FIRST_MS; !until.aborted; pauseMs = Math.min(2 * pauseMs, ASK_AGAIN_MS)) {
    try {
      const order = await ask();
      if (order !== undefined) return order;
      pauseMs = ASK_AGAIN_MS;
    } catch {
      // Whoever can tell is away; the task's own limit holds meanwhile.
    }
    await delay(pauseMs, undefined, { signal: until }).catch(() => undefined);
  }
  return undefined;
}

/** Something an agent needs was not there. Only its message travels. */
function outage(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return ApplicationFailure.create({ message: message.slice(0, 500), type: 'AgentCannot' });
}

export interface NodeControlDependencies {
  readonly node: string;
  readonly agent: { facts(): NodeFacts | Promise<NodeFacts> };
  readonly version: string;
  /** Further task types than the agent's own. */
  readonly taskTypes?: readonly string[];
  readonly control: ControlJudge;
  /** Names this process. */
  readonly instance: string;
  /** Ends the taking of tasks; resolves when no task is followed any more. The process may end afterwards. */
  readonly drain: () => Promise<void>;
}

/** What a node answers also while a task of it runs. */
export function nodeControlActivities(deps: NodeControlDependencies): NodeControlActivities {
  const { node, agent, version } = deps;
  return {
    ping: async (): Promise<AgentFacts> => {
      const { bootId, taskTypes, containment } = await agent.facts();
      const types = [...new Set([...taskTypes, ...(deps.taskTypes ?? [])])].sort();
      return { node, agent_version: version, boot_id: bootId, task_types: types, containment };
    },
    drain: async () => {
      if ((await deps.control.drained(node, deps.instance)) === undefined)
        throw ApplicationFailure.nonRetryable(
          `no operator has ordered that the agent of ${node} is drained: use 'sitewright agent drain'`,
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
