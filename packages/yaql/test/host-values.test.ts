import { describe, expect, it } from 'vitest';
import {
  compileRegex,
  createEngine,
  type DateTime,
  Float,
  fromHost,
  insertOperator,
  isoText,
  kindName,
  kindOf,
  standardOperators,
  toHost,
} from '../src/index.ts';

const engine = createEngine();

describe('values of the host', () => {
  it('pass through unchanged', () => {
    const data = { a: [1, 2.5, 'x', null, true, { b: [] }], n: 12345678901234567890n };
    expect(engine.parse('$').evaluateToHost(data)).toEqual(data);
  });

  it.each([
    [1, 'integer'],
    [1.5, 'float'],
    [new Float(1), 'float'],
    [1e300, 'float'],
    [10n ** 30n, 'integer'],
    [new Set([1]), 'set'],
    [new Map([[1, 2]]), 'dict'],
    [new Date(0), 'datetime'],
    [(function* () {})(), 'iterator'],
    [undefined, 'null'],
  ])('%s is of kind %s', (value, kind) => {
    expect(kindName(kindOf(fromHost(value)))).toBe(kind);
  });

  it('give Maps where keys are not strings', () => {
    expect(toHost(engine.evaluate('{1 => a}'))).toEqual(new Map([[1, 'a']]));
  });

  it('need a clock and a random source for nondeterministic functions', () => {
    expect(() => engine.evaluate('now()')).toThrow(/clock/);
    expect(() => engine.evaluate('random()')).toThrow(/random/);
    const own = createEngine({ clock: () => 0n, random: () => 0.5 });
    expect(isoText(own.evaluate('now()') as DateTime)).toBe('1970-01-01T00:00:00+00:00');
    expect(own.evaluate('random(1, 6)')).toBe(4);
  });
});

describe('an engine', () => {
  it('parses an expression once', () => {
    expect(engine.parse('1 + 2')).toBe(engine.parse('1 + 2'));
    const small = createEngine({ cacheSize: 1 });
    const first = small.parse('1');
    small.parse('2');
    expect(small.parse('1')).not.toBe(first);
  });

  it('takes further operators', () => {
    const operators = insertOperator(standardOperators, {
      after: '*',
      binary: true,
      operator: { symbol: '<>', type: 'binary-left-associative', alias: 'not_equal' },
      newGroup: false,
    });
    expect(createEngine({ operators }).evaluate('1 <> 2')).toBe(true);
  });

  it('evaluates over variables', () => {
    expect(engine.evaluate('$x + $', 1, { variables: [['x', 2]] })).toBe(3);
  });

  it('gives the same answer when a call site meets other kinds, also recursively', () => {
    expect(
      engine
        .parse('def(f, switch(isList($) => $.select(f($)), true => str($))) -> f([1, [a, 2.0], null])')
        .evaluateToHost(),
    ).toEqual(['1', ['a', '2.0'], 'null']);
    const add = engine.parse('$ + $');
    expect([1, 'a', 1.5, 2].map((x) => add.evaluate(x))).toEqual([2, 'aa', new Float(3), 4]);
  });
});

describe('regular expressions', () => {
  const budget = { regexSteps: 1000 };
  it('find the leftmost match', () => {
    expect(compileRegex('(a)|b').search('xba', budget)?.bounds(0)).toEqual([1, 2]);
  });
  it('stop when the budget is used up', () => {
    expect(() => compileRegex('(a*)*b').search('a'.repeat(50), { regexSteps: 1000 })).toThrow(/too many steps/);
  });
});
