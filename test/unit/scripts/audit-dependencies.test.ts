import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isBelow, lockedPackages, vulnerable } from '../../../scripts/audit-dependencies.mjs';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
const { advisories, checked_at } = read('test/data/advisories.json');

it('no package of the lock file is in the record of advisories', () => {
  const locked = lockedPackages(read('package-lock.json'));
  expect(locked.length).toBeGreaterThan(300);
  expect(vulnerable(locked, advisories)).toEqual([]);
  expect(Date.parse(checked_at)).not.toBeNaN();
});

it('a vulnerable one is named, with what fixes it', () => {
  expect(vulnerable([{ name: 'fastify', version: '5.3.1' }], advisories)).toEqual([
    expect.stringMatching(/^fastify 5\.3\.1: GHSA-.*; fixed in 5\.3\.2$/),
  ]);
  expect(
    vulnerable(
      [
        { name: 'fastify', version: '5.3.2' },
        { name: 'fastify', version: '4.0.0' },
      ],
      advisories,
    ),
  ).toEqual([]);
  expect([isBelow('1.10.0', '1.9.0'), isBelow('1.9.0', '1.10.0'), isBelow('1.0.0-rc.1', '1.0.0')]).toEqual([
    false,
    true,
    true,
  ]);
});
