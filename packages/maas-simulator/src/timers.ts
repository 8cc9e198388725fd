import type { Clock } from './clock.ts';
import type { Machine } from './records.ts';

/** One timer per machine with an automatic phase. */
export class PhaseTimers {
  readonly #clock: Clock;
  readonly #end: (id: string) => void;
  readonly #running = new Map<string, () => void>();

  /** @param end ends the phase of a machine when it is due. */
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
      // A timer may fire early, by rounding or because the delay is too long for it.
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
