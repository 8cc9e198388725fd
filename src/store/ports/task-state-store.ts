/** Tasks that succeeded with the same state. */
export interface TaskStateWrite {
  readonly clusterId: number;
  /**
   * JSON text of a ClusterState of src/graph: `{common, nodes}`. Stored unchanged, so that numbers keep their spelling.
   */
  readonly state: string;
  /** ISO 8601. Of two writes for the same task and node, the one with the later time wins. */
  readonly at: string;
  readonly tasks: readonly { readonly task: string; readonly node: string }[];
}

/** Old states of a cluster. */
export interface TaskStates {
  /** JSON text of each state by its name (its hash). Tasks share equal texts. */
  readonly states: Readonly<Record<string, string>>;
  /** Name of the state with which the task last succeeded on the node. */
  readonly tasks: readonly {
    readonly task: string;
    readonly node: string;
    readonly state: string;
    readonly at: string;
  }[];
}

/** What `changed()` of the next run compares with: for each (task, node), the state of its last success. */
export interface TaskStateStore {
  /** Any number of tasks, all or none. May be repeated. @throws `not-found` for the cluster. */
  record(write: TaskStateWrite): Promise<void>;
  /** By task and node; empty for a cluster without states. @throws `not-found` for the cluster. */
  read(clusterId: number): Promise<TaskStates>;
}
