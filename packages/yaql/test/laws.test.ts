import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';

const engine = createEngine({ convertSetsToLists: true });
const evaluate = (expression: string, data: unknown): unknown => engine.parse(expression).evaluateToHost(data);
const numbers = fc.array(fc.integer({ min: -50, max: 50 }), { maxLength: 30 });
const words = fc.array(fc.string({ maxLength: 4 }), { maxLength: 20 });
const rows = fc.array(
  fc.record({ k: fc.integer({ min: 0, max: 4 }), v: fc.integer({ min: -9, max: 9 }), i: fc.integer() }),
  { maxLength: 20 },
);

describe('where', () => {
  it('keeps matching elements in order, and splits a list into two', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        expect(evaluate('$.where($ > 0)', list)).toEqual(list.filter((x) => x > 0));
        expect(evaluate('$.where($ > 0).len() + $.where(not $ > 0).len()', list)).toBe(list.length);
        expect(evaluate('$.where($ > 0).where($ mod 2 = 0)', list)).toEqual(
          evaluate('$.where($ > 0 and $ mod 2 = 0)', list),
        );
      }),
    );
  });
});

describe('orderBy', () => {
  it('gives a stable, sorted permutation', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const expected = list.map((row, at) => ({ row, at })).sort((a, b) => a.row.k - b.row.k || a.at - b.at);
        expect(evaluate('$.orderBy($.k)', list)).toEqual(expected.map((x) => x.row));
      }),
    );
  });

  it('descending reverses the order of keys but not that of equals', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const expected = list.map((row, at) => ({ row, at })).sort((a, b) => b.row.k - a.row.k || a.at - b.at);
        expect(evaluate('$.orderByDescending($.k)', list)).toEqual(expected.map((x) => x.row));
      }),
    );
  });

  it('thenBy decides between equals', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const expected = list
          .map((row, at) => ({ row, at }))
          .sort((a, b) => a.row.k - b.row.k || b.row.v - a.row.v || a.at - b.at);
        expect(evaluate('$.orderBy($.k).thenByDescending($.v)', list)).toEqual(expected.map((x) => x.row));
      }),
    );
  });

  it('orders text by code points', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { maxLength: 10 }), (list) => {
        const points = (text: string): number[] => Array.from(text, (c) => c.codePointAt(0) as number);
        const sorted = evaluate('$.orderBy($)', list) as string[];
        for (let i = 1; i < sorted.length; i++) {
          const [a, b] = [points(sorted[i - 1] as string), points(sorted[i] as string)];
          const at = a.findIndex((x, j) => x !== b[j]);
          expect(at < 0 || (b[at] !== undefined && (a[at] as number) < b[at])).toBe(true);
        }
      }),
    );
  });
});

describe('groupBy', () => {
  it('puts each element into the group of its key, groups and elements in order of appearance', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const groups = new Map<number, unknown[]>();
        for (const row of list) groups.set(row.k, [...(groups.get(row.k) ?? []), row]);
        expect(evaluate('$.groupBy($.k)', list)).toEqual([...groups]);
        expect(evaluate('$.groupBy($.k).select($[1]).flatten().len()', list)).toBe(list.length);
        expect(evaluate('$.groupBy($.k, $.v, $.sum()).toDict($[0], $[1]).values().sum(0)', list)).toBe(
          list.reduce((n, r) => n + r.v, 0),
        );
      }),
    );
  });
});

describe('sets', () => {
  const holds = (expression: string, a: unknown[], b: unknown[]): void => {
    expect(evaluate(`let(a => $[0].toSet(), b => $[1].toSet()) -> ${expression}`, [a, b])).toBe(true);
  };

  it.each([
    '$a.union($b) = $b.union($a)',
    '$a.intersect($b) = $b.intersect($a)',
    '$a.intersect($b) <= $a and $a <= $a.union($b)',
    '$a.difference($b).intersect($b) = set()',
    '$a.difference($b).union($a.intersect($b)) = $a',
    '$a.symmetricDifference($b) = $a.union($b) - $a.intersect($b)',
    '$a.union($b).len() = $a.len() + $b.len() - $a.intersect($b).len()',
    '($a <= $b and $b <= $a) = ($a = $b)',
    '$a.toList().toSet() = $a',
  ])('%s', (law) => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        holds(law, a, b);
      }),
    );
    fc.assert(
      fc.property(words, words, (a, b) => {
        holds(law, a, b);
      }),
    );
  });

  it('sets of text have the same order, however they were built', () => {
    fc.assert(
      fc.property(words, (list) => {
        holds('$a.toList() = $b.toList()', list, [...list].reverse());
      }),
    );
  });

  it('distinct keeps the first of each', () => {
    fc.assert(
      fc.property(words, (list) => {
        expect(evaluate('$.distinct()', list)).toEqual([...new Set(list)]);
      }),
    );
  });
});

describe('numbers', () => {
  it('divide with floor, consistent with quotient and remainder', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
        fc.bigInt({ min: -1000n, max: 1000n }),
        (a, b) => {
          fc.pre(b !== 0n);
          expect(engine.evaluate('$[0] / $[1] * $[1] + $[0] mod $[1] = $[0]', [a, b])).toBe(true);
          expect(engine.evaluate('$[0] mod $[1] = 0 or ($[0] mod $[1] < 0) = ($[1] < 0)', [a, b])).toBe(true);
        },
      ),
    );
  });

  it('are read back as written', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (x) => {
        expect(engine.evaluate('float(str(float($)))', String(x))).toEqual(engine.evaluate('float($)', String(x)));
      }),
    );
  });
});
