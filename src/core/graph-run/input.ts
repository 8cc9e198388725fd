/** One graph of a run: all tasks of a type, for all nodes that its filter takes, unless it says otherwise. */
export interface GraphRequest {
  readonly type: string;
  /** Ids of nodes; switches the graph's node filter off. */
  readonly nodes?: readonly number[];
  /** Tasks that may run; the others keep their places in the order. */
  readonly tasks?: readonly string[];
}

export type GraphRunMode = 'apply' | 'dry_run' | 'noop_run';

/** Input of `execute_graph`: one JSON object (design §5). Give `graphs`, or `sequence`, or `from`; none of them: the graph of type `default`. */
export interface GraphRunInput {
  readonly cluster: number;
  readonly graphs?: readonly GraphRequest[];
  /** Id of a sequence of the cluster's release. */
  readonly sequence?: number;
  /** Id of an earlier transaction: only what failed there, was left undone, and everything after it. */
  readonly from?: number;
  readonly mode?: GraphRunMode;
  /** Ignores earlier states: every condition sees everything as changed. */
  readonly force?: boolean;
  /** Asks task runners for more detail. */
  readonly debug?: boolean;
  readonly subgraphs?: readonly { readonly start?: readonly string[]; readonly end?: readonly string[] }[];
  /** Most nodes busy at once; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /** The transaction that was made for this run by the API; absent when started from Temporal's CLI. */
  readonly transaction?: number;
  readonly started_by?: string;
  readonly reason?: string;
}
