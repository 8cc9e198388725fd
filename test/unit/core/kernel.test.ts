import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { isMapping, printPath, setKey, valueAt } from '../../../src/core/data/plain-value.ts';
import { checkFields, flag, listOf, optional, rule, text, textOf, variant } from '../../../src/core/data/schema.ts';
import { type Diagnostic, firstOfEachKind, groupProblems, printOthers } from '../../../src/core/problems/diagnostic.ts';

describe('values of users', () => {
  it('are mappings if they have keys', () => {
    expect([{}, Object.create(null), [], null, 'x', 1, undefined].map(isMapping)).toEqual([
      true,
      true,
      ...Array(5).fill(false),
    ]);
  });

  it('have readable paths, whatever their keys are', () => {
    expect(printPath(['data', 'groups', 2, 'depends-on', 0, 'a b', ''])).toBe(
      'data.groups[2].depends-on[0]["a b"][""]',
    );
    expect(printPath([0, 'x'])).toBe('[0].x');
  });

  it('are found by path, own keys only', () => {
    const root = { a: [{ b: 1 }], c: null };
    expect(valueAt(root, ['a', 0, 'b'])).toBe(1);
    for (const path of [['a', 1, 'b'], ['c', 'd'], ['constructor']]) expect(valueAt(root, path)).toBeUndefined();
  });

  it('may have a key called __proto__', () => {
    const target: Record<string, unknown> = {};
    setKey(target, '__proto__', 1);
    expect([Object.keys(target), Object.getPrototypeOf(target)]).toEqual([['__proto__'], Object.prototype]);
  });
});

describe('a schema', () => {
  const schema = z.strictObject({
    name: textOf(20),
    ...optional({
      flags: listOf(flag, 1).check(rule((flags) => (flags.every(Boolean) ? undefined : 'must all be on'))),
    }),
  });

  it('returns the fields of a valid value', () => {
    expect(checkFields(schema, { name: 'a', flags: [true] })).toEqual({
      ok: true,
      value: { name: 'a', flags: [true] },
    });
  });

  it('reports all problems with their paths, and checks a rule only when the parts are valid', () => {
    const found = (value: unknown) => {
      const result = checkFields(schema, value);
      return result.ok ? [] : result.problems.map(({ kind, path }) => `${kind} ${printPath(path)}`);
    };
    expect(found({ flags: [1, true, 'x'], nam: 'a' })).toEqual([
      'missing name',
      'wrong flags[0]',
      'wrong flags[2]',
      'unknown nam',
    ]);
    expect(found({ name: 'a', flags: [false] })).toEqual(['wrong flags']);
    expect(found([])).toEqual(['wrong ']);
    expect(found(JSON.parse('{"name":"a","__proto__":{"flags":1}}'))).toEqual(['unknown __proto__']);
  });

  it('reports what is wrong in the variant that is meant, or that none is', () => {
    const union = z.discriminatedUnion('kind', [variant('busy', { run: text }), variant('gone', {})]);
    const found = (value: unknown) => {
      const read = checkFields(union, value);
      return read.ok ? [] : read.problems.map(({ kind, path, message }) => [kind, printPath(path), message]);
    };
    expect(found({ kind: 'gone', since: 'a newer version' })).toEqual([]);
    expect(found({ kind: 'busy', run: 1 })).toEqual([['wrong', 'run', 'must be text']]);
    expect(found({})).toEqual([['missing', 'kind', 'is missing']]);
    expect(found({ kind: 'lost' })).toEqual([['wrong', 'kind', 'must be one of busy, gone']]);
    expect(found([])).toEqual([['wrong', '', 'must be an object, not a list']]);
  });
});

describe('problems of one cause', () => {
  const problem = (line: number, message = 'gone'): Diagnostic => ({
    severity: 'error',
    code: 'x.y',
    message,
    file: 'f',
    line,
  });

  it('are grouped at the first', () => {
    const groups = groupProblems([problem(1), problem(2, 'other'), problem(3), problem(4)]);
    expect(groups.map(({ first, others }) => [first.line, others.map(({ line }) => line)])).toEqual([
      [1, [3, 4]],
      [2, []],
    ]);
  });

  it('differ only in names and numbers: three are shown, and the others counted', () => {
    const lacks = Array.from({ length: 200 }, (_, n) => problem(n, `no data for node '${n}'`));
    const groups = groupProblems([...lacks, ...lacks, problem(500, 'other')]);
    expect(firstOfEachKind(groups).map(({ first, others, alike }) => [first.line, others.length, alike])).toEqual([
      [0, 1, 0],
      [1, 1, 0],
      [2, 1, 394],
      [500, 0, 0],
    ]);
  });

  it('are printed with their number and the first places', () => {
    expect(printOthers([])).toBeUndefined();
    expect(printOthers([problem(3), problem(4)])).toBe('and 2 more like it: f:3, f:4');
    expect(printOthers(Array.from({ length: 9 }, (_, at) => problem(at)))).toBe(
      'and 9 more like it: f:0, f:1, f:2, f:3, f:4, …',
    );
    expect(printOthers([{ path: 'tasks[1]' }])).toBe('and 1 more like it: tasks[1]');
  });
});
