import type { OperatorNote } from '../src/core/run/index.js';
import type { Control } from './control.js';

/** Signals that every run understands, in the order in which their handlers are set. */
const STEERING = ['pause', 'resume', 'stop'] as const;
export type Steering = (typeof STEERING)[number];

const DESCRIPTION = {
  pause:
    'Starts nothing new, retries included; running work finishes. Payload optional: {"reason": "...", "by": "..."}',
  resume: 'Goes on after a pause.',
  stop: 'Ends gracefully: running work finishes, nothing new starts, the report is written.',
} as const;

/** How one kind of run is steered. */
interface SteeredRun<Status> {
  readonly control: Control;
  readonly status: () => Status;
  /** Passes it on to children. */
  readonly forward?: (name: Steering) => void;
  /** Resolves when what was asked for holds everywhere. */
  readonly settled?: () => Promise<void> | undefined;
  /** Throws when no update can be taken now. */
  readonly validate?: (name: 'pause' | 'resume') => void;
}

/** The handlers by which operators pause, resume and stop any run (design §5). */
export function steeringHandlers<Status>({ control, status, forward, settled, validate }: SteeredRun<Status>) {
  const signal = (name: Steering) => ({
    description: DESCRIPTION[name],
    handle(note: unknown): void {
      control[name](note);
      forward?.(name);
    },
  });
  const signals = { pause: signal('pause'), resume: signal('resume'), stop: signal('stop') };
  const update = (name: 'pause' | 'resume') => ({
    description: DESCRIPTION[name],
    validate: () => validate?.(name),
    handle(note: OperatorNote): Status | Promise<Status> {
      signals[name].handle(note);
      return settled?.()?.then(status) ?? status();
    },
  });
  return { signals, updates: { pause: update('pause'), resume: update('resume') } };
}
