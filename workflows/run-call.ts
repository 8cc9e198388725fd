import { CancellationScope, log } from '@temporalio/workflow';
import type { CallEnd, NodeResult } from '../src/core/deployment/index.ts';
import { assertStartedByRun, handle, signalParent } from './border.ts';
import { type CallListener, runCall } from './call.ts';
import { PROGRESS_STEPS } from './call-slices.ts';
import type { RunCallInput, SliceResult, WorkflowContracts } from './contract.ts';
import { Control } from './control.ts';
import { maasSilenceHandler, steeringHandlers } from './operators.ts';

/** Later failures of a slice are reported with its progress. */
const FAILURES_AT_ONCE = 20;

/** One call on a slice of a big group's nodes. Only site workflows start it. */
export async function run_call(input: RunCallInput): Promise<SliceResult> {
  assertStartedByRun();
  const control = new Control(() => undefined);

  const started: number[] = [];
  const finished: (readonly [number, NodeResult])[] = [];
  const sent = { started: 0, finished: 0 };
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
  const toParent = maasSilenceHandler((silence) => {
    control.maasSilence(silence);
    void signalParent('maas_silence', silence);
  });
  handle<WorkflowContracts['run_call']>({
    signals: { ...steeringHandlers({ control, status }).signals, ...toParent },
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
    };
    sent.started = started.length;
    sent.finished = finished.length;
    void signalParent('call_progress', progress);
  };
  // An operator can retry a node when the parent knows that it failed.
  const atOnce = (): boolean => failed.length <= FAILURES_AT_ONCE;
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
      const due = finished.length - sent.finished >= step || (!result.ok && atOnce());
      if (due && finished.length < input.nodes.length) report();
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
