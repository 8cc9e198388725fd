import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isBelow, lockedPackages, unsound, vulnerable } from '../../../scripts/audit-dependencies.mjs';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
const { advisories, checked_at } = read('test/data/advisories.json');

it('no package of the lock file is in the record of advisories', () => {
  const locked = lockedPackages(read('package-lock.json'));
  expect(locked.length).toBeGreaterThan(300);
  expect(vulnerable(locked, advisories)).toEqual([]);
  expect(Date.parse(checked_at)).not.toBeNaN();
});

it('every package is verified by its checksum, from a registry, and runs scripts only where allowed', () => {
  expect(unsound(read('package-lock.json'), read('package.json').allowScripts)).toEqual([]);
  const packages = {
    '': {},
    'node_modules/a': {},
    'node_modules/b': { integrity: 'sha512-x', resolved: 'git+ssh://git@example.org/b.git' },
    'node_modules/c/node_modules/d': { integrity: 'sha512-x', hasInstallScript: true },
    'node_modules/e': { integrity: 'sha512-x', hasInstallScript: true },
    'node_modules/f': { optional: true },
    'packages/g': {},
    'node_modules/@sitewright/g': { resolved: 'packages/g', link: true },
    'node_modules/h': { integrity: 'sha512-x', resolved: '../h', link: true },
  };
  expect(unsound({ packages }, { e: true })).toEqual([
    'node_modules/a has no checksum',
    'node_modules/b is not from a registry',
    'node_modules/c/node_modules/d has an install script that is not allowed',
    'node_modules/h is not from a registry',
  ]);
});

it('a vulnerable package is named, with the fixed version', () => {
  const known = [{ id: 'GHSA-mg2h-6x62-wpwc', package: 'fastify', from: '5.0.0', below: '5.3.2', title: 'a bypass' }];
  expect(vulnerable([{ name: 'fastify', version: '5.3.1' }], known)).toEqual([
    expect.stringMatching(/^fastify 5\.3\.1: GHSA-.*; fixed in 5\.3\.2$/),
  ]);
  expect(
    vulnerable(
      [
        { name: 'fastify', version: '5.3.2' },
        { name: 'fastify', version: '4.0.0' },
      ],
      known,
    ),
  ).toEqual([]);
  expect([isBelow('1.10.0', '1.9.0'), isBelow('1.9.0', '1.10.0'), isBelow('1.0.0-rc.1', '1.0.0')]).toEqual([
    false,
    true,
    true,
  ]);
});
