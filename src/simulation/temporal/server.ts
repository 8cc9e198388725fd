import { ActivityTask as Activity } from './activity.ts';
import {
  type ActivityPolicy,
  CHILD_CANCELLATION,
  type Child,
  type Execution,
  type Parent,
  type PendingActivity,
  type Query,
  type Update,
} from './execution.ts';
import {
  asReplayed,
  failureNamed,
  firstJob,
  type HistoryEvent,
  milliseconds,
  type Status,
  sortJobs,
  type Turn,
  waitingAfter,
} from './history.ts';
import type { Random } from './random.ts';
import {
  type Command,
  type Failure,
  fromFailure,
  fromPayload,
  type Job,
  type Payload,
  seedOf,
  toPayloads,
} from './sdk.ts';
import { deferred, type VirtualTime } from './virtual-time.ts';
import type { Worker } from './worker.ts';

/** Limits of all delays of the server and the network, ms. */
const TURN_DELAY = [1, 30] as const;
const TASK_TIMEOUT_MS = 10_000;

export interface StartRequest {
  readonly type: string;
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: readonly unknown[];
  readonly memo?: Readonly<Record<string, unknown>>;
  /** When one with the id is open. Default: fail. */
  readonly onConflict?: 'fail' | 'use-existing' | 'terminate-existing';
  /** When one with the id has ended. Default: allow. */
  readonly reuse?: 'allow' | 'failed-only' | 'reject';
}

export class AlreadyStarted extends Error {}
export class NotFound extends Error {}
export class UpdateFailed extends Error {}
export class QueryFailed extends Error {}

export interface Faults {
  /** A worker dies with a workflow task before it has answered, or after. */
  turn(execution: Execution, worker: Worker): 'none' | 'lost' | 'lost-cache' | 'late';
}

export interface TemporalOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults?: Faults;
  /** A line of the story. */
  readonly tell?: (line: string) => void;
  /** An event was added to a history. */
  readonly recorded?: (execution: Execution, type: string, detail: string) => void;
  /** Something that must never happen. */
  readonly violated?: (what: string) => void;
}

/** A Temporal server without time, network and disk: the rules of workflow executions. */
export class SimulatedTemporal {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly faults: Faults;
  readonly executions: Execution[] = [];
  readonly workers = new Set<Worker>();
  /** Those that may poll a queue: a cluster has a worker a node. */
  readonly #byQueue = new Map<string, Worker[]>();
  readonly #newest = new Map<string, Execution>();
  readonly #byRun = new Map<string, Execution>();
  readonly #waiting = new Set<() => void | Promise<void>>();
  readonly #tell: (line: string) => void;
  readonly #violated: (what: string) => void;
  readonly #recorded: NonNullable<TemporalOptions['recorded']>;
  turnsDone = 0;

  constructor({ time, random, faults, tell, violated, recorded }: TemporalOptions) {
    this.time = time;
    this.random = random;
    this.faults = faults ?? { turn: () => 'none' };
    this.#tell = tell ?? (() => undefined);
    this.#violated = violated ?? (() => undefined);
    this.#recorded = recorded ?? (() => undefined);
  }

  tell(line: string): void {
    this.#tell(line);
  }

  violated(what: string): void {
    this.#violated(what);
  }

