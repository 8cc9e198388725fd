import { CancellationScope, condition, patched } from '@temporalio/workflow';
import {
  type OperatorAction,
  type OperatorNote,
  type Paused,
  type RunAction,
  readNote,
} from '../src/core/run/index.js';

/**
 * What operators want of a run: paused, stopping or cancelled. All waiting in a workflow goes
 * through `changed`, one waiter at a time, since each activation evaluates every waiter.
 */
export interface Control {
  paused: Paused | null;
  stopping: boolean;
  cancelled: boolean;
  /** Something happened: waiters look again. */
  wake(): void;
  /** Resolves at the next `wake` after the moment it is called. */
  changed(): Promise<void>;
  pause(note: unknown): void;
  resume(note: unknown): void;
  stop(note: unknown): void;
  cancel(): void;
  /** Holds while paused; returns false when nothing new may be started any more. */
  mayStart(): Promise<boolean>;
  /** Runs work that a cancellation of the run interrupts. */
  interruptible<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a look at something, which a stop of the run interrupts, too: nothing is left undone by that. */
  look<T>(work: () => Promise<T>): Promise<T>;
}

/** `onAction` hears of each thing an operator did that changed something. */
export function createControl(onAction: (action: OperatorAction<RunAction>) => void): Control {
  let version = 0;
  const open = new Set<CancellationScope>();
  const looks = new Set<CancellationScope>();
  const control: Control = {
    paused: null,
    stopping: false,
    cancelled: false,
    wake() {
      version += 1;
    },
    async changed() {
      const seen = version;
      await condition(() => version !== seen);
    },
    pause(raw) {
      const note = readNote(raw);
      if (control.paused || control.stopping) return;
      const since = new Date(Date.now()).toISOString();
      control.paused = { since, ...note };
      act('pause', note);
    },
    resume(raw) {
      if (!control.paused) return;
      control.paused = null;
      act('resume', readNote(raw));
    },
    stop(raw) {
      if (control.stopping) return;
      control.stopping = true;
      control.paused = null;
      // Runs that began before looks could be interrupted replay without.
      if (looks.size > 0 && patched('stop-interrupts-looks')) for (const scope of looks) scope.cancel();
      act('stop', readNote(raw));
    },
    cancel() {
      if (control.cancelled) return;
      control.cancelled = true;
      control.paused = null;
      for (const scope of open) scope.cancel();
      act('cancel', {});
    },
    async mayStart() {
      while (control.paused) await control.changed();
      return !control.stopping && !control.cancelled;
    },
    interruptible: (work) => within([open], work),
    look: (work) => within([open, looks], work),
  };

  async function within<T>(sets: readonly Set<CancellationScope>[], work: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope({ cancellable: true });
    for (const set of sets) set.add(scope);
    try {
      if (control.cancelled) scope.cancel();
      return await scope.run(work);
    } finally {
      for (const set of sets) set.delete(scope);
    }
  }

  function act(action: RunAction, note: OperatorNote): void {
    control.wake();
    onAction({ action, at: new Date(Date.now()).toISOString(), ...note });
  }
  return control;
}
