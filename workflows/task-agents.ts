import { ActivityFailure, CancelledFailure, isCancellation, sleep, TimeoutFailure } from '@temporalio/workflow';
import type { AgentFacts, RunTask } from '../activities/graph-contract.ts';
import { type ExecutablePart, graphRunName, type TaskEnd } from '../src/core/graph-run/index.ts';
import { pairOf } from '../src/core/scheduler/index.ts';
import { type ExecutionKey, executionKey } from '../src/core/task-on-node.ts';
import { goesToMaster } from '../src/core/task-types/off-agent.ts';
import { type AgentPatience, controlCall, nodeTask, ofMaster, takeSeconds } from './activity-options.ts';
import { callActivity, callActivityThen } from './border.ts';
import type { Patience, TaskRun } from './contract.ts';
import { stepError } from './failures.ts';
import { controlQueue, taskActivityId } from './protocol.ts';

/** Nodes pinged in parallel: enough to be fast, few enough to keep a payload of commands small. */
const PARALLEL_PINGS = 200;

interface PingAbout {
  /** Whether it has started is asked as well. */
  readonly attempt?: ExecutionKey;
  /** How long to wait for the answer; default: as for an agent that is offline. */
  readonly seconds?: number;
}

interface AttemptListener {
  /** Called once, when the attempt has ended, possibly before `run` returns. */
  ended(end: TaskEnd): void;
  /** `true`: the node does not take the task. `false`: it answers again. */
  silent(is: boolean): void;
  /** Nothing new may start: a task that its node has not taken is cancelled. */
  isStopping(): boolean;
}

/** One attempt, which may be sent several times. */
interface Attempt {
  readonly id: string;
  readonly queue: string;
  readonly isForMaster: boolean;
  readonly request: RunTask;
  readonly seconds: number;
  readonly patience: AgentPatience;
  readonly listener: AttemptListener;
}

/** The agents of a part's nodes: asks them whether they are there, and has them run tasks. */
export class Agents {
  readonly #part: ExecutablePart;
  readonly #run: TaskRun;
  readonly #runName: string;
  /** What agents have told about themselves, by the ids of their nodes. */
  readonly #facts = new Map<string, AgentFacts>();
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #asked = new Set<string>();
  /** Attempts that their nodes have, or are about to take. */
  readonly #open = new Map<RunTask, Attempt>();

  constructor(part: ExecutablePart, run: TaskRun) {
    this.#part = part;
    this.#run = run;
    this.#runName = graphRunName(run.graph, run.execution);
    this.#indexOf = new Map(part.graph.nodes.map((id, at) => [id, at]));
  }

