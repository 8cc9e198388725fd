/**
 * The wire between the parts of a split run and their coordinator. Numbers are the whole run's (of the
 * graph given to `partition`), so that a message needs no names. Each call of `apply` makes at most one
 * message a direction; messages count up by sender, and a
 * receiver takes them in in that order, each once, however they arrive.
 *
 * A *class* is a name's number for a name with a limit, or the number of names for all other tasks.
 */

import type { Rejection } from './events.js';

/** Bits of a task or join as its successors see it. */
export const finishedBit = 1;
export const failedBit = 2;

export interface FromPart {
  readonly part: number;
  /** Counts up from 1. */
  readonly seq: number;
  /** How many messages of the coordinator this part had taken in when it sent this one. */
  readonly seen: number;
  /** `[task, bits, cause]`: news of tasks that other parts wait for. */
  readonly tasks?: readonly (readonly [number, number, string])[];
  /** `[join, bits, cause]`: what this part's tasks before the join amount to. */
  readonly joins?: readonly (readonly [number, number, string])[];
  /** `[node, 1 | 0]`: the node has failed or dep_failed tasks, or no longer has. */
  readonly failing?: readonly (readonly [number, number])[];
  /** `[class, change]` of the number of free nodes that wait for a permit. */
  readonly demand?: readonly (readonly [number, number])[];
  /** `[class, count]`: permits given back. */
  readonly release?: readonly (readonly [number, number])[];
  /** Whether nothing runs here and nothing will start unless a message comes. */
  readonly quiet: boolean;
  /** Operator requests of `ToPart` that could not be fulfilled. */
  readonly rejected?: readonly Rejection[];
  /** Answer to `close`. */
  readonly closed?: { readonly undone: number };
}

export interface ToPart {
  /** Counts up from 1. */
  readonly seq: number;
  /** First of all; nodes of this part that did not answer before the run. */
  readonly begin?: { readonly offline: readonly number[] };
  readonly pause?: boolean;
  /** `user`: for ever. `failure`: until an operator's retry brings the run back, told as `none`. */
  readonly stop?: 'user' | 'failure' | 'none';
  readonly tasks?: readonly (readonly [number, number, string])[];
  readonly joins?: readonly (readonly [number, number, string])[];
  readonly grants?: readonly (readonly [number, number])[];
  /** Operator requests for tasks of this part. */
  readonly retry?: readonly string[];
  readonly skip?: readonly string[];
  /** Everything is quiet everywhere: settle the rest and finish. */
  readonly close?: true;
}
