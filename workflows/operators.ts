import { condition } from '@temporalio/workflow';
import { type MaasSilence, type OperatorNote, operatorNote, readRequest, readSilence } from '../src/core/run/index.ts';
import type { RunOpening } from './contract.ts';
import type { Control } from './control.ts';

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

/** Handlers with which operators pause, resume and stop any run (docs/design.md#pausing). */
export function steeringHandlers<Status>({ control, status, forward, settled, validate }: SteeredRun<Status>) {
  const read = (payload: unknown) => readRequest(operatorNote, payload);
  const signal = (name: Steering) => ({
    description: DESCRIPTION[name],
    read,
    handle(note: OperatorNote): void {
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
