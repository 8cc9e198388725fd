import type { New, Stored } from '../tables.js';
import type { Page, PageRequest } from './page.js';

/** The scheduler's words. */
export type TaskHistoryStatus = Stored<'taskHistory'>['status'];

/** Fuel's words for the same. */
export type FuelTaskStatus = 'pending' | 'running' | 'ready' | 'error' | 'skipped';

/** The one table between the two. `ignored` failed where that does not matter; `dep_failed` never ran for an error. */
export const fuelTaskStatus: Readonly<Record<TaskHistoryStatus, FuelTaskStatus>> = {
  waiting: 'pending',
  running: 'running',
  retrying: 'running',
  successful: 'ready',
  ignored: 'ready',
  failed: 'error',
  dep_failed: 'error',
  skipped: 'skipped',
};

/** How one task went on one node in one run of a graph. */
export interface TaskHistoryRow extends Omit<Stored<'taskHistory'>, 'position' | 'sequence'> {
  readonly fuelStatus: FuelTaskStatus;
}

/** A row of a plan, before anything ran. What needs no work may begin in its final status. */
export interface PlannedTaskRow {
  readonly node: string;
  readonly task: string;
  /** `waiting` when absent. */
  readonly status?: TaskHistoryStatus;
  readonly message?: string;
  readonly custom?: unknown;
}

/**
 * How a task stands. Writes may be repeated and may come late: attempt first, then sequence, decide which is newer.
 * - A newer attempt replaces all; what is absent in it is cleared, but for `custom`.
 * - In the same attempt a newer write replaces what it has; an absent field says nothing. An older one only fills in
 *   what is not known yet, such as the time of the start.
 * - A write of an older attempt changes nothing.
 */
export interface TaskHistoryWrite extends Omit<New<'taskHistory'>, 'transactionId' | 'position' | 'attempts'> {
  readonly attempt: number;
  /** Rises with every write about the same task on the same node. */
  readonly sequence: number;
}

/** All that is given must hold. An empty list lets nothing through. */
export interface TaskHistoryFilter {
  readonly nodes?: readonly string[];
  readonly tasks?: readonly string[];
  readonly statuses?: readonly TaskHistoryStatus[];
  readonly fuelStatuses?: readonly FuelTaskStatus[];
}

/** A transaction that does not exist is `not-found`. */
export interface TaskHistoryStore {
  /** Any number of rows, all or none. Rows that are there already stay as they are. */
  plan(transactionId: number, rows: readonly PlannedTaskRow[]): Promise<void>;
  /** Any number of rows, all or none; of tasks not planned too. */
  record(transactionId: number, writes: readonly TaskHistoryWrite[]): Promise<void>;
  /** All rows, in the order they were planned in. */
  list(transactionId: number, filter?: TaskHistoryFilter): Promise<readonly TaskHistoryRow[]>;
  /** The same in pages, which are cut in that order. */
  page(transactionId: number, filter?: TaskHistoryFilter & PageRequest): Promise<Page<TaskHistoryRow>>;
  /** Only statuses that occur. */
  count(
    transactionId: number,
    filter?: TaskHistoryFilter,
  ): Promise<Readonly<Partial<Record<TaskHistoryStatus, number>>>>;
  /** The same by node. */
  countByNode(
    transactionId: number,
  ): Promise<Readonly<Record<string, Readonly<Partial<Record<TaskHistoryStatus, number>>>>>>;
  /** The same by task. */
  countByTask(
    transactionId: number,
  ): Promise<Readonly<Record<string, Readonly<Partial<Record<TaskHistoryStatus, number>>>>>>;
  /** One task on one node over the runs of a cluster, newest first. */
  overRuns(clusterId: number, task: string, node: string, page?: PageRequest): Promise<Page<TaskHistoryRow>>;
}
