import type { ExecutionKey } from './execution.js';

/** Who ordered it, and why. */
export interface ControlOrder {
  readonly reason: string;
  readonly by?: string;
}

/**
 * What an operator has really ordered of the agent. Temporal carries cancellations and drains, but whoever has a
 * credential of its namespace can ask for both: its word alone ends nothing. Undefined: nobody ordered it. Rejects for
 * outages: asking again is right.
 */
export interface ControlJudge {
  /** Whether the execution is to be ended. */
  cancelled(key: ExecutionKey): Promise<ControlOrder | undefined>;
  /**
   * Whether the node's agent is to take nothing new and end.
   *
   * @param instance names this process of the agent: one order drains one process, and not its successor
   */
  drained(node: string, instance: string): Promise<ControlOrder | undefined>;
}