  /** Nodes that `ask` still waits for. */
  unanswered(): readonly string[] {
    return [...this.#asked];
  }

  /** Pings all nodes that have an agent. Returns those that did not answer. @param answered called after each answer */
  async ask(answered: () => void): Promise<string[]> {
    const open = this.#part.graph.nodes.filter((_id, node) => this.#controlOf(node) !== null);
    const offline = new Set<string>();
    const queue = open.values();
    const worker = async (): Promise<void> => {
      for (const id of queue) {
        this.#asked.add(id);
        if ((await this.#ping(id)) === null) offline.add(id);
        else this.#asked.delete(id);
        answered();
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_PINGS, open.length) }, worker));
    return open.filter((id) => offline.has(id));
  }

  /** Runs one attempt on its node. Waits while the node is offline. @param task its number in the graph */
  run(task: number, attempt: number, listener: AttemptListener): void {
    const { graph, types, typeOf, master, queues, timeouts, timeoutOf } = this.#part;
    const { mode, debug, plan, patience: ofRun } = this.#run;
    const node = graph.nodeOf[task]!;
    const { task: name, node: id } = pairOf(graph, task);
    const type = types[typeOf[task]!]!;
    const isForMaster = goesToMaster(type);
    const queue = isForMaster ? master : queues[node];
    if (queue == null) {
      listener.ended({ outcome: 'failed', message: `no agent is known for node ${id}` });
      return;
    }
    const request: RunTask = {
      run: this.#runName,
      task: name,
      node: this.#agentOf(id),
      generation: attempt,
      type,
      mode,
      ...(debug ? { debug: true as const } : {}),
      plan,
    };
    const seconds = timeouts[timeoutOf[task]!]!;
    const patience = isForMaster ? ofMaster(ofRun) : ofRun;
    const sent = this.#restarting({ id, queue, isForMaster, request, seconds, patience, listener });
    if (isForMaster || this.#knows(id, type)) this.#send(sent);
    else
      void this.#refusal(id, type).then(
        (refused) => (refused === null ? this.#send(sent) : listener.ended(refused)),
        (error: unknown) => listener.ended(endOf(error)),
      );
  }

  /** Cancels all attempts on their nodes immediately, in addition to the cancellation that reaches them with a heartbeat. */
  cancelAll(): void {
    for (const { id, queue, request, listener } of this.#open.values()) {
      const options = controlCall(
        `cancel ${request.task} on ${id}`,
        controlQueue(queue),
        this.#run.patience.heartbeat_seconds,
      );
      // The attempt itself reports how it ended, unless its agent is offline: then the limit of its heartbeats would have to pass.
      callActivity('cancel_task', executionKey(request), options).catch((error: unknown) => {
        if (silenceIn(error) !== null && this.#open.delete(request)) listener.ended(AWAY);
      });
    }
  }

  #controlOf(node: number): string | null {
    return this.#part.controls[node] ?? null;
  }
  /** The agent's name for the node: of a site's node its name, where the graph has its id. */
  #agentOf(id: string): string {
    return this.#part.agents[this.#indexOf.get(id)!] ?? id;
  }

  /** null: no answer within the offline wait. */
  async #ping(id: string, about: PingAbout = {}): Promise<AgentFacts | null> {
    const control = this.#controlOf(this.#indexOf.get(id)!);
    return control === null ? null : this.#pingOn(control, id, about);
  }

