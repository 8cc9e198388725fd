import {
  type AnyProgress,
  type ApprovalRequest,
  approvalRequest,
  decide,
  isoTime,
  namesOf,
  readRequest,
  undecided,
  whyNotDecide,
} from '../src/core/run/index.ts';
import type { Decision } from '../src/core/words.ts';
import { failure } from './failures.ts';
import type { Run } from './run-frame.ts';

type HeldProgress = AnyProgress<{ readonly started_by?: string }>;

const DESCRIPTION = {
  approve:
    'Approves the run where it waits (hold_before): {"before": "...", "reason": "...", "by": "..."}. Without "before": all current waits.',
  reject: 'Ends the run where it waits for approval, as `stop` does: {"reason": "...", "by": "..."}.',
} as const;

/** Handlers with which operators decide about a run that waits for approval. */
export function approvalHandlers<P extends HeldProgress, Status>(
  run: Run<P>,
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

  const handlers = (action: 'approve' | 'reject', decision: Decision) => ({
    signal: {
      description: DESCRIPTION[action],
      read,
      handle(request: ApprovalRequest): void {
        const why = whyNotDecide(progress, decision, request);
        if (why === null) take(decision, request);
        else run.warn(`signal '${action}': ${why}; it had no effect`);
      },
    },
    update: {
      description: DESCRIPTION[action],
      read,
      validate(request: ApprovalRequest): void {
        const why = whyNotDecide(progress, decision, request);
        if (why !== null) throw failure('ApprovalRefused', why);
      },
      handle(request: ApprovalRequest): Status | Promise<Status> {
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

/** Whether the run must wait for approval at this point of `hold_before`. */
export const isHeld = <P extends HeldProgress>({ progress }: Run<P>, before: string): boolean =>
  undecided(progress.holds).includes(before);

/** Waits there until an operator approves. False when the run stops instead. */
export async function approved<P extends HeldProgress>(run: Run<P>, before: string): Promise<boolean> {
  const { control } = run;
  while (isHeld(run, before) && !control.stopping && !control.cancelled) {
    run.reached([before]);
    await control.changed();
  }
  return !control.stopping && !control.cancelled;
}
