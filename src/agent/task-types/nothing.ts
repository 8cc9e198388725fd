import type { TaskLimits, TaskType } from '../task-type.js';

const limits: TaskLimits = { timeoutSec: 60, timeoutCovers: 'all-tries', retries: 0, intervalSec: 0, killGraceSec: 0 };

/** Types that only hold a place in the order: always `skipped`, no process is started. */
export const nothing: readonly TaskType<null>[] = ['noop', 'stage', 'skipped'].map((name) => ({
  name,
  noop: 'skip',
  nothing: true,
  read: () => null,
  limits: () => limits,
  run: async () => ({ failure: null, changed: false, skipped: true }),
}));
