/** A stretch in which two sequences differ: `[fromA, toA)` of the first corresponds to `[fromB, toB)` of the second. */
interface Difference {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/**
 * Differences as Python's `difflib.SequenceMatcher` finds them: the longest common block first, then the parts left
 * and right of it, with its heuristic of not starting blocks at elements that are frequent in a long second sequence.
 * Elements are compared by key; `step` is called for each unit of work and may stop it.
 */
export function sequenceDifferences(a: readonly unknown[], b: readonly unknown[], step: () => void): Difference[] {
  const places = placesOf(b);
  const blocks: Block[] = [];
  const pending: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  while (pending.length > 0) {
    const [fromA, toA, fromB, toB] = pending.pop() as [number, number, number, number];
    const block = longestBlock(a, b, places, fromA, toA, fromB, toB, step);
    if (block.size === 0) continue;
    blocks.push(block);
    if (fromA < block.a && fromB < block.b) pending.push([fromA, block.a, fromB, block.b]);
    if (block.a + block.size < toA && block.b + block.size < toB)
      pending.push([block.a + block.size, toA, block.b + block.size, toB]);
  }
  blocks.sort((x, y) => x.a - y.a || x.b - y.b);
  const differences: Difference[] = [];
  let i = 0;
  let j = 0;
  for (const block of [...blocks, { a: a.length, b: b.length, size: 0 }]) {
    if (i < block.a || j < block.b) differences.push({ fromA: i, toA: block.a, fromB: j, toB: block.b });
    i = block.a + block.size;
    j = block.b + block.size;
  }
  return differences;
}

/** The positions of each element in the second sequence, without elements that are too frequent to be significant. */
function placesOf(b: readonly unknown[]): Map<unknown, number[]> {
  const places = new Map<unknown, number[]>();
  b.forEach((element, i) => {
    const list = places.get(element);
    if (list === undefined) places.set(element, [i]);
    else list.push(i);
  });
  if (b.length >= 200) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [element, list] of places) if (list.length > most) places.delete(element);
  }
  return places;
}

function longestBlock(
  a: readonly unknown[],
  b: readonly unknown[],
  places: ReadonlyMap<unknown, readonly number[]>,
  fromA: number,
  toA: number,
  fromB: number,
  toB: number,
  step: () => void,
): Block {
  let bestA = fromA;
  let bestB = fromB;
  let size = 0;
  let lengths = new Map<number, number>();
  for (let i = fromA; i < toA; i++) {
    const next = new Map<number, number>();
    step();
    for (const j of places.get(a[i]) ?? []) {
      if (j < fromB) continue;
      if (j >= toB) break;
      step();
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) {
        bestA = i - length + 1;
        bestB = j - length + 1;
        size = length;
      }
    }
    lengths = next;
  }
  // Frequent elements do not start a block but may extend one.
  while (bestA > fromA && bestB > fromB && a[bestA - 1] === b[bestB - 1]) {
    bestA--;
    bestB--;
    size++;
  }
  while (bestA + size < toA && bestB + size < toB && a[bestA + size] === b[bestB + size]) size++;
  return { a: bestA, b: bestB, size };
}
