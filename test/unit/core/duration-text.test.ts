import { expect, it } from 'vitest';
import { durationText } from '../../../src/core/text/text.ts';

it.each([
  [0, '0 s'],
  [192, '3 min 12 s'],
  [86_399, '23 h 59 min'],
  [86_400, '1 day 0 h'],
  [5030 * 3600 + 34 * 60, '209 days 14 h'],
])('%d seconds last %s', (seconds, text) => {
  expect(durationText(seconds * 1000)).toBe(text);
});
