import type { DONE_STATUSES, TaskStatus } from '../words.ts';

export type { RunResult } from '../words.ts';
export type { TaskStatus };

export type SettledStatus = (typeof DONE_STATUSES)[number] | 'blocked' | 'not_reached' | 'skipped';

/** `not_reached`: a stop left work on it undone. */
export type NodeStatus = 'success' | 'failed' | 'not_reached';

/** Status codes inside the scheduler. `ready`: may start, and waits for a free slot; people are shown that it waits. */
export const code = {
  waiting: 0,
  ready: 1,
  running: 2,
  retrying: 3,
  success: 4,
  ignored: 5,
  skipped: 6,
  notReached: 7,
  failed: 8,
  blocked: 9,
} as const;

const statuses: readonly TaskStatus[] = [
  'waiting',
  'waiting',
  'running',
  'retrying',
  'success',
  'ignored',
  'skipped',
  'not_reached',
  'failed',
  'blocked',
];

export const statusOf = (c: number): TaskStatus => statuses[c]!;
export const isFinal = (c: number): boolean => c >= code.success;
export const isFailed = (c: number): boolean => c >= code.failed;
