import type { New, Stored } from '../tables.ts';
import type { Page, PageRequest } from './page.ts';

/** As people are shown them. */
export type TaskHistoryStatus = Stored<'taskHistory'>['status'];

/** Fuel's statuses for the same. */
export type FuelTaskStatus = 'pending' | 'running' | 'ready' | 'error' | 'skipped';

/**
 * Maps one to the other. An `ignored` task failed where that does not matter; a `dep_failed` task never ran because of
 * an error.
 */
export const fuelTaskStatus: Readonly<Record<TaskHistoryStatus, FuelTaskStatus>> = {
  waiting: 'pending',
  running: 'running',
  retrying: 'running',
  successful: 'ready',
  ignored: 'ready',
  failed: 'error',
  dep_failed: 'error',
  not_reached: 'skipped',
  skipped: 'skipped',
};

/** The outcome of one task on one node in one graph run. */
export interface TaskHistoryRow extends Omit<Stored<'taskHistory'>, 'position' | 'sequence'> {
  readonly fuelStatus: FuelTaskStatus;
}

/** A row of a plan, before anything ran. A task without work may start in its final status. */
export interface PlannedTaskRow {
  readonly node: string;
  readonly task: string;
  /** Default `waiting`. */
  readonly status?: TaskHistoryStatus;
  readonly message?: string;
  readonly custom?: unknown;
}

/**
 * The state of a task. Writes may be repeated and may arrive late: attempt, then sequence, decide which is newer.
 * - A newer attempt replaces everything; it clears absent fields except `custom`.
 * - Within an attempt, a newer write replaces the fields it has. An older write only fills in what is unknown, such as
 * the start time.
 * - A write of an older attempt changes nothing.
 */
export interface TaskHistoryWrite extends Omit<New<'taskHistory'>, 'transactionId' | 'position' | 'attempts'> {
  readonly attempt: number;
  /** Increases with every write for the same task on the same node. */
  readonly sequence: number;
}

/** All given conditions must hold. An empty list matches nothing. */
export interface TaskHistoryFilter {
  readonly nodes?: readonly string[];
  readonly tasks?: readonly string[];
  readonly statuses?: readonly TaskHistoryStatus[];
}

/** An unknown transaction is `not-found`. */
export interface TaskHistoryStore {
  /** Adds any number of rows, all or none. Existing rows stay unchanged. */
  plan(transactionId: number, rows: readonly PlannedTaskRow[]): Promise<void>;
  /** Records any number of rows, all or none, including unplanned tasks. */
  record(transactionId: number, writes: readonly TaskHistoryWrite[]): Promise<void>;
  /** All rows, in planned order. */
  list(transactionId: number, filter?: TaskHistoryFilter): Promise<readonly TaskHistoryRow[]>;
  /** The same in pages. */
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
}
