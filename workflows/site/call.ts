import type { SearchAttributePair } from '@temporalio/common';
import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  log,
  patched,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import * as z from 'zod/mini';
import type { AbortAnswer, NodeCall } from '../../activities/contract.ts';
import { given } from '../../src/core/data/given.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import { limit, lineOf, optional, valueThat } from '../../src/core/data/schema.ts';
import type { CallEnd, NodeResult } from '../../src/core/deployment/baremetal.ts';
import { IN_FLIGHT } from '../../src/core/deployment/failures.ts';
import { MAX } from '../../src/core/run/description.ts';
import { CLAIM_LOST } from '../../src/core/run/failure.ts';
import { describeSilence } from '../../src/core/run/late-text.ts';
import { type ReadRequest, readRequest } from '../../src/core/run/operator.ts';
import { counted } from '../../src/core/text/text.ts';
import type {
  CallRequest,
  CallVerb,
  RunCallInput,
  SliceProgress,
  SliceResult,
  WorkflowContracts,
} from '../contract.ts';
import { nodeActivityId } from '../protocol.ts';
import { abortCall, aside, nodeCall } from '../run/activity-options.ts';
import {
  assertStartedByRun,
  type Child,
  callActivity,
  handle,
  probeHandler,
  signalParent,
  startChildOf,
} from '../run/border.ts';
import { Control } from '../run/control.ts';
import { failure, stepError } from '../run/failures.ts';
import { maasSilenceHandler, type Steering, steeringHandlers } from '../run/operators.ts';
import { silenceAtStop, untilStopInSilence } from '../run/silence-at-stop.ts';

/** Receives the reports of a call while it runs. The owner of the state implements it. */
export interface CallListener {
  started(index: number): void;
  finished(index: number, result: NodeResult): void;
  /** Whether a node may start now. Absent: it may. */
  mayStart?(): boolean;
  /** Its work in MAAS is being aborted, or no more. */
  aborting?(index: number, is: boolean): void;
}

type CalledNode = CallRequest['nodes'][number];

interface RunningNode extends CalledNode {
  readonly scope: CancellationScope;
  /** Never rejects. */
  readonly settled: Promise<NodeResult>;
}

const ACTIVITY_OF = { prepare: 'prepare_node', deploy: 'deploy_node', release: 'release_node' } as const;

/**
 * Makes a call and announces how it ended. If the call is cut short, nodes that have started and have no result are
 * aborted in MAAS where MAAS can do so. The state that the abort finds is reported as a late result. A stop lets them finish,
 * but does not wait for a MAAS that does not answer.
 */
