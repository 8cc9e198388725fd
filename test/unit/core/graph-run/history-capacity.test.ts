import { expect, it } from 'vitest';
import { TASKS_IN_ONE_WORKFLOW } from '../../../../src/core/graph-run/cut.ts';
import {
  hasCapacityForRequest,
  hasCapacityForRetry,
  taskCapacity,
} from '../../../../src/core/graph-run/history-capacity.ts';

/** The cost of a task that ends alone, its share of the records included, and of one more attempt. */
const ALONE = 7.5;
const ATTEMPT = 11;

it('a full part stays under 10,000 events, however many attempts fail, with a reserve', () => {
  let events = 50;
  let attempts = 0;
  for (let left = TASKS_IN_ONE_WORKFLOW; left > 0; left--) {
    while (hasCapacityForRetry(events, left)) {
      events += ATTEMPT;
      attempts++;
    }
    events += ALONE;
  }
  expect(events).toBeLessThan(10_000);
  expect(attempts).toBeGreaterThanOrEqual(80);
});

it("operators' requests are accepted as long as the remaining work still fits", () => {
  expect(hasCapacityForRequest(9_000, 0)).toBe(true);
  expect(hasCapacityForRequest(9_900, 0)).toBe(false);
  expect(hasCapacityForRequest(9_000, 200)).toBe(false);
  // A full part receives a hundred of them before its first task has ended.
  expect(hasCapacityForRequest(50 + 100 * 9, TASKS_IN_ONE_WORKFLOW)).toBe(true);
  // Where no more retries fit, skipping a task still does.
  const last = 10_000 - 300 - 7.5 * 100;
  expect([hasCapacityForRetry(last, 100), hasCapacityForRequest(last, 100)]).toEqual([false, true]);
});

it('graphs that a run drives itself stay under 10,000 events together', () => {
  for (const sizes of [[1_150, 1_150, 1_150], Array<number>(30).fill(100), [600, 600, 600], [10, 1_150, 500]]) {
    let events = 50;
    let inChildren = 0;
    sizes.forEach((tasks, at) => {
      if (tasks <= taskCapacity(events, sizes.length - 1 - at)) {
        events += tasks * ALONE;
      } else {
        inChildren++;
        // The cost of a child for the parent.
        events += 150;
      }
    });
    expect(events).toBeLessThan(10_000);
    expect(inChildren).toBeLessThan(sizes.length);
  }
  expect(taskCapacity(0, 0)).toBeGreaterThanOrEqual(TASKS_IN_ONE_WORKFLOW);
  expect(taskCapacity(9_990, 5)).toBe(0);
});
