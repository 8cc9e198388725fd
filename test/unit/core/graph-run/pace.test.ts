import { describe, expect, it } from 'vitest';
import { createPace, intervalOfParts } from '../../../../src/core/graph-run/pace.ts';

describe('the pace of a part', () => {
  const slackAfter = (turns: readonly number[], now: number, most: number): number => {
    const pace = createPace(most);
    for (const at of turns) pace.turned(at);
    return pace.slack(now);
  };
  const every = (ms: number, turns: number): number[] => Array.from({ length: turns }, (_, turn) => 1_000 + turn * ms);

  it('adds pauses only after ten turns within five seconds', () => {
    expect(slackAfter(every(100, 9), 1_900, 15)).toBe(0);
    expect(slackAfter(every(100, 10), 1_900, 15)).toBe(15_000);
    expect(slackAfter(every(600, 20), 1_000 + 600 * 19, 15)).toBe(0);
  });

  it('resets when no turns occur', () => {
    expect(slackAfter(every(100, 50), 1_000 + 4_900 + 4_000, 15)).toBe(15_000);
    expect(slackAfter(every(100, 50), 1_000 + 4_900 + 4_100, 15)).toBe(0);
  });
});

it('parts report less often the more there are: every five to fifteen seconds', () => {
  expect([1, 5, 7, 35].map(intervalOfParts)).toEqual([5_000, 5_000, 7_000, 15_000]);
});
