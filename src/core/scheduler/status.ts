import type { SettledStatus, ShownTaskStatus } from '../words.js';

export type { RunResult, SettledStatus } from '../words.js';

/** `ready`: may start, and waits for a free slot. Users see it as waiting. */
export type TaskStatus = ShownTaskStatus | 'ready' | SettledStatus;

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
