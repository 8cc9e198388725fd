import type { Json } from './page.js';

/** What a node agent is to do for one task: type, parameters, time limit, secrets … Any JSON. */
export interface PlanOrder {
  readonly node: string;
  readonly task: string;
  readonly order: unknown;
}

export interface NewPlan {
  /** Over the content, the caller's: the same hash means the same plan. */
  readonly hash: string;
  /** What is known of the plan without loading it, e.g. the PlanReference of activities/graph-contract.ts. */
  readonly reference: unknown;
  /** By part: its chunks of text in order. */
  readonly parts: readonly (readonly string[])[];
  /** Chunks of what the coordinator works on; empty for one part. */
  readonly coordination: readonly string[];
  /** Each (node, task) once. */
  readonly orders: Iterable<PlanOrder>;
  /** JSON text of the plan with its explanation, for people and for reports. */
  readonly explanation: string;
}

/** Plans, cut for execution. A plan never changes once stored. A hash that is not stored is `not-found`. */
export interface PlanStore {
  /** Stores the plan unless its hash is there, in which case it only counts as used now. */
  put(plan: NewPlan): Promise<{ readonly created: boolean }>;
  has(hash: string): Promise<boolean>;
  getReference(hash: string): Promise<Json>;
  /** A chunk, counted from 0. @throws `not-found` when there is no such part or chunk. */
  getChunk(hash: string, part: number | 'coordination', chunk: number): Promise<string>;
  /** Reads this order and a few neighbours, never a node's whole list. @throws `not-found` */
  getOrder(hash: string, node: string, task: string): Promise<Json>;
  /** Names of a node's tasks that have an order, sorted by their bytes. */
  listOrders(hash: string, node: string): Promise<readonly string[]>;
  getExplanation(hash: string): Promise<string>;
  /**
   * Removes plans that no transaction refers to and that were not put since `before` (ISO 8601). Answers how many.
   */
  prune(before: string): Promise<number>;
}