  async #pingOn(control: string, id: string, { attempt, seconds }: PingAbout): Promise<AgentFacts | null> {
    try {
      const options = controlCall(
        `ask the agent of ${id}`,
        control,
        seconds ?? this.#run.patience.offline_wait_seconds,
      );
      const answer = await callActivity('ping', { node: this.#agentOf(id), ...(attempt && { attempt }) }, options);
      if (control === this.#controlOf(this.#indexOf.get(id)!)) this.#facts.set(id, answer);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      return null;
    }
  }

  /** True unless the agent reported other types. */
  #knows(id: string, type: string): boolean {
    return this.#facts.get(id)?.task_types.includes(type) ?? true;
  }

  /** Rejects the task when the node's agent does not know the type. Asks it again first: it may have been upgraded. */
  async #refusal(id: string, type: string): Promise<TaskEnd | null> {
    await this.#ping(id);
    if (this.#knows(id, type)) return null;
    const { agent_version, task_types } = this.#facts.get(id)!;
    return {
      outcome: 'refused',
      message: `the agent ${agent_version} of ${id} does not support tasks of type ${type} (only ${task_types.join(', ')}): upgrade it`,
    };
  }

  /**
   * Sends the same generation each time, so that an agent follows a task it has started already instead of repeating it.
   * Uses callbacks, not `await`: the SDK records a stack trace for each promise, and this is the hot path of a run.
   */
  #send(attempt: Attempt, times = 1, known: Silence = 'untaken'): void {
    const { id, queue, request, seconds, patience, listener } = attempt;
    const { task, generation, type } = request;
    const summary = `${task} on ${id} (${type}${generation > 1 ? `, attempt ${generation}` : ''})`;
    this.#open.set(attempt.request, attempt);
    const activityId = taskActivityId(task, id, generation) + (times > 1 ? `/${times}` : '');
    const options = nodeTask(activityId, summary, queue, seconds, patience, times);
    const ended = (end: TaskEnd): void => {
      if (this.#open.delete(request)) listener.ended(end);
    };
    callActivityThen('run_task', request, options, ended, (error) => {
      const silence = silenceIn(error);
      if (silence === null) return ended(endOf(error));
      if (this.#open.delete(request)) void this.#wait(attempt, times, surest(known, silence));
    });
  }

  /**
   * After the node did not take the task, or sent no heartbeats: sends it again once the agent answers. If an agent started
   * it before and went offline, only the node's journal has its result. So it does after a reset, which the run does not notice.
   */
  async #wait(attempt: Attempt, times: number, known: Silence): Promise<void> {
    const { id, queue, request, isForMaster, patience, listener } = attempt;
    const isWithdrawn = listener.isStopping() && known !== 'taken';
    let isKnownNot = known === 'untaken';
    listener.silent(true);
    try {
      const about = isWithdrawn
        ? { attempt: executionKey(request), seconds: this.#run.patience.heartbeat_seconds }
        : {};
      const asked = isForMaster ? this.#pingOn(controlQueue(queue), id, about) : this.#ping(id, about);
      const answer = await asked.finally(() => listener.silent(false));
      if (answer !== null && (!isWithdrawn || answer.started === true))
        return this.#send(attempt, times + 1, isWithdrawn ? 'taken' : known);
      isKnownNot ||= answer !== null;
    } catch (error) {
      return listener.ended(endOf(error));
    }
    if (!isKnownNot) {
      const message = `${id} may have started it, and its agent is offline: a retry, or a run --from this one, reads the result once the agent is back`;
      return listener.ended({ outcome: 'lost', message });
    }
    if (isWithdrawn)
      return listener.ended({ outcome: 'not_reached', message: `${id} had not started it when the run stopped` });
    const [sent, asked] = [takeSeconds(patience, times), patience.offline_wait_seconds].map(Math.round);
    listener.ended({
      outcome: 'failed',
      failure_kind: 'offline',
      message: `${id} did not start it within ${sent} s, and its agent did not answer for another ${asked} s`,
    });
  }

  /** If a node did not perform its restart, cycles its power before the end is reported. */
  #restarting(attempt: Attempt): Attempt {
    const { id, request, seconds, listener } = attempt;
    const { master } = this.#part;
    if (request.type !== 'reboot') return attempt;
    const ended = (end: TaskEnd): void => {
      if (!needsPowerCycle(request, end)) {
        listener.ended(end);
        return;
      }
      const before = end.summary?.bootIdBefore ?? this.#facts.get(id)?.boot_id;
      const bootId = before === undefined ? undefined : String(before);
      listener.silent(true);
      restartByPowerCycle({
        ...{ request, id, end, master, bootId, seconds },
        patience: this.#run.patience,
        ping: () => this.#ping(id),
      })
        .finally(() => listener.silent(false))
        .then(listener.ended, (error: unknown) => listener.ended(endOf(error)));
    };
    return { ...attempt, listener: { ...listener, ended } };
  }
}

/**
 * What is known of a task about which its node is silent: no agent ever took it; one did, and its try failed; or one had it, and
 * sends no heartbeats. In the last two cases only the node's journal knows whether it has started.
 */
const SILENCES = ['untaken', 'tried', 'taken'] as const;
type Silence = (typeof SILENCES)[number];

const surest = (one: Silence, other: Silence): Silence =>
  SILENCES.indexOf(one) > SILENCES.indexOf(other) ? one : other;

function silenceIn(error: unknown): Silence | null {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof TimeoutFailure)) return null;
  const { cause, retryState } = error;
  // After a cancellation the server tries nothing again either.
  if (cause.timeoutType === 'HEARTBEAT') return retryState === 'NON_RETRYABLE_FAILURE' ? 'taken' : null;
  if (cause.timeoutType !== 'SCHEDULE_TO_START') return null;
  if (cause.lastHeartbeatDetails !== undefined) return 'taken';
  // The failure of the try before, which the SDK leaves in the failure as the server has sent it.
  return cause.failure?.cause == null ? 'untaken' : 'tried';
}

