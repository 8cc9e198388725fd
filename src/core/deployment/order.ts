/** An item with a name and the names it depends on. */
interface Ordered {
  readonly name: string;
  readonly depends_on: readonly string[];
}

/**
 * The order in which groups are processed: the next is always the first in the document whose dependencies are placed
 * already (docs/explain/design.md#deployment-groups). Ignores unknown dependencies and omits members of a cycle: `checkStrategy` refuses both
 * before anything runs.
 */
export function stableOrder(items: readonly Ordered[]): string[] {
  const position = new Map(items.map((item, index) => [item.name, index]));
  const open = items.map((item) => new Set(item.depends_on.filter((name) => position.has(name))).size);
  const dependents = items.map((): number[] => []);
  items.forEach((item, index) => {
    for (const name of new Set(item.depends_on)) {
      const parent = position.get(name);
      if (parent !== undefined) dependents[parent]!.push(index);
    }
  });
  const ready = new Smallest();
  open.forEach((count, index) => {
    if (count === 0) ready.add(index);
  });
  const order: string[] = [];
  for (let next = ready.take(); next !== undefined; next = ready.take()) {
    order.push(items[next]!.name);
    for (const dependent of dependents[next]!) {
      open[dependent]! -= 1;
      if (open[dependent] === 0) ready.add(dependent);
    }
  }
  return order;
}

/** A binary heap of numbers, smallest first. */
class Smallest {
  readonly #heap: number[] = [];

  add(value: number): void {
    const heap = this.#heap;
    let at = heap.push(value) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= value) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = value;
  }

  take(): number | undefined {
    const heap = this.#heap;
    const smallest = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return smallest;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child += 1;
      if (heap[child]! >= last) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return smallest;
  }
}

/**
 * Every cycle among the items, each as the list of its members in document order (a strongly connected component, or
 * an item that depends on itself).
 */
export function findCycles(items: readonly Ordered[]): string[][] {
  const byName = new Map(items.map((item) => [item.name, item]));
  const position = new Map(items.map((item, index) => [item.name, index]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const cycles: string[][] = [];

  // Tarjan's algorithm with an explicit stack: a chain of ten thousand groups must not overflow the call stack.
  for (const root of byName.keys()) {
    if (index.has(root)) continue;
    const frames: { name: string; next: number }[] = [{ name: root, next: 0 }];
    while (frames.length > 0) {
      const frame = frames[frames.length - 1]!;
      const { name } = frame;
      if (frame.next === 0) {
        index.set(name, index.size);
        low.set(name, index.get(name)!);
        stack.push(name);
        onStack.add(name);
      }
      const target = byName.get(name)!.depends_on[frame.next];
      if (target !== undefined) {
        frame.next += 1;
        if (!byName.has(target)) continue;
        if (!index.has(target)) frames.push({ name: target, next: 0 });
        else if (onStack.has(target)) low.set(name, Math.min(low.get(name)!, index.get(target)!));
        continue;
      }
      frames.pop();
      const parent = frames[frames.length - 1];
      if (parent) low.set(parent.name, Math.min(low.get(parent.name)!, low.get(name)!));
      if (low.get(name) !== index.get(name)) continue;
      const members = stack.splice(stack.indexOf(name));
      for (const member of members) onStack.delete(member);
      if (members.length > 1 || byName.get(name)!.depends_on.includes(name)) {
        cycles.push(members.sort((a, b) => position.get(a)! - position.get(b)!));
      }
    }
  }
  return cycles.sort((a, b) => position.get(a[0]!)! - position.get(b[0]!)!);
}
