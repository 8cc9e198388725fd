import type { FromPart, ToPart } from './part-messages.js';
import type { RunResult, SettledStatus } from './status.js';

/**
 * What the driver tells the scheduler. The scheduler holds no clock: `now` (milliseconds of any steady
 * epoch, `Date.now()` inside a workflow) is the only time it knows, and is needed only where a retry
 * may be due. Tasks and nodes are named as in the plan.
 */
export type SchedulerEvent =
  /** First event. `offline`: nodes that did not answer before the run. */
  | { readonly type: 'begin'; readonly offline?: readonly string[]; readonly now?: number }
  /** Answer to a `start` command, with its attempt; a second answer to the same attempt is rejected. */
  | {
      readonly type: 'ended';
      readonly task: string;
      readonly attempt: number;
      readonly outcome: 'successful' | 'failed';
      /** Of a failed attempt: another cannot end better, whatever the task's policy says. */
      readonly final?: true;
      readonly now?: number;
    }
  /** Time passed: attempts that are due start. Answer to a `wake` command. */
  | { readonly type: 'tick'; readonly now: number }
  /** Starts nothing new, retries included, until `resume`; running tasks end. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume'; readonly now?: number }
  /** Graceful stop by the user: final, running tasks end, nothing starts any more. */
  | { readonly type: 'stop' }
  /** The operator gives a failed task, and all that was lost with it, another chance. */
  | { readonly type: 'retry_task'; readonly task: string }
  /** The operator takes the work out of a task that has not run, or forgives one that failed. */
  | { readonly type: 'skip_task'; readonly task: string }
  /** Only in a scheduler that visits (`visits: true`): offers a free node its best task now. */
  | { readonly type: 'visit'; readonly node: string }
  /** Only in a part: a batch from the coordinator. */
  | { readonly type: 'told'; readonly message: ToPart };

/** What the driver must do, in order. */
export type SchedulerCommand =
  /**
   * Run the task on its node and answer with `ended`. Attempts of a task count up from 1 over the whole
   * run, operator retries included. `work: false` (only without `instantNoWork`): there is nothing to
   * run, answer at once with `successful`.
   */
  | {
      readonly type: 'start';
      readonly task: string;
      readonly node: string;
      readonly attempt: number;
      readonly work: boolean;
    }
  /** The attempt failed and another follows at `due`. The task keeps its node and its slots until then. */
  | { readonly type: 'retrying'; readonly task: string; readonly attempt: number; readonly due: number }
  /** Send `tick` at this time (the earliest due attempt); replaces an earlier `wake`. */
  | { readonly type: 'wake'; readonly at: number }
  /** The task reached a final status. `cause` (`task@node` or `offline:<node>`) explains a `dep_failed`. */
  | {
      readonly type: 'settled';
      readonly task: string;
      readonly status: SettledStatus;
      readonly cause?: string;
      readonly undone?: true;
    }
  /** By `retry_task` or `skip_task` the task is waiting again. */
  | { readonly type: 'reopened'; readonly task: string }
  /** The run begins to stop, or (after an operator's retry) no longer does. */
  | { readonly type: 'stopping'; readonly why: 'user' | 'critical' | 'tolerance' | 'none' }
  /** Nothing more will come. In a part, the coordinator knows the result. */
  | { readonly type: 'finish'; readonly result?: RunResult }
  /** Only in a part: one batch for the coordinator. */
  | { readonly type: 'send'; readonly message: FromPart }
  /** The event changed nothing. */
  | { readonly type: 'rejected'; readonly rejection: Rejection };

/** Why an event was of no use. A new reason is a new variant. */
export type Rejection =
  | { readonly reason: 'unknown_task'; readonly task: string }
  | { readonly reason: 'unknown_node'; readonly node: string }
  | { readonly reason: 'not_running'; readonly task: string; readonly attempt: number }
  | { readonly reason: 'not_failed'; readonly task: string; readonly status: string }
  | { readonly reason: 'not_skippable'; readonly task: string; readonly status: string; readonly cause?: string }
  /** `told` to a scheduler of a whole run. */
  | { readonly reason: 'not_a_part' }
  | { readonly reason: 'not_begun' }
  | { readonly reason: 'already_begun' }
  /** The scheduler is a part of a split run: pause, stop and operator updates go to the coordinator. */
  | { readonly reason: 'ask_the_coordinator' }
  | { readonly reason: 'finished' }
  | { readonly reason: 'stopped' }
  /** The driver has no room for further attempts (`Scheduler.exhausted`). */
  | { readonly reason: 'exhausted' };
