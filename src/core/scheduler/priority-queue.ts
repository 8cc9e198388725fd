/** Binary heap of numbers, the lowest `priority(n)` first. Equal priorities do not occur: all callers use total orders. */
export class PriorityQueue {
  readonly #heap: number[] = [];
  readonly #priority: (n: number) => number;

  constructor(priority: (n: number) => number) {
    this.#priority = priority;
  }

  get size(): number {
    return this.#heap.length;
  }

  peek(): number | undefined {
    return this.#heap[0];
  }

  push(n: number): void {
    const heap = this.#heap;
    const priority = this.#priority;
    let at = heap.length;
    heap.push(n);
    const own = priority(n);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (priority(heap[parent]!) <= own) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = n;
  }

  pop(): number | undefined {
    const heap = this.#heap;
    const priority = this.#priority;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    const own = priority(last);
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && priority(heap[child + 1]!) < priority(heap[child]!)) child++;
      if (priority(heap[child]!) >= own) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
