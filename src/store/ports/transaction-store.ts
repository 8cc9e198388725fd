import type { Change, New, Own, Stored } from '../tables.ts';

/** What Fuel calls a task: a run (`deploy`), or one of its graphs (`deployment`), whose parent is the run. */
export type TransactionRecord = Stored<'deploymentTransaction'>;

/** `stopped` is ours; Fuel's clients know the others. */
export type TransactionStatus = TransactionRecord['status'];

type RunValues = Own<'deploymentTransaction'>;

export interface NewRun
  extends Pick<RunValues, 'mode' | 'force' | 'debug' | 'input' | 'workflowId' | 'temporalRunId' | 'startedBy'> {
  readonly clusterId: number;
  /** Default `deploy`. */
  readonly name?: string;
  /** In order. */
  readonly graphs: readonly {
    readonly graphType: string;
    /** Default `deployment`. */
    readonly name?: string;
    readonly input?: unknown;
  }[];
  /** Default: now. */
  readonly timeStart?: string;
}

/** The run and its children in order. */
export interface RunTransactions {
  readonly run: TransactionRecord;
  readonly graphs: readonly TransactionRecord[];
}

/** Work that is not a graph run: `stop_deployment`, `check_before_deployment` … */
export type NewTransaction = Omit<New<'deploymentTransaction'>, 'mode' | 'force' | 'debug'>;

/** Absent fields keep their values. */
export type TransactionChange = Pick<
  Change<'deploymentTransaction'>,
  'progress' | 'message' | 'result' | 'workflowId' | 'temporalRunId' | 'timeStart' | 'timeEnd' | 'planHash'
> & {
  /**
   * The first of `ready`, `error`, `stopped` is final: a later status, progress, message, result or `timeEnd` changes
   * nothing, so that calls may be repeated and arrive late. A final status sets `timeEnd` to now and `progress` to 100
   * unless given; `running` sets `timeStart` to now if it is unset.
   */
  readonly status?: TransactionStatus;
};

export interface TransactionFilter {
  readonly ids?: readonly number[];
  readonly clusterId?: number;
  readonly statuses?: readonly TransactionStatus[];
  readonly names?: readonly string[];
  /** Null: only those without a parent. */
  readonly parentId?: number | null;
  readonly workflowId?: string;
  /** True: only hidden ones; false: only the others; absent: all. */
  readonly hidden?: boolean;
}

/** The configuration in effect when a graph was planned. */
export type SnapshotKind = Stored<'transactionSnapshot'>['kind'];

/** An unknown id is `not-found` for every call but the lists. */
export interface TransactionStore {
  /**
   * Creates a `running` run with `pending` children and hides the cluster's earlier runs, atomically. Repeating it with
   * the same workflow id and Temporal run id returns what is stored.
   * @throws `conflict` with `transaction`, and with the holder if known, when the cluster has an open run; `not-found`
   * for the cluster.
   */
  createRun(run: NewRun): Promise<RunTransactions>;
  create(transaction: NewTransaction): Promise<TransactionRecord>;
  get(id: number): Promise<TransactionRecord>;
  /** The run that the transaction is or belongs to. */
  getRun(id: number): Promise<RunTransactions>;
  /** The newest run with these Temporal ids, or null. */
  findRun(workflowId: string, temporalRunId?: string): Promise<RunTransactions | null>;
  /** By id, ascending. */
  list(filter?: TransactionFilter): Promise<readonly TransactionRecord[]>;
  update(id: number, change: TransactionChange): Promise<TransactionRecord>;
  /**
   * Ends the run and its open children; these become `stopped` if the run did, else `error`. Tasks that are recorded as running
   * become `failed`, as no one records their end.
   */
  endRun(
    id: number,
    end: {
      readonly status: 'ready' | 'error' | 'stopped';
      readonly message?: string | null;
      readonly timeEnd?: string;
      /** Message of those children; default `Aborted`. */
      readonly childMessage?: string;
    },
  ): Promise<RunTransactions>;
  /**
   * Opens a run again, with the children that `endRun` ended: its workflow, which seemed gone, goes on after a reset.
   * Does nothing to an open run.
   */
  reopenRun(id: number): Promise<void>;
  /** Hides the transaction and its children. Repeating changes nothing. */
  hide(id: number): Promise<void>;
  /**
   * Deletes the transaction with its children, their histories and snapshots.
   * @throws `conflict` when it is open, unless `force`.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<void>;

  /** Stores the text of a JSON value unchanged, so that numbers keep their spelling. Replaces an existing one. */
  putSnapshot(id: number, kind: SnapshotKind, text: string): Promise<void>;
  /** The text; undefined if there is none. */
  getSnapshot(id: number, kind: SnapshotKind): Promise<string | undefined>;
}
