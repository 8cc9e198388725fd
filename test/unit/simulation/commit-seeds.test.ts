import { expect, it } from 'vitest';
import { causedBy, firstSeedOf } from '../../simulation/commit-seeds.ts';
import { WITH_OVERRIDES } from '../../simulation/world/limits.ts';
import { beginOf } from '../../simulation/world/script.ts';

it('each commit has seeds of its own, of worlds with all there is, in virtual time with four digits of years', () => {
  const [one, next, last] = ['0000000aa', '0000001bb', 'fffffffcc'].map((hash) => firstSeedOf(hash, 300));
  expect(next! - one!).toBe(300);
  const yearOf = (seed: number): number => new Date(beginOf('2026-02-05T08:00:00Z', seed)).getUTCFullYear();
  expect(yearOf(last! + 300)).toBeLessThan(10_000);
  expect(yearOf(last! + 300)).toBeGreaterThan(yearOf(one!));
  expect(one!).toBeGreaterThan(WITH_OVERRIDES);
});

it('a commit has caused what its parent does not violate in the same way on the same seed', () => {
  const found = [
    { seed: 7, violation: 'execute_graph:1:r2 did not end within 48 hours after the last fault' },
    { seed: 8, violation: 'machine sfncyr was deployed 2 times' },
    { seed: 9, violation: 'machine sfncyr was deployed 2 times' },
  ];
  const before = [
    { seed: 7, violation: 'execute_graph:1:r3 did not end within 48 hours after the last fault' },
    { seed: 8, violation: 'n1 was released, and no run was asked to release it' },
  ];
  expect(causedBy(found, before).map(({ seed }) => seed)).toEqual([8, 9]);
});
