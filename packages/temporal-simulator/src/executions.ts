import { blankExecution, type Execution, type Parent } from './execution.ts';
import { failureNamed, firstJob, type Status } from './history.ts';
import type { Random } from './random.ts';
import { type Command, type Failure, fromFailure, fromPayload, type Job, type Payload } from './sdk.ts';
import { deferred, type VirtualTime } from './virtual-time.ts';
import type { Worker } from './worker.ts';

/** Limits of the delay of a workflow task, ms. */
const TURN_DELAY = [1, 30] as const;

export class NotFound extends Error {}
export class UpdateFailed extends Error {}

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

/** The executions of a server, and its workers: how an execution begins, what arrives for it, and how it ends. */
export abstract class Executions {
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

  /** Gives a worker what has arrived. */
  protected abstract takeTurn(execution: Execution): Promise<void>;
  protected abstract answerQueries(execution: Execution): Promise<void>;

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

  /** A worker polls no more, and has no run in its memory. */
  leave(worker: Worker): void {
    worker.kill();
    this.workers.delete(worker);
    this.#byQueue.clear();
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
    const found = runId === null ? this.newest(workflowId) : this.byRun(runId);
    if (found === undefined || found.workflowId !== workflowId) throw new NotFound(`no run ${runId} of ${workflowId}`);
    return found;
  }

  newest(workflowId: string): Execution | undefined {
    return this.#newest.get(workflowId);
  }

  byRun(runId: string): Execution | undefined {
    return this.#byRun.get(runId);
  }

  /** The first execution of a run, or the one that continues it as new. */
  begin(given: {
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
    userMetadata?: object;
  }): Execution {
    const runId = this.random.uuid();
    const { firstRunId = runId, memo = {}, searchAttributes = {}, headers = {}, parent, ...rest } = given;
    const execution: Execution = {
      ...rest,
      ...blankExecution(runId),
      originalRunId: runId,
      firstRunId,
      memo,
      searchAttributes,
      headers,
      parent,
      startedAt: this.time.now,
    };
    this.add(execution);
    this.event(execution, 'WorkflowExecutionStarted', given.type);
    execution.inbox.push(firstJob(execution));
    this.wake(execution);
    return execution;
  }

  /** It is the newest of its workflow. */
  add(execution: Execution): void {
    this.executions.push(execution);
    this.#newest.set(execution.workflowId, execution);
    this.#byRun.set(execution.runId, execution);
  }

  /** @param isTold whether the story needs it: not where another line says the same */
  event(execution: Execution, type: string, detail = '', isTold = true, data?: Command): void {
    execution.events.push({ at: this.time.now, type, detail, ...(data === undefined ? {} : { data }) });
    if (!isTold) return;
    this.#recorded(execution, type, detail);
    this.#tell(`${execution.workflowId} ${type}${detail === '' ? '' : ` ${detail}`}`);
  }

  signalled(execution: Execution, name: string, input: Payload[], headers: Record<string, Payload> = {}): void {
    this.event(execution, 'WorkflowExecutionSignaled', name);
    this.arrived(execution, { signalWorkflow: { signalName: name, input, identity: 'simulation', headers } });
  }

  admit(execution: Execution, id: string, name: string, input: Payload[]): Promise<unknown> {
    const { promise, resolve, reject } = deferred<unknown>();
    const accepted = deferred<void>();
    const accept = () => accepted.resolve();
    promise.then(accept, accept);
    const update = { id, name, input, settled: promise, accepted: accepted.promise, accept, resolve, reject };
    execution.updates.set(id, { ...update, state: 'admitted' });
    this.#tell(`${execution.workflowId} update ${name} admitted`);
    this.wake(execution);
    return promise;
  }

  /** The execution that a run has now. */
  current(execution: Execution): Execution {
    let now = execution;
    while (now.status === 'TERMINATED' && now.resetTo) now = this.byRun(now.resetTo)!;
    return now;
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
    this.close(execution, 'TERMINATED', undefined, failureNamed(reason || 'terminated'));
  }

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
    this.time.after(delay, () => this.takeTurn(execution));
  }

  /**
   * What a workflow sends to another one leaves a moment later, and not at all once the workflow has ended
   * (`processCancelExecution` and `processSignalExecution` of server 1.29).
   */
  send(execution: Execution, work: () => void): void {
    this.time.after(this.random.int(1, 20), () => {
      if (execution.status === 'RUNNING') work();
    });
  }

  /** Resolves once it has ended. */
  async ended(execution: Execution): Promise<void> {
    if (execution.status === 'RUNNING') await new Promise<void>((resolve) => execution.waiting.push(resolve));
  }

  /** Nothing arrives for it any more. */
  end(execution: Execution, status: Status): void {
    execution.status = status;
    for (const tell of execution.waiting.splice(0)) this.time.after(1, tell);
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
    if (queries.length > 0) this.time.after(1, () => this.answerQueries(execution));
    execution.task = 'none';
  }

  /** An end that others learn of: its children, and its parent. */
  close(execution: Execution, status: Status, result: Payload | undefined, failure?: Failure): void {
    this.end(execution, status);
    execution.result = result === undefined ? undefined : fromPayload(result);
    execution.answer = { ...(result && { result }), ...(failure && { failure }) };
    execution.failure = failure === undefined ? null : fromFailure(failure);
    const isReset = execution.resetTo !== null;
    // Those of before a reset are no one's (seen with server 1.29).
    if (!isReset) this.closeChildren(execution);
    const parent = execution.takenOverBy ?? execution.parent;
    if (parent === undefined || isReset) return;
    const above = this.byRun(parent.runId);
    if (above !== undefined) this.childClosed(this.current(above), parent.seq, execution);
  }

  /** Its own, as they were started to be closed with it. */
  closeChildren(execution: Execution): void {
    for (const [, { runId }] of execution.children) {
      const child = runId === null ? undefined : this.byRun(runId);
      const now = child && this.newest(child.workflowId);
      if (now?.status !== 'RUNNING' || now.parent?.runId !== execution.runId) continue;
      this.time.after(this.random.int(1, 50), () => {
        if (now.status !== 'RUNNING') return;
        const policy = now.parent?.closePolicy ?? 0;
        if (policy === 3) this.cancel(now, 'its parent closed');
        else if (policy !== 2) this.terminate(now, 'its parent closed');
      });
    }
  }

  /** Tells the parent. */
  childClosed(parent: Execution, seq: number, child: Execution): void {
    const known = parent.children.get(seq);
    if (parent.status !== 'RUNNING' || known === undefined) return;
    // One that is left of before a reset, and gives way to that which is being started.
    const first = known.runId === null ? undefined : this.byRun(known.runId)?.firstRunId;
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

const CHILD_EVENT: Readonly<Record<Status, string>> = {
  RUNNING: '',
  COMPLETED: 'ChildWorkflowExecutionCompleted',
  FAILED: 'ChildWorkflowExecutionFailed',
  CANCELLED: 'ChildWorkflowExecutionCanceled',
  TERMINATED: 'ChildWorkflowExecutionTerminated',
  CONTINUED_AS_NEW: '',
};
