import { expect, test } from 'vitest';
import { hasRoomForRetry, hasRoomForWish, TASKS_IN_ONE_WORKFLOW } from '../../../../src/core/graph-run/index.js';

/** What a task that ends alone costs, its share of the records included, and what one more attempt does. */
const ALONE = 7.5;
const ATTEMPT = 11;

test('a full part stays under 10,000 events, however many attempts fail, and has some to give', () => {
  let events = 50;
  let attempts = 0;
  for (let left = TASKS_IN_ONE_WORKFLOW; left > 0; left--) {
    while (hasRoomForRetry(events, left)) {
      events += ATTEMPT;
      attempts++;
    }
    events += ALONE;
  }
  expect(events).toBeLessThan(10_000);
  expect(attempts).toBeGreaterThan(80);
});

test('operators are heard as long as the end still fits', () => {
  expect(hasRoomForWish(9_000)).toBe(true);
  expect(hasRoomForWish(9_500)).toBe(false);
});
