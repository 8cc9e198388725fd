/**
 * What is kept of a task for its node: all that may not travel through Temporal. Stored with the plan under the name
 * the node's agent has (`agentAddress`), as JSON. Values of secrets are never in it.
 */
export interface TaskOrder {
  /** Site in the node's queue. */
  readonly site: string;
  /** Id of the node in plans and histories; its agent may know it by another name. */
  readonly uid: string;
  readonly type: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The type's limit, and how often and after how many seconds the node tries again. */
  readonly timeout_sec: number;
  readonly retries: number;
  readonly interval_sec: number;
  /** Most it may take on its node, all tries included. */
  readonly deadline_sec: number;
  /** Secrets the task may use, as its field `secrets` names them: `{name, ref, as}`. */
  readonly secrets?: readonly unknown[];
}
