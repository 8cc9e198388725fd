import { condition, patched } from '@temporalio/workflow';
import { given } from '../src/core/data/given.ts';
import {
  type ApprovalRequest,
  approvalRequest,
  decide,
  isoTime,
  type MaasSilence,
  namesOf,
  type OperatorNote,
  operatorNote,
  readRequest,
  readSilence,
  whyNotDecide,
} from '../src/core/run/index.ts';
import type { Decision } from '../src/core/words.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity, probeChildren } from './border.ts';
import type { RunOpening } from './contract.ts';
import type { Control } from './control.ts';
import { failure } from './failures.ts';
import type { Progress, Run } from './run.ts';

/** Signals of every run, in the order in which their handlers are set. */
const STEERING = ['pause', 'resume', 'stop'] as const;
export type Steering = (typeof STEERING)[number];

const DESCRIPTION = {
  pause:
    'Pauses the run: nothing new starts, not even retries; running work finishes. Optional payload: {"reason": "...", "by": "..."}',
  resume: 'Continues after a pause.',
  stop: 'Ends the run gracefully: running work finishes, nothing new starts, the report is written.',
} as const;

/** Dependencies of the handlers on one kind of run. */
interface SteeredRun<Status> {
  readonly control: Control;
  readonly status: () => Status;
  /** Forwards the signal to children. */
  readonly forward?: (name: Steering) => void;
  /** Resolves when every part has applied the request. */
  readonly settled?: () => Promise<void> | undefined;
  /** Throws when the update must be rejected now. */
  readonly validate?: (name: 'pause' | 'resume') => void;
}

/** Receives from the worker whether MAAS answers the steps of the run. */
export const maasSilenceHandler = (take: (silence: MaasSilence) => void) => ({
  maas_silence: { read: readSilence, handle: take },
});

/** Answers whoever started the run: its row, or why it was refused. */
export const openedHandler = <Failure>(run: { readonly opening: RunOpening<Failure> | undefined }) => ({
  description: 'Waits until the run is opened. Sent with the start of the run',
  read: () => ({ request: {}, problems: [] }),
  async handle(): Promise<RunOpening<Failure>> {
    await condition(() => run.opening !== undefined);
    return run.opening!;
  },
});

/** Handlers with which operators pause, resume and stop any run (docs/explain/design.md#pausing). */
export function steeringHandlers<Status>({ control, status, forward, settled, validate }: SteeredRun<Status>) {
  const read = (payload: unknown) => readRequest(operatorNote, payload);
  const signal = (name: Steering) => ({
    description: DESCRIPTION[name],
    read,
    handle(note: OperatorNote): void {
      // After a reset, a stop that was told before is no news to anyone, and children may have ended in between.
      if (name === 'stop' && control.stopping && patched('stop-again-probes')) probeChildren();
      control[name](note);
      forward?.(name);
    },
  });
  const signals = { pause: signal('pause'), resume: signal('resume'), stop: signal('stop') };
  const update = (name: 'pause' | 'resume') => ({
    description: DESCRIPTION[name],
    read,
    validate: () => validate?.(name),
    handle(note: OperatorNote): Status | Promise<Status> {
      signals[name].handle(note);
      return settled?.()?.then(status) ?? status();
    },
  });
  return { signals, updates: { pause: update('pause'), resume: update('resume') } };
}

const DECISION = {
  approve:
    'Approves the run where it waits (hold_before): {"before": "...", "reason": "...", "by": "..."}. Without "before": all current waits.',
  reject: 'Ends the run where it waits for approval, as `stop` does: {"reason": "...", "by": "..."}.',
} as const;

/** Handlers with which operators decide about a run that waits for approval. */
export function approvalHandlers<Status>(
  run: Pick<Run<Progress>, 'progress' | 'control' | 'acted' | 'show' | 'warn'>,
  options: {
    readonly status: () => Status;
    /** Called when the run was rejected. */
    readonly rejected?: () => void;
    /** Resolves when every part has applied the request. */
    readonly settled?: () => Promise<void> | undefined;
  },
) {
  const { progress, control } = run;
  const { status, rejected, settled } = options;
  const read = (payload: unknown) => readRequest(approvalRequest, payload);

  function take(decision: Decision, request: ApprovalRequest): void {
    const now = isoTime(Date.now());
    const names = namesOf(progress, request);
    progress.holds = decide(progress.holds, names, decision, request, now);
    const note = { ...request, before: names.join(', ') };
    if (decision === 'approved') {
      run.acted({ action: 'approve', at: now, ...note });
      control.wake();
      run.show();
      return;
    }
    control.stop(note, 'reject');
    rejected?.();
  }

  /** What counts as a second person stands in the store before it counts. */
  async function takeRecorded(request: ApprovalRequest): Promise<Status> {
    const { entry = '', by = '', before } = request;
    const asked = { run_id: progress.run_id, entry, by, ...given({ before }) };
    const { found } = await callActivity('find_approval', asked, bookkeeping('find the approval in the audit trail'));
    // Others may have decided meanwhile.
    const why = found ? whyNotDecide(progress, 'approved', request) : 'no API has recorded this approval';
    if (why !== null) throw failure('ApprovalRefused', why);
    take('approved', request);
    await settled?.();
    return status();
  }

  const handlers = (action: 'approve' | 'reject', decision: Decision) => ({
    signal: {
      description: DECISION[action],
      read,
      handle(request: ApprovalRequest): void {
        const why = whyNotDecide(progress, decision, request);
        if (why === null) take(decision, request);
        else run.warn(`signal '${action}': ${why}; it had no effect`);
      },
    },
    update: {
      description: DECISION[action],
      read,
      validate(request: ApprovalRequest): void {
        const why = whyNotDecide(progress, decision, request);
        if (why !== null) throw failure('ApprovalRefused', why);
      },
      handle(request: ApprovalRequest): Status | Promise<Status> {
        if (decision === 'approved' && progress.approved_by_another) return takeRecorded(request);
        take(decision, request);
        return settled?.()?.then(status) ?? status();
      },
    },
  });
  const approve = handlers('approve', 'approved');
  const reject = handlers('reject', 'rejected');
  return {
    signals: { approve: approve.signal, reject: reject.signal },
    updates: { approve: approve.update, reject: reject.update },
  };
}
