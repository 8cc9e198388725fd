/**
 * The messages between the parts of a split run and their coordinator. Numbers are those of the whole run (of the graph
 * passed to `partition`), so that a message needs no names but those of
 * causes, which the receiver may not know by number. Each call of `apply` sends at most one message per
 * direction. Messages are numbered by sender, and the receiver processes each once, in this order.
 *
 * A *class* is the number of a name with a limit, or the count of names for all other tasks.
 */

import type { RootCause, TaskOnNode } from '../task-on-node.ts';
import type { Rejection } from './rejection.ts';

/** Bits of a task or join as its successors see it. */
export const finishedBit = 1;
export const failedBit = 2;

/** `[task or join, bits, cause]`; null: it has not failed. */
export type Change = readonly [number, number, RootCause | null];

export interface FromPart {
  readonly part: number;
  /** Counts up from 1. */
  readonly seq: number;
  /** Number of the coordinator's last message that this part had processed. */
  readonly seen: number;
  /** `[task, bits, cause]`: changes of tasks that other parts wait for. */
  readonly tasks?: readonly Change[];
  /** `[join, bits, cause]`: combined state of this part's tasks before the join. */
  readonly joins?: readonly Change[];
  /** `[node, loss]`: what the node has lost, as in `ToleranceCount`. */
  readonly failing?: readonly (readonly [number, number])[];
  /** `[class, change]` of the number of free nodes that wait for a permit. */
  readonly demand?: readonly (readonly [number, number])[];
  /** `[class, count]`: returned permits. */
  readonly release?: readonly (readonly [number, number])[];
  /** Whether nothing runs here and nothing will start without a message. */
  readonly quiet: boolean;
  /** Rejected operator requests of `ToPart`. */
  readonly rejected?: readonly Rejection[];
  /** Answer to `close`. */
  readonly closed?: { readonly undone: number };
}

export interface ToPart {
  /** Counts up from 1. */
  readonly seq: number;
  /** Starts the part. Nodes of this part that did not answer before the run. */
  readonly begin?: { readonly offline: readonly number[] };
  readonly pause?: boolean;
  /** `user`: final. `failure`: until an operator's retry resumes the run, which sends `none`. */
  readonly stop?: 'user' | 'failure' | 'none';
  readonly tasks?: readonly Change[];
  readonly joins?: readonly Change[];
  readonly grants?: readonly (readonly [number, number])[];
  /** Operator requests for tasks of this part. */
  readonly retry?: readonly TaskOnNode[];
  readonly skip?: readonly TaskOnNode[];
  /** Names of tasks that an operator has approved. */
  readonly approve?: readonly string[];
  /** All parts are quiet: settle the rest and finish. */
  readonly close?: true;
}
