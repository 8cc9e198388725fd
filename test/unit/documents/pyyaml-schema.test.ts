import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readPlainScalar, readTaggedScalar } from '../../../src/documents/reader/yaml-scalars.ts';

// Made by PyYAML 6.0.3's own resolver and constructor (`SafeLoader.resolve`, `construct_object`) over
// hand-picked forms and random texts of number-like characters; dates were turned back into their text.
type Oracle = string | boolean | null | { int: string } | { float: string };
const rows = JSON.parse(readFileSync(new URL('./pyyaml-scalars.json', import.meta.url), 'utf8')) as [string, Oracle][];

function wanted(oracle: Oracle): unknown {
  if (oracle === null || typeof oracle !== 'object') return oracle;
  if ('int' in oracle) return Number(oracle.int) + 0;
  const special: Record<string, number> = {
    nan: Number.NaN,
    inf: Number.POSITIVE_INFINITY,
    '-inf': Number.NEGATIVE_INFINITY,
  };
  return special[oracle.float] ?? Number(oracle.float);
}

describe('plain scalars', () => {
  it(`reads all ${rows.length} forms as PyYAML does`, () => {
    const wrong = rows
      .map(([text, oracle]) => ({ text, got: readPlainScalar(text), want: wanted(oracle) }))
      .filter(({ got, want }) => !Object.is(got, want));
    expect(wrong).toEqual([]);
  });

  it.each([
    ['y', 'y'],
    ['no', false],
    ['0644', 420],
    ['0o644', '0o644'],
    ['1e3', '1e3'],
    ['2018-03-16', '2018-03-16'],
    ['52:54:00:12:34:56', 41_135_085_296],
    ['0b_', '0b_'],
  ])('%s is %j', (text, value) => {
    expect(readPlainScalar(text)).toEqual(value);
  });
});

describe('tagged scalars', () => {
  it.each([
    ['str', '123', '123'],
    ['int', '0x1F', 31],
    ['int', 'three', undefined],
    ['float', '1', 1],
    ['float', '1e3', 1000],
    ['float', 'x', undefined],
    ['bool', 'YeS', true],
    ['bool', '1', undefined],
    ['null', 'anything', null],
    ['timestamp', '2018-03-16', '2018-03-16'],
  ] as const)('!!%s %s is %j', (tag, text, value) => {
    expect(readTaggedScalar(tag, text)).toEqual(value);
  });
});
