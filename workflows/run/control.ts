import { CancellationScope, condition } from '@temporalio/workflow';
import type { Paused } from '../../src/core/contracts/primitives.ts';
import { given } from '../../src/core/data/given.ts';
import type { OperatorAction, OperatorNote } from '../../src/core/run/operator.ts';
import { isoTime } from '../../src/core/run/progress.ts';
import type { MaasSilence } from '../../src/core/run/silence.ts';
import type { RunAction } from '../../src/core/words.ts';

/**
 * Whether operators have paused, stopped or cancelled a run. A workflow waits only through `changed`, with one waiter
 * at a time, because each activation evaluates every waiter.
 */
export class Control {
  #paused: Paused | null = null;
  #stopping = false;
  #cancelled = false;
  #maasSilentSince: string | null = null;
  #version = 0;
  /** Work that a cancellation interrupts. */
  readonly #open = new Set<CancellationScope>();
  readonly #onStop: (() => void)[] = [];
  /** Work that a stop interrupts, too. */
  readonly #reads = new Set<CancellationScope>();
  readonly #onAction: (action: OperatorAction<RunAction>) => void;

  /** @param onAction receives each operator action that changed something */
  constructor(onAction: (action: OperatorAction<RunAction>) => void) {
    this.#onAction = onAction;
  }

  get paused(): Paused | null {
    return this.#paused;
  }
  get stopping(): boolean {
    return this.#stopping;
  }
  get cancelled(): boolean {
    return this.#cancelled;
  }
  /** Since when MAAS has not answered. */
  get maasSilentSince(): string | null {
    return this.#maasSilentSince;
  }

  maasSilence({ since }: MaasSilence): void {
    this.#maasSilentSince = since;
    this.wake();
  }
  /** Something happened: waiters check their conditions again. */
  wake(): void {
    this.#version += 1;
  }
  /** For `changed`: what has happened so far. */
  get version(): number {
    return this.#version;
  }
  /** Resolves once something has happened since. @param seen the `version` on which the decision to wait rests; absent: that of now */
  async changed(seen = this.#version): Promise<void> {
    await condition(() => this.#version !== seen);
  }

  pause(note: OperatorNote): void {
    if (this.#paused || this.#stopping) return;
    const { by, reason } = note;
    this.#paused = { since: isoTime(Date.now()), ...given({ by, reason }) };
    this.#act('pause', note);
  }
  resume(note: OperatorNote): void {
    if (!this.#paused) return;
    this.#paused = null;
    this.#act('resume', note);
  }
  /** @param action the recorded action: `reject` is a stop, too */
  stop(note: OperatorNote, action: 'stop' | 'reject' = 'stop'): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#paused = null;
    for (const scope of this.#reads) scope.cancel();
    for (const work of this.#onStop) work();
    this.#act(action, note);
  }
  /** @param work called once: at a stop, or now after one */
  whenStopped(work: () => void): void {
    if (this.#stopping) work();
    else this.#onStop.push(work);
  }
  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#paused = null;
    for (const scope of this.#open) scope.cancel();
    this.#act('cancel', {});
  }

  /** Waits while paused. Returns false when nothing new may start. */
  async mayStart(): Promise<boolean> {
    while (this.#paused) await this.changed();
    return !this.#stopping && !this.#cancelled;
  }
  /** Runs work that is interrupted when the run is cancelled. */
  interruptible<T>(work: () => Promise<T>): Promise<T> {
    return this.#within([this.#open], work);
  }
  /** Runs work that only reads, so that stopping the run may interrupt it, too. */
  readOnly<T>(work: () => Promise<T>): Promise<T> {
    return this.#within([this.#open, this.#reads], work);
  }

  async #within<T>(sets: readonly Set<CancellationScope>[], work: () => Promise<T>): Promise<T> {
    const scope = new CancellationScope({ cancellable: true });
    for (const set of sets) set.add(scope);
    try {
      if (this.#cancelled) scope.cancel();
      return await scope.run(work);
    } finally {
      for (const set of sets) set.delete(scope);
    }
  }

  #act(action: RunAction, note: OperatorNote): void {
    this.wake();
    this.#onAction({ action, at: isoTime(Date.now()), ...note });
  }
}
