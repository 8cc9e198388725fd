import type { SearchAttributePair } from '@temporalio/common';
import {
  type ActivityOptions,
  AsyncLocalStorage,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  scheduleActivity,
  setDefaultQueryHandler,
  setDefaultSignalHandler,
  setDefaultUpdateHandler,
  setHandler,
  sleep,
  startChild,
  type Workflow,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import * as z from 'zod/mini';
import { lineOf } from '../../src/core/data/schema.ts';
import { explainCommon, failureType } from '../../src/core/run/failure.ts';
import type { ParsedRunInput } from '../../src/core/run/input.ts';
import { type ReadRequest, readRequest } from '../../src/core/run/operator.ts';
import { unknownName } from '../../src/core/text/did-you-mean.ts';
import { GRAPH_RUN_KIND, SITE_RUN_KINDS } from '../../src/core/words.ts';
import type {
  Activities,
  ActivityName,
  SignalName,
  SignalPayload,
  UpdateAnswer,
  WorkflowContract,
  WorkflowContracts,
  WorkflowType,
} from '../contract.ts';
import { sideQueue } from '../protocol.ts';
import { readAnswer } from './answers.ts';
import { CHILD_MISSING, failure } from './failures.ts';
import { UNREADABLE } from './payload-converter.ts';

/** Temporal's API with the names, payloads and answers of the contracts as types. */

/**
 * Creates one promise in addition to the SDK's own, which records a stack trace for each in a workflow.
 *
 * @throws ActivityFailure when the activity has failed, or its answer does not fit its contract
 */
export const callActivity = <N extends ActivityName>(
  name: N,
  request: Parameters<Activities[N]>[0],
  options: ActivityOptions,
): Promise<Awaited<ReturnType<Activities[N]>>> =>
  scheduleActivity(name, [request], options).then((answer) => readAnswer(name, answer, options.activityId));

/**
 * The same with callbacks, for the hot path of a run: it creates no promise in addition to the SDK's own. `failed`
 * gets the errors of `callActivity`.
 */
export function callActivityThen<N extends ActivityName>(
  name: N,
  request: Parameters<Activities[N]>[0],
  options: ActivityOptions,
  done: (answer: Awaited<ReturnType<Activities[N]>>) => void,
  failed: (error: unknown) => void,
): void {
  scheduleActivity(name, [request], options).then((given) => {
    let answer: Awaited<ReturnType<Activities[N]>>;
    try {
      answer = readAnswer(name, given, options.activityId);
    } catch (error) {
      return failed(error);
    }
    done(answer);
  }, failed);
}

/** A scope that is entered often. */
export interface OftenEntered {
  /** Does work in it, as `run` of the SDK's scopes does, which creates three promises each time. */
  enter(work: () => void): void;
  cancel(): void;
}

/** Created in the current scope. */
export function oftenEntered(): OftenEntered {
  const scope = new CancellationScope({ cancellable: true });
  let enter: OftenEntered['enter'] = (work) => work();
  void scope.run(async () => {
    enter = (AsyncLocalStorage as unknown as Snapshots).snapshot();
  });
  return { enter, cancel: () => scope.cancel() };
}

/** What the class has in Node and not in the SDK's types: a function that calls others as if they were called here. */
interface Snapshots {
  snapshot(): (work: () => void) => void;
}

/** Reads payloads of users. */
type Reader<R> = (payload: unknown) => ReadRequest<R>;

/**
 * Handlers of all signals, updates and queries of a workflow. Temporal's tools show the descriptions; signals without one
 * are sent by workflows only.
 */
export interface Handlers<C extends WorkflowContract> {
  readonly signals: {
    readonly [S in keyof C['signals']]: {
      readonly description?: string;
      readonly read: Reader<C['signals'][S]>;
      handle(payload: C['signals'][S]): void;
    };
  };
  readonly updates: {
    readonly [U in keyof C['updates']]: {
      readonly description: string;
      readonly read: Reader<C['updates'][U]>;
      /**
       * Throws when the update is not possible now. A rejected update leaves no trace in the history. Called again when the results
       * that arrived with the update have had their effect: it then fails.
       */
      validate?(request: C['updates'][U]): void;
      handle(request: C['updates'][U]): UpdateAnswer<C, U> | Promise<UpdateAnswer<C, U>>;
    };
  };
  readonly queries: {
    readonly [Q in keyof C['queries']]: { readonly description: string; answer(): C['queries'][Q] };
  };
  /** Receives invalid messages. */
  warn(text: string): void;
  /** Has the run look at what is due now; see `afterResults`. */
  wake?(): void;
}

/**
 * Sets the handlers: signals first, and within a kind in the order of declaration; last those for all other names. Invalid
 * data is refused if the sender gets an answer, and otherwise a warning: a signal takes effect without its invalid
 * fields.
 */
export function handle<C extends WorkflowContract>(handlers: Handlers<C>): void {
  const { signals, updates, queries, warn, wake }: AnyHandlers = handlers;
  for (const [name, { read, handle, ...options }] of Object.entries(signals)) {
    const receive = (...payloads: unknown[]): void => {
      const { request, problems } = readPayload(read, payloads);
      const lost = request === undefined ? '; it had no effect' : '';
      if (problems.length > 0) warn(`signal '${name}': ${problems.join('; ')}${lost}`);
      if (request !== undefined) handle(request);
    };
    setHandler(defineSignal<unknown[]>(name), receive, options);
  }
  for (const [name, { read, handle, validate, ...options }] of Object.entries(updates)) {
    const validator = (...payloads: unknown[]): void => {
      const { request, problems } = readPayload(read, payloads);
      if (problems.length > 0) throw failure('InvalidRequest', `update '${name}': ${problems.join('; ')}`);
      validate?.(request);
    };
    const receive = (...payloads: unknown[]): unknown => {
      const { request } = readPayload(read, payloads);
      wake?.();
      return afterResults().then(() => {
        validate?.(request);
        return handle(request);
      });
    };
    setHandler(defineUpdate<unknown, unknown[]>(name), receive, { ...options, validator });
  }
  for (const [name, { answer, ...options }] of Object.entries(queries)) {
    setHandler(defineQuery<unknown>(name), answer, options);
  }
  const known = Object.keys(signals).filter((name) => signals[name]?.description !== undefined);
  const id = workflowInfo().workflowId;
  setDefaultSignalHandler((name) => {
    const asUpdate = `'${name}' is an update, not a signal: temporal workflow update execute --workflow-id ${id} --name ${name}`;
    warn(Object.hasOwn(updates, name) ? asUpdate : unknownName('signal', name, known));
  });
  setDefaultUpdateHandler((name) => {
    const asSignal = `'${name}' is a signal, not an update: temporal workflow signal --workflow-id ${id} --name ${name}`;
    const text = known.includes(name) ? asSignal : unknownName('update', name, Object.keys(updates));
    warn(text);
    throw failure('UnknownUpdate', text);
  });
  setDefaultQueryHandler((name) => {
    throw failure('UnknownQuery', unknownName('query', name, Object.keys(queries)));
  });
}

function readPayload(read: Reader<unknown>, payloads: readonly unknown[]): ReadRequest<unknown> {
  const [payload] = payloads;
  if (payload === UNREADABLE) return { ...read(undefined), problems: ['the payload cannot be decoded'] };
  const one = read(payload);
  return payloads.length < 2 ? one : { ...one, problems: [...one.problems, 'only the first payload is used'] };
}

/** Handlers as Temporal calls them: by name, with the result of `read`. */
interface AnyHandlers {
  readonly signals: Readonly<
    Record<string, { readonly description?: string; readonly read: Reader<unknown>; handle(payload: unknown): void }>
  >;
  readonly updates: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly read: Reader<unknown>;
        validate?(request: unknown): void;
        handle(request: unknown): unknown;
      }
    >
  >;
  readonly queries: Readonly<Record<string, { readonly description: string; answer(): unknown }>>;
  warn(text: string): void;
  wake?(): void;
}

