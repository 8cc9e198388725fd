import type { ExecutionKey } from '../core/task-on-node.ts';

/** Who ordered it, and why. */
export interface ControlOrder {
  readonly reason: string;
  readonly by?: string;
}

/**
 * Confirms an operator's order. Temporal carries cancellations and drains, but anyone with a credential of
 * its namespace can request both, so a request from Temporal alone has no effect. Undefined if no one ordered it.
 * Rejects on outages: retry then.
 */
export interface ControlJudge {
  /** Whether the execution is to be cancelled. */
  cancelled(key: ExecutionKey): Promise<ControlOrder | undefined>;
  /**
   * Whether the node's agent is to accept nothing new and end.
   *
   * @param instance identifies this process of the agent: an order drains one process, not its successor
   */
  drained(node: string, instance: string): Promise<ControlOrder | undefined>;
}
