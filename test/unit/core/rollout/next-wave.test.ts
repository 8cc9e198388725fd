import { expect, it } from 'vitest';
import {
  mayStart,
  NOTHING_OPEN,
  nextWave,
  promote,
  type RolloutState,
} from '../../../../src/core/rollout/next-wave.ts';

const POLICY = { soak: 0, stop_at: { failed: 1 } };

/** Two waves of three are open, and each node has a result. */
const state = (change: Partial<RolloutState>): RolloutState => ({
  ...NOTHING_OPEN,
  ...{ waves: 3, total: 6, opened: 2, failed: 0, waiting: 0, out: 0, well: 4, lastResultAt: 0 },
  ...change,
});

it('a promoted rollout is forgiven its failures until the wave that follows is over, and no longer', () => {
  const held = state({ failed: 2 });
  expect(nextWave(held, POLICY, 0)).toEqual({ step: 'hold', why: 'limit' });
  const promoted = { ...held, ...promote(held) };
  expect(nextWave(promoted, POLICY, 0)).toEqual({ step: 'open' });
  const third = { ...promoted, opened: 3, waiting: 2 };
  expect(mayStart(third, POLICY)).toBe(true);
  expect(mayStart({ ...third, failed: 3 }, POLICY)).toBe(false);
  // Its failures were repaired, and new ones come in a wave that no one has vouched for.
  expect(mayStart({ ...third, waves: 5, opened: 4, failed: 1 }, POLICY)).toBe(false);
});

it('a rollout is held when nobody could look at its nodes', () => {
  const soaked = state({ looked: { at: 60_000, unseen: 'MAAS is away' } });
  expect(nextWave(soaked, { ...POLICY, soak: 60 }, 70_000)).toEqual({ step: 'hold', why: 'unseen' });
  expect(nextWave(state({ looked: { at: 59_999 } }), { ...POLICY, soak: 60 }, 70_000)).toEqual({ step: 'look' });
});