/** A child workflow that was started. */
export interface Child<W extends WorkflowType> {
  /** The first run of its chain. */
  readonly run: string;
  result(): Promise<WorkflowContracts[W]['result']>;
  /** Does nothing if the child has ended. */
  signal<S extends keyof WorkflowContracts[W]['signals'] & string>(
    name: S,
    payload?: WorkflowContracts[W]['signals'][S],
  ): Promise<void>;
  /** Finds out whether it has ended without its parent being told: then it counts as failed. */
  probe(): Promise<void>;
}

/**
 * Starts a child that is cancelled with the scope of its parent, which waits for the end of the child.
 *
 * It is signalled and cancelled by its id: after a reset of its parent, a server (seen with 1.29) takes what the SDK sends to a
 * child for the request of a stranger, and refuses it. The run would neither pause, stop nor end its children.
 *
 * A child that ended while its parent was closed, as one does when someone terminates the parent, tells no one of its end: not even
 * a parent that is reset and waits for it. A signal to it is refused, a request to cancel it is not, so that a signal goes with it
 * (`probe`), and again while the child that was cancelled does not end; and the worker looks for such children (`child_gone`). If no
 * result follows, the child counts as failed.
 */
export async function startChildOf<W extends WorkflowType>(
  type: W,
  options: {
    readonly id: string;
    readonly input: WorkflowContracts[W]['input'];
    readonly summary: string;
    readonly attributes?: readonly SearchAttributePair[];
    /** Does a part of the work of a large run, and not a run of its own. */
    readonly isPart?: true;
  },
): Promise<Child<W>> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`${options.id} was not started`);
  const start = () =>
    startChild(type, {
      workflowId: options.id,
      ...(options.isPart ? { taskQueue: sideQueue(workflowInfo().taskQueue, 'parts') } : {}),
      // One that is left of before a reset: it has lost its claim.
      // The conflict policy that replaces it exists for clients only, not for child workflows.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
      args: [options.input],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: options.summary,
      typedSearchAttributes: [...(options.attributes ?? [])],
    });
  const child: ChildWorkflowHandle<Workflow> = await CancellationScope.nonCancellable(start);
  const byId = getExternalWorkflowHandle(options.id);
  let hasEnded = false;
  let search: CancellationScope | null = null;
  const end = () => {
    hasEnded = true;
    waitedFor.delete(options.id);
    search?.cancel();
  };
  void child.result().then(end, end);
  let miss: (failed: Error) => void = () => undefined;
  const missing = new Promise<never>((_, reject) => {
    miss = reject;
  });
  missing.catch(() => undefined);
  let isMissed = false;
  const notThere = async (): Promise<void> => {
    if (hasEnded || isMissed) return;
    isMissed = true;
    // Its result may be on its way.
    const summary = `wait for the result of ${options.id}`;
    await CancellationScope.nonCancellable(() => sleep(RESULT_FOLLOWS_MS, { summary }));
    miss(failure(CHILD_MISSING, `${options.id} has ended, while its run was closed`));
  };
  const cancel = async (): Promise<void> => {
    if (hasEnded) return;
    await CancellationScope.nonCancellable(() => Promise.all([byId.cancel(), byId.signal(PROBE, {})]));
    if (!hasEnded) await CancellationScope.nonCancellable(lookAgain);
  };
  /** After a reset, no stop and no cancel is news any more. */
  const lookAgain = (): Promise<void> => {
    search = new CancellationScope({ cancellable: true });
    return search.run(async () => {
      for (let ms = LOOK_AGAIN_MS; ; ms = Math.min(2 * ms, 3_600_000)) {
        await sleep(ms, { summary: `wait for the end of ${options.id}, which was cancelled` });
        await byId.signal(PROBE, {});
      }
    });
  };
  void scope.cancelRequested.catch(cancel).catch((error: unknown) => {
    if (!isCancellation(error)) void notThere();
  });
  const signal = (name: string, ...payload: unknown[]): Promise<void> =>
    byId.signal(name, ...payload).catch(() => void notThere());
  const probe = async (): Promise<void> => (hasEnded ? undefined : signal(PROBE, {}));
  waitedFor.set(options.id, { gone: () => void notThere(), probe });
  return {
    run: child.firstExecutionRunId,
    result: () => Promise.race([child.result(), missing]),
    signal,
    probe,
  };
}

