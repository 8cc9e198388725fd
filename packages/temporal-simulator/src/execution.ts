import type { HistoryEvent, Status, Turn } from './history.ts';
import type { ActivityEnd, Failure, Job, Payload, RunIdentity } from './sdk.ts';

export interface ActivityPolicy {
  readonly seq: number;
  readonly activityId: string;
  readonly type: string;
  readonly taskQueue: string;
  readonly args: readonly Payload[];
  readonly scheduleToCloseMs: number | undefined;
  readonly scheduleToStartMs: number | undefined;
  readonly startToCloseMs: number | undefined;
  readonly heartbeatMs: number | undefined;
  readonly initialMs: number;
  readonly coefficient: number;
  readonly maximumMs: number | undefined;
  readonly maximumAttempts: number;
  readonly notRetried: readonly string[];
  readonly isAbandoned: boolean;
  readonly isTried: boolean;
}

/** An activity that a run waits for. */
export interface PendingActivity {
  readonly policy: ActivityPolicy;
  readonly isStarted: boolean;
  readonly attempt: number;
  /** Of its last heartbeat. */
  readonly details: unknown;
  /** Of the attempt before. */
  readonly lastFailure: Failure | undefined;
  /** Someone other than its worker says how its attempt has ended. */
  answer(end: ActivityEnd): void;
  requestCancel(): void;
  /** Its workflow has closed. */
  leave(): void;
}

export interface Parent {
  readonly workflowId: string;
  readonly runId: string;
  readonly seq: number;
  readonly closePolicy: number;
}

export interface Update {
  readonly id: string;
  readonly name: string;
  readonly input: Payload[];
  state: 'admitted' | 'sent' | 'accepted' | 'ended';
  readonly settled: Promise<unknown>;
  /** When its workflow has accepted it, or it has ended. */
  readonly accepted: Promise<void>;
  accept(): void;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface Query {
  readonly name: string;
  readonly args: Payload[];
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A child as its parent has it. */
export interface Child {
  readonly workflowId: string;
  readonly type: string;
  runId: string | null;
  cancelRequested: boolean;
  /** What the parent waits for when it cancels the child. */
  readonly cancellation: number;
  /** The parent has been told how it ended, or no longer waits for it. */
  isResolved: boolean;
}

/** As in the SDK's core. */
export const CHILD_CANCELLATION = { abandon: 0, tryCancel: 1 } as const;

/** One run of a workflow. */
export interface Execution extends RunIdentity {
  readonly taskQueue: string;
  readonly input: readonly Payload[];
  readonly headers: Readonly<Record<string, Payload>>;
  readonly continuedFrom?: string;
  /** Summary and details, as its starter encoded them. */
  readonly userMetadata?: object;
  readonly parent: Parent | undefined;
  /** The execution that a reset put in the parent's place, where it took the child over. */
  takenOverBy: Pick<Parent, 'runId' | 'seq'> | null;
  memo: Record<string, Payload>;
  searchAttributes: Record<string, Payload>;
  status: Status;
  closedAt: number | null;
  result: unknown;
  /** As its parent gets it. */
  answer: { readonly result?: Payload; readonly failure?: Failure };
  failure: Error | null;
  /** Those who wait for its end. */
  readonly waiting: (() => void)[];
  /** The run that a reset put in its place. */
  resetTo: string | null;
  /** Run ids of the executions before resets that it continues: its earlier commands may name them. */
  readonly earlierRuns: readonly string[];
  turns: Turn[];
  events: HistoryEvent[];
  /** Arrived since the last workflow task began. */
  inbox: Job[];
  /** Given to the workflow task that runs: it is lost with a worker, not with the history. */
  taken: readonly Job[];
  updates: Map<string, Update>;
  queries: Query[];
  activities: Map<number, PendingActivity>;
  timers: Map<number, () => void>;
  children: Map<number, Child>;
  task: 'none' | 'scheduled' | 'running';
  /** Which of the tries of a task is the one that counts. */
  taskToken: number;
  /** In a row. */
  failedTasks: number;
  flags: number[];
  cancelRequested: boolean;
  /** The worker that has the run in its memory. */
  sticky: object | null;
}

/** What an execution has before anything has happened. */
export const blankExecution = (runId: string) => ({
  runId,
  status: 'RUNNING' as Status,
  closedAt: null,
  result: undefined,
  answer: {},
  takenOverBy: null,
  failure: null,
  waiting: [] as (() => void)[],
  resetTo: null,
  earlierRuns: [],
  turns: [] as Turn[],
  events: [] as HistoryEvent[],
  inbox: [] as Job[],
  taken: [] as readonly Job[],
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
});

/** How a parent that does not wait for the end of a child learns that it has cancelled it. */
export const cancelledChild = ({ workflowId, type }: Pick<Child, 'workflowId' | 'type'>) => ({
  cancelled: {
    failure: {
      message: 'Child Workflow execution cancelled',
      cause: { message: 'cancelled', canceledFailureInfo: {} },
      childWorkflowExecutionFailureInfo: {
        namespace: 'default',
        workflowExecution: { workflowId, runId: '' },
        workflowType: { name: type },
      },
    },
  },
});
