import type { Change, New, Own, Stored } from '../tables.js';
import type { Json, Page, PageRequest } from './page.js';

/** What Fuel calls a task row: a run (`deploy`), or one graph of a run (`deployment`), whose parent the run is. */
export type TransactionRecord = Stored<'deploymentTransaction'>;

/** `stopped` is our own word; Fuel's clients know the others. */
export type TransactionStatus = TransactionRecord['status'];

type RunValues = Own<'deploymentTransaction'>;

export interface NewRun
  extends Pick<RunValues, 'mode' | 'force' | 'debug' | 'input' | 'workflowId' | 'temporalRunId' | 'startedBy'> {
  readonly clusterId: number;
  /** `deploy` when absent. */
  readonly name?: string;
  /** In order. */
  readonly graphs: readonly {
    readonly graphType: string;
    /** `deployment` when absent. */
    readonly name?: string;
    readonly input?: unknown;
  }[];
  /** Now, when absent. */
  readonly timeStart?: string;
}

/** The run and its children in order. */
export interface RunTransactions {
  readonly run: TransactionRecord;
  readonly graphs: readonly TransactionRecord[];
}

/** Work that is not a run of graphs: `stop_deployment`, `check_before_deployment` … */
export type NewTransaction = Omit<New<'deploymentTransaction'>, 'mode' | 'force' | 'debug'>;

/** Absent fields stay as they are. */
export type TransactionChange = Pick<
  Change<'deploymentTransaction'>,
  'progress' | 'message' | 'result' | 'workflowId' | 'temporalRunId' | 'timeStart' | 'timeEnd' | 'planHash'
> & {
  /**
   * The first of `ready`, `error`, `stopped` stays: a later status, progress, message, result or `timeEnd` changes
   * nothing, so that calls may be repeated and come late. An end sets `timeEnd`, to now, and `progress`, to 100, if not
   * given; `running` sets `timeStart`, to now, if there is none.
   */
  readonly status?: TransactionStatus;
};

export interface TransactionFilter {
  readonly ids?: readonly number[];
  readonly clusterId?: number;
  readonly statuses?: readonly TransactionStatus[];
  readonly names?: readonly string[];
  readonly graphTypes?: readonly string[];
  /** Null: only those without a parent. */
  readonly parentId?: number | null;
  readonly workflowId?: string;
  /** True: only hidden ones; false: only the others; absent: all. */
  readonly hidden?: boolean;
}

/** What was in force when a graph was planned. */
export type SnapshotKind = Stored<'transactionSnapshot'>['kind'];

/** An id that does not exist is `not-found` for every call but the lists. */
export interface TransactionStore {
  /**
   * Writes a run, `running`, with its children, `pending`, and hides the cluster's earlier ones, all in one. Repeating
   * it with the same workflow id and Temporal run id answers with what is stored.
   * @throws `conflict` with `transaction`, and with the holder if known, when the cluster has a run that has not ended;
   * `not-found` for the cluster.
   */
  createRun(run: NewRun): Promise<RunTransactions>;
  create(transaction: NewTransaction): Promise<TransactionRecord>;
  get(id: number): Promise<TransactionRecord>;
  /** The run that the transaction is, or is part of. */
  getRun(id: number): Promise<RunTransactions>;
  /** The newest run with these ids of Temporal's; null when there is none. */
  findRun(workflowId: string, temporalRunId?: string): Promise<RunTransactions | null>;
  /** By id, ascending. */
  list(filter?: TransactionFilter): Promise<readonly TransactionRecord[]>;
  /** Newest first. */
  page(filter?: TransactionFilter & PageRequest): Promise<Page<TransactionRecord>>;
  update(id: number, change: TransactionChange): Promise<TransactionRecord>;
  /** Ends the run, and every child that has not: those are `stopped` with a stopped run, else `error`. */
  endRun(
    id: number,
    end: {
      readonly status: 'ready' | 'error' | 'stopped';
      readonly message?: string | null;
      readonly timeEnd?: string;
      /** Of those children; `Aborted` when absent. */
      readonly childMessage?: string;
    },
  ): Promise<RunTransactions>;
  /** Hides it with its children. Repeating changes nothing. */
  hide(id: number): Promise<void>;
  /**
   * Removes it with its children, their histories and snapshots, for good.
   * @throws `conflict` when it has not ended, unless `force`.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;

  /** Any JSON, of a run or a child; the newest one stays. */
  putReport(id: number, report: unknown): Promise<void>;
  /** Undefined while there is none. */
  getReport(id: number): Promise<Json | undefined>;
  /** Stores the text of a JSON value as it is, so that numbers keep their spelling. Given again, replaces. */
  putSnapshot(id: number, kind: SnapshotKind, text: string): Promise<void>;
  /** The text; undefined when there is none. */
  getSnapshot(id: number, kind: SnapshotKind): Promise<string | undefined>;
}