const RESULT_FOLLOWS_MS = 20_000;
/** First after so long, and less and less often: those that are there end in seconds, or work for hours. */
const LOOK_AGAIN_MS = 15_000;

const PROBE = 'probe' satisfies SignalName;

/** For each type that `startChildOf` starts: who has ended is told by the refusal of this signal. */
export const probeHandler = () => ({
  [PROBE]: { read: () => ({ request: {}, problems: [] }), handle: () => undefined },
});

/** Children of this workflow that have not ended, by workflow id: what to do when someone finds that one has, and how to find out. */
const waitedFor = new Map<string, { gone(): void; probe(): Promise<void> }>();

/** Finds out which children have ended without this workflow being told. */
export function probeChildren(): void {
  for (const { probe } of waitedFor.values()) void CancellationScope.nonCancellable(probe);
}

/** Receives from the worker that a child has ended of which Temporal has told the run nothing. */
export const childGoneHandler = () => ({
  child_gone: {
    read: (payload: unknown) => readRequest(childGone, payload),
    handle: ({ id }: { readonly id: string }) => waitedFor.get(id)?.gone(),
  },
});

const childGone = z.strictObject({ id: lineOf(1_000) });

/** Starts a workflow that goes on whatever becomes of this one. Resolves once it runs, or could not be started. */
export async function startDetached<W extends WorkflowType>(
  type: W,
  id: string,
  input: WorkflowContracts[W]['input'],
  summary: string,
): Promise<void> {
  await startChild(type, {
    workflowId: id,
    args: [input],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: summary,
  }).catch(() => undefined);
}

