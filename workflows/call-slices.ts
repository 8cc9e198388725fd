import type { SearchAttributePair } from '@temporalio/common';
import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import { isMapping } from '../src/core/data/plain-value.ts';
import { limit, lineOf, listOf, objectOf, valueThat } from '../src/core/data/shape.ts';
import type { CallEnd, NodeResult } from '../src/core/deployment/index.ts';
import { MAX } from '../src/core/run/description.ts';
import { CLAIM_LOST, type ReadRequest, readRequest } from '../src/core/run/index.ts';
import { counted } from '../src/core/text/text.ts';
import { type Child, startChildOf } from './border.ts';
import { abortNode, type CallListener } from './call.ts';
import type { CallRequest, SliceProgress, SliceResult } from './contract.ts';
import type { Control } from './control.ts';
import { stepError } from './failures.ts';
import type { Steering } from './operators.ts';

/**
 * With more nodes than this, calls run in child workflows: a node has two calls of up to six events each,
 * and no history may exceed 10,000 events (docs/design.md#limits). A smaller run stays in one workflow, where an
 * operator sees every node on one page.
 */
export const NODES_IN_ONE_WORKFLOW = 400;

/** Nodes per child: about 1,500 events, with capacity for retries. */
const NODES_PER_SLICE = 250;

/** How often a child reports progress. Each report costs the parent a signal and a workflow task. */
export const PROGRESS_STEPS = 5;

const sliceProgress = objectOf<SliceProgress>(
  {
    slice: lineOf(MAX.name),
    started: listOf(limit),
    finished: listOf(
      valueThat<SliceProgress['finished'][number]>(
        (value) => Array.isArray(value) && Number.isSafeInteger(value[0]) && isMapping(value[1]),
        'must be the number of a node and its result',
      ),
    ),
  },
  ['slice', 'started', 'finished'],
);

/** Users may send this signal, too. One that could not be processed would block the workflow. */
export const readProgress = (payload: unknown): ReadRequest<SliceProgress> => readRequest(sliceProgress, payload);

interface OpenSlice {
  readonly child: Child<'run_call'>;
  readonly listener: CallListener;
  /** Results that the listener already has: progress and result overlap. */
  readonly started: Set<number>;
  readonly finished: Set<number>;
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
          this.#open.set(slice, { child, listener, started: new Set(), finished: new Set() });
          // An operator may have acted while the child started.
          if ((control.paused !== null) !== paused) await child.signal(paused ? 'resume' : 'pause');
          if (control.stopping) await child.signal('stop');
          const follower = followCancel(control, scope);
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
    const end =
      ends.find((one) => one.kind === 'cancelled') ??
      ends.find((one) => one.kind === 'timeout') ??
      ends.find((one) => one.kind === 'stopped');
    announce(end ?? { kind: 'complete' });
    for (const [index, result] of late) listener.finished(index, result);
    await Promise.all(orphans.map((node) => abortNode(request, node, listener)));
  }
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
