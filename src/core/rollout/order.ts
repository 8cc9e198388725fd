import type { OrderKey } from './policy.ts';

interface PlacedNode {
  readonly name: string;
  readonly rack: string | null;
}

/** The numbers of nodes in the order of a rollout. Nodes that the keys do not tell apart stay in the order of `nodes`; those of no rack come last. */
export function rolloutOrder(nodes: readonly PlacedNode[], keys: readonly OrderKey[]): number[] {
  const numbers = nodes.map((_, node) => node);
  if (keys.includes('name')) numbers.sort((a, b) => compareNames(nodes[a]!.name, nodes[b]!.name));
  if (!keys.includes('rack') && !keys.includes('spread')) return numbers;
  const racks = new Map<string | null, number[]>();
  for (const node of numbers) {
    const { rack } = nodes[node]!;
    const members = racks.get(rack);
    if (members === undefined) racks.set(rack, [node]);
    else members.push(node);
  }
  const sorted = [...racks].sort(([a], [b]) => compareRacks(a, b)).map(([, members]) => members);
  return keys.includes('rack') ? sorted.flat() : inTurn(sorted);
}

/** The first of each list, then the second of each, and so on. */
function inTurn(lists: readonly (readonly number[])[]): number[] {
  const taken: number[] = [];
  let left = lists;
  for (let turn = 0; left.length > 0; turn++) {
    left = left.filter((list) => turn < list.length);
    for (const list of left) taken.push(list[turn]!);
  }
  return taken;
}

const compareRacks = (a: string | null, b: string | null): number =>
  a === null || b === null ? Number(a === null) - Number(b === null) : compareNames(a, b);

/** `n2` before `n10`. The same everywhere: a language's own order would depend on the machine. */
function compareNames(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const before = digitsAt(a, i);
    const other = digitsAt(b, j);
    if (before.length > 0 && other.length > 0) {
      const number = compareDigits(before, other);
      if (number !== 0) return number;
      i += before.length;
      j += other.length;
      continue;
    }
    if (a[i] !== b[j]) return a[i]! < b[j]! ? -1 : 1;
    i += 1;
    j += 1;
  }
  const rest = a.length - i - (b.length - j);
  // `n1` and `n01` are two nodes.
  return rest !== 0 ? rest : Number(a > b) - Number(a < b);
}

function digitsAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && text[end]! >= '0' && text[end]! <= '9') end += 1;
  return text.slice(start, end);
}

/** Compares numbers of any length. */
function compareDigits(a: string, b: string): number {
  const [x, y] = [withoutZeros(a), withoutZeros(b)];
  return x.length !== y.length ? x.length - y.length : Number(x > y) - Number(x < y);
}

function withoutZeros(digits: string): string {
  let start = 0;
  while (start < digits.length - 1 && digits[start] === '0') start += 1;
  return digits.slice(start);
}
