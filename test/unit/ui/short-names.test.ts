import { describe, expect, it } from 'vitest';
import { shortNames } from '../../../src/ui/kit/short-names.ts';

const cut = (names: readonly string[], most: number) => names.map((name) => shortNames(names, most).get(name));

describe('short names', () => {
  it('names with room are kept, longer ones keep both ends', () => {
    expect(cut(['short', 'openstack-network-common-config'], 11)).toEqual(['short', 'opens…onfig']);
  });

  it('names that differ in the middle only are cut where they differ', () => {
    const names = ['rack1-node-07.example.org', 'rack1-node-08.example.org'];
    expect(cut(names, 14)).toEqual(['rac…7.examp…rg', 'rac…8.examp…rg']);
  });

  it('whatever the names, no two of them become alike, and none is too long', () => {
    const far = (a: string, b: string) => `${'x'.repeat(30)}${a}${'y'.repeat(30)}${b}${'z'.repeat(30)}`;
    const names = [far('a', 'a'), far('a', 'b'), far('b', 'a'), far('b', 'b'), 'x…z', 'xxxxxx…zzzzz', ''];
    for (const most of [12, 18, 38]) {
      const short = shortNames(names, most);
      expect(new Set(short.values()).size).toBe(names.length);
      expect(Math.max(...[...short.values()].map(({ length }) => length))).toBeLessThanOrEqual(most);
    }
  });
});