/** Signals the parent workflow, in the execution that it has now: a reset changes it. Does nothing without a parent or if it has ended. */
export async function signalParent<S extends SignalName>(name: S, payload: SignalPayload<S>): Promise<void> {
  const { parent } = workflowInfo();
  if (parent !== undefined) await signalById(parent.workflowId, name, payload);
}

/** Signals a workflow of the same run, in the execution that it has now. Does nothing if it has ended. */
export async function signalById<S extends SignalName>(id: string, name: S, payload: SignalPayload<S>): Promise<void> {
  await getExternalWorkflowHandle(id)
    .signal(name, payload)
    .catch(() => undefined);
}

/** The input of a workflow that users start. @throws when it is invalid: an exception would be retried for ever */
export function validInput<Input>(parsed: ParsedRunInput<Input>): Input {
  if (parsed.ok) return parsed.input;
  const invalid = { kind: 'invalid-input', problems: parsed.problems } as const;
  throw failure(failureType(invalid), explainCommon(invalid).reason, parsed.problems);
}

/** Ends a workflow that only runs start if a user has started it: nothing checks its input. */
export function assertStartedByRun(): void {
  const { parent, workflowType } = workflowInfo();
  if (parent !== undefined) return;
  const instead = [...SITE_RUN_KINDS, GRAPH_RUN_KIND].join(', ');
  throw failure(
    'StartedByRunsOnly',
    `only runs start ${workflowType}, as a part of their work: start one of ${instead}`,
  );
}

/**
 * How often conditions are evaluated before all that arrived with a request has had its effect: a result wakes the loop that
 * waits for it, whose turn may wake another one. Twice would do; the rest is margin.
 */
const ROUNDS = 4;

/**
 * Resolves when the results that arrived in the same activation have had their effect.
 *
 * The SDK executes updates first. A worker that has to read a run's history again gets workflow tasks that ordered nothing in
 * one activation with the update that follows them, but a later replay gets them one after the other, the update last. Only
 * an update that always comes last orders the same in both. What the run decides by the time it decides before the update, too, in both: the
 * results that came before find it due at the time of the update if they are taken together with it, and not if they are replayed at theirs.
 */
export async function afterResults(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    // Not at the first poll, which is immediate.
    let looks = 0;
    await condition(() => looks++ > 0);
  }
}
