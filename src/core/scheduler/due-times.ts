import { PriorityQueue } from './priority-queue.ts';

/** Tasks that wait for a time. Taking, adding and cancelling take logarithmic time. */
export class DueTimes {
  readonly #dueOf = new Map<number, number>();
  #entries: { readonly task: number; readonly at: number }[] = [];
  #queue = this.#emptyQueue();

  set(task: number, at: number): void {
    if (this.#dueOf.size === 0) {
      this.#entries = [];
      this.#queue = this.#emptyQueue();
    }
    this.#dueOf.set(task, at);
    this.#queue.push(this.#entries.push({ task, at }) - 1);
  }

  cancel(task: number): void {
    this.#dueOf.delete(task);
  }

  /** The earliest due time, if any task waits. */
  next(): number | undefined {
    for (let e = this.#queue.peek(); e !== undefined; e = this.#queue.peek()) {
      const { task, at } = this.#entries[e]!;
      if (this.#dueOf.get(task) === at) return at;
      this.#queue.pop();
    }
    return undefined;
  }

  /** Removes and returns the tasks due by `now`, in order of their numbers. */
  take(now: number): number[] {
    const taken: number[] = [];
    for (let at = this.next(); at !== undefined && at <= now; at = this.next()) {
      const { task } = this.#entries[this.#queue.pop()!]!;
      this.#dueOf.delete(task);
      taken.push(task);
    }
    return taken.sort((a, b) => a - b);
  }

  /** All waiting tasks with their times, by task number. */
  list(): [number, number][] {
    return [...this.#dueOf].sort(([a], [b]) => a - b);
  }

  #emptyQueue(): PriorityQueue {
    return new PriorityQueue((e) => this.#entries[e]!.at);
  }
}
