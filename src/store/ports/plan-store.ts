import type { Json } from './page.ts';

/** What a node agent must do for one task: type, parameters, time limit, secrets … Any JSON. */
export interface PlanOrder {
  readonly node: string;
  readonly task: string;
  readonly order: unknown;
}

export interface NewPlan {
  /** The caller's hash of the content: equal hashes mean equal plans. */
  readonly hash: string;
  /** Describes the plan without loading it, e.g. the PlanReference of activities/graph-contract.ts. */
  readonly reference: unknown;
  /** The text chunks of each part, in order. */
  readonly parts: readonly (readonly string[])[];
  /** Chunks of the coordinator's input; empty for a single part. */
  readonly coordination: readonly string[];
  /** Each (node, task) pair once. */
  readonly orders: Iterable<PlanOrder>;
  /** JSON text of the plan with its explanation, for people and for reports. */
  readonly explanation: string;
}

/** Plans, cut for execution. A plan never changes once stored. An unknown hash is `not-found`. */
export interface PlanStore {
  /** Stores the plan. If its hash exists, only marks it as used now. */
  put(plan: NewPlan): Promise<{ readonly created: boolean }>;
  getReference(hash: string): Promise<Json>;
  /** A chunk, counted from 0. @throws `not-found` when there is no such part or chunk. */
  getChunk(hash: string, part: number | 'coordination', chunk: number): Promise<string>;
  /** Reads one order and a few neighbours, never a node's whole list. @throws `not-found` */
  getOrder(hash: string, node: string, task: string): Promise<Json>;
  getExplanation(hash: string): Promise<string>;
  /**
   * Removes plans that no transaction refers to and that were last put before `before` (ISO 8601). Returns how many.
   */
  prune(before: string): Promise<number>;
}
