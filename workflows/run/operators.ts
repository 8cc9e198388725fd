import { condition, patched } from '@temporalio/workflow';
import * as z from 'zod/mini';
import { given } from '../../src/core/data/given.ts';
import { flag, lineOf, optional, positiveInteger } from '../../src/core/data/schema.ts';
import type { RolloutRequest } from '../../src/core/rollout/operate.ts';
import { decide, namesOf, whyNotDecide } from '../../src/core/run/approval.ts';
import { MAX, noteFields } from '../../src/core/run/description.ts';
import {
  type ApprovalRequest,
  approvalRequest,
  type OperatorAction,
  type OperatorNote,
  operatorNote,
  type ReadRequest,
  readRequest,
} from '../../src/core/run/operator.ts';
import { isoTime } from '../../src/core/run/progress.ts';
import { type MaasSilence, readSilence } from '../../src/core/run/silence.ts';
import type { Decision, RolloutAction } from '../../src/core/words.ts';
import type { RunOpening } from '../contract.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity, probeChildren } from './border.ts';
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
  /** Absent for a part, which never ends by itself. */
  readonly run?: Pick<Run<Progress>, 'progress' | 'warn'>;
  readonly status: () => Status;
  /** Forwards the signal to children. */
  readonly forward?: (name: Steering) => void;
  /** Resolves when every part has applied the request. */
  readonly settled?: () => Promise<unknown> | undefined;
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
export function steeringHandlers<Status>({ control, run, status, forward, settled, validate }: SteeredRun<Status>) {
  const read = (payload: unknown) => readRequest(operatorNote, payload);
  /** Its outcome stands: nothing is left that a pause could hold. */
  const whyNot = (name: Steering): string | null =>
    name === 'pause' && run?.progress.outcome !== undefined ? 'the run has ended and is writing its report' : null;
  const signal = (name: Steering) => ({
    description: DESCRIPTION[name],
    read,
    handle(note: OperatorNote): void {
      const why = whyNot(name);
      if (why !== null) {
        run?.warn(withoutEffect(name, why));
        return;
      }
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
    validate() {
      const why = whyNot(name);
      if (why !== null) throw failure('PauseRefused', why);
      validate?.(name);
    },
    handle(note: OperatorNote): Status | Promise<Status> {
      signals[name].handle(note);
      return settled?.()?.then(status) ?? status();
    },
  });
  return { signals, updates: { pause: update('pause'), resume: update('resume') } };
}

const withoutEffect = (signal: string, why: string): string => `signal '${signal}': ${why}; it had no effect`;

interface Request<R, Status> {
  readonly description: string;
  readonly read: (payload: unknown) => ReadRequest<R>;
  /** Why it must be refused now, or null. */
  whyNot(request: R): string | null;
  take(request: R): void;
  /** Takes it, and answers. */
  answer(request: R): Status | Promise<Status>;
}

/** A request of operators as a signal, which warns where it has no effect, and as an update, which is refused there. */
function signalAndUpdate<R, Status>(
  name: string,
  refusal: string,
  run: { warn(text: string): void },
  { description, read, whyNot, take, answer }: Request<R, Status>,
) {
  return {
    signal: {
      description,
      read,
      handle(request: R): void {
        const why = whyNot(request);
        if (why === null) take(request);
        else run.warn(withoutEffect(name, why));
      },
    },
    update: {
      description,
      read,
      validate(request: R): void {
        const why = whyNot(request);
        if (why !== null) throw failure(refusal, why);
      },
      handle: answer,
    },
  };
}

const ROLLOUT = {
  promote:
    'Lets a rollout go on: ends a soak, or a hold: {"group": "...", "limit": 5, "reason": "...", "by": "..."}. The role where the run is of graphs. Without "group": each that waits. With "limit": from now on so many failed nodes stop it; without: one more. With "recheck": true, its checks are asked again instead, and it goes on only if they are well.',
  hold: 'Opens no further wave of a rollout: {"group": "...", "reason": "...", "by": "..."}. Without "group": of any.',
  abort_rollout:
    'Ends a rollout; what has started finishes, and its group fails: {"group": "...", "reason": "...", "by": "..."}. Without "group": each.',
} as const;

const onRollout = z.strictObject({ ...noteFields, ...optional({ group: lineOf(MAX.name) }) });
const ROLLOUT_REQUESTS = {
  promote: z.extend(onRollout, optional({ limit: positiveInteger, recheck: flag })),
  hold: onRollout,
  abort_rollout: onRollout,
} as const;

/** The rollouts of a run, as its operators steer them. */
interface SteeredRollouts {
  /** Why a request must be refused now, or null. */
  whyNot(action: RolloutAction, request: RolloutRequest): string | null;
  take(asked: OperatorAction<RolloutAction>): void;
}

/** Handlers with which operators steer the rollouts of a run. */
export function rolloutHandlers<Status>(
  run: Pick<Run<Progress>, 'control' | 'show' | 'warn'>,
  status: () => Status,
  rollouts: SteeredRollouts,
) {
  const take = (action: RolloutAction, request: OperatorNote & RolloutRequest): void => {
    rollouts.take({ action, at: isoTime(Date.now()), ...request });
    run.control.wake();
    run.show();
  };
  const handlers = (action: RolloutAction) =>
    signalAndUpdate<OperatorNote & RolloutRequest, Status>(action, 'RolloutRefused', run, {
      description: ROLLOUT[action],
      read: (payload): ReadRequest<OperatorNote & RolloutRequest> => readRequest(ROLLOUT_REQUESTS[action], payload),
      whyNot: (request) => rollouts.whyNot(action, request),
      take: (request) => take(action, request),
      answer(request) {
        take(action, request);
        return status();
      },
    });
  const [promote, hold, abort] = [handlers('promote'), handlers('hold'), handlers('abort_rollout')];
  return {
    signals: { promote: promote.signal, hold: hold.signal, abort_rollout: abort.signal },
    updates: { promote: promote.update, hold: hold.update, abort_rollout: abort.update },
  };
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
    readonly settled?: () => Promise<unknown> | undefined;
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

  const handlers = (action: 'approve' | 'reject', decision: Decision) =>
    signalAndUpdate<ApprovalRequest, Status>(action, 'ApprovalRefused', run, {
      description: DECISION[action],
      read,
      whyNot: (request) => whyNotDecide(progress, decision, request),
      take: (request) => take(decision, request),
      answer(request) {
        if (decision === 'approved' && progress.approved_by_another) return takeRecorded(request);
        take(decision, request);
        return settled?.()?.then(status) ?? status();
      },
    });
  const approve = handlers('approve', 'approved');
  const reject = handlers('reject', 'rejected');
  return {
    signals: { approve: approve.signal, reject: reject.signal },
    updates: { approve: approve.update, reject: reject.update },
  };
}