  /** A worker polls now, or again. */
  join(worker: Worker): void {
    if (!this.workers.has(worker)) {
      this.workers.add(worker);
      this.#byQueue.clear();
    }
    for (const retry of [...this.#waiting]) {
      this.#waiting.delete(retry);
      this.time.after(this.random.int(1, 20), retry);
    }
  }

  /** Calls `retry` when a worker has come. */
  whenWorkerComes(retry: () => void | Promise<void>): void {
    this.#waiting.add(retry);
  }

  pollers(queue: string, kind: 'workflow' | 'activity'): Worker[] {
    let ofQueue = this.#byQueue.get(queue);
    if (ofQueue === undefined) {
      ofQueue = [...this.workers].filter((worker) => worker.serves(queue));
      this.#byQueue.set(queue, ofQueue);
    }
    return ofQueue.filter((worker) => worker.polls(queue, kind));
  }

  find(workflowId: string, runId: string | null): Execution {
    const found = runId === null ? this.#newest.get(workflowId) : this.#byRun.get(runId);
    if (found === undefined || found.workflowId !== workflowId) throw new NotFound(`no run ${runId} of ${workflowId}`);
    return found;
  }

  newest(workflowId: string): Execution | undefined {
    return this.#newest.get(workflowId);
  }

  start(request: StartRequest): Execution {
    const { workflowId, onConflict = 'fail', reuse = 'allow' } = request;
    const existing = this.#newest.get(workflowId);
    if (existing?.status === 'RUNNING') {
      if (onConflict === 'use-existing') return existing;
      if (onConflict === 'fail') throw new AlreadyStarted(workflowId);
      this.terminate(existing, 'replaced by a new start');
    } else if (existing !== undefined && reuse !== 'allow') {
      if (reuse === 'reject' || existing.status === 'COMPLETED') throw new AlreadyStarted(workflowId);
    }
    const fields = Object.entries(request.memo ?? {}).map(([name, value]) => [name, toPayloads([value])[0]!] as const);
    return this.#begin({
      type: request.type,
      workflowId,
      taskQueue: request.taskQueue,
      input: toPayloads(request.args),
      memo: Object.fromEntries(fields),
    });
  }

  #begin(given: {
    type: string;
    workflowId: string;
    taskQueue: string;
    input: readonly Payload[];
    memo?: Record<string, Payload>;
    searchAttributes?: Record<string, Payload>;
    headers?: Readonly<Record<string, Payload>>;
    parent?: Parent;
    firstRunId?: string;
    continuedFrom?: string;
  }): Execution {
    const runId = this.random.uuid();
    const { firstRunId = runId, memo = {}, searchAttributes = {}, headers = {}, parent, ...rest } = given;
    const execution: Execution = {
      ...rest,
      ...this.#blank(runId),
      originalRunId: runId,
      firstRunId,
      memo,
      searchAttributes,
      headers,
      parent,
      startedAt: this.time.now,
    };
    this.#keep(execution);
    this.event(execution, 'WorkflowExecutionStarted', given.type);
    execution.inbox.push(firstJob(execution));
    this.wake(execution);
    return execution;
  }

  #blank(runId: string) {
    return {
      runId,
      status: 'RUNNING' as Status,
      closedAt: null,
      result: undefined,
      answer: {},
      takenOverBy: null,
      failure: null,
      resetTo: null,
      earlierRuns: [],
      turns: [] as Turn[],
      events: [] as HistoryEvent[],
      inbox: [] as Job[],
      updates: new Map<string, Update>(),
      queries: [] as Query[],
      activities: new Map<number, PendingActivity>(),
      timers: new Map<number, () => void>(),
      children: new Map<number, Child>(),
      task: 'none' as const,
      taskToken: 0,
      failedTasks: 0,
      flags: [] as number[],
      cancelRequested: false,
      sticky: null,
    };
  }

  #keep(execution: Execution): void {
    this.executions.push(execution);
    this.#newest.set(execution.workflowId, execution);
    this.#byRun.set(execution.runId, execution);
  }

  /** @param isTold whether the story needs it: not where another line says the same */
  event(execution: Execution, type: string, detail = '', isTold = true): void {
    execution.events.push({ at: this.time.now, type, detail });
    if (!isTold) return;
    this.#recorded(execution, type, detail);
    this.#tell(`${execution.workflowId} ${type}${detail === '' ? '' : ` ${detail}`}`);
  }

  // --- Requests of clients -------------------------------------------------------------------------------------------------

  signal(execution: Execution, name: string, args: readonly unknown[]): void {
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    this.#signal(execution, name, toPayloads(args));
  }

  #signal(execution: Execution, name: string, input: Payload[], headers: Record<string, Payload> = {}): void {
    this.event(execution, 'WorkflowExecutionSignaled', name);
    this.arrived(execution, { signalWorkflow: { signalName: name, input, identity: 'simulation', headers } });
  }

  /** Resolves with the answer of the update. */
  update(execution: Execution, name: string, args: readonly unknown[], id = this.random.uuid()): Promise<unknown> {
    const earlier = execution.updates.get(id);
    if (earlier !== undefined) return earlier.settled;
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    return this.#admit(execution, id, name, toPayloads(args));
  }

  #admit(execution: Execution, id: string, name: string, input: Payload[]): Promise<unknown> {
    const { promise, resolve, reject } = deferred<unknown>();
    promise.catch(() => undefined);
    execution.updates.set(id, { id, name, input, state: 'admitted', settled: promise, resolve, reject });
    this.#tell(`${execution.workflowId} update ${name} admitted`);
    this.wake(execution);
    return promise;
  }

  query(execution: Execution, name: string, args: readonly unknown[] = []): Promise<unknown> {
    const { promise, resolve, reject } = deferred<unknown>();
    execution.queries.push({ name, args: toPayloads(args), resolve, reject });
    if (execution.task === 'none') this.time.after(this.random.int(1, 10), () => this.#answerQueries(execution));
    return promise;
  }

  async #answerQueries(execution: Execution): Promise<void> {
    // It sees everything that had arrived before it: the task first.
    if (execution.task !== 'none' || execution.queries.length === 0) return;
    const worker = this.#workerFor(execution);
    if (worker === undefined) {
      this.whenWorkerComes(() => this.#answerQueries(execution));
      return;
    }
    const queries = execution.queries.splice(0);
    for (const { name, args, resolve, reject } of queries) {
      const answer = await worker.query(this, execution, name, args);
      this.time.after(this.random.int(1, 5), () => {
        if (answer.ok) resolve(answer.value);
        else reject(new QueryFailed(answer.message));
      });
    }
  }

  cancel(execution: Execution, reason = ''): void {
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    if (execution.cancelRequested) return;
    execution.cancelRequested = true;
    this.event(execution, 'WorkflowExecutionCancelRequested', reason);
    this.arrived(execution, { cancelWorkflow: { reason } });
  }

  terminate(execution: Execution, reason: string): void {
    if (execution.status !== 'RUNNING') throw new NotFound(`${execution.workflowId} has ended`);
    this.event(execution, 'WorkflowExecutionTerminated', reason);
    this.#close(execution, 'TERMINATED', undefined, failureNamed(reason || 'terminated'));
  }

  /**
   * Puts another execution in the place of a run: with the same history up to a workflow task, and from there with new decisions.
   *
   * @param turn the first workflow task that is decided anew
   */
  reset(base: Execution, turn: number, reason: string): Execution {
    const again = base.turns[turn];
    if (again === undefined) throw new RangeError(`${base.workflowId} has no workflow task ${turn}`);
    const later = [...base.turns.slice(turn).flatMap(({ activations: [first] }) => first?.jobs ?? []), ...base.inbox];
    const running = this.#newest.get(base.workflowId);
    if (running?.status === 'RUNNING') {
      running.resetTo = '';
      this.terminate(running, `reset: ${reason}`);
    }
    const runId = this.random.uuid();
    const { workflowId, originalRunId, firstRunId, type, taskQueue, input, startedAt, headers, parent } = base;
    const execution: Execution = {
      ...{ workflowId, originalRunId, firstRunId, type, taskQueue, input, startedAt, headers, parent },
      ...this.#blank(runId),
      takenOverBy: base.takenOverBy,
      earlierRuns: [...base.earlierRuns, base.runId],
      memo: { ...base.memo },
      searchAttributes: { ...base.searchAttributes },
      turns: base.turns.slice(0, turn),
      events: base.events.filter(({ at }) => at <= again.at),
      flags: base.turns.slice(0, turn).flatMap(({ flags }) => flags),
    };
    for (const before of new Set([base, running])) if (before?.status === 'TERMINATED') before.resetTo = runId;
    this.#keep(execution);
    this.event(execution, 'WorkflowTaskFailed', `reset: ${reason}`);
    const arrived = again.activations[0]!.jobs.filter(({ doUpdate }) => !doUpdate);
    execution.inbox.push(...arrived, { updateRandomSeed: { randomnessSeed: seedOf(runId) as never } });
    // Requests of people that came later are not lost.
    const kept = new Set<Job>(arrived);
    for (const job of later) {
      const { signalWorkflow, doUpdate } = job;
      if (signalWorkflow && !kept.has(job)) {
        this.event(execution, 'WorkflowExecutionSignaled', signalWorkflow.signalName ?? '');
        execution.inbox.push(job);
      }
      // One that an earlier reset has admitted is in the history that is kept.
      const isAdmitted = execution.events.some(
        ({ type, detail }) => type === UPDATE_ADMITTED && detail === doUpdate?.id,
      );
      if (doUpdate && !isAdmitted) this.event(execution, UPDATE_ADMITTED, doUpdate.id ?? '', false);
      if (doUpdate)
        void this.#admit(execution, doUpdate.id ?? '', doUpdate.name ?? '', [...(doUpdate.input ?? [])] as Payload[]);
    }
    const waiting = waitingAfter(execution.turns, arrived);
    for (const { command } of waiting.activities.values()) this.#beginActivity(execution, command);
    for (const [seq, { command, at }] of waiting.timers) {
      const due = at + (milliseconds(command.startToFireTimeout) ?? 0);
      this.#startTimer(execution, seq, due - this.time.now);
    }
    for (const [seq, { command, isStarted }] of waiting.children) {
      const child = this.#newest.get(command.workflowId ?? '');
      if (child === undefined) {
        this.#startChild(execution, command);
        continue;
      }
      execution.children.set(seq, {
        workflowId: command.workflowId ?? '',
        runId: child.runId,
        ...newChild(command),
      });
      child.takenOverBy = { runId, seq };
      // The new execution learns of a start that it does not know yet, and of an end (seen with server 1.29).
      if (!isStarted) {
        this.event(execution, 'ChildWorkflowExecutionStarted', child.workflowId);
        const succeeded = { runId: child.firstRunId };
        this.arrived(execution, { resolveChildWorkflowExecutionStart: { seq, succeeded } });
      }
      // Of an end after that of the run that is reset it does not learn: there was no one to tell (seen with server 1.29).
      const wasHeard = !isStarted || !(running ?? base).children.has(seq);
      if (child.status !== 'RUNNING' && wasHeard) this.#childClosed(execution, seq, child);
    }
    // A server sends what is on its way again, and a workflow that has it takes it once.
    for (const [seq, command] of waiting.signals) {
      const isDelivered = later.some(
        ({ resolveSignalExternalWorkflow: sent }) => sent?.seq === seq && sent.failure == null,
      );
      this.#signalExternal(execution, command, isDelivered);
    }
    this.wake(execution);
    return execution;
  }

  /** The execution that a run has now. */
  current(execution: Execution): Execution {
    let now = execution;
    while (now.status === 'TERMINATED' && now.resetTo) now = this.#byRun.get(now.resetTo)!;
    return now;
  }

  // --- Workflow tasks ------------------------------------------------------------------------------------------------------

  /** Something arrived for the workflow. */
  arrived(execution: Execution, job: Job): void {
    if (execution.status !== 'RUNNING') return;
    execution.inbox.push(job);
    this.wake(execution);
  }

  wake(execution: Execution, delay = this.random.int(...TURN_DELAY)): void {
    if (execution.status !== 'RUNNING' || execution.task !== 'none') return;
    const isDue =
      execution.inbox.length > 0 || [...execution.updates.values()].some(({ state }) => state === 'admitted');
    if (!isDue) return;
    execution.task = 'scheduled';
    this.event(execution, 'WorkflowTaskScheduled', '', false);
    this.time.after(delay, () => this.#turn(execution));
  }

  #workerFor(execution: Execution): Worker | undefined {
    const workers = this.pollers(execution.taskQueue, 'workflow');
    if (workers.length === 0) return undefined;
    const { sticky } = execution;
    return workers.find((worker) => worker === sticky) ?? this.random.pick(workers);
  }

  async #turn(execution: Execution): Promise<void> {
    if (execution.status !== 'RUNNING') return;
    const worker = this.#workerFor(execution);
    if (worker === undefined) {
      this.whenWorkerComes(() => this.#turn(execution));
      return;
    }
    execution.task = 'running';
    const token = ++execution.taskToken;
    const at = this.time.now;
    const arrived = execution.inbox.splice(0);
    const updates = [...execution.updates.values()].filter(({ state }) => state === 'admitted');
    for (const update of updates) update.state = 'sent';
    const jobs = sortJobs([...arrived, ...updates.map(asJob)]);
    this.event(execution, 'WorkflowTaskStarted', worker.host.name);
    const historyLength = execution.events.length;
    const fault = this.faults.turn(execution, worker);
    const done = await worker.turn(this, execution, { at, jobs, historyLength });
    execution.sticky = worker;
    const takeBack = (why: string, delay: number): void => {
      if (execution.status !== 'RUNNING' || execution.taskToken !== token) return;
      this.event(execution, 'WorkflowTaskFailed', why);
      execution.inbox.unshift(...arrived);
      for (const update of updates) if (update.state === 'sent') update.state = 'admitted';
      execution.task = 'none';
      worker.forget(execution);
      this.wake(execution, delay);
    };
    if (fault === 'lost') {
      worker.forget(execution);
      this.time.after(TASK_TIMEOUT_MS, () => takeBack('its worker died', 1));
      return;
    }
    const duration = fault === 'late' ? this.random.int(1_000, 9_000) : this.random.int(1, 40);
    this.time.after(duration, async () => {
      if (execution.status !== 'RUNNING' || execution.taskToken !== token) return;
      if (!worker.host.alive) {
        // The server notices when the time of the task is over.
        this.time.after(Math.max(1, at + TASK_TIMEOUT_MS - this.time.now), () => takeBack('its worker died', 1));
        return;
      }
      if (!done.ok) {
        execution.failedTasks++;
        this.#violated(`a workflow task of ${execution.workflowId} failed: ${done.message}`);
        takeBack(done.message, 1_000 * 2 ** Math.min(execution.failedTasks, 6));
        return;
      }
      const commands = done.activations.flatMap((one) => one.commands);
      const ends = commands.some(isEnd);
      if (ends && execution.inbox.length > 0) {
        takeBack('UnhandledCommand', 1);
        return;
      }
      execution.failedTasks = 0;
      this.turnsDone++;
      execution.task = 'none';
      this.#settle(execution, done.activations);
      if (this.#complete(execution, { at, historyLength, ...done }, updates)) worker.recorded(execution);
      if (fault === 'lost-cache') worker.forget(execution);
      this.wake(execution);
      await this.#answerQueries(execution);
    });
  }

  /** What the SDK has told the run within its workflow task, of what it cancelled there, is told once: an end that came meanwhile is dropped. */
  #settle(execution: Execution, activations: Turn['activations']): void {
    for (const { resolveActivity, resolveChildWorkflowExecution: child } of activations
      .slice(1)
      .flatMap(({ jobs }) => jobs)) {
      execution.inbox = execution.inbox.filter(
        (job) =>
          !(resolveActivity && job.resolveActivity?.seq === resolveActivity.seq) &&
          !(child && job.resolveChildWorkflowExecution?.seq === child.seq),
      );
      const known = child && execution.children.get(child.seq ?? 0);
      if (known) known.isResolved = true;
    }
  }

  /** Whether the turn left a trace in the history. */
  #complete(
    execution: Execution,
    done: Pick<Turn, 'at' | 'historyLength' | 'activations' | 'flags' | 'isJoined'>,
    updates: readonly Update[],
  ): boolean {
    const responses = done.activations.flatMap(({ commands }) =>
      commands.flatMap(({ updateResponse }) => updateResponse ?? []),
    );
    const refused = new Set(
      updates
        .filter(({ id }) => {
          const first = responses.find(({ protocolInstanceId }) => protocolInstanceId === id);
          return first !== undefined && !first.accepted;
        })
        .map(({ id }) => id),
    );
    const recorded = done.activations.map(({ jobs, commands }) => ({
      jobs: jobs.filter(({ doUpdate }) => !doUpdate || !refused.has(doUpdate.id ?? '')),
      commands: commands.filter(
        ({ updateResponse }) => !updateResponse || !refused.has(updateResponse.protocolInstanceId ?? ''),
      ),
    }));
    const isTraceless = recorded.every(({ jobs, commands }) => jobs.length === 0 && commands.length === 0);
    if (!isTraceless) {
      execution.turns.push({
        at: done.at,
        historyLength: done.historyLength,
        activations: recorded.map(({ jobs, commands }) => ({ jobs: asReplayed(jobs, commands), commands })),
        flags: done.flags,
        ...(done.isJoined ? { isJoined: true } : {}),
      });
      execution.flags.push(...done.flags);
      this.event(
        execution,
        'WorkflowTaskCompleted',
        recorded.flatMap(({ commands }) => commands.map(nameOf)).join(' '),
      );
    }
    if (isTraceless && done.isJoined) execution.turns.at(-1)!.wasLate = true;
    for (const { commands } of done.activations)
      for (const command of commands) if (execution.status === 'RUNNING') this.#carryOut(execution, command);
    return !isTraceless;
  }

  #carryOut(execution: Execution, command: Command): void {
    if (command.scheduleActivity) this.#schedule(execution, command.scheduleActivity);
    else if (command.requestCancelActivity)
      execution.activities.get(command.requestCancelActivity.seq ?? 0)?.requestCancel();
    else if (command.startTimer) {
      const seq = command.startTimer.seq ?? 0;
      this.event(execution, 'TimerStarted', String(seq), false);
      this.#startTimer(execution, seq, milliseconds(command.startTimer.startToFireTimeout) ?? 0);
    } else if (command.cancelTimer) {
      const seq = command.cancelTimer.seq ?? 0;
      this.event(execution, 'TimerCanceled', String(seq), false);
      execution.timers.get(seq)?.();
      execution.timers.delete(seq);
      execution.inbox = execution.inbox.filter(({ fireTimer }) => fireTimer?.seq !== seq);
    } else if (command.startChildWorkflowExecution) this.#startChild(execution, command.startChildWorkflowExecution);
    else if (command.cancelChildWorkflowExecution)
      this.#askChildToCancel(execution, command.cancelChildWorkflowExecution.childWorkflowSeq ?? 0);
    else if (command.signalExternalWorkflowExecution)
      this.#signalExternal(execution, command.signalExternalWorkflowExecution);
    else if (command.requestCancelExternalWorkflowExecution) {
      const { seq, workflowExecution: target } = command.requestCancelExternalWorkflowExecution;
      this.event(execution, 'RequestCancelExternalWorkflowExecutionInitiated', target?.workflowId ?? '', false);
      this.#send(execution, () => {
        const found = this.#target(target?.workflowId ?? '', target?.runId ?? '');
        // One that has ended takes it, unlike a signal: nothing is left to do. No one may ask itself.
        const isTaken = found !== undefined && found !== execution;
        if (isTaken && found.status === 'RUNNING') this.cancel(found);
        const event = isTaken
          ? 'ExternalWorkflowExecutionCancelRequested'
          : 'RequestCancelExternalWorkflowExecutionFailed';
        this.event(execution, event, target?.workflowId ?? '', false);
        const failure = isTaken ? undefined : failureNamed('unable to cancel external workflow');
        this.arrived(execution, {
          resolveRequestCancelExternalWorkflow: { seq: seq ?? 0, ...(failure ? { failure } : {}) },
        });
      });
    } else if (command.updateResponse) this.#respond(execution, command.updateResponse);
    else if (command.upsertWorkflowSearchAttributes) {
      this.event(execution, 'UpsertWorkflowSearchAttributes', '', false);
      Object.assign(
        execution.searchAttributes,
        command.upsertWorkflowSearchAttributes.searchAttributes?.indexedFields ?? {},
      );
    } else if (command.modifyWorkflowProperties) {
      this.event(execution, 'WorkflowPropertiesModified', '', false);
      Object.assign(execution.memo, command.modifyWorkflowProperties.upsertedMemo?.fields ?? {});
    } else if (command.completeWorkflowExecution) {
      this.event(execution, 'WorkflowExecutionCompleted');
      this.#close(execution, 'COMPLETED', command.completeWorkflowExecution.result as Payload | undefined);
    } else if (command.failWorkflowExecution) {
      const failure = command.failWorkflowExecution.failure ?? failureNamed('failed');
      this.event(execution, 'WorkflowExecutionFailed', failure.message ?? '');
      this.#close(execution, 'FAILED', undefined, failure);
    } else if (command.cancelWorkflowExecution) {
      this.event(execution, 'WorkflowExecutionCanceled');
      this.#close(execution, 'CANCELLED', undefined, { ...failureNamed('cancelled'), canceledFailureInfo: {} });
    } else if (command.continueAsNewWorkflowExecution)
      this.#continue(execution, command.continueAsNewWorkflowExecution);
    else if (command.setPatchMarker) {
      this.event(execution, 'MarkerRecorded', '', false);
      // The SDK keeps the patches of a workflow in a search attribute.
      this.event(execution, 'UpsertWorkflowSearchAttributes', '', false);
    } else if (!command.cancelSignalWorkflow)
      throw new Error(`the simulated server does not know the command ${Object.keys(command).join(', ')}`);
  }

  #respond(execution: Execution, response: NonNullable<Command['updateResponse']>): void {
    const update = execution.updates.get(response.protocolInstanceId ?? '');
    if (update === undefined) return;
    if (response.accepted) {
      update.state = 'accepted';
      this.event(execution, 'WorkflowExecutionUpdateAccepted', update.name);
      return;
    }
    const wasAccepted = update.state === 'accepted';
    update.state = 'ended';
    if (wasAccepted) this.event(execution, 'WorkflowExecutionUpdateCompleted', update.name);
    else this.#tell(`${execution.workflowId} update ${update.name} rejected`);
    this.time.after(this.random.int(1, 10), () => {
      if (response.completed) update.resolve(fromPayload(response.completed));
      else update.reject(fromFailure(response.rejected ?? failureNamed('rejected')));
    });
  }

  #schedule(execution: Execution, command: NonNullable<Command['scheduleActivity']>): void {
    const { seq, activityId, activityType } = command;
    this.event(execution, 'ActivityTaskScheduled', (activityId === String(seq) ? activityType : activityId) ?? '');
    this.#beginActivity(execution, command);
  }

  #beginActivity(execution: Execution, command: NonNullable<Command['scheduleActivity']>): void {
    const seq = command.seq ?? 0;
    const policy: ActivityPolicy = {
      seq,
      activityId: command.activityId || String(seq),
      type: command.activityType ?? '',
      taskQueue: command.taskQueue || execution.taskQueue,
      args: (command.arguments ?? []) as Payload[],
      scheduleToCloseMs: milliseconds(command.scheduleToCloseTimeout),
      scheduleToStartMs: milliseconds(command.scheduleToStartTimeout),
      startToCloseMs: milliseconds(command.startToCloseTimeout),
      heartbeatMs: milliseconds(command.heartbeatTimeout),
      initialMs: milliseconds(command.retryPolicy?.initialInterval) ?? 1_000,
      coefficient: command.retryPolicy?.backoffCoefficient || 2,
      maximumMs: milliseconds(command.retryPolicy?.maximumInterval),
      maximumAttempts: command.retryPolicy?.maximumAttempts ?? 0,
      notRetried: command.retryPolicy?.nonRetryableErrorTypes ?? [],
      isAbandoned: command.cancellationType === 2,
      isTried: (command.cancellationType ?? 0) === 0,
    };
    const activity = new Activity(this, execution, policy);
    execution.activities.set(seq, activity);
    activity.begin();
  }

  #startTimer(execution: Execution, seq: number, ms: number): void {
    execution.timers.set(
      seq,
      this.time.after(ms, () => {
        execution.timers.delete(seq);
        this.event(execution, 'TimerFired', String(seq));
        this.arrived(execution, { fireTimer: { seq } });
      }),
    );
  }

  #startChild(execution: Execution, command: NonNullable<Command['startChildWorkflowExecution']>): void {
    const seq = command.seq ?? 0;
    const workflowId = command.workflowId ?? '';
    const entry: Child = { workflowId, runId: null, ...newChild(command) };
    execution.children.set(seq, entry);
    this.event(execution, 'StartChildWorkflowExecutionInitiated', workflowId);
    this.time.after(this.random.int(1, 20), () => {
      if (execution.status !== 'RUNNING') return;
      const existing = this.#newest.get(workflowId);
      const policy = command.workflowIdReusePolicy ?? 0;
      if (existing?.status === 'RUNNING' && policy === 4) this.terminate(existing, 'replaced by a new start');
      const isTaken =
        this.#newest.get(workflowId)?.status === 'RUNNING' ||
        (existing !== undefined && (policy === 3 || (policy === 2 && existing.status === 'COMPLETED')));
      if (isTaken) {
        execution.children.delete(seq);
        this.event(execution, 'StartChildWorkflowExecutionFailed', workflowId);
        this.arrived(execution, {
          resolveChildWorkflowExecutionStart: {
            seq,
            failed: { workflowId, workflowType: command.workflowType ?? '', cause: 1 },
          },
        });
        return;
      }
      const child = this.#begin({
        type: command.workflowType ?? '',
        workflowId,
        taskQueue: command.taskQueue || execution.taskQueue,
        input: (command.input ?? []) as Payload[],
        memo: { ...(command.memo as Record<string, Payload>) },
        searchAttributes: { ...(command.searchAttributes?.indexedFields as Record<string, Payload> | undefined) },
        headers: (command.headers ?? {}) as Record<string, Payload>,
        parent: {
          workflowId: execution.workflowId,
          runId: execution.runId,
          seq,
          closePolicy: command.parentClosePolicy ?? 0,
        },
      });
      entry.runId = child.runId;
      this.event(execution, 'ChildWorkflowExecutionStarted', workflowId);
      this.arrived(execution, { resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: child.runId } } });
      if (entry.cancelRequested) this.#askChildToCancel(execution, seq);
    });
  }

  /**
   * An open child of the execution before a reset refuses it; one that has ended takes it (seen with server 1.29). The SDK waits for the
   * end of a child in mode `WAIT_CANCELLATION_REQUESTED`, too.
   */
  #askChildToCancel(execution: Execution, seq: number): void {
    const entry = execution.children.get(seq);
    if (entry === undefined || entry.cancellation === CHILD_CANCELLATION.abandon) return;
    entry.cancelRequested = true;
    if (entry.runId === null) return;
    this.event(execution, 'RequestCancelExternalWorkflowExecutionInitiated', entry.workflowId, false);
    this.#send(execution, () => {
      const child = this.#byRun.get(entry.runId!);
      const isOpen = child?.status === 'RUNNING';
      const isTaken = child !== undefined && (!isOpen || child.parent?.runId === execution.runId);
      if (isTaken && isOpen) this.cancel(child, 'by its parent');
      const event = isTaken
        ? 'ExternalWorkflowExecutionCancelRequested'
        : 'RequestCancelExternalWorkflowExecutionFailed';
      this.event(execution, event, entry.workflowId, false);
    });
  }

  /**
   * What a workflow sends to another one leaves a moment later, and not at all once the workflow has ended
   * (`processCancelExecution` and `processSignalExecution` of server 1.29).
   */
  #send(execution: Execution, work: () => void): void {
    this.time.after(this.random.int(1, 20), () => {
      if (execution.status === 'RUNNING') work();
    });
  }

  #target(workflowId: string, runId: string): Execution | undefined {
    if (runId === '') return this.#newest.get(workflowId);
    const found = this.#byRun.get(runId);
    // A run that continued as new is the same to those who know its first run.
    if (found?.status === 'CONTINUED_AS_NEW') return this.#newest.get(workflowId);
    return found;
  }

  /** @param isDelivered the target has it already */
  #signalExternal(
    execution: Execution,
    command: NonNullable<Command['signalExternalWorkflowExecution']>,
    isDelivered = false,
  ): void {
    const { seq, workflowExecution, childWorkflowId, signalName, args, headers } = command;
    const about = `${signalName} to ${childWorkflowId || workflowExecution?.workflowId}`;
    this.event(execution, 'SignalExternalWorkflowExecutionInitiated', about, false);
    this.#send(execution, () => {
      const child = childWorkflowId ? this.#newest.get(childWorkflowId) : undefined;
      const target = childWorkflowId
        ? child?.parent?.runId === execution.runId
          ? child
          : undefined
        : this.#target(workflowExecution?.workflowId ?? '', workflowExecution?.runId ?? '');
      // No one may signal itself.
      const isOpen = target?.status === 'RUNNING' && target !== execution;
      if (isOpen && !isDelivered)
        this.#signal(target, signalName ?? '', (args ?? []) as Payload[], (headers ?? {}) as Record<string, Payload>);
      const event = isOpen ? 'ExternalWorkflowExecutionSignaled' : 'SignalExternalWorkflowExecutionFailed';
      this.event(execution, event, about, false);
      const failure = isOpen ? undefined : failureNamed('unable to signal external workflow execution');
      this.arrived(execution, { resolveSignalExternalWorkflow: { seq: seq ?? 0, ...(failure ? { failure } : {}) } });
    });
  }

  #continue(execution: Execution, command: NonNullable<Command['continueAsNewWorkflowExecution']>): void {
    this.event(execution, 'WorkflowExecutionContinuedAsNew');
    const { parent, workflowId, firstRunId, runId } = execution;
    this.#end(execution, 'CONTINUED_AS_NEW');
    const memo = command.memo as Record<string, Payload> | undefined;
    const attributes = command.searchAttributes?.indexedFields as Record<string, Payload> | undefined;
    this.#begin({
      type: command.workflowType || execution.type,
      workflowId,
      taskQueue: command.taskQueue || execution.taskQueue,
      input: (command.arguments ?? []) as Payload[],
      memo: memo && Object.keys(memo).length > 0 ? { ...memo } : { ...execution.memo },
      searchAttributes:
        attributes && Object.keys(attributes).length > 0 ? { ...attributes } : { ...execution.searchAttributes },
      headers: (command.headers ?? {}) as Record<string, Payload>,
      ...(parent === undefined ? {} : { parent }),
      firstRunId,
      continuedFrom: runId,
    });
  }

  #end(execution: Execution, status: Status): void {
    execution.status = status;
    execution.closedAt = this.time.now;
    execution.inbox = [];
    for (const cancel of execution.timers.values()) cancel();
    execution.timers.clear();
    for (const activity of execution.activities.values()) activity.leave();
    execution.activities.clear();
    for (const update of execution.updates.values()) {
      if (update.state === 'ended') continue;
      if (update.state === 'accepted' && status !== 'TERMINATED')
        this.#violated(`${execution.workflowId} accepted the update ${update.name} and ended without an answer`);
      update.reject(new UpdateFailed('the workflow ended before the update'));
    }
    for (const worker of this.workers) worker.forget(execution);
    const queries = execution.queries;
    if (queries.length > 0) this.time.after(1, () => this.#answerQueries(execution));
    execution.task = 'none';
  }

  #close(execution: Execution, status: Status, result: Payload | undefined, failure?: Failure): void {
    this.#end(execution, status);
    execution.result = result === undefined ? undefined : fromPayload(result);
    execution.answer = { ...(result && { result }), ...(failure && { failure }) };
    execution.failure = failure === undefined ? null : fromFailure(failure);
    const isReset = execution.resetTo !== null;
    for (const [, { runId }] of execution.children) {
      const child = runId === null ? undefined : this.#byRun.get(runId);
      const now = child && this.#newest.get(child.workflowId);
      // Those of before a reset are no one's (seen with server 1.29).
      if (isReset || now?.status !== 'RUNNING' || now.parent?.runId !== execution.runId) continue;
      this.time.after(this.random.int(1, 50), () => {
        if (now.status !== 'RUNNING') return;
        const policy = now.parent?.closePolicy ?? 0;
        if (policy === 3) this.cancel(now, 'its parent closed');
        else if (policy !== 2) this.terminate(now, 'its parent closed');
      });
    }
    const parent = execution.takenOverBy ?? execution.parent;
    if (parent === undefined || isReset) return;
    const above = this.#byRun.get(parent.runId);
    if (above !== undefined) this.#childClosed(this.current(above), parent.seq, execution);
  }

  #childClosed(parent: Execution, seq: number, child: Execution): void {
    const known = parent.children.get(seq);
    if (parent.status !== 'RUNNING' || known === undefined) return;
    // One that is left of before a reset, and gives way to that which is being started.
    const first = known.runId === null ? undefined : this.#byRun.get(known.runId)?.firstRunId;
    if (child.firstRunId !== first) return;
    parent.children.delete(seq);
    const { workflowId, runId, type, status } = child;
    const { result, failure } = child.answer ?? {};
    this.event(parent, CHILD_EVENT[status], workflowId);
    if (known.isResolved) return;
    const wrapped: Failure = {
      message: 'Child Workflow execution failed',
      cause:
        status === 'TERMINATED'
          ? { message: 'terminated', terminatedFailureInfo: {} }
          : (failure ?? failureNamed('lost')),
      childWorkflowExecutionFailureInfo: {
        namespace: 'default',
        workflowExecution: { workflowId, runId },
        workflowType: { name: type },
      },
    };
    this.arrived(parent, {
      resolveChildWorkflowExecution: {
        seq,
        result:
          status === 'COMPLETED'
            ? { completed: result === undefined ? {} : { result } }
            : status === 'CANCELLED'
              ? { cancelled: { failure: wrapped } }
              : { failed: { failure: wrapped } },
      },
    });
  }
}

