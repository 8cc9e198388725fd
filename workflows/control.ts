import { CancellationScope, condition } from '@temporalio/workflow';
import type { MaasSilence, OperatorAction, OperatorNote, Paused, RunAction } from '../src/core/run/index.ts';

/**
 * Whether operators have paused, stopped or cancelled a run. A workflow waits only through `changed`, with one waiter
 * at a time, because each activation evaluates every waiter.
 */
export interface Control {
  paused: Paused | null;
  stopping: boolean;
  cancelled: boolean;
  /** Since when MAAS has not answered. Set by `maasSilence`. */
  maasSilentSince: string | null;
  maasSilence(silence: MaasSilence): void;
  /** Something happened: waiters check their conditions again. */
  wake(): void;
  /** Resolves at the next `wake` after the moment it is called. */
  changed(): Promise<void>;
  pause(note: OperatorNote): void;
  resume(note: OperatorNote): void;
  /** @param action the recorded action: `reject` is a stop, too */
  stop(note: OperatorNote, action?: 'stop' | 'reject'): void;
  cancel(): void;
  /** Waits while paused. Returns false when nothing new may start. */
  mayStart(): Promise<boolean>;
  /** Runs work that is interrupted when the run is cancelled. */
  interruptible<T>(work: () => Promise<T>): Promise<T>;
  /** Runs work that only reads, so that stopping the run may interrupt it, too. */
  readOnly<T>(work: () => Promise<T>): Promise<T>;
}

/** @param onAction receives each operator action that changed something */
export function createControl(onAction: (action: OperatorAction<RunAction>) => void): Control {
  let version = 0;
  const open = new Set<CancellationScope>();
  const reads = new Set<CancellationScope>();
  const control: Control = {
    paused: null,
    stopping: false,
    cancelled: false,
    maasSilentSince: null,
    maasSilence({ since }) {
      control.maasSilentSince = since;
      control.wake();
    },
    wake() {
      version += 1;
    },
    async changed() {
      const seen = version;
      await condition(() => version !== seen);
    },
    pause(note) {
      if (control.paused || control.stopping) return;
      const since = new Date(Date.now()).toISOString();
      control.paused = { since, ...note };
      act('pause', note);
    },
    resume(note) {
      if (!control.paused) return;
      control.paused = null;
      act('resume', note);
    },
    stop(note, action = 'stop') {
      if (control.stopping) return;
      control.stopping = true;
      control.paused = null;
      for (const scope of reads) scope.cancel();
      act(action, note);
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
    readOnly: (work) => within([open, reads], work),
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
