import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { AbortAnswer, NodeCall } from '../activities/contract.ts';
import { given } from '../src/core/data/given.ts';
import type { CallEnd, NodeResult } from '../src/core/deployment/index.ts';
import { CLAIM_LOST, describeSilence } from '../src/core/run/index.ts';
import { abortCall, nodeCall } from './activity-options.ts';
import { callActivity } from './border.ts';
import type { CallRequest, CallVerb } from './contract.ts';
import type { Control } from './control.ts';
import { failure, stepError } from './failures.ts';
import { nodeActivityId } from './protocol.ts';

/** Receives the reports of a call while it runs. The owner of the state implements it. */
export interface CallListener {
  started(index: number): void;
  finished(index: number, result: NodeResult): void;
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
    if (running.size > 0 && control.stopping && control.maasSilentSince !== null) {
      end = { kind: 'stopped' };
      break;
    }
    while (!control.paused && !control.stopping && running.size < limit) {
      const node = queue.shift();
      if (!node) break;
      start(node);
    }
    if (running.size === 0 && (queue.length === 0 || control.stopping)) {
      if (queue.length > 0) end = { kind: 'stopped' };
      break;
    }
    await control.changed();
  }
  clock.stop();

  const unfinished = [...running.values()];
  running.clear();
  for (const node of unfinished) node.scope.cancel();
  if (lost !== null) {
    await Promise.all(unfinished.map(({ settled }) => settled));
    throw failure(CLAIM_LOST, lost);
  }
  if (end.kind === 'stopped') {
    const why = `the run was stopped; ${describeSilence(control.maasSilentSince ?? '')}`;
    for (const node of unfinished) {
      const result = await node.settled;
      const message = `${why}: its work on ${node.name} is unknown and may continue`;
      const unknown: NodeResult = { ok: false, failure: { kind: 'maas-silent', message } };
      listener.finished(node.index, isFromMachine(result) ? result : unknown);
    }
  }
  announce(end);
  if (end.kind !== 'stopped') await Promise.all(unfinished.map((node) => settleUnfinished(request, node, listener)));
}

function callNode(request: CallRequest, node: CalledNode): Promise<NodeResult> {
  const { verb, group } = request;
  const again = node.attempt > 1 ? `, attempt ${node.attempt}` : '';
  const id = nodeActivityId(verb, group, node.name) + (node.attempt > 1 ? `:${node.attempt}` : '');
  const options = nodeCall(id, `${verb} ${node.name} (group ${group}${again})`, request.heartbeat_seconds);
  return callActivity(ACTIVITY_OF[verb], nodeRequest(request, node), options);
}

/**
 * Failures without information about the machine: the activity was cancelled, or its worker stopped responding after
 * the cancellation request (the server then fails it by heartbeat timeout, without a retry).
 */
const NOT_FROM_THE_MACHINE: ReadonlySet<string> = new Set(['cancelled', 'TimeoutFailure']);

const isFromMachine = (result: NodeResult): boolean => result.ok || !NOT_FROM_THE_MACHINE.has(result.failure.kind);

/**
 * Reads the work in progress on the machine, aborts it where possible and reports a late result. Waits for the
 * cancelled activity first: otherwise one activity could deploy a machine that the other aborts.
 */
async function settleUnfinished(request: CallRequest, node: RunningNode, listener: CallListener): Promise<void> {
  const result = await node.settled;
  if (isFromMachine(result)) listener.finished(node.index, result);
  else await abortNode(request, node, listener);
}

/** Aborts work in MAAS that a call without a result may have started on a node, and reports a late result. */
export async function abortNode(request: CallRequest, node: CalledNode, listener: CallListener): Promise<void> {
  const id = `abort:${request.group}:${node.name}:${request.verb}:${node.attempt}`;
  const options = abortCall(
    id,
    `abort ${request.verb} of ${node.name} after the end of its call`,
    request.heartbeat_seconds,
  );
  try {
    const answer = await callActivity('abort_node', nodeRequest(request, node), options);
    const late = lateResult(request.verb, answer);
    if (late) listener.finished(node.index, late);
  } catch (error) {
    listener.finished(node.index, failedResult(error));
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
  request: Pick<CallRequest, 'site' | 'revision' | 'run_id' | 'interval' | 'erase'>,
  node: { readonly name: string; readonly attempt: number; readonly system_id?: string },
): NodeCall {
  return {
    site: request.site,
    revision: request.revision,
    run_id: request.run_id,
    node: node.name,
    attempt: node.attempt,
    interval: request.interval,
    ...given({ system_id: node.system_id, erase: request.erase }),
  };
}

/** An activity that failed for good: the node fails, not the run. */
function failedResult(error: unknown): NodeResult {
  if (isCancellation(error)) return { ok: false, failure: { kind: 'cancelled', message: 'the call was cancelled' } };
  const { type: kind, message } = stepError(error);
  return { ok: false, failure: { kind, message } };
}

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
