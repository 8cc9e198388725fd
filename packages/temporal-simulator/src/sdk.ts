/**
 * The only file that knows inner parts of Temporal's SDK: its sandbox of workflows and its context of activities. They have no
 * promise of stability: another version is refused until this file was compared with it, and each seed fails when their form changes.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import {
  ActivityCancellationDetails,
  ApplicationFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  TypedSearchAttributes,
} from '@temporalio/common';
import proto, { type coresdk, type temporal } from '@temporalio/proto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import Long from 'long';
import { hash } from './random.ts';

const VERSION = '1.24.0';

export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = coresdk.workflow_commands.IWorkflowCommand;
export type ChildCommand = NonNullable<Command['startChildWorkflowExecution']>;
export type Failure = temporal.api.failure.v1.IFailure;
export type { Payload } from '@temporalio/common';

/** A workflow in the memory of a worker. */
export interface Instance {
  /** Carries out what has arrived. Throws when the workflow task fails. */
  activate(activation: Activation): Promise<Answer>;
  dispose(): Promise<void>;
}

interface Activation {
  readonly at: number;
  readonly jobs: readonly Job[];
  readonly isReplaying: boolean;
  readonly historyLength: number;
  readonly flags: readonly number[];
}

interface Answer {
  readonly commands: readonly Command[];
  /** Flags of the SDK that the workflow used for the first time. */
  readonly flags: readonly number[];
  readonly sinkCalls: readonly SinkCall[];
}

/** What a workflow told its worker, outside of its history. */
export type SinkCall = Awaited<ReturnType<Workflow['getAndResetSinkCalls']>>[number];

/** Which run it is of which workflow, through resets. */
export interface RunIdentity {
  readonly workflowId: string;
  readonly runId: string;
  readonly originalRunId: string;
  readonly firstRunId: string;
  readonly type: string;
  readonly startedAt: number;
}

/** The identity of a workflow for its sandbox. */
export interface InstanceInfo extends RunIdentity {
  readonly taskQueue: string;
  readonly parent?: { readonly workflowId: string; readonly runId: string } | undefined;
}

export interface WorkflowCode {
  create(info: InstanceInfo, at: number): Promise<Instance>;
}

export class TaskFailure extends Error {}

/** Workflow code in the SDK's own sandbox. @param changed makes of the bundle's text what is run */
export async function loadWorkflows(
  bundlePath: string,
  activityNames: readonly string[],
  changed: (text: string) => string = (text) => text,
): Promise<WorkflowCode> {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  if (version !== VERSION)
    throw new Error(`this adapter is for version ${VERSION} of Temporal's SDK, and ${version} is installed`);
  const code = changed(await readFile(bundlePath, 'utf8'));
  const filename = bundlePath;
  // Without the SDK's global handlers no traces are recorded, and no map is read.
  const sourceMap = { version: 3 as const, sources: [], names: [], mappings: '', file: filename };
  const creator = new ReusableVMWorkflowCreator(
    new vm.Script(code, { filename }),
    { code, filename, sourceMap: sourceMap as never },
    // Without a limit: each call with one starts a thread that watches it.
    undefined as never,
    new Set(activityNames),
  );
  return {
    async create(info, at) {
      const workflow = await creator.createWorkflow({
        info: {
          workflowId: info.workflowId,
          runId: info.runId,
          originalExecutionRunId: info.originalRunId,
          firstExecutionRunId: info.firstRunId,
          workflowType: info.type,
          taskQueue: info.taskQueue,
          namespace: 'default',
          startTime: new Date(info.startedAt),
          runStartTime: new Date(at),
          taskTimeoutMs: 10_000,
          attempt: 1,
          memo: {},
          searchAttributes: {},
          typedSearchAttributes: new TypedSearchAttributes(),
          historyLength: 1,
          historySize: 0,
          continueAsNewSuggested: false,
          targetWorkerDeploymentVersionChanged: false,
          ...(info.parent === undefined ? {} : { parent: { ...info.parent, namespace: 'default' } }),
          unsafe: { now: () => at, isReplaying: false, isReplayingHistoryEvents: false, random: undefined as never },
        } as never,
        randomnessSeed: seedOf(info.originalRunId).toBytes(),
        now: at,
        showStackTraceSources: false,
      } as never);
      return {
        async activate({ at: now, jobs, isReplaying, historyLength, flags }) {
          const activation = {
            runId: info.runId,
            timestamp: { seconds: Long.fromNumber(Math.floor(now / 1000)), nanos: (now % 1000) * 1_000_000 },
            isReplaying,
            historyLength,
            historySizeBytes: Long.fromNumber(historyLength * 250),
            continueAsNewSuggested: false,
            jobs: [...jobs],
            availableInternalFlags: [...flags],
          };
          const answer = await workflow.activate(
            proto.coresdk.workflow_activation.WorkflowActivation.fromObject(activation),
          );
          const sinkCalls = await workflow.getAndResetSinkCalls();
          if (answer.failed)
            throw new TaskFailure(answer.failed.failure?.message ?? 'failed', { cause: answer.failed.failure });
          const done = answer.successful ?? {};
          return { commands: done.commands ?? [], flags: done.usedInternalFlags ?? [], sinkCalls };
        },
        dispose: () => workflow.dispose(),
      };
    },
  };
}

