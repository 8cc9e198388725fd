import type { ChildCommand, Command, Failure, Job, Payload, RunIdentity } from './sdk.ts';
import { seedOf } from './sdk.ts';

/** A completed workflow task, as a worker that reads the run again must repeat it. */
export interface Turn {
  readonly at: number;
  readonly historyLength: number;
  /** More than one where commands had effects within the task. */
  readonly activations: readonly { readonly jobs: readonly Job[]; readonly commands: readonly Command[] }[];
  readonly flags: readonly number[];
  /** Its worker got the turn before together with this one, and at its time. */
  readonly isJoined?: boolean;
  /** A worker got it again at a later time, with a request that was rejected and left no trace. */
  wasLate?: boolean;
}

export interface HistoryEvent {
  readonly at: number;
  readonly type: string;
  readonly detail: string;
  /** The command that ordered it. */
  readonly data?: Command;
}

export type Status = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TERMINATED' | 'CONTINUED_AS_NEW';

/** Jobs of one activation in the order in which the SDK's core gives them. */
export function sortJobs(jobs: readonly Job[]): Job[] {
  const rank = (job: Job): number => {
    if (job.initializeWorkflow) return 0;
    if (job.notifyHasPatch) return 1;
    if (job.updateRandomSeed) return 2;
    if (job.signalWorkflow || job.doUpdate) return 3;
    return 4;
  };
  return jobs.toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Jobs of the last turn that core gives a worker once more, together with an update: when the worker has to read the run again, and
 * neither that turn nor the one before ordered anything (`find_end_index_of_next_wft_seq` in the core of SDK 1.24).
 */
export function givenAgain(turns: readonly Turn[], arrived: readonly Job[]): readonly Job[] {
  const isUpdateAlone = arrived.length > 0 && arrived.every(({ doUpdate }) => doUpdate);
  return isUpdateAlone && endsIdle(turns) ? turns.at(-1)!.activations[0]!.jobs : [];
}

/** Whether the last two turns ordered nothing. */
function endsIdle(turns: readonly Turn[]): boolean {
  const last = turns.at(-1);
  if (last === undefined || last.activations.length !== 1) return false;
  return turns.slice(-2).every(({ activations }) => activations.every(({ commands }) => commands.length === 0));
}

/** Whether a replay gets this turn together with the one before, as its worker had: always, unless it began with an accepted update. */
export const staysJoined = ({ isJoined, activations }: Turn): boolean =>
  isJoined === true && !activations[0]?.commands[0]?.updateResponse;

/** Jobs as a replay gets them: without the validation of updates, and with the patches that were set in the turn. */
export const asReplayed = (jobs: readonly Job[], commands: readonly Command[]): Job[] => [
  ...sortJobs([
    ...jobs.map((job) => (job.doUpdate ? { doUpdate: { ...job.doUpdate, runValidator: false } } : job)),
    ...commands.flatMap(({ setPatchMarker: patch }) =>
      patch ? [{ notifyHasPatch: { patchId: patch.patchId ?? '' } }] : [],
    ),
  ]),
];

/** What a run waits for after some turns: for one that a reset makes. */
export interface Waiting {
  readonly activities: Map<number, { command: NonNullable<Command['scheduleActivity']>; at: number }>;
  readonly timers: Map<number, { command: NonNullable<Command['startTimer']>; at: number }>;
  readonly children: Map<number, { command: ChildCommand; isStarted: boolean }>;
  /** Signals to other workflows that have no result yet. */
  readonly signals: Map<number, NonNullable<Command['signalExternalWorkflowExecution']>>;
}

export function waitingAfter(turns: readonly Turn[], arrived: readonly Job[]): Waiting {
  const waiting: Waiting = { activities: new Map(), timers: new Map(), children: new Map(), signals: new Map() };
  const take = (job: Job): void => {
    if (job.resolveActivity) waiting.activities.delete(job.resolveActivity.seq ?? 0);
    if (job.fireTimer) waiting.timers.delete(job.fireTimer.seq ?? 0);
    if (job.resolveChildWorkflowExecution) waiting.children.delete(job.resolveChildWorkflowExecution.seq ?? 0);
    if (job.resolveChildWorkflowExecutionStart?.failed)
      waiting.children.delete(job.resolveChildWorkflowExecutionStart.seq ?? 0);
    if (job.resolveSignalExternalWorkflow) waiting.signals.delete(job.resolveSignalExternalWorkflow.seq ?? 0);
    const started = waiting.children.get(job.resolveChildWorkflowExecutionStart?.seq ?? -1);
    if (started && job.resolveChildWorkflowExecutionStart?.succeeded) started.isStarted = true;
  };
  for (const { at, activations } of turns) {
    for (const { jobs, commands } of activations) {
      jobs.forEach(take);
      for (const command of commands) {
        const { scheduleActivity, startTimer, startChildWorkflowExecution: child, cancelTimer } = command;
        const { signalExternalWorkflowExecution: signal } = command;
        if (scheduleActivity) waiting.activities.set(scheduleActivity.seq ?? 0, { command: scheduleActivity, at });
        if (startTimer) waiting.timers.set(startTimer.seq ?? 0, { command: startTimer, at });
        if (cancelTimer) waiting.timers.delete(cancelTimer.seq ?? 0);
        if (signal) waiting.signals.set(signal.seq ?? 0, signal);
        if (child) waiting.children.set(child.seq ?? 0, { command: child, isStarted: false });
      }
    }
  }
  arrived.forEach(take);
  return waiting;
}

/** The first job of every run. */
export function firstJob(
  run: RunIdentity & {
    readonly input: readonly Payload[];
    readonly memo: Readonly<Record<string, Payload>>;
    readonly searchAttributes: Readonly<Record<string, Payload>>;
    readonly parent?: { readonly workflowId: string; readonly runId: string } | undefined;
    readonly continuedFrom?: string | undefined;
    readonly headers: Readonly<Record<string, Payload>>;
  },
): Job {
  const { parent } = run;
  return {
    initializeWorkflow: {
      workflowType: run.type,
      workflowId: run.workflowId,
      arguments: [...run.input],
      randomnessSeed: seedOf(run.originalRunId) as never,
      headers: run.headers,
      identity: 'simulation',
      firstExecutionRunId: run.firstRunId,
      originalExecutionRunId: run.originalRunId,
      attempt: 1,
      startTime: timestamp(run.startedAt),
      workflowTaskTimeout: { seconds: 10 as never, nanos: 0 },
      memo: { fields: { ...run.memo } },
      searchAttributes: { indexedFields: { ...run.searchAttributes } },
      ...(parent === undefined ? {} : { parentWorkflowInfo: { ...parent, namespace: 'default' } }),
      ...(run.continuedFrom === undefined ? {} : { continuedFromExecutionRunId: run.continuedFrom }),
    },
  };
}

export const timestamp = (at: number) => ({ seconds: Math.floor(at / 1000) as never, nanos: (at % 1000) * 1_000_000 });

/** Milliseconds of a duration; undefined or 0: no limit. */
export function milliseconds(
  duration: { seconds?: unknown; nanos?: number | null } | null | undefined,
): number | undefined {
  if (!duration) return undefined;
  const ms = Number(String(duration.seconds ?? 0)) * 1000 + Math.floor((duration.nanos ?? 0) / 1_000_000);
  return ms === 0 ? undefined : ms;
}

export const failureNamed = (message: string, cause?: Failure): Failure => ({
  message,
  source: 'server',
  ...(cause === undefined ? {} : { cause }),
});
