import { describe, expect, it } from 'vitest';
import { createEngine, createTaskEngine, nodeState, prepareData, TaskScope, toHost, YaqlError } from '../src/index.ts';
import { findingsOf, seededRandom } from './mutations.ts';
import { readRecords } from './records.ts';

const engine = createTaskEngine({ convertInputData: true });

function classOf(expression: string, data?: unknown): string {
  try {
    engine.evaluate(expression, data);
    return 'value';
  } catch (error) {
    if (error instanceof YaqlError) return error.errorClass;
    throw error;
  }
}

describe('hostile input', () => {
  it.each([
    ['parentheses', `${'('.repeat(100_000)}1`],
    ['lists', '['.repeat(100_000)],
    ['signs', `${'-'.repeat(100_000)}1`],
    ['a long sum', Array(100_000).fill('1').join('+')],
    ['a long path', `$${'.a'.repeat(100_000)}`],
    ['recursion', 'def(f, f($)) -> f(1)'],
    ['mutual recursion in lazy values', 'def(f, [1].select(f($)).sum()) -> f(1)'],
  ])('bounds the depth of %s', (_, expression) => {
    expect(classOf(expression)).toBe('RecursionError');
  });

  it.each([
    ['range(0, 9000).aggregate($1.union([$2].toSet()), set())'],
    ['range(0, 9000).aggregate($1.mergeWith({$2 => 1}), {})'],
    ['range(0, 9000).aggregate($1.set($2, 1), {})'],
    ['let(b => range(0, 9000).toList()) -> range(0, 9000).select(str($b)).toList().len()'],
    ['let(b => range(0, 9000).toList()) -> range(0, 9000).select(-$ in $b).toList().len()'],
    ["let(b => 'x' * 100000) -> range(0, 9000).select($b.replace('x', 'y').len()).toList().len()"],
    ['range(0, 5000).aggregate($1 * 123456789012345678901234567890, 7)'],
  ])('counts copied, compared and written data: %s', (expression) => {
    const before = process.cpuUsage();
    expect(classOf(expression)).toBe('StepQuotaExceededException');
    // 6 to 18 s before it was counted.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  });

  it.each([
    ["datetime('1' * 400000)"],
    ["datetime('a' * 400000)"],
    ["datetime('Jan' * 200000)"],
    ["datetime('2016-01-01' + '0' * 400000)"],
    ["datetime('2016', '%Y' + '0' * 400000)"],
  ])('refuses dates that are too long before reading them: %s', (expression) => {
    const before = process.cpuUsage();
    expect(classOf(expression)).toBe('ValueError');
    // Up to 50 s before there was a limit.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });

  it.each([
    ["'a' * 1000000000000"],
    ['[1] * 1000000000000'],
    ["'ab'.replace('', 'x' * 60000000)"],
    ['pow(9, 99999999999)'],
    ['shiftBitsLeft(1, 99999999999)'],
    ['generate(1, true, [$, $]).limit(60).toSet()'],
  ])('bounds the memory of %s', (expression) => {
    expect(classOf(expression)).toBe('MemoryQuotaExceededException');
  });

  it.each([
    ['range(10000).select(range(10000).sum()).sum()'],
    ['range(10000).aggregate($1 + str($2) * 100000, "")'],
    ['generate(1, true, [$, $]).limit(60).last()'],
    ["'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '^(a+)+$'"],
    ["('x' * 100000) =~ '(x*)*y'"],
    [
      'let(a => generate(1, true, [$, $]).limit(60).last(), b => generate(1, true, [$, $]).limit(60).last()) -> $a = $b',
    ],
  ])('bounds the time of %s', (expression) => {
    expect(classOf(expression)).toBe('StepQuotaExceededException');
  });

  it('limits endless iterators', () => {
    expect(classOf('sequence().toList()')).toBe('CollectionTooLargeException');
    expect(classOf('1.repeat().where(false)')).toBe('CollectionTooLargeException');
    expect(createEngine().evaluate('sequence().limit(3)')).toEqual([0, 1, 2]);
  });

  it('continues working after a quota was exceeded', () => {
    expect(classOf('pow(9, 99999999999)')).toBe('MemoryQuotaExceededException');
    expect(engine.evaluate('1 + 1')).toBe(2);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'has no key %s that was not given',
    (key) => {
      expect(classOf(`$['${key}']`, {})).toBe('KeyError');
      expect(engine.evaluate(`$.get('${key}', none)`, {})).toBe('none');
      expect(engine.evaluate(`$.containsKey('${key}')`, {})).toBe(false);
      expect(classOf(`$.${key}()`, {})).not.toBe('value');
      expect(classOf(`'a'.${key}()`, {})).not.toBe('value');
    },
  );

  it('keeps prototype names as plain keys', () => {
    const data = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as object;
    const copy = toHost(engine.evaluate("$.set('x', 2)", data)) as Record<string, unknown>;
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor', 'x']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('gives no way to objects of the host', () => {
    class Secret {
      password = 'x';
    }
    expect(classOf('$.first().password.len().foo', [new Secret()])).not.toBe('value');
    expect(engine.evaluate('$.f', { f: () => 1 })).toBeNull();
  });

  it('keeps the hidden states out of reach', () => {
    const state = nodeState(prepareData({ a: 1 }), prepareData({}));
    const scope = new TaskScope(createTaskEngine(), state, null);
    expect(() => scope.evaluate('$%new')).toThrow(YaqlError);
  });

  it('survives mutated expressions', () => {
    const sources = ['official.jsonl', 'extra.jsonl', 'nailgun.jsonl'].flatMap((f) =>
      readRecords(f).map((r) => r.expr),
    );
    const outcomes = new Set<string>();
    // The time of one expression is judged by bench/yaql-fuzz.ts, not here.
    const findings = findingsOf(
      sources,
      2000,
      seededRandom(7),
      (outcome) => outcomes.add(outcome),
      Number.POSITIVE_INFINITY,
    );
    expect(findings).toEqual([]);
    expect(outcomes.size).toBeGreaterThan(10);
  });
});
