/**
 * The part of a task that must not pass through Temporal. Stored as JSON with the plan, under the agent's name
 * (`agentAddress`). Never contains values of secrets.
 */
export interface TaskOrder {
  /** Site in the node's queue. */
  readonly site: string;
  /** Id of the node in plans and histories; its agent may have another name. */
  readonly uid: string;
  readonly type: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The type's time limit, the number of retries, and the seconds between them. */
  readonly timeout_sec: number;
  readonly retries: number;
  readonly interval_sec: number;
  /** Time limit on its node, including all attempts. */
  readonly deadline_sec: number;
  /** Secrets that the task may use, from its field `secrets`: `{name, ref, as}`. */
  readonly secrets?: readonly unknown[];
}
