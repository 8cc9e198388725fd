import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { number, optional, text, texts, wholes } from '../data/schema.ts';
import { schedulerGraph } from '../scheduler/graph.ts';

export type { PlanReference } from '../contracts/graph-run.ts';

/** The data with which a workflow drives one part of a plan. */
export const executablePart = z.object({
  graph: schedulerGraph,
  /** By node index of the graph: its task queue; null for nodes without an agent (the sync node). */
  queues: z.array(z.nullable(text)),
  /** Queue of what MAAS does, for task types that `goesToMaster`; the name is that of recorded histories. */
  master: text,
  /** By node index: queue on which its agent answers pings; null for nodes that are not pinged. */
  controls: z.array(z.nullable(text)),
  /** By node index: the agent's name for the node, in orders and requests. */
  agents: texts,
  /** Task types, and by local task the index of its type. */
  types: texts,
  typeOf: wholes,
  /** Time limits on the node in seconds, tries included, and by local task the index of its limit. */
  timeouts: z.array(number),
  timeoutOf: wholes,
  ...optional({
    /** By node index: its name for people. Absent in plans of earlier builds. */
    names: texts,
  }),
});
export type ExecutablePart = Wire<typeof executablePart>;