/** The seed of a run's chance. */
export const seedOf = (runId: string): Long => new Long(hash(runId, 5), hash(runId, 6));

/** A payload as someone else's program has written it: no converter of ours needs to know it. */
export class ForeignPayload {
  readonly payload: Payload;

  constructor(encoding: string, text: string) {
    this.payload = { metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(text) };
  }
}

export const toPayload = (value: unknown): Payload =>
  value instanceof ForeignPayload ? value.payload : defaultPayloadConverter.toPayload(value)!;
export const toPayloads = (values: readonly unknown[]): Payload[] => values.map(toPayload);
export const fromPayload = <T = unknown>(payload: unknown): T =>
  payload === undefined || payload === null
    ? (undefined as T)
    : defaultPayloadConverter.fromPayload<T>(payload as Payload);

export const toFailure = (error: unknown): Failure => {
  const failure = defaultFailureConverter.errorToFailure(error, defaultPayloadConverter) as Failure;
  return withoutTraces(failure);
};
export const fromFailure = (failure: Failure): Error =>
  defaultFailureConverter.failureToError(failure as never, defaultPayloadConverter);

function withoutTraces(failure: Failure): Failure {
  const { stackTrace: _, cause, ...rest } = failure;
  return { ...rest, stackTrace: '', ...(cause ? { cause: withoutTraces(cause) } : {}) };
}

/** Text of commands that two executions of the same code must share: all but stack traces. */
export const textOf = (commands: readonly Command[]): string =>
  JSON.stringify(commands, (name, value) => {
    if (name === 'stackTrace') return undefined;
    if (Long.isLong(value)) return value.toString();
    // Of the sandbox's realm.
    if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
    return value;
  });

/** What core compares of commands: where a replay sees other times, their contents may differ. */
export const shapeOf = (commands: readonly Command[]): string =>
  commands
    .map(
      ({
        scheduleActivity: activity,
        startChildWorkflowExecution: child,
        userMetadata: _,
        eventGroupMarkers: __,
        ...rest
      }) => {
        if (activity) return `activity ${activity.activityId} ${activity.activityType}`;
        if (child) return `child ${child.workflowId} ${child.workflowType}`;
        return Object.keys(rest)
          .filter((key) => rest[key as keyof typeof rest])
          .join();
      },
    )
    .join('; ');

/** What an activity is told about itself. */
export interface ActivityTask {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly activityId: string;
  readonly type: string;
  readonly taskQueue: string;
  readonly attempt: number;
  readonly scheduledAt: number;
  readonly attemptScheduledAt: number;
  readonly heartbeatMs: number | undefined;
  readonly startToCloseMs: number;
  readonly scheduleToCloseMs: number;
  readonly details: unknown;
}

export type ActivityEnd =
  | { readonly kind: 'completed'; readonly result: Payload }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'cancelled' };

/** An attempt of an activity in a worker. */
export interface RunningActivity {
  readonly end: Promise<ActivityEnd>;
  cancel(reason: 'CANCELLED' | 'NOT_FOUND' | 'WORKER_SHUTDOWN' | 'TIMED_OUT'): void;
}

const DETAILS_OF = {
  CANCELLED: { cancelRequested: true },
  NOT_FOUND: { notFound: true },
  WORKER_SHUTDOWN: { workerShutdown: true },
  TIMED_OUT: { timedOut: true },
} as const;

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export function runActivity(
  task: ActivityTask,
  work: (argument: never) => Promise<unknown>,
  args: readonly unknown[],
  interceptors: readonly ActivityInterceptorsFactory[],
  onHeartbeat: (details: unknown) => void,
): RunningActivity {
  const environment = new MockActivityEnvironment(
    {
      workflowExecution: { workflowId: task.workflowId, runId: task.runId },
      workflowType: task.workflowType,
      activityId: task.activityId,
      activityType: task.type,
      taskQueue: task.taskQueue,
      attempt: task.attempt,
      scheduledTimestampMs: task.scheduledAt,
      currentAttemptScheduledTimestampMs: task.attemptScheduledAt,
      ...(task.heartbeatMs === undefined ? {} : { heartbeatTimeoutMs: task.heartbeatMs }),
      startToCloseTimeoutMs: task.startToCloseMs,
      scheduleToCloseTimeoutMs: task.scheduleToCloseMs,
      heartbeatDetails: task.details,
    },
    { logger: silent, interceptors: [...interceptors] },
  );
  environment.on('heartbeat', onHeartbeat);
  let isCancelled = false;
  const end = environment.run(work as never, ...(args as never[])).then(
    (result): ActivityEnd => ({ kind: 'completed', result: toPayload(result) }),
    (error: unknown): ActivityEnd => {
      const name = (error as Error | undefined)?.name;
      if (isCancelled && (name === 'CancelledFailure' || name === 'AbortError')) return { kind: 'cancelled' };
      const known = error instanceof Error && 'failure' in error;
      return { kind: 'failed', failure: toFailure(known ? error : asApplicationFailure(error)) };
    },
  );
  return {
    end,
    cancel(reason) {
      isCancelled = true;
      environment.cancel(reason, new ActivityCancellationDetails(DETAILS_OF[reason]));
    },
  };
}

const asApplicationFailure = (error: unknown): unknown =>
  error instanceof ApplicationFailure ? error : ApplicationFailure.fromError(error);
