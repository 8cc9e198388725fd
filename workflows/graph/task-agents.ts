import {
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  patched,
  sleep,
  TimeoutFailure,
  Trigger,
} from '@temporalio/workflow';
import type { AgentFacts, RunTask } from '../../activities/graph-contract.ts';
import type { ExecutablePart } from '../../src/core/graph-run/plan-reference.ts';
import type { TaskEnd } from '../../src/core/graph-run/task-end.ts';
import { graphRunName } from '../../src/core/graph-run/title.ts';
import { describeSilence } from '../../src/core/run/late-text.ts';
import { pairOf } from '../../src/core/scheduler/graph.ts';
import { type ExecutionKey, executionKey } from '../../src/core/task-on-node.ts';
import { goesToMaster } from '../../src/core/task-types/off-agent.ts';
import type { Patience, TaskRun } from '../contract.ts';
import { controlQueue, pingActivityId, taskActivityId } from '../protocol.ts';
import { type AgentPatience, brief, controlCall, nodeTask, ofMaster, takeSeconds } from '../run/activity-options.ts';
import { callActivity, callActivityThen, type OftenEntered, oftenEntered } from '../run/border.ts';
import { stepError } from '../run/failures.ts';
import { silenceAtStop, stopAsksMaas } from '../run/silence-at-stop.ts';

/** Runs that builds before 1.0.0 started have numbers for ids of these activities. */
const PINGS_BY_NODE = 'pings-by-node';

/** Nodes pinged in parallel: enough to be fast, few enough to keep a payload of commands small. */
const PARALLEL_PINGS = 200;

/** How long an agent may take to answer once an operator has stopped the run. */
const STOP_SECONDS = 4;

/** Whether a stop ends waits for silent agents: not in runs that were stopped before it did. Asked only once a run is stopped. */
export const stopReachesAgents = (): boolean => patched('stop-reaches-agents');

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

/** An attempt in an activity of its own. */
type Sent = Attempt & { readonly activityId: string };

/** The agents of a part's nodes: asks them whether they are there, and has them run tasks. */
export class Agents {
  readonly #part: ExecutablePart;
  readonly #run: TaskRun;
  readonly #runName: string;
  /** What agents have told about themselves, by the ids of their nodes. */
  readonly #facts = new Map<string, AgentFacts>();
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #asked = new Set<string>();
  /** By name of a node: its pings that wait for an answer. */
  readonly #pings = new Map<string, Set<number>>();
  /** Attempts that their nodes have, or are about to take. */
  readonly #open = new Map<RunTask, Sent>();
  /** Of the attempts of each node, which has one at a time: a scope for each attempt would cost promises. */
  readonly #scopes = new Map<string, OftenEntered>();
  /** Attempts that were withdrawn before their nodes took them. */
  readonly #withdrawn = new Set<RunTask>();
  /** Ends the waits for silent agents. */
  readonly #stop = new Trigger<null>();
  #isStopped = false;
  /** Work in MAAS: ends it without a result, given why. */
  readonly #atMaas = new Set<(why: string) => void>();
  /** Since when MAAS has not answered. */
  #maasSilentSince: string | null = null;

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

  /** How people call the node. */
  nameOf(id: string): string {
    const { names, agents } = this.#part;
    const at = this.#indexOf.get(id)!;
    return names?.[at] ?? agents[at] ?? id;
  }

  /**
   * Pings all nodes that have an agent. Returns those that did not answer in time; a stop ends the wait for the others.
   *
   * @param answered called after each answer
   */
  async ask(answered: () => void): Promise<string[]> {
    const open = this.#part.graph.nodes.filter((_id, node) => this.#controlOf(node) !== null);
    const offline = new Set<string>();
    const queue = open.values();
    const worker = async (): Promise<void> => {
      for (const id of queue) {
        if (this.#isStopped) return;
        this.#asked.add(id);
        const answer = await this.#ping(id);
        if (answer !== null) this.#asked.delete(id);
        else if (!this.#isStopped) offline.add(id);
        answered();
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_PINGS, open.length) }, worker));
    return open.filter((id) => offline.has(id));
  }

