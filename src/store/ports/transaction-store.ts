import type { GraphRunMode } from '../../core/words.js';
import type { Json, Page, PageRequest } from './page.js';

/** `stopped` is our own word; Fuel's clients know the others. */
export type TransactionStatus = 'pending' | 'running' | 'ready' | 'error' | 'stopped';

/** What Fuel calls a task row: a run (`deploy`), or one graph of a run (`deployment`), whose parent the run is. */
export interface TransactionRecord {
  readonly id: number;
  readonly uuid: string;
  readonly clusterId: number | null;
  readonly parentId: number | null;
  readonly name: string;
  readonly status: TransactionStatus;
  /** Percent. */
  readonly progress: number;
  readonly message: string | null;
  readonly result: Json;
  /** Of a child. */
  readonly graphType: string | null;
  readonly mode: GraphRunMode;
  readonly force: boolean;
  readonly debug: boolean;
  /** What was asked for: a GraphRunInput of the run, a GraphRequest of a child. */
  readonly input: Json;
  readonly workflowId: string | null;
  readonly temporalRunId: string | null;
  readonly startedBy: string | null;
  readonly timeStart: string | null;
  readonly timeEnd: string | null;
  /** Set: hidden from lists of current work, but kept. */
  readonly deletedAt: string | null;
  /** Of a child that has been planned. */
  readonly planHash: string | null;
}

export interface NewRun {
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
  readonly mode?: TransactionRecord['mode'];
  readonly force?: boolean;
  readonly debug?: boolean;
  readonly input?: unknown;
  readonly workflowId?: string;
  readonly temporalRunId?: string;
  readonly startedBy?: string;
  /** Now, when absent. */
  readonly timeStart?: string;
}

/** The run and its children in order. */
export interface RunTransactions {
  readonly run: TransactionRecord;
  readonly graphs: readonly TransactionRecord[];
}

/** Work that is no run of graphs: `stop_deployment`, `check_before_deployment` … */
export interface NewTransaction {
  readonly name: string;
  readonly clusterId?: number | null;
  readonly parentId?: number | null;
  readonly status?: TransactionStatus;
  readonly progress?: number;
  readonly message?: string | null;
  readonly result?: unknown;
  readonly startedBy?: string;
  readonly timeStart?: string;
  readonly timeEnd?: string;
}

/** Absent fields stay as they are. */
export interface TransactionChange {
  /**
   * The first of `ready`, `error`, `stopped` stays: a later status, progress, message, result or `timeEnd` changes
   * nothing, so that calls may be repeated and come late. An end sets `timeEnd`, to now, and `progress`, to 100, if not
   * given; `running` sets `timeStart`, to now, if there is none.
   */
  readonly status?: TransactionStatus;
  readonly progress?: number;
  readonly message?: string | null;
  readonly result?: unknown;
  readonly workflowId?: string;
  readonly temporalRunId?: string;
  readonly timeStart?: string;
  readonly timeEnd?: string;
  readonly planHash?: string;
}

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
export type SnapshotKind = 'deployment_info' | 'cluster_settings' | 'network_configuration' | 'tasks';

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
