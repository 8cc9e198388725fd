import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/documents/index.ts';

describe('canonical JSON', () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ a: undefined, é: 1, z: 2, Z: 3 }, '{"Z":3,"z":2,"é":1}'],
    [[undefined], '[null]'],
    [-0, '0'],
    [1e21, '1e+21'],
    ['\u2028"', '"\u2028\\""'],
    [[Number.NaN, Number.POSITIVE_INFINITY], '[.nan,.inf]'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('refuses values that JSON cannot express', () => {
    expect(() => canonicalJson(() => 1)).toThrow(TypeError);
  });
});
