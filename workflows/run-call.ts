import {
  CancellationScope,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { CallEnd, NodeResult } from '../src/core/deployment/index.js';
import { type CallListener, type CallRequest, runCall } from './call.js';
import { PROGRESS_STEPS, type SliceProgress, type SliceResult } from './call-slices.js';
import { createControl } from './control.js';
import { QUERIES, SIGNALS } from './protocol.js';

export interface RunCallInput extends CallRequest {
  readonly slice: string;
  readonly paused: boolean;
}

/** One call on a slice of a big group's nodes. Started by a site's workflow only. */
export async function run_call(input: RunCallInput): Promise<SliceResult> {
  const control = createControl(() => undefined);
  setHandler(defineSignal<[unknown?]>(SIGNALS.pause), (note) => control.pause(note));
  setHandler(defineSignal<[unknown?]>(SIGNALS.resume), (note) => control.resume(note));
  setHandler(defineSignal<[unknown?]>(SIGNALS.stop), (note) => control.stop(note));
  if (input.paused) control.pause(undefined);

  const started: number[] = [];
  const finished: (readonly [number, NodeResult])[] = [];
  const told = { started: 0, finished: 0 };
  const late: (readonly [number, NodeResult])[] = [];
  let end: CallEnd | null = null;
  const names = new Map(input.nodes.map((node) => [node.index, node.name]));
  const running = new Set<number>();
  const failed: string[] = [];
  setHandler(defineQuery(QUERIES.status), () => ({
    done: finished.length,
    total: input.nodes.length,
    running: [...running].map((index) => names.get(index)),
    failed,
    paused: control.paused,
  }));

  // The parent is told in a few steps, not node by node; the result holds everything, since a signal
  // may reach the parent after it.
  const step = Math.ceil(input.nodes.length / PROGRESS_STEPS);
  const parent = workflowInfo().parent;
  const tell = (): void => {
    if (!parent) return;
    const progress: SliceProgress = {
      slice: input.slice,
      started: started.slice(told.started),
      finished: finished.slice(told.finished),
    };
    told.started = started.length;
    told.finished = finished.length;
    const handle = getExternalWorkflowHandle(parent.workflowId, parent.runId);
    // A parent that has ended needs no progress; the result is kept here all the same.
    void handle.signal(SIGNALS.call_progress, progress).catch(() => undefined);
  };
  const listener: CallListener = {
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
      if (finished.length - told.finished >= step && finished.length < input.nodes.length) tell();
    },
  };

  const root = CancellationScope.current();
  void root.cancelRequested.catch(() => control.cancel());
  await CancellationScope.nonCancellable(() =>
    runCall(input, control, listener, (how) => {
      end = how;
    }),
  );
  return { slice: input.slice, started, finished, late, end: end ?? { kind: 'complete' } };
}