export async function runCall(
  request: CallRequest,
  control: Control,
  listener: CallListener,
  announce: (end: CallEnd) => void,
): Promise<void> {
  const queue = [...request.nodes];
  const running = new Map<number, RunningNode>();
  const limit = Math.max(1, request.max_parallel_nodes);
  const summary = `${request.verb} of ${request.group}: time limit ${request.timeout} s`;
  const clock = new CallClock(request.timeout, summary, control);

  let lost: string | null = null;
  // A stop does not wait until a silence of MAAS is long enough to be reported.
  let silentSince: string | null = null;
  let isAsked = false;
  const askMaas = async (): Promise<void> => {
    isAsked = true;
    silentSince = await silenceAtStop();
    if (silentSince !== null) control.wake();
  };
  const start = (node: CalledNode): void => {
    const scope = new CancellationScope({ cancellable: true });
    listener.started(node.index);
    const settled = scope.run(() => callNode(request, node)).catch(failedResult);
    running.set(node.index, { ...node, scope, settled });
    void settled.then((result) => {
      // If the call was cut short meanwhile, settleUnfinished reports this node.
      if (!running.delete(node.index)) return;
      if (!result.ok && result.failure.kind === CLAIM_LOST) lost = result.failure.message;
      listener.finished(node.index, result);
      control.wake();
    });
  };

  let end: CallEnd = { kind: 'complete' };
  for (;;) {
    clock.follow();
    if (lost !== null) break;
    if (control.cancelled) end = { kind: 'cancelled' };
    else if (clock.expired) end = { kind: 'timeout', after_seconds: request.timeout };
    if (end.kind !== 'complete') break;
    if (running.size > 0 && control.stopping) {
      silentSince = control.maasSilentSince ?? silentSince;
      if (silentSince !== null) {
        end = { kind: 'stopped' };
        break;
      }
      if (!isAsked) void askMaas();
    }
    const mayStart = (): boolean => listener.mayStart?.() ?? true;
    while (!control.paused && !control.stopping && running.size < limit && mayStart()) {
      const node = queue.shift();
      if (!node) break;
      start(node);
    }
    if (running.size === 0 && (queue.length === 0 || control.stopping || !mayStart())) {
      if (queue.length > 0) end = { kind: control.stopping ? 'stopped' : 'held' };
      break;
    }
    await control.changed();
  }
  clock.stop();
  if (end.kind === 'timeout') end = { ...end, ...given({ errors: await lastErrors(request, [...running.values()]) }) };

  const unfinished = [...running.values()];
  running.clear();
  for (const node of unfinished) node.scope.cancel();
  if (lost !== null) {
    await Promise.all(unfinished.map(({ settled }) => settled));
    throw failure(CLAIM_LOST, lost);
  }
  if (end.kind === 'stopped') {
    const why = `the run was stopped; ${describeSilence(silentSince ?? '')}`;
    for (const node of unfinished) {
      const result = await node.settled;
      const message = `${why}: its work on ${node.name} is unknown and may continue`;
      const unknown: NodeResult = { ok: false, failure: { kind: 'maas-silent', message } };
      listener.finished(node.index, isFromMachine(result) ? result : unknown);
    }
  }
  if (end.kind !== 'stopped') for (const { index } of unfinished) listener.aborting?.(index, true);
  announce(end);
  if (end.kind === 'stopped' || unfinished.length === 0) return;
  const settled = () => Promise.all(unfinished.map((node) => settleUnfinished(request, node, control, listener)));
  await untilStopInSilence(control, settled);
}

const activityIdOf = ({ verb, group }: CallRequest, { name, attempt }: CalledNode): string =>
  nodeActivityId(verb, group, name) + (attempt > 1 ? `:${attempt}` : '');