  /** Names of those of these nodes whose agents do not answer. @param nodes their numbers in the graph */
  async silentOf(nodes: readonly number[]): Promise<string[]> {
    const ids = nodes
      .map((node) => this.#part.graph.nodes[node]!)
      .filter((_, at) => this.#controlOf(nodes[at]!) !== null);
    const answers = await Promise.all(ids.map((id) => this.#ping(id)));
    return ids.filter((_, at) => answers[at] === null).map((id) => this.nameOf(id));
  }

  /** Runs one attempt on its node. Waits while the node is offline. @param task its number in the graph */
  run(task: number, attempt: number, listener: AttemptListener): void {
    const { graph, types, typeOf, master, queues, timeouts, timeoutOf } = this.#part;
    const { mode, debug, output, plan, patience: ofRun } = this.#run;
    const node = graph.nodeOf[task]!;
    const { task: name, node: id } = pairOf(graph, task);
    const type = types[typeOf[task]!]!;
    const isForMaster = goesToMaster(type);
    const queue = isForMaster ? master : queues[node];
    if (queue == null) {
      listener.ended({ outcome: 'failed', message: `no agent is known for node ${this.nameOf(id)}` });
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
      ...(output && { output }),
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
        `cancel ${request.task} on ${this.nameOf(id)}`,
        controlQueue(queue),
        this.#run.patience.heartbeat_seconds,
      );
      // The attempt itself reports how it ended, unless its agent is offline: then the limit of its heartbeats would have to pass.
      callActivity('cancel_task', executionKey(request), options).catch((error: unknown) => {
        if (silenceIn(error) !== null && this.#open.delete(request)) listener.ended(AWAY);
      });
    }
  }

  /**
   * An operator has stopped the run. What runs on a node ends there; a task that its node has not started is withdrawn; and no
   * wait for a silent agent goes on.
   */
  stop(): void {
    if (this.#isStopped || !stopReachesAgents()) return;
    this.#isStopped = true;
    this.#stop.resolve(null);
    // A signal's handler runs in the scope of the workflow, whose cancellation would end it.
    void CancellationScope.nonCancellable(() => Promise.all([this.#withdraw(), this.#leaveMaas()]));
  }

  /** What MAAS works on is not waited for while it is silent and the run is stopped. */
  maasSilence(since: string | null): void {
    this.#maasSilentSince = since;
    if (this.#isStopped && since !== null && this.#atMaas.size > 0 && stopAsksMaas()) this.#endAtMaas(since);
  }

  async #leaveMaas(): Promise<void> {
    if (this.#atMaas.size === 0 || !stopAsksMaas()) return;
    const since = this.#maasSilentSince ?? (await silenceAtStop());
    if (since !== null) this.#endAtMaas(since);
  }

  #endAtMaas(since: string): void {
    for (const end of this.#atMaas) end(describeSilence(since));
    this.#atMaas.clear();
  }

  async #withdraw(): Promise<void> {
    const asked = await Promise.all(
      [...this.#open.values()].map(async (sent) => ({ sent, state: await this.#stateOf(sent) })),
    );
    const tried = asked.some(({ state }) => state === 'unknown') ? await this.#tried() : null;
    for (const { sent, state } of asked) {
      if (state === 'started' || !this.#open.has(sent.request)) continue;
      const mayHaveStarted = state === 'unknown' && (tried === null || tried.includes(sent.activityId));
      // MAAS goes on with it, and its worker follows.
      if (mayHaveStarted && sent.isForMaster && stopAsksMaas()) continue;
      if (!mayHaveStarted) this.#withdrawn.add(sent.request);
      this.#scopes.get(sent.id)?.cancel();
      this.#scopes.delete(sent.id);
      // One that is not there any more cannot say how it ended.
      if (mayHaveStarted && this.#open.delete(sent.request)) sent.listener.ended(lostOn(this.nameOf(sent.id)));
    }
  }

  /** What the journal of its node says about an attempt. */
  async #stateOf({ id, queue, isForMaster, request }: Attempt): Promise<'started' | 'not_started' | 'unknown'> {
    // Only the worker that carries it out knows of it, and any may answer.
    if (isForMaster && stopAsksMaas()) return 'unknown';
    const control = isForMaster ? controlQueue(queue) : this.#controlOf(this.#indexOf.get(id)!);
    if (control === null) return 'started';
    const answer = await this.#pingOn(control, id, { attempt: executionKey(request) });
    if (answer === null) return 'unknown';
    return answer.started === false ? 'not_started' : 'started';
  }

  /** Activities that an agent has ever taken; null: nobody knows. */
  async #tried(): Promise<readonly string[] | null> {
    try {
      return (await callActivity('find_tried', {}, brief('find tasks that agents took', STOP_SECONDS))).activities;
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      return null;
    }
  }

  #controlOf(node: number): string | null {
    return this.#part.controls[node] ?? null;
  }
  /** The agent's name for the node: of a site's node its name, where the graph has its id. */
  #agentOf(id: string): string {
    return this.#part.agents[this.#indexOf.get(id)!] ?? id;
  }

  /** null: no answer within the offline wait, or until a stop. */
  async #ping(id: string, about: PingAbout = {}): Promise<AgentFacts | null> {
    const control = this.#controlOf(this.#indexOf.get(id)!);
    return control === null ? null : this.#pingOn(control, id, about);
  }

  async #pingOn(control: string, id: string, { attempt, seconds }: PingAbout): Promise<AgentFacts | null> {
    const name = this.nameOf(id);
    const waiting = this.#pings.get(name) ?? new Set();
    this.#pings.set(name, waiting);
    let number = 1;
    while (waiting.has(number)) number++;
    waiting.add(number);
    try {
      const summary = `ask the agent of ${name}`;
      const options = {
        ...(this.#isStopped
          ? { ...controlCall(summary, control, STOP_SECONDS), scheduleToCloseTimeout: STOP_SECONDS * 1000 }
          : controlCall(summary, control, seconds ?? this.#run.patience.offline_wait_seconds)),
        ...(patched(PINGS_BY_NODE) && { activityId: pingActivityId(name, number) }),
      };
      const asked = callActivity('ping', { node: this.#agentOf(id), ...(attempt && { attempt }) }, options);
      // A stop waits no longer for it; its number is free once it has ended.
      const free = (): unknown => waiting.delete(number);
      asked.then(free, free);
      const answer = await (this.#isStopped ? asked : Promise.race([asked, this.#stop]));
      if (answer === null) return null;
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
    if (this.#isStopped) return notReachedOn(this.nameOf(id));
    if (this.#knows(id, type)) return null;
    const { agent_version, task_types } = this.#facts.get(id)!;
    return {
      outcome: 'refused',
      message: `the agent ${agent_version} of ${this.nameOf(id)} does not support tasks of type ${type} (only ${task_types.join(', ')}): upgrade it`,
    };
  }

  /**
   * Sends the same generation each time, so that an agent follows a task it has started already instead of repeating it.
   * Uses callbacks, not `await`: the SDK records a stack trace for each promise, and this is the hot path of a run.
   */
  #send(attempt: Attempt, times = 1, known: Silence = 'untaken'): void {
    const { id, queue, isForMaster, request, seconds, patience, listener } = attempt;
    const { task, generation, type } = request;
    const summary = `${task} on ${this.nameOf(id)} (${type}${generation > 1 ? `, attempt ${generation}` : ''})`;
    const activityId = taskActivityId(task, id, generation) + (times > 1 ? `/${times}` : '');
    this.#open.set(request, { ...attempt, activityId });
    const options = nodeTask(activityId, summary, queue, seconds, patience, times);
    const ended = (end: TaskEnd): void => {
      this.#atMaas.delete(leave);
      if (this.#open.delete(request)) listener.ended(end);
    };
    const leave = (why: string): void => {
      this.#scopes.get(id)?.cancel();
      this.#scopes.delete(id);
      ended(leftAtMaas(this.nameOf(id), why));
    };
    if (isForMaster) this.#atMaas.add(leave);
    const failed = (error: unknown): void => {
      const silence = silenceIn(error);
      if (this.#withdrawn.has(request) && isNotStarted(error)) ended(notReachedOn(this.nameOf(id)));
      else if (silence === null) ended(endOf(error));
      else if (this.#open.delete(request)) {
        this.#atMaas.delete(leave);
        void this.#wait(attempt, times, surest(known, silence));
      }
    };
    let scope = this.#scopes.get(id);
    if (scope === undefined) this.#scopes.set(id, (scope = oftenEntered()));
    scope.enter(() => callActivityThen('run_task', request, options, ended, failed));
  }

  /**
   * After the node did not take the task, or sent no heartbeats: sends it again once the agent answers. If an agent started
   * it before and went offline, only the node's journal has its result. So it does after a reset, which the run does not notice.
   */
  async #wait(attempt: Attempt, times: number, known: Silence): Promise<void> {
    const { id, queue, request, isForMaster, patience, listener } = attempt;
    const name = this.nameOf(id);
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
    if (!isKnownNot) return listener.ended(lostOn(name));
    if (isWithdrawn || this.#isStopped) return listener.ended(notReachedOn(name));
    const [sent, asked] = [takeSeconds(patience, times), patience.offline_wait_seconds].map(Math.round);
    listener.ended({
      outcome: 'failed',
      failure_kind: 'offline',
      message: `${name} did not start it within ${sent} s, and its agent did not answer for another ${asked} s`,
    });
  }

  /** If a node did not perform its restart, cycles its power before the end is reported. */
  #restarting(attempt: Attempt): Attempt {
    const { id, request, seconds, listener } = attempt;
    const { master } = this.#part;
    if (request.type !== 'reboot') return attempt;
    const ended = (end: TaskEnd): void => {
      if (this.#isStopped || !needsPowerCycle(request, end)) {
        listener.ended(end);
        return;
      }
      const before = end.summary?.bootIdBefore ?? this.#facts.get(id)?.boot_id;
      const bootId = before === undefined ? undefined : String(before);
      listener.silent(true);
      const left = new Trigger<string>();
      const leave = (why: string): void => left.resolve(why);
      this.#atMaas.add(leave);
      restartByPowerCycle({
        ...{ request, id, name: this.nameOf(id), end, master, bootId, seconds, left },
        patience: this.#run.patience,
        ping: () => this.#ping(id),
        isStopped: () => this.#isStopped,
      })
        .finally(() => {
          this.#atMaas.delete(leave);
          listener.silent(false);
        })
        .then(listener.ended, (error: unknown) => listener.ended(endOf(error)));
    };
    return { ...attempt, listener: { ...listener, ended } };
  }
}

const lostOn = (name: string): TaskEnd => ({
  outcome: 'lost',
  message: `${name} may have started it, and its agent is offline: a retry, or a run --from this one, reads the result once the agent is back`,
});

const leftAtMaas = (name: string, why: string): TaskEnd => ({
  outcome: 'lost',
  message: `the run was stopped; ${why}: what it does to ${name} is unknown and may continue`,
});

const notReachedOn = (name: string): TaskEnd => ({
  outcome: 'not_reached',
  message: `${name} had not started it when the run stopped`,
});

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

function isNotStarted(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof CancelledFailure && cause.details.includes(NOT_STARTED);
}

/** An activity that failed for good: the task fails, not the run. */
function endOf(error: unknown): TaskEnd {
  if (isCancellation(error)) {
    return isNotStarted(error) ? AWAY : { outcome: 'cancelled', message: 'the run was cancelled' };
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
  readonly name: string;
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
  /** An operator has stopped the run: nothing waits for the node any more. */
  readonly isStopped: () => boolean;
  /** Resolves with why MAAS is not waited for any more. */
  readonly left: PromiseLike<string>;
}

/** Whether MAAS must cycle the power after a node's own restart. Not after a cancellation or refusal. */
export const needsPowerCycle = ({ type, mode }: RunTask, end: TaskEnd): boolean =>
  type === 'reboot' &&
  mode === 'apply' &&
  (end.failure_kind === 'not-rebooted' || end.failure_kind === 'offline' || end.outcome === 'lost');

/** Cycles the power of a node through MAAS and waits for its agent. A new boot id means success. */
export async function restartByPowerCycle(missed: MissedRestart): Promise<TaskEnd> {
  const { request, id, name, end, master, seconds, patience } = missed;
  const why = end.message ?? 'its own restart failed';
  const failed = (message: string): TaskEnd => ({ outcome: 'failed', message: `${why}; ${message}`.slice(0, 300) });
  const activityId = `${taskActivityId(request.task, id, request.generation)}/power`;
  const summary = `power-cycle ${name} for ${request.task}: ${why}`.slice(0, 200);
  const scope = new CancellationScope({ cancellable: true });
  let powered: TaskEnd | string;
  try {
    const options = nodeTask(activityId, summary, master, seconds, ofMaster(patience));
    powered = await Promise.race([scope.run(() => callActivity('run_task', request, options)), missed.left]);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return failed(`its power was not cycled: ${stepError(error).message}`);
  }
  if (typeof powered === 'string') {
    scope.cancel();
    return leftAtMaas(name, powered);
  }
  if (powered.outcome !== 'success') return failed(`its power was not cycled: ${powered.message ?? powered.outcome}`);
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await missed.ping();
    if (answer !== null && answer.boot_id !== missed.bootId) {
      const message = `restarted by a power cycle, because ${why}`.slice(0, 300);
      return { outcome: 'success', changed: true, message, ended_at: new Date(Date.now()).toISOString() };
    }
    if (missed.isStopped()) return lostOn(name);
    if (Date.now() >= until)
      return failed(
        answer === null ? 'it did not answer after a power cycle' : 'its boot id is the same after a power cycle',
      );
    if (answer !== null) await sleep(LOOK_AGAIN_MS, { summary: `check ${name} again` });
  }
}
