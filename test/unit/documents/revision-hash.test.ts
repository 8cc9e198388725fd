import { describe, expect, it } from 'vitest';
import { canonicalJson, revisionHash } from '../../../src/documents/index.js';

const hash = (...texts: string[]) => revisionHash(texts.map((text, index) => ({ name: `${index}.yaml`, text })));

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

  it('refuses what JSON has no form for', () => {
    expect(() => canonicalJson(() => 1)).toThrow(TypeError);
  });
});

describe('the hash of a revision', () => {
  const a = 'schema: x\ndata: {a: 1, b: [yes, 0x10]}\n';
  const b = 'schema: y\ndata: text\n';

  it('is that of the content: comments, layout, order and division into files do not count', () => {
    const one = hash(a, b);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(hash(b, a)).toBe(one);
    expect(hash(`---\n# comment\n${b}...\n---\n---\n${a}`)).toBe(one);
    expect(hash('data:\n  b:\n  - true\n  - 16\n  a: 1\nschema: "x"', b)).toBe(one);
    expect(hash('d: &d {a: 1, b: [on, 16]}', b)).toBe(hash('d: {b: [true, 16], a: 1}', b));
  });

  it('is another for any other content', () => {
    const all = [
      hash(),
      hash(a),
      hash(b),
      hash(a, a),
      hash(a, b),
      hash(`${a}c: 1`),
      hash(a.replace('1', '"1"')),
      hash(a.replace('1', '.nan')),
      hash(a.replace('1', '".nan"')),
      hash(a.replace('yes, 0x10', '0x10, yes')),
      // Not YAML: the text itself counts.
      hash('a: ['),
      hash('a: [ '),
      hash('a: *b'),
      hash('a: *c'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('never changes: revisions are stored by it', () => {
    expect(hash(a, b)).toMatchInlineSnapshot(`"900562eae295d000c4616ceab2d80ebb89265361bed7f247933aaea0ce7343b1"`);
  });
});
