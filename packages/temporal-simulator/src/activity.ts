import type { ActivityPolicy, Execution, PendingActivity } from './execution.ts';
import type { Random } from './random.ts';
import { type ActivityEnd, type Failure, fromPayload, type Job, toPayloads } from './sdk.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Attempt, Worker } from './worker.ts';

type TimeoutKind = 'START_TO_CLOSE' | 'SCHEDULE_TO_START' | 'SCHEDULE_TO_CLOSE' | 'HEARTBEAT';
const TIMEOUT_NUMBER: Readonly<Record<TimeoutKind, number>> = {
  START_TO_CLOSE: 1,
  SCHEDULE_TO_START: 2,
  SCHEDULE_TO_CLOSE: 3,
  HEARTBEAT: 4,
};

/** As in the server's API. */
const RETRY_STATE = { nonRetryable: 2, timeout: 3, maximumAttempts: 4, cancelRequested: 7 } as const;

const CANCELLED_UNASKED: Failure = {
  message: 'cancelled',
  applicationFailureInfo: { type: 'CancelledFailure' },
};

/** What an activity needs of the server that has it. */
interface ActivityServer {
  readonly time: VirtualTime;
  readonly random: Random;
  tell(line: string): void;
  event(execution: Execution, type: string, detail?: string, isTold?: boolean): void;
  arrived(execution: Execution, job: Job): void;
  pollers(queue: string, kind: 'activity'): readonly Worker[];
  whenWorkerComes(retry: () => void): void;
  join(worker: Worker): void;
}

/** The server's knowledge of an activity: its attempts, limits and retries. */
export class ActivityTask implements PendingActivity {
  readonly policy: ActivityPolicy;
  readonly #server: ActivityServer;
  readonly #execution: Execution;
  readonly scheduledAt: number;
  attempt = 0;
  #attemptScheduledAt = 0;
  #running: Attempt | null = null;
  details: unknown;
  #cancelRequested = false;
  /** Its workflow no longer waits for it, and the server does not know. */
  #isLeft = false;
  lastFailure: Failure | undefined;
  #ended = false;
  #clocks: (() => void)[] = [];
  #heartbeatClock: (() => void) | undefined;

  constructor(server: ActivityServer, execution: Execution, policy: ActivityPolicy) {
    this.#server = server;
    this.#execution = execution;
    this.policy = policy;
    this.scheduledAt = server.time.now;
  }

  get isStarted(): boolean {
    return this.#running !== null;
  }

  begin(): void {
    const { scheduleToCloseMs } = this.policy;
    if (scheduleToCloseMs !== undefined)
      this.#server.time.after(scheduleToCloseMs, () => this.#timedOut('SCHEDULE_TO_CLOSE', false));
    this.#schedule(0);
  }

