import { expect, inject, it } from 'vitest';
import { systemChaos } from '../rig/system-chaos.ts';

/** The short form of `bench/chaos.ts`: a seed finds the same events again, up to their moments. */
it('nothing is lost, done twice or unreported through kill -9 of every process, a cut off MAAS, resets and restores', async () => {
  const { kills, restores, lost, doubled, withoutReport, notOk } = await systemChaos({
    binary: inject('temporalBinary'),
    kills: 12,
    killsOfAPair: 6,
    seed: 4711,
    nodes: 2,
  });
  expect({ lost, doubled, withoutReport, notOk }).toEqual({ lost: [], doubled: [], withoutReport: [], notOk: [] });
  expect(kills).toBeGreaterThanOrEqual(12);
  // The second pair of runs is followed by one from a backup that knows nothing of it.
  expect(restores).toBeGreaterThan(0);
}, 600_000);