const newChild = (command: NonNullable<Command['startChildWorkflowExecution']>) => ({
  type: command.workflowType ?? '',
  cancelRequested: false,
  cancellation: command.cancellationType ?? 0,
  isResolved: false,
});

const UPDATE_ADMITTED = 'WorkflowExecutionUpdateAdmitted';

const CHILD_EVENT: Readonly<Record<Status, string>> = {
  RUNNING: '',
  COMPLETED: 'ChildWorkflowExecutionCompleted',
  FAILED: 'ChildWorkflowExecutionFailed',
  CANCELLED: 'ChildWorkflowExecutionCanceled',
  TERMINATED: 'ChildWorkflowExecutionTerminated',
  CONTINUED_AS_NEW: '',
};

const asJob = ({ id, name, input }: Update): Job => ({
  doUpdate: {
    id,
    protocolInstanceId: id,
    name,
    input,
    headers: {},
    meta: { updateId: id, identity: 'simulation' },
    runValidator: true,
  },
});

const isEnd = (command: Command): boolean =>
  Boolean(
    command.completeWorkflowExecution ??
      command.failWorkflowExecution ??
      command.cancelWorkflowExecution ??
      command.continueAsNewWorkflowExecution,
  );

function nameOf(command: Command): string {
  const { scheduleActivity, updateResponse } = command;
  if (scheduleActivity) return `activity(${scheduleActivity.activityType})`;
  if (updateResponse) return updateResponse.accepted ? 'accept' : updateResponse.completed ? 'answer' : 'reject';
  return Object.keys(command).find((key) => key !== 'userMetadata') ?? '?';
}
