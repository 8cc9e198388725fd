import { expect, it } from 'vitest';
import { installationFile } from '../../../src/platform/installation.ts';
import { namedTests } from '../../rig/named-tests.ts';
import { KNOWN_SEEDS } from '../../simulation/known-seeds.ts';

it('each seed that once failed is listed once, with a test that exists', () => {
  const seeds = KNOWN_SEEDS.map(({ seed }) => seed);
  expect(seeds).toEqual([...new Set(seeds)].sort((one, other) => one - other));
  const missing = KNOWN_SEEDS.filter(({ heldBy }) => {
    if (heldBy === undefined) return false;
    const file = heldBy.slice(0, heldBy.indexOf(': '));
    return !namedTests(installationFile(file)).some(({ name }) => heldBy === `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});
