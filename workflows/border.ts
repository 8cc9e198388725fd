/** Temporal's API with the names, payloads and answers of the contracts as types. */
import {
  type ActivityOptions,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  scheduleActivity,
  setHandler,
  startChild,
  type Workflow,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  Activities,
  ActivityName,
  SignalName,
  SignalPayload,
  StatusOf,
  WorkflowContract,
  WorkflowContracts,
  WorkflowType,
} from './contract.js';

/** Creates no promise: the SDK records a stack trace for each promise in a workflow. */
export const callActivity = <N extends ActivityName>(
  name: N,
  request: Parameters<Activities[N]>[0],
  options: ActivityOptions,
): Promise<Awaited<ReturnType<Activities[N]>>> => scheduleActivity(name, [request], options);

/** Handlers of all signals, updates and queries of a workflow. Temporal's tools show the descriptions. */
export interface Handlers<C extends WorkflowContract> {
  readonly signals: {
    readonly [S in keyof C['signals']]: {
      readonly description?: string;
      handle(payload: C['signals'][S]): void;
    };
  };
  readonly updates: {
    readonly [U in keyof C['updates']]: {
      readonly description: string;
      /** Throws when the update is not possible now. A rejected update leaves no trace in the history. */
      validate?(request: unknown): void;
      handle(request: C['updates'][U]): StatusOf<C> | Promise<StatusOf<C>>;
    };
  };
  readonly queries: {
    readonly [Q in keyof C['queries']]: { readonly description: string; answer(): C['queries'][Q] };
  };
}

/** Sets the handlers: signals first, and within a kind in the order of declaration. */
export function handle<C extends WorkflowContract>(handlers: Handlers<C>): void {
  const { signals, updates, queries }: AnyHandlers = handlers;
  for (const [name, { handle, ...options }] of Object.entries(signals)) {
    setHandler(defineSignal<[never]>(name), handle, options);
  }
  for (const [name, { handle, validate, ...options }] of Object.entries(updates)) {
    setHandler(defineUpdate<unknown, [never]>(name), handle, { ...options, ...(validate && { validator: validate }) });
  }
  for (const [name, { answer, ...options }] of Object.entries(queries)) {
    setHandler(defineQuery<unknown>(name), answer, options);
  }
}

/** Handlers as Temporal calls them: by name, with the decoded payload. */
interface AnyHandlers {
  readonly signals: Readonly<Record<string, { readonly description?: string; handle(payload: never): void }>>;
  readonly updates: Readonly<
    Record<string, { readonly description: string; validate?(request: unknown): void; handle(request: never): unknown }>
  >;
  readonly queries: Readonly<Record<string, { readonly description: string; answer(): unknown }>>;
}

/** A child workflow that was started. */
export interface Child<W extends WorkflowType> {
  result(): Promise<WorkflowContracts[W]['result']>;
  /** Does nothing if the child has ended. */
  signal<S extends keyof WorkflowContracts[W]['signals'] & string>(
    name: S,
    payload?: WorkflowContracts[W]['signals'][S],
  ): Promise<void>;
}

/** Starts a child that is cancelled with its parent. The parent waits for the end of the child. */
export async function startChildOf<W extends WorkflowType>(
  type: W,
  options: { readonly id: string; readonly input: WorkflowContracts[W]['input']; readonly summary: string },
): Promise<Child<W>> {
  const child: ChildWorkflowHandle<Workflow> = await startChild(type, {
    workflowId: options.id,
    // One that is left of before a reset: it has lost its claim.
    // The conflict policy that replaces it exists for clients only, not for child workflows.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
    args: [options.input],
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: options.summary,
  });
  return {
    result: () => child.result(),
    signal: (name, ...payload) => child.signal(name, ...payload).catch(() => undefined),
  };
}

/** Signals the parent workflow. Does nothing without a parent or if the parent has ended. */
export async function signalParent<S extends SignalName>(name: S, payload: SignalPayload<S>): Promise<void> {
  const { parent } = workflowInfo();
  if (parent === undefined) return;
  await getExternalWorkflowHandle(parent.workflowId, parent.runId)
    .signal(name, payload)
    .catch(() => undefined);
}