  #schedule(delay: number): void {
    const { time, random } = this.#server;
    this.attempt++;
    const { attempt } = this;
    time.after(delay, () => {
      if (this.#ended || this.attempt !== attempt) return;
      this.#attemptScheduledAt = time.now;
      const { scheduleToStartMs } = this.policy;
      if (scheduleToStartMs !== undefined)
        this.#clocks.push(time.after(scheduleToStartMs, () => this.#timedOut('SCHEDULE_TO_START', false)));
      time.after(random.int(1, 15), () => this.#hand(attempt));
    });
  }

  /** Gives the attempt to a worker. */
  #hand(attempt: number): void {
    if (this.#ended || this.attempt !== attempt || this.#running !== null) return;
    const workers = this.#server.pollers(this.policy.taskQueue, 'activity');
    if (workers.length === 0) {
      this.#server.whenWorkerComes(() => this.#hand(attempt));
      return;
    }
    const worker: Worker = this.#server.random.pick(workers);
    this.#stopClocks();
    const { startToCloseMs, heartbeatMs } = this.policy;
    if (startToCloseMs !== undefined)
      this.#clocks.push(this.#server.time.after(startToCloseMs, () => this.#timedOut('START_TO_CLOSE', true)));
    if (heartbeatMs !== undefined) this.#beat();
    this.#server.tell(
      `${this.#execution.workflowId} ${this.policy.activityId} attempt ${attempt} begins on ${worker.host.name}`,
    );
    this.#running = worker.begin(
      {
        workflowId: this.#execution.workflowId,
        runId: this.#execution.runId,
        workflowType: this.#execution.type,
        activityId: this.policy.activityId,
        type: this.policy.type,
        taskQueue: this.policy.taskQueue,
        attempt,
        scheduledAt: this.scheduledAt,
        attemptScheduledAt: this.#attemptScheduledAt,
        heartbeatMs,
        startToCloseMs: startToCloseMs ?? 0,
        scheduleToCloseMs: this.policy.scheduleToCloseMs ?? 0,
        details: this.details,
      },
      this.policy.args.map((one) => fromPayload(one)),
      {
        heartbeat: (details) => this.#heartbeat(attempt, details),
        ended: (end) => this.#answered(attempt, end),
        freed: () => this.#server.join(worker),
      },
    );
  }

  #beat(): void {
    this.#heartbeatClock?.();
    const { heartbeatMs } = this.policy;
    if (heartbeatMs !== undefined)
      this.#heartbeatClock = this.#server.time.after(heartbeatMs, () => this.#timedOut('HEARTBEAT', true));
  }

  /** @returns what the worker is told: nothing, or that the activity is to end */
  #heartbeat(attempt: number, details: unknown): 'CANCELLED' | 'NOT_FOUND' | null {
    if (this.#ended || this.attempt !== attempt || this.#running === null) return 'NOT_FOUND';
    this.details = details;
    this.#beat();
    return this.#cancelRequested ? 'CANCELLED' : null;
  }

  answer(end: ActivityEnd): void {
    this.#answered(this.attempt, end);
  }

  #answered(attempt: number, end: ActivityEnd): void {
    if (this.#ended || this.attempt !== attempt || this.#running === null) return;
    if (end.kind === 'completed') this.#resolve({ completed: { result: end.result } }, 'ActivityTaskCompleted');
    else if (end.kind === 'cancelled' && this.#cancelRequested) this.#cancelled();
    else this.#failed(end.kind === 'failed' ? end.failure : CANCELLED_UNASKED);
  }

  #failed(failure: Failure): void {
    const info = failure.applicationFailureInfo;
    const delay = info?.nextRetryDelay;
    const asked = delay ? Number(String(delay.seconds ?? 0)) * 1000 + (delay.nanos ?? 0) / 1_000_000 : undefined;
    const isFinal = (info?.nonRetryable ?? false) || this.policy.notRetried.includes(info?.type ?? '');
    if (!isFinal && this.#retry(asked)) {
      this.lastFailure = failure;
      this.#server.tell(
        `${this.#execution.workflowId} ${this.policy.activityId} failed, again later: ${failure.message}`,
      );
      return;
    }
    const state = isFinal ? RETRY_STATE.nonRetryable : this.#whyNotRetried();
    this.#resolve(
      { failed: { failure: this.#wrapped(failure, state) } },
      `ActivityTaskFailed ${failure.message ?? ''}`,
    );
  }

  #retry(asked?: number): boolean {
    const { maximumAttempts, initialMs, coefficient, maximumMs, scheduleToCloseMs } = this.policy;
    if (this.#cancelRequested) return false;
    if (maximumAttempts > 0 && this.attempt >= maximumAttempts) return false;
    const backoff = Math.min(initialMs * coefficient ** (this.attempt - 1), maximumMs ?? initialMs * 100);
    const wait = asked ?? backoff;
    const { now } = this.#server.time;
    if (scheduleToCloseMs !== undefined && now + wait > this.scheduledAt + scheduleToCloseMs) return false;
    this.#stopClocks();
    this.#running = null;
    this.#schedule(wait);
    return true;
  }

  #timedOut(kind: TimeoutKind, retries: boolean): void {
    if (this.#ended) return;
    const { notRetried } = this.policy;
    const name = {
      START_TO_CLOSE: 'StartToClose',
      HEARTBEAT: 'Heartbeat',
      SCHEDULE_TO_START: 'ScheduleToStart',
      SCHEDULE_TO_CLOSE: 'ScheduleToClose',
    }[kind];
    if (retries && !notRetried.includes(`TemporalTimeout:${name}`) && this.#retry()) {
      this.lastFailure = {
        message: `activity ${name} timeout`,
        timeoutFailureInfo: { timeoutType: TIMEOUT_NUMBER[kind] as never },
      };
      this.#server.tell(`${this.#execution.workflowId} ${this.policy.activityId} timed out (${name}), again later`);
      return;
    }
    const cause: Failure = {
      message: `activity ${name} timeout`,
      timeoutFailureInfo: {
        timeoutType: TIMEOUT_NUMBER[kind] as never,
        ...(this.details === undefined ? {} : { lastHeartbeatDetails: { payloads: toPayloads([this.details]) } }),
      },
      ...(this.lastFailure === undefined ? {} : { cause: this.lastFailure }),
    };
    const state =
      kind === 'SCHEDULE_TO_CLOSE'
        ? RETRY_STATE.timeout
        : !retries || notRetried.includes(`TemporalTimeout:${name}`)
          ? RETRY_STATE.nonRetryable
          : this.#whyNotRetried();
    this.#resolve({ failed: { failure: this.#wrapped(cause, state) } }, `ActivityTaskTimedOut ${name}`);
  }

  requestCancel(): void {
    if (this.#ended || this.#cancelRequested) return;
    if (this.policy.isAbandoned) {
      this.#isLeft = true;
      return;
    }
    this.#cancelRequested = true;
    this.#server.event(this.#execution, 'ActivityTaskCancelRequested', this.policy.activityId);
    // One that no worker has, the server ends itself.
    if (this.#running === null) this.#cancelled({ details: { payloads: toPayloads(['ACTIVITY_ID_NOT_STARTED']) } });
  }

  #cancelled(canceledFailureInfo: NonNullable<Failure['canceledFailureInfo']> = {}): void {
    const failure = this.#wrapped({ message: 'Activity cancelled', canceledFailureInfo });
    this.#resolve({ cancelled: { failure } }, 'ActivityTaskCanceled');
  }

  /** Its workflow has closed. */
  leave(): void {
    this.#ended = true;
    this.#stopClocks();
  }

  #resolve(result: Record<string, unknown>, event: string): void {
    this.leave();
    const { seq, activityId } = this.policy;
    this.#execution.activities.delete(seq);
    // A server writes the start of an activity together with its end.
    if (this.#running !== null) this.#server.event(this.#execution, 'ActivityTaskStarted', activityId, false);
    this.#server.event(this.#execution, event, activityId);
    // Core has told the workflow already when it asked for the cancellation.
    if (this.#isLeft || (this.#cancelRequested && this.policy.isTried)) return;
    this.#server.arrived(this.#execution, { resolveActivity: { seq, result } });
  }

  #whyNotRetried(): number {
    const { maximumAttempts } = this.policy;
    if (this.#cancelRequested) return RETRY_STATE.cancelRequested;
    return maximumAttempts > 0 && this.attempt >= maximumAttempts ? RETRY_STATE.maximumAttempts : RETRY_STATE.timeout;
  }

  #wrapped(cause: Failure, retryState = 0): Failure {
    return {
      message: 'activity task failed',
      cause,
      activityFailureInfo: {
        identity: 'simulation',
        activityType: { name: this.policy.type },
        activityId: this.policy.activityId,
        retryState: retryState as never,
      },
    };
  }

  #stopClocks(): void {
    for (const stop of this.#clocks) stop();
    this.#clocks = [];
    this.#heartbeatClock?.();
    this.#heartbeatClock = undefined;
  }
}