/** What the last attempts on nodes without a result failed with. Asked while their activities are pending: nothing keeps it afterwards. */
async function lastErrors(
  request: CallRequest,
  nodes: readonly CalledNode[],
): Promise<Readonly<Record<number, string>> | undefined> {
  // Runs of earlier builds did not ask.
  if (nodes.length === 0 || !patched('last-errors')) return undefined;
  const ids = nodes.map((node) => activityIdOf(request, node));
  const options = aside(`the last errors of ${request.verb} in group ${request.group}`);
  const errors = await callActivity('last_errors', { activities: ids }, options).catch(() => ({}));
  const known = Object.entries(errors).map(([id, error]) => [nodes[ids.indexOf(id)]?.index, error] as const);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function callNode(request: CallRequest, node: CalledNode): Promise<NodeResult> {
  const { verb, group } = request;
  const again = node.attempt > 1 ? `, attempt ${node.attempt}` : '';
  const id = activityIdOf(request, node);
  const options = nodeCall(id, `${verb} ${node.name} (group ${group}${again})`, request.heartbeat_seconds);
  return callActivity(ACTIVITY_OF[verb], nodeRequest(request, node), options);
}

/**
 * Failures without information about the machine: the activity was cancelled, or its worker stopped responding after
 * the cancellation request (the server then fails it by heartbeat timeout, without a retry).
 */
const NOT_FROM_THE_MACHINE: ReadonlySet<string> = new Set(['cancelled', 'TimeoutFailure', IN_FLIGHT]);

const isFromMachine = (result: NodeResult): boolean => result.ok || !NOT_FROM_THE_MACHINE.has(result.failure.kind);

/**
 * Reads the work in progress on the machine, aborts it where possible and reports a late result. Waits for the
 * cancelled activity first: otherwise one activity could deploy a machine that the other aborts.
 */
async function settleUnfinished(
  request: CallRequest,
  node: RunningNode,
  control: Control,
  listener: CallListener,
): Promise<void> {
  const result = await node.settled;
  // Runs of earlier builds took the error of an attempt that would have been repeated for what became of the machine.
  const isPassing = passing.has(result) && patched('passing-errors');
  if (isFromMachine(result) && !isPassing) {
    listener.aborting?.(node.index, false);
    listener.finished(node.index, result);
  } else await abortNode(request, node, control, listener, result.ok ? undefined : result.failure);
}

/** Aborts work in MAAS that a call without a result may have started on a node, and reports a late result. */
async function abortNode(
  request: CallRequest,
  node: CalledNode,
  control: Control,
  listener: CallListener,
  cutShort?: { readonly kind: string; readonly message: string },
): Promise<void> {
  const id = `abort:${request.group}:${node.name}:${request.verb}:${node.attempt}`;
  const options = abortCall(
    id,
    `abort ${request.verb} of ${node.name} after the end of its call`,
    request.heartbeat_seconds,
  );
  const notAborted = (kind: string, why: string): NodeResult => ({
    ok: false,
    failure: { kind, message: `its ${request.verb} was not aborted and may continue: ${why}` },
  });
  listener.aborting?.(node.index, true);
  try {
    const answer = await callActivity('abort_node', nodeRequest(request, node), options);
    // A release that goes on is what its run was for: the report has the machine as released.
    const goesOn = answer.found === 'running' && request.verb !== 'release';
    const late = goesOn ? notAborted(answer.found, answer.message) : lateResult(request.verb, answer);
    const message = `${cutShort?.message} when its time was up, and may still do it; then it was: ${answer.message}`;
    const isOpen = answer.found === 'nothing' && cutShort?.kind === IN_FLIGHT;
    if (isOpen) listener.finished(node.index, { ok: false, failure: { kind: IN_FLIGHT, message } });
    else if (late) listener.finished(node.index, late);
  } catch (error) {
    const { kind, message } = failedResult(error).failure;
    // Only a stop in such a silence cancels an abort.
    const since = isCancellation(error) ? control.maasSilentSince : null;
    listener.finished(
      node.index,
      since === null ? notAborted(kind, message) : notAborted('maas-silent', describeSilence(since)),
    );
  } finally {
    listener.aborting?.(node.index, false);
  }
}

export function lateResult(verb: CallVerb, answer: AbortAnswer): NodeResult | null {
  if (verb === 'release' && answer.found === 'deployed')
    return {
      ok: false,
      failure: { kind: 'cancelled', message: 'its release had not begun: its machine stays deployed' },
    };
  const succeeded = answer.found === 'deployed' || (answer.found === 'ready' && verb !== 'deploy');
  if (succeeded) return { ok: true };
  if (answer.found === 'nothing' || answer.found === 'running') return null;
  return { ok: false, failure: { kind: answer.found, message: answer.message } };
}

export function nodeRequest(
  request: Pick<CallRequest, 'site' | 'revision' | 'run_id' | 'interval' | 'erase' | 'adopt' | 'permit'>,
  node: { readonly name: string; readonly attempt: number; readonly system_id?: string },
): NodeCall {
  return {
    site: request.site,
    revision: request.revision,
    run_id: request.run_id,
    node: node.name,
    attempt: node.attempt,
    interval: request.interval,
    ...given({ system_id: node.system_id, erase: request.erase, permit: request.permit }),
    ...(request.adopt?.includes(node.name) && { adopt: true }),
  };
}

/** An activity that failed for good: the node fails, not the run. */
function failedResult(error: unknown): Extract<NodeResult, { ok: false }> {
  if (isCancellation(error)) return { ok: false, failure: { kind: 'cancelled', message: 'the call was cancelled' } };
  const { type: kind, message } = stepError(error);
  const result = { ok: false, failure: { kind, message } } as const;
  if (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED') passing.add(result);
  return result;
}

/** Results of calls whose next attempt the cancellation of the call has prevented: they say nothing of the machine. */
const passing = new WeakSet<NodeResult>();

/** The time limit of one call. The clock stops while the run is paused. */
class CallClock {
  readonly #control: Control;
  readonly #summary: string;
  #left: number;
  #expired = false;
  #startedAt = 0;
  #timer: CancellationScope | null = null;

  constructor(seconds: number, summary: string, control: Control) {
    this.#control = control;
    this.#summary = summary;
    this.#left = seconds * 1000;
    this.#run();
  }

  get expired(): boolean {
    return this.#expired;
  }
  /** Stops or continues the clock as the run is paused or resumed. Call it after each change. */
  follow(): void {
    if (this.#control.paused) this.stop();
    else this.#run();
  }
  stop(): void {
    if (!this.#timer) return;
    this.#left -= Date.now() - this.#startedAt;
    this.#timer.cancel();
    this.#timer = null;
  }

  #run(): void {
    if (this.#timer || this.#expired) return;
    const scope = new CancellationScope({ cancellable: true });
    this.#timer = scope;
    this.#startedAt = Date.now();
    void scope
      .run(() => sleep(Math.max(0, this.#left), { summary: this.#summary }))
      .then(() => {
        this.#expired = true;
        this.#timer = null;
        this.#control.wake();
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
  }
}

/**
 * With more nodes than this, calls run in child workflows: a node has two calls of up to six events each,
 * and no history may exceed 10,000 events (docs/explain/design.md#limits). A smaller run stays in one workflow, where an
 * operator sees every node on one page.
 */
export const NODES_IN_ONE_WORKFLOW = 400;

/** Nodes per child: about 1,500 events, with capacity for retries. */
const NODES_PER_SLICE = 250;

/** How often a child reports progress. Each report costs the parent a signal and a workflow task. */
export const PROGRESS_STEPS = 5;

const sliceProgress = z.strictObject({
  slice: lineOf(MAX.name),
  started: z.array(limit),
  finished: z.array(
    valueThat<SliceProgress['finished'][number]>(
      (value) => Array.isArray(value) && Number.isSafeInteger(value[0]) && isMapping(value[1]),
      'must be the number of a node and its result',
    ),
  ),
  ...optional({ aborting: z.array(limit) }),
});

/** Users may send this signal, too. One that could not be processed would block the workflow. */
export const readProgress = (payload: unknown): ReadRequest<SliceProgress> => readRequest(sliceProgress, payload);

interface OpenSlice {
  readonly child: Child<'run_call'>;
  readonly listener: CallListener;
  /** Results that the listener already has: progress and result overlap. */
  readonly started: Set<number>;
  readonly finished: Set<number>;
  aborting: ReadonlySet<number>;
}

/** A parent's open children by slice id. The parent passes their signals to `onProgress`. */
export class Slices {
  readonly #attributesOf: (request: CallRequest) => readonly SearchAttributePair[];
  readonly #open = new Map<string, OpenSlice>();
  #calls = 0;

  /** @param attributesOf search attributes of the child for a call */
  constructor(attributesOf: (request: CallRequest) => readonly SearchAttributePair[]) {
    this.#attributesOf = attributesOf;
  }

  onProgress(progress: SliceProgress): void {
    const slice = this.#open.get(progress.slice);
    if (!slice) return;
    for (const index of progress.started) {
      if (slice.started.has(index)) continue;
      slice.started.add(index);
      slice.listener.started(index);
    }
    for (const [index, result] of progress.finished) {
      if (slice.finished.has(index)) continue;
      slice.finished.add(index);
      slice.listener.finished(index, result);
    }
    if (progress.aborting !== undefined) showAborts(slice, progress.aborting);
  }

  /** Forwards an operator's signal to every open child. */
  forward(signal: Steering): void {
    for (const { child } of this.#open.values()) void child.signal(signal);
  }

  /** Makes a call as `runCall` does, in child workflows. */
  async run(
    request: CallRequest,
    control: Control,
    listener: CallListener,
    announce: (end: CallEnd) => void,
  ): Promise<void> {
    this.#calls += 1;
    const { workflowId } = workflowInfo();
    // Of the runs of a site each has slices of its own: one that was terminated leaves its behind for a while.
    const prefix = `${workflowId}/${request.run_id}`;
    const count = Math.ceil(request.nodes.length / NODES_PER_SLICE);
    const size = Math.ceil(request.nodes.length / count);
    const ends: CallEnd[] = [];
    const late: SliceProgress['finished'][number][] = [];
    const orphans: CallRequest['nodes'][number][] = [];
    await Promise.all(
      Array.from({ length: count }, async (_unused, part) => {
        const slice = `${prefix}/${request.verb}:${request.group}:${this.#calls}${count > 1 ? `.${part + 1}` : ''}`;
        const nodes = request.nodes.slice(part * size, (part + 1) * size);
        const share = Math.max(1, Math.floor((request.max_parallel_nodes + part) / count));
        const scope = new CancellationScope({ cancellable: true });
        const paused = control.paused !== null;
        const whole = scope.run(async () => {
          const child = await startChildOf('run_call', {
            id: slice,
            input: { ...request, nodes, max_parallel_nodes: share, slice, paused },
            summary: `${request.verb} ${counted(nodes.length, 'node')} of ${request.group}`,
            attributes: this.#attributesOf(request),
            isPart: true,
          });
          this.#open.set(slice, { child, listener, started: new Set(), finished: new Set(), aborting: new Set() });
          // An operator may have acted while the child started.
          if ((control.paused !== null) !== paused) await child.signal(paused ? 'resume' : 'pause');
          if (control.stopping) await child.signal('stop');
          const follower = followCancel(control, scope);
          // A cancellation of the slice would otherwise reject what no one awaits.
          if (listener.mayStart !== undefined)
            void CancellationScope.nonCancellable(() => tellOfLimit(listener, control, child, follower));
          try {
            return await child.result();
          } finally {
            follower.done = true;
          }
        });
        const result: SliceOutcome = await whole.catch((error: unknown) => lostSlice(slice, error));
        this.onProgress(result);
        const opened = this.#open.get(slice);
        this.#open.delete(slice);
        if (opened !== undefined) showAborts(opened, []);
        const unfinished = nodes.filter(({ index }) => !opened?.finished.has(index));
        if (opened !== undefined && result.lost !== undefined) {
          // Which nodes the child had started is not known in full. A deployment has the marker of its site; a
          // commissioning may be someone else's.
          orphans.push(...unfinished.filter(({ index }) => request.verb === 'deploy' || opened.started.has(index)));
        }
        const alone = endedAlone(result, control);
        if (alone === null) ends.push(result.lost === undefined ? result.end : { kind: 'cancelled' });
        else {
          const ended: NodeResult = { ok: false, failure: { kind: 'slice-ended', message: alone } };
          for (const { index } of unfinished) listener.finished(index, ended);
        }
        late.push(...result.late);
        control.wake();
      }),
    );
    announce(endOf(ends));
    for (const [index, result] of late) listener.finished(index, result);
    if (orphans.length === 0) return;
    await untilStopInSilence(control, () =>
      Promise.all(orphans.map((node) => abortNode(request, node, control, listener))),
    );
  }
}

/** Tells the listener of a slice what has changed. */
function showAborts(slice: OpenSlice, now: readonly number[]): void {
  const [before, after] = [slice.aborting, new Set(now)];
  slice.aborting = after;
  for (const index of before) if (!after.has(index)) slice.listener.aborting?.(index, false);
  for (const index of after) if (!before.has(index)) slice.listener.aborting?.(index, true);
}

/** The end of a call, from those of its slices. */
function endOf(ends: readonly CallEnd[]): CallEnd {
  const late = ends.filter((one) => one.kind === 'timeout');
  const errors = Object.assign({}, ...late.map((one) => one.errors));
  return (
    ends.find((one) => one.kind === 'cancelled') ??
    (late[0] && { ...late[0], ...(Object.keys(errors).length > 0 && { errors }) }) ??
    ends.find((one) => one.kind === 'stopped') ??
    ends.find((one) => one.kind === 'held') ?? { kind: 'complete' }
  );
}

/** Result of a slice; `lost`: how its child ended without a result. */
type SliceOutcome = SliceResult & { readonly lost?: string };

/** @throws the error when it ends the run */
function lostSlice(slice: string, error: unknown): SliceOutcome {
  const { type, message } = stepError(error);
  if (type === CLAIM_LOST) throw error;
  return { slice, started: [], finished: [], late: [], end: { kind: 'complete' }, lost: message };
}

/** How a slice ended that someone ended, and not the run; null for any other. */
function endedAlone({ slice, end, lost }: SliceOutcome, { cancelled, stopping }: Control): string | null {
  if (cancelled) return null;
  if (lost !== undefined) return lost;
  const alone = end.kind === 'cancelled' || (end.kind === 'stopped' && !stopping);
  return alone ? `${slice} was ${end.kind}` : null;
}

/** Cancels a child when the run is cancelled. Set `done` when the child has ended. */
function followCancel(control: Control, scope: CancellationScope): { done: boolean } {
  const follower = { done: false };
  void (async () => {
    while (!follower.done && !control.cancelled) await control.changed();
    if (!follower.done) scope.cancel();
  })();
  return follower;
}

/** Tells a slice of a rollout that no other node of it may start. */
async function tellOfLimit(
  { mayStart }: CallListener,
  control: Control,
  child: Child<'run_call'>,
  slice: { readonly done: boolean },
): Promise<void> {
  while (!slice.done && mayStart?.() !== false) await control.changed();
  if (!slice.done) await child.signal('start_no_more', {});
}

/** Later failures of a slice are reported with its progress. */
const FAILURES_AT_ONCE = 20;

/** One call on a slice of a big group's nodes. Only site workflows start it. */
export async function run_call(input: RunCallInput): Promise<SliceResult> {
  assertStartedByRun();
  const control = new Control(() => undefined);

  const started: number[] = [];
  const finished: (readonly [number, NodeResult])[] = [];
  const aborting = new Set<number>();
  const sent = { started: 0, finished: 0, aborting: 0 };
  const late: (readonly [number, NodeResult])[] = [];
  let end: CallEnd | null = null;
  const names = new Map(input.nodes.map((node) => [node.index, node.name]));
  const running = new Set<number>();
  const failed: string[] = [];
  const status = () => ({
    done: finished.length,
    total: input.nodes.length,
    running: [...running].map((index) => names.get(index)!),
    failed,
    paused: control.paused,
  });
  let isToldToEnd = false;
  const limitHandler = {
    start_no_more: {
      read: () => ({ request: {}, problems: [] }),
      handle(): void {
        isToldToEnd = true;
        control.wake();
      },
    },
  };
  const toParent = maasSilenceHandler((silence) => {
    control.maasSilence(silence);
    void signalParent('maas_silence', silence);
  });
  handle<WorkflowContracts['run_call']>({
    signals: { ...steeringHandlers({ control, status }).signals, ...toParent, ...limitHandler, ...probeHandler() },
    updates: {},
    queries: { status: { description: 'Progress of the nodes of this slice.', answer: status } },
    warn: log.warn,
  });
  if (input.paused) control.pause({});

  // The parent receives progress in a few steps, not node by node. The result contains everything, because a signal
  // may arrive after the result.
  const step = Math.ceil(input.nodes.length / PROGRESS_STEPS);
  const report = (): void => {
    const progress = {
      slice: input.slice,
      started: started.slice(sent.started),
      finished: finished.slice(sent.finished),
      ...(aborting.size > 0 && { aborting: [...aborting] }),
    };
    sent.started = started.length;
    sent.finished = finished.length;
    sent.aborting = aborting.size;
    void signalParent('call_progress', progress);
  };
  // An operator can retry a node when the parent knows that it failed.
  const atOnce = (): boolean => failed.length <= FAILURES_AT_ONCE;
  const { failures_left = Number.POSITIVE_INFINITY } = input;
  const listener: CallListener = {
    mayStart: () => !isToldToEnd && failed.length < failures_left,
    started(index) {
      started.push(index);
      running.add(index);
    },
    finished(index, result) {
      running.delete(index);
      if (end) {
        late.push([index, result]);
        return;
      }
      finished.push([index, result]);
      if (!result.ok) failed.push(names.get(index)!);
      const due = finished.length - sent.finished >= step || (!result.ok && atOnce());
      if (due && finished.length < input.nodes.length) report();
    },
    aborting(index, is) {
      if (is) aborting.add(index);
      else aborting.delete(index);
      // The result says when none is left.
      if (!is && aborting.size > 0 && sent.aborting - aborting.size >= step) report();
    },
  };

  const root = CancellationScope.current();
  void root.cancelRequested.catch(() => control.cancel());
  await CancellationScope.nonCancellable(() =>
    runCall(input, control, listener, (how) => {
      end = how;
      // Runs of earlier builds did not tell.
      if (aborting.size > 0 && patched('slices-tell-aborts')) report();
    }),
  );
  return { slice: input.slice, started, finished, late, end: end ?? { kind: 'complete' } };
}
