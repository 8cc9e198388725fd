import { expect, it } from 'vitest';
import { TASK_STATUSES, TASK_STATUSES_WORST_FIRST } from '../../../src/core/words.ts';

it('every status of a task is ranked from worst to best', () => {
  expect([...TASK_STATUSES_WORST_FIRST].sort()).toEqual([...TASK_STATUSES].sort());
});
