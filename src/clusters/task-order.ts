import { z } from 'zod';
import type { PlanStore } from '../store/index.ts';

/**
 * The part of a task that must not pass through Temporal. Stored as JSON with the plan, under the agent's name
 * (`agentAddress`). Never contains values of secrets.
 */
const stored = z.strictObject({
  /** Site in the node's queue. */
  site: z.string(),
  /** Id of the node in plans and histories; its agent may have another name. */
  uid: z.string(),
  type: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  /** The type's time limit, the number of retries, and the seconds between them. */
  timeout_sec: z.number(),
  retries: z.number(),
  interval_sec: z.number(),
  /** Time limit on its node, including all attempts. */
  deadline_sec: z.number(),
  /** Its field `secrets`; the node checks it. */
  secrets: z.array(z.unknown()).readonly().exactOptional(),
});

export type TaskOrder = Readonly<z.output<typeof stored>>;

/** @throws `not-found` if the plan has no such task for the node */
export const readTaskOrder = async (
  plans: Pick<PlanStore, 'getOrder'>,
  hash: string,
  node: string,
  task: string,
): Promise<TaskOrder> => stored.parse(await plans.getOrder(hash, node, task));
