/** `waiting`: not started, `retrying`: between two attempts; the others of this type are final. */
export type TaskStatus = 'waiting' | 'ready' | 'running' | 'retrying' | SettledStatus;

/**
 * `skipped`: no work in it, or left undone by a stop. `ignored`: an error with fail_on_error=false.
 * `dep_failed`: something it needs failed, or its node did; it never ran.
 */
export type SettledStatus = 'successful' | 'failed' | 'dep_failed' | 'skipped' | 'ignored';

export type NodeStatus = 'successful' | 'failed' | 'skipped';

/** `failure`: a critical node failed. `stopped`: by the user, with work left. */
export type RunResult = 'success' | 'failure' | 'stopped_by_tolerance' | 'stopped';

/** Codes of statuses inside the scheduler; `undone` and `passed` are the two ways to be skipped. */
export const code = {
  waiting: 0,
  ready: 1,
  running: 2,
  retrying: 3,
  successful: 4,
  ignored: 5,
  passed: 6,
  undone: 7,
  failed: 8,
  depFailed: 9,
} as const;

const statuses: readonly TaskStatus[] = [
  'waiting',
  'ready',
  'running',
  'retrying',
  'successful',
  'ignored',
  'skipped',
  'skipped',
  'failed',
  'dep_failed',
];

export const statusOf = (c: number): TaskStatus => statuses[c]!;
export const isFinal = (c: number): boolean => c >= code.successful;
export const isFailed = (c: number): boolean => c >= code.failed;
