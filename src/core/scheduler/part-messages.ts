/**
 * The messages between the parts of a split run and their coordinator. Numbers are those of the whole run (of the graph
 * passed to `partition`), so that a message needs no names but those of
 * causes, which the receiver may not know by number. Each call of `apply` sends at most one message per
 * direction. Messages are numbered by sender, and the receiver processes each once, in this order.
 *
 * **After a reset of the run** its parts go on and know more than the coordinator: it has forgotten what it has told them since. Its messages
 * then come from another run. A part that sees this forgets what has not had its turn, tells everything that it knows (`whole`), and
 * takes nothing until the coordinator answers with everything that it knows (`whole`, with the number of what it answers). A coordinator
 * that hears of a message of which it knows nothing (`seen`) asks all parts for that (`hello`).
 *
 * **After a reset of a part** the coordinator knows more, and the part does not know that it was reset. Its messages come from another execution:
 * the coordinator asks it for everything (`hello`), and takes nothing else of it before. One that is told to close while it does again what it
 * has forgotten does not close, and tells everything. What other parts have done meanwhile stays done.
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

/** `[node or class, number]` */
export type Count = readonly [number, number];

export interface FromPart {
  readonly part: number;
  /** Counts up from 1. */
  readonly seq: number;
  /** Stamp of the coordinator's last message that this part has processed; 0: none. */
  readonly seen: number;
  /** Everything, not only changes: what is not named is 0. The part holds these permits, `[class, count]`, and no others. */
  readonly whole?: { readonly held: readonly Count[] };
  /** `[task, bits, cause]`: changes of tasks that other parts wait for. */
  readonly tasks?: readonly Change[];
  /** `[join, bits, cause]`: combined state of this part's tasks before the join. */
  readonly joins?: readonly Change[];
  /** `[node, loss]`: what the node has lost, as in `ToleranceCount`. */
  readonly failing?: readonly Count[];
  /** `[class, change]` of the number of free nodes that wait for a permit. */
  readonly demand?: readonly Count[];
  /** `[class, count]`: returned permits. */
  readonly release?: readonly Count[];
  /** Whether nothing runs here and nothing will start without a message. */
  readonly quiet: boolean;
  /** Rejected operator requests of `ToPart`. */
  readonly rejected?: readonly Rejection[];
}

export interface ToPart {
  /** Counts up from 1. */
  readonly seq: number;
  /** Names the message: the numbers begin again where a reset puts the coordinator, stamps do not. Not 0. */
  readonly stamp: number;
  /** Asks for everything, and says nothing else that counts. */
  readonly hello?: true;
  /** Everything, in answer to the part's message of this number: tasks and joins that are not named are 0. */
  readonly whole?: number;
  /** Starts the part. Nodes of this part that did not answer before the run. */
  readonly begin?: { readonly offline: readonly number[] };
  readonly pause?: boolean;
  /** `user`: final. `failure`: until an operator's retry resumes the run, which sends `none`. */
  readonly stop?: 'user' | 'failure' | 'none';
  readonly tasks?: readonly Change[];
  readonly joins?: readonly Change[];
  readonly grants?: readonly Count[];
  /** Operator requests for tasks of this part. */
  readonly retry?: readonly TaskOnNode[];
  readonly skip?: readonly TaskOnNode[];
  /** Names of tasks that an operator has approved. */
  readonly approve?: readonly string[];
  /** All parts are quiet: settle the rest and finish. */
  readonly close?: true;
}

/** The run whose coordinator sends, and the time of its message (milliseconds): a later run has taken over from an earlier one. */
export interface Sender {
  readonly run: string;
  readonly at: number;
  /** The executions that this one continues as new, and whose knowledge it has. Absent: none. */
  readonly after?: readonly string[];
}

/** How a part ended that its coordinator has closed. */
export interface PartEnd {
  /** Number of tasks that a stop left undone. */
  readonly undone: number;
  /** `[node, loss]` of the nodes that have lost something. */
  readonly failing: readonly Count[];
}