const AWAY: TaskEnd = {
  outcome: 'cancelled',
  message: 'the run was cancelled while its agent was offline: whether it had started is unknown',
};

/** The server's failure of an activity that it cancels while no worker runs it. */
const NOT_STARTED = 'ACTIVITY_ID_NOT_STARTED';

/** An activity that failed for good: the task fails, not the run. */
function endOf(error: unknown): TaskEnd {
  if (isCancellation(error)) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    const isAway = cause instanceof CancelledFailure && cause.details.includes(NOT_STARTED);
    return isAway ? AWAY : { outcome: 'cancelled', message: 'the run was cancelled' };
  }
  const { type, message } = stepError(error);
  // The server tries nothing again that is being cancelled: a failure after which it would be tried says nothing of the task.
  if (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED')
    return {
      outcome: 'cancelled',
      message: `the run was cancelled, and how it ended is unknown: ${message}`.slice(0, 300),
    };
  return { outcome: 'failed', message: `${type}: ${message}`.slice(0, 300) };
}

/** A node that answers with its old boot id may be about to shut down. */
const LOOK_AGAIN_MS = 5_000;

/** A restart that the node did not perform, or after which it does not answer. */
interface MissedRestart {
  readonly request: RunTask;
  /** Id of the node in the graph. */
  readonly id: string;
  /** How the node's own restart ended. */
  readonly end: TaskEnd;
  /** Queue of the orchestrator's own agent, which reaches MAAS. */
  readonly master: string;
  /** The boot id that must change, if known. */
  readonly bootId: string | undefined;
  /** Limit of the task: for the power cycle, and again for the node's return. */
  readonly seconds: number;
  readonly patience: Patience;
  /** null: the agent did not answer within the offline wait. */
  readonly ping: () => Promise<AgentFacts | null>;
}

/** Whether MAAS must cycle the power after a node's own restart. Not after a cancellation or refusal. */
export const needsPowerCycle = ({ type, mode }: RunTask, end: TaskEnd): boolean =>
  type === 'reboot' &&
  mode === 'apply' &&
  (end.failure_kind === 'not-rebooted' || end.failure_kind === 'offline' || end.outcome === 'lost');

/** Cycles the power of a node through MAAS and waits for its agent. A new boot id means success. */
export async function restartByPowerCycle(missed: MissedRestart): Promise<TaskEnd> {
  const { request, id, end, master, seconds, patience } = missed;
  const why = end.message ?? 'its own restart failed';
  const failed = (message: string): TaskEnd => ({ outcome: 'failed', message: `${why}; ${message}`.slice(0, 300) });
  const activityId = `${taskActivityId(request.task, id, request.generation)}/power`;
  const summary = `power-cycle ${id} for ${request.task}: ${why}`.slice(0, 200);
  let powered: TaskEnd;
  try {
    const options = nodeTask(activityId, summary, master, seconds, ofMaster(patience));
    powered = await callActivity('run_task', request, options);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return failed(`its power was not cycled: ${stepError(error).message}`);
  }
  if (powered.outcome !== 'success') return failed(`its power was not cycled: ${powered.message ?? powered.outcome}`);
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await missed.ping();
    if (answer !== null && answer.boot_id !== missed.bootId) {
      const message = `restarted by a power cycle, because ${why}`.slice(0, 300);
      return { outcome: 'success', changed: true, message, ended_at: new Date(Date.now()).toISOString() };
    }
    if (Date.now() >= until)
      return failed(
        answer === null ? 'it did not answer after a power cycle' : 'its boot id is the same after a power cycle',
      );
    if (answer !== null) await sleep(LOOK_AGAIN_MS, { summary: `check ${id} again` });
  }
}
