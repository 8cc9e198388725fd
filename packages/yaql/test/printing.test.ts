import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEngine, type Node } from '../src/index.ts';
import { readRecords } from './records.ts';

const engine = createEngine({ allowDelegates: true });

/** A tree without places. */
const shape = (node: Node): string =>
  JSON.stringify(node, (key, value: unknown) =>
    key === 'start' || key === 'end' || key === 'at'
      ? undefined
      : typeof value === 'bigint'
        ? `${value}n`
        : Object.is(value, -0)
          ? '-0'
          : value,
  );

const name = fc.constantFrom('a', 'b1', 'some_name', 'é', '_x', 'nullable');
const literal = fc.oneof(
  fc.nat().map(String),
  fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((x) => x.toFixed(4)),
  fc.string().map((s) => `'${s.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`),
  fc.constantFrom('true', 'false', 'null', '$', '$1', '$name', '``', '`\\d`', '"x"'),
  name,
);
const { expression } = fc.letrec<{ expression: string; operand: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'yaql' },
    literal,
    tie('expression').map((e) => `(${e})`),
  ),
  expression: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'yaql' },
    tie('operand'),
    fc
      .tuple(
        tie('operand'),
        fc.constantFrom('+', '-', '*', '/', 'mod', '<', '=', '!=', 'in', 'and', 'or', '->', '=~', '.', '?.'),
        tie('operand'),
      )
      .map((x) => x.join(' ')),
    fc.tuple(fc.constantFrom('not ', '-', '+'), tie('operand')).map((x) => x.join('')),
    fc
      .tuple(tie('operand'), fc.array(tie('expression'), { maxLength: 2 }))
      .map(([a, list]) => `${a}[${list.join(', ')}]`),
    fc.array(tie('expression'), { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
    fc
      .array(fc.tuple(tie('operand'), tie('expression')), { maxLength: 3 })
      .map((list) => `{${list.map(([k, v]) => `${k} => ${v}`).join(', ')}}`),
    fc
      .tuple(
        name,
        fc.array(tie('expression'), { maxLength: 3 }),
        fc.array(fc.tuple(name, tie('expression')), { maxLength: 2 }),
      )
      .map(([f, args, named]) => `${f}(${[...args, ...named.map(([k, v]) => `${k} => ${v}`)].join(', ')})`),
    fc
      .tuple(tie('operand'), fc.array(tie('expression'), { maxLength: 2 }))
      .map(([a, args]) => `(${a})(${args.join(', ')})`),
  ),
}));

describe('printing an expression', () => {
  it('gives a text that parses to the same tree', () => {
    fc.assert(
      fc.property(expression, (text) => {
        const parsed = engine.parse(text);
        const again = engine.parse(parsed.toString());
        expect(shape(again.tree)).toBe(shape(parsed.tree));
        expect(again.toString()).toBe(parsed.toString());
      }),
      { numRuns: 500 },
    );
  });

  it('does so for every recorded expression', () => {
    let printed = 0;
    for (const record of ['official.jsonl', 'extra.jsonl', 'nailgun.jsonl'].flatMap(readRecords)) {
      let parsed: ReturnType<typeof engine.parse>;
      try {
        parsed = engine.parse(record.expr);
      } catch {
        continue;
      }
      expect(shape(engine.parse(parsed.toString()).tree)).toBe(shape(parsed.tree));
      printed++;
    }
    expect(printed).toBeGreaterThan(2000);
  });
});
