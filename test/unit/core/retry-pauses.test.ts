import { expect, it } from 'vitest';
import { retryPauses } from '../../../src/core/retry-pauses.ts';

it('pauses double up to the longest, and callers who failed at the same moment have different ones', () => {
  const wholes = [100, 200, 400, 800, 1_000, 1_000];
  const callers = Array.from({ length: 50 }, () => retryPauses(100, 1_000));
  for (const whole of wholes) {
    const pauses = callers.map((next) => next());
    for (const pause of pauses) expect(pause >= whole / 2 && pause <= whole).toBe(true);
    expect(new Set(pauses).size).toBeGreaterThan(40);
  }
});
