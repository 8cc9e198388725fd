import type { HashKey } from './hash.ts';

/** Larger sets of integers are sorted: no one needs the order of their table. */
const maxTable = 1000;

/**
 * The iteration order of a set with these hash keys, as indexes. A set of integers has the order of CPython: Python does
 * not guarantee it, but it is always the same, and expressions like `set(3, 1).first()` depend on it. The order of other
 * sets is random in Python, because hashes of text differ between runs; here they are sorted.
 */
export function setOrder(keys: readonly HashKey[]): number[] {
  const indexes = keys.map((_, i) => i);
  if (keys.length <= maxTable && keys.every((key) => typeof key === 'number' && Number.isInteger(key))) {
    const places = new Map(keys.map((key, i) => [key as number, i]));
    return integerSetOrder(keys as readonly number[]).map((key) => places.get(key) as number);
  }
  return indexes.sort((i, j) => compareKeys(keys[i] as HashKey, keys[j] as HashKey));
}

const rank = (key: HashKey): number =>
  key === null ? 0 : typeof key === 'number' || typeof key === 'bigint' ? 1 : typeof key === 'string' ? 2 : 3;

function compareKeys(a: HashKey, b: HashKey): number {
  const order = rank(a) - rank(b);
  if (order !== 0 || a === null || b === null || typeof a === 'object') return order;
  return a < b ? -1 : a > b ? 1 : 0;
}

function integerSetOrder(values: readonly number[]): number[] {
  let table = new Array<number | undefined>(8).fill(undefined);
  let used = 0;
  for (const value of values) {
    place(table, value);
    used++;
    if (used * 5 >= (table.length - 1) * 3) {
      const wanted = used > 50_000 ? used * 2 : used * 4;
      let size = 8;
      while (size <= wanted) size *= 2;
      const larger = new Array<number | undefined>(size).fill(undefined);
      for (const member of table) if (member !== undefined) place(larger, member);
      table = larger;
    }
  }
  return table.filter((member) => member !== undefined);
}

const probes = 9;

function place(table: (number | undefined)[], value: number): void {
  const mask = table.length - 1;
  // Integers hash to themselves but for -1, and modulo 2**61 - 1, which safe integers do not reach.
  let perturb = BigInt.asUintN(64, BigInt(value === -1 ? -2 : value));
  let index = Number(perturb & BigInt(mask));
  for (;;) {
    const last = index + probes <= mask ? index + probes : index;
    for (let i = index; i <= last; i++) {
      if (table[i] === undefined) {
        table[i] = value;
        return;
      }
    }
    perturb >>= 5n;
    index = Number((BigInt(index) * 5n + 1n + perturb) & BigInt(mask));
  }
}
