import { CancellationScope, condition } from '@temporalio/workflow';
import type { OperatorAction, RunStatus } from '../src/core/site-run/index.js';
import type { OperatorNote } from './protocol.js';

/**
 * What operators want of a run: paused, stopping or cancelled. All waiting in a workflow goes
 * through `changed`, one waiter at a time, since each activation evaluates every waiter.
 */
export interface Control {
  paused: RunStatus['paused'];
  stopping: boolean;
  cancelled: boolean;
  readonly actions: OperatorAction[];
  /** Something happened: whoever waits looks again. */
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
}

/** `onChange` is called after each operator action, to refresh what the Web UI shows. */
export function createControl(onChange: () => void): Control {
  let version = 0;
  const open = new Set<CancellationScope>();
  const control: Control = {
    paused: null,
    stopping: false,
    cancelled: false,
    actions: [],
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
    async interruptible(work) {
      const scope = new CancellationScope({ cancellable: true });
      open.add(scope);
      try {
        if (control.cancelled) scope.cancel();
        return await scope.run(work);
      } finally {
        open.delete(scope);
      }
    },
  };

  function act(action: OperatorAction['action'], note: OperatorNote): void {
    control.actions.push({ action, at: new Date(Date.now()).toISOString(), ...note });
    control.wake();
    onChange();
  }
  return control;
}

/** Operators sign from anywhere, so a payload of another shape is read for what it is worth. */
export function readNote(raw: unknown): OperatorNote {
  if (typeof raw === 'string' && raw !== '') return { reason: raw.slice(0, 500) };
  if (typeof raw !== 'object' || raw === null) return {};
  const { reason, by } = raw as Record<string, unknown>;
  return {
    ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}),
    ...(typeof by === 'string' && by !== '' ? { by: by.slice(0, 200) } : {}),
  };
}
