import { CancellationScope, workflowInfo } from '@temporalio/workflow';
import type { CallEnd, NodeResult } from '../src/core/deployment/index.js';
import type { Paused } from '../src/core/run/index.js';
import { type Child, startChildOf } from './border.js';
import type { CallListener, CallRequest } from './call.js';
import type { Control } from './control.js';
import type { Steering } from './operators.js';

/**
 * Above this many nodes in a run, calls run in child workflows: a call takes up to six events a
 * node, two calls a node, and no history may pass 10,000 events (design §5). Smaller runs stay in
 * one workflow, where an operator sees every node on one page.
 */
export const NODES_IN_ONE_WORKFLOW = 400;

/** Nodes a child: about 1,500 events each with room for retries. */
const NODES_PER_SLICE = 250;

/** A child reports its nodes this many times: each time is a signal and a workflow task of the parent. */
export const PROGRESS_STEPS = 5;

/** What a child signals while it runs (only what is new) and returns at its end (all of it). */
export interface SliceProgress {
  readonly slice: string;
  readonly started: readonly number[];
  readonly finished: readonly (readonly [index: number, result: NodeResult])[];
}

export interface SliceResult extends SliceProgress {
  readonly end: CallEnd;
  /** Results that came after the end of the call. */
  readonly late: SliceProgress['finished'];
}

/** What a child answers to the query `status`. */
export interface SliceStatus {
  readonly done: number;
  readonly total: number;
  readonly running: readonly string[];
  readonly failed: readonly string[];
  readonly paused: Paused | null;
}

/** Children that a parent has open, by slice id; the parent passes their signals to `onProgress`. */
export interface Slices {
  run(request: CallRequest, control: Control, listener: CallListener, announce: (end: CallEnd) => void): Promise<void>;
  onProgress(progress: SliceProgress): void;
  /** Passes an operator's signal on to every open child. */
  forward(this: void, signal: Steering): void;
}

interface OpenSlice {
  readonly child: Child<'run_call'>;
  readonly listener: CallListener;
  /** What the listener has received: progress and result overlap. */
  readonly begun: Set<number>;
  readonly seen: Set<number>;
}

export function createSlices(): Slices {
  const open = new Map<string, OpenSlice>();
  let calls = 0;

  const take = (progress: SliceProgress): void => {
    const slice = open.get(progress.slice);
    if (!slice) return;
    for (const index of progress.started) {
      if (slice.begun.has(index)) continue;
      slice.begun.add(index);
      slice.listener.started(index);
    }
    for (const [index, result] of progress.finished) {
      if (slice.seen.has(index)) continue;
      slice.seen.add(index);
      slice.listener.finished(index, result);
    }
  };

  return {
    onProgress: take,
    forward(signal) {
      for (const { child } of open.values()) void child.signal(signal);
    },
    async run(request, control, listener, announce) {
      calls += 1;
      const count = Math.ceil(request.nodes.length / NODES_PER_SLICE);
      const size = Math.ceil(request.nodes.length / count);
      const ends: CallEnd[] = [];
      const late: SliceProgress['finished'][number][] = [];
      await Promise.all(
        Array.from({ length: count }, async (_unused, part) => {
          const slice = `${workflowInfo().workflowId}/${request.verb}:${request.group}:${calls}${count > 1 ? `.${part + 1}` : ''}`;
          const nodes = request.nodes.slice(part * size, (part + 1) * size);
          const share = Math.max(1, Math.floor((request.max_parallel_nodes + part) / count));
          const scope = new CancellationScope({ cancellable: true });
          const paused = control.paused !== null;
          const result = await scope.run(async () => {
            const child = await startChildOf('run_call', {
              id: slice,
              input: { ...request, nodes, max_parallel_nodes: share, slice, paused },
              summary: `${request.verb} ${nodes.length} nodes of ${request.group}`,
            });
            open.set(slice, { child, listener, seen: new Set(), begun: new Set() });
            // An operator may have acted while the child was being started.
            if ((control.paused !== null) !== paused) await child.signal(paused ? 'resume' : 'pause');
            if (control.stopping) await child.signal('stop');
            const follower = followCancel(control, scope);
            try {
              return await child.result();
            } finally {
              follower.done = true;
            }
          });
          take(result);
          open.delete(slice);
          ends.push(result.end);
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
    },
  };
}

/** Cancels a child when the run is cancelled; ends by itself when the child does. */
function followCancel(control: Control, scope: CancellationScope): { done: boolean } {
  const follower = { done: false };
  void (async () => {
    while (!follower.done && !control.cancelled) await control.changed();
    if (!follower.done) scope.cancel();
  })();
  return follower;
}
