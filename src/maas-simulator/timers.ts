import type { Clock } from './clock.js';
import type { Machine } from './records.js';

/** One timer per machine whose phase ends by itself. */
export class PhaseTimers {
  readonly #clock: Clock;
  readonly #end: (id: string) => void;
  readonly #running = new Map<string, () => void>();

  /** @param end ends the phase of a machine that is due. */
  constructor(clock: Clock, end: (id: string) => void) {
    this.#clock = clock;
    this.#end = end;
  }

  /** Follows the `due` of a machine: starts, moves or stops its timer. */
  set(machine: Readonly<Machine>): void {
    this.#running.get(machine.id)?.();
    this.#running.delete(machine.id);
    if (machine.due === null) return;
    const { at } = machine.due;
    const cancel = this.#clock.after(at - this.#clock.now(), () => {
      this.#running.delete(machine.id);
      // A timer may ring early: by rounding, or because it could not hold the whole delay.
      if (this.#clock.now() < at) this.set(machine);
      else this.#end(machine.id);
    });
    this.#running.set(machine.id, cancel);
  }

  clear(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
