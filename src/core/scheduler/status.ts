import type { DONE_STATUSES, ShownTaskStatus } from '../words.ts';

export type { RunResult } from '../words.ts';

/** Final statuses as the scheduler names them: a task that a stop left undone is `skipped`, and marked. */
export type SettledStatus = (typeof DONE_STATUSES)[number] | 'dep_failed' | 'skipped';

/** `ready`: may start, and waits for a free slot. Users see it as waiting. */
export type TaskStatus = Exclude<ShownTaskStatus, 'not_reached'> | 'ready';

export type NodeStatus = 'successful' | 'failed' | 'skipped';

/** Status codes inside the scheduler. `undone` and `passed` are both shown as skipped. */
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
