/** Tasks that ended well with the same state. */
export interface TaskStateWrite {
  readonly clusterId: number;
  /** JSON text of a ClusterState of src/graph: `{common, nodes}`. Kept as it is, so that numbers keep their spelling. */
  readonly state: string;
  /** ISO 8601: when. Of two writes for the same task and node the later moment stays, whichever comes first. */
  readonly at: string;
  readonly tasks: readonly { readonly task: string; readonly node: string }[];
}

/** Old states of a cluster. */
export interface TaskStates {
  /** By name (its hash): JSON text of the state. Each text once, however many tasks share it. */
  readonly states: Readonly<Record<string, string>>;
  /** The state with which the task last ended well on the node, by its name. */
  readonly tasks: readonly {
    readonly task: string;
    readonly node: string;
    readonly state: string;
    readonly at: string;
  }[];
}

/** What `changed()` of the next run compares with: for each (task, node) the state with which it last ended well. */
export interface TaskStateStore {
  /** Any number of tasks, all or none. May be repeated. @throws `not-found` for the cluster. */
  record(write: TaskStateWrite): Promise<void>;
  /** Empty for a cluster without any; by task and node. @throws `not-found` for the cluster. */
  read(clusterId: number): Promise<TaskStates>;
  /** Forgets what is known of nodes, of tasks, or of the whole cluster. Answers how many pairs. */
  forget(
    clusterId: number,
    what?: { readonly nodes?: readonly string[]; readonly tasks?: readonly string[] },
  ): Promise<number>;
}
