import type { CheckFinding } from '../checks/wave-checks.ts';
import type { ReturnedPermits } from '../permits/answer.ts';
import type { RolloutRequest } from '../rollout/operate.ts';
import type { RootCause, TaskOnNode } from '../task-on-node.ts';
import type { RolloutAction } from '../words.ts';
import type { FromPart, Sender, ToPart } from './part-messages.ts';
import type { Rejection } from './rejection.ts';
import type { SettledStatus } from './status.ts';
import type { FailureCause, GraphEnd } from './tolerance.ts';

/**
 * Events from the driver to the scheduler. The scheduler has no clock: `now` (milliseconds of any steady epoch,
 * `Date.now()` inside a workflow) is the only time it knows, and is needed only where a retry may be due. A `task` is
 * the number of a task in the graph; operators name a task and its node. The type names are part of stored snapshots.
 */
export type SchedulerEvent =
  /** First event. `offline`: nodes that did not answer before the run. */
  | { readonly type: 'begin'; readonly offline?: readonly string[]; readonly now?: number }
  /** Answer to a `start` command, with its attempt. A second answer to the same attempt is rejected. */
  | {
      readonly type: 'ended';
      readonly task: number;
      readonly attempt: number;
      /** `not_reached`: nothing was done, as the run is being stopped. The task waits again, and the attempt does not count. */
      readonly outcome: 'success' | 'failed' | 'not_reached';
      /** The attempt failed and must not be retried, regardless of the task's policy. */
      readonly final?: true;
      readonly now?: number;
    }
  /** Starts due retries. Answer to a `wake` command. */
  | { readonly type: 'tick'; readonly now: number }
  /** Until `resume` nothing new starts, not even retries. Running tasks finish. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume'; readonly now?: number }
  /** Final graceful stop by the user: running tasks finish, nothing new starts. */
  | { readonly type: 'stop' }
  /** The operator lets the tasks of this name start, which `holdBefore` keeps waiting; also before `begin`. */
  | { readonly type: 'approve'; readonly name: string }
  /** The operator retries a failed task. Tasks that were lost with it wait again. */
  | ({ readonly type: 'retry_task' } & TaskOnNode)
  /** The operator tries a node again that did not answer before the run, or whose checks were not well. `tasks`: its tasks run again before its checks. */
  | { readonly type: 'retry_node'; readonly node: string; readonly tasks?: boolean }
  /** The operator skips a task that has not run, or ignores the failure of one that failed. */
  | ({ readonly type: 'skip_task' } & TaskOnNode)
  /** There are permits for the machines of these nodes, by number. */
  | { readonly type: 'permitted'; readonly nodes: readonly number[] }
  /** An operator's request to rollouts. */
  | { readonly type: 'rollout'; readonly action: RolloutAction; readonly request: RolloutRequest; readonly now: number }
  /** Answer to a `look` command, with the time of the command. `unseen`: why not all of its nodes are well. */
  | {
      readonly type: 'looked';
      readonly rollout: number;
      readonly at: number;
      readonly unseen?: string;
      readonly now: number;
    }
  /** Answer to a `check` command. `at`: when the checks were asked; nodes are numbers of the graph. */
  | {
      readonly type: 'checked';
      readonly rollout: number;
      readonly at: number;
      readonly findings: readonly CheckFinding[];
      readonly now: number;
    }
  /** Only with the option `visits`: starts the best task of a free node. */
  | { readonly type: 'visit'; readonly node: string }
  /** Only in a part: a message from the coordinator of this run. `first`: what a new part hears first may be a later `hello`. */
  | { readonly type: 'received'; readonly message: ToPart; readonly by: Sender; readonly first?: true };

/** Commands for the driver, in this order. */
export type SchedulerCommand =
  /**
   * Run the task on its node and answer with `ended`. Attempts of a task count from 1 over the whole run, including
   * operator retries. `work: false` (only without `instantNoWork`): nothing to run, answer immediately with `success`.
   */
  | { readonly type: 'start'; readonly task: number; readonly attempt: number; readonly work: boolean }
  /** The attempt failed and is retried at `due`. Until then the task keeps its node and its slots. */
  | { readonly type: 'retrying'; readonly task: number; readonly attempt: number; readonly due: number }
  /** Send `tick` at this time (the earliest due retry, or end of a soak). Replaces an earlier `wake`. */
  | { readonly type: 'wake'; readonly at: number }
  /** The task reached a final status. `cause` explains a `blocked`. */
  | {
      readonly type: 'settled';
      readonly task: number;
      readonly status: SettledStatus;
      readonly cause?: RootCause;
    }
  /** The task waits again after `retry_task` or `skip_task`. */
  | { readonly type: 'reopened'; readonly task: number }
  /** Only with the option `isLimited`: permits are wanted for exactly these nodes, and needed no more for others. */
  | { readonly type: 'permits'; readonly wants: readonly number[]; readonly back: ReturnedPermits }
  /** Find out whether these nodes of a rollout are well after the soak of their wave, and answer with `looked`. */
  | { readonly type: 'look'; readonly rollout: number; readonly nodes: readonly number[] }
  /** Ask the checks of a rollout about these nodes, and answer with `checked`. It takes the place of an earlier one. */
  | {
      readonly type: 'check';
      readonly rollout: number;
      readonly checks: readonly string[];
      readonly nodes: readonly number[];
    }
  /** The run is stopping, or (after an operator's retry) no longer is. */
  | { readonly type: 'stopping'; readonly why: 'user' | FailureCause | 'none' }
  /** The run has finished. For a part, the coordinator has the result. */
  | ({ readonly type: 'finish' } & Partial<GraphEnd>)
  /** Only in a part: a message for the coordinator. */
  | { readonly type: 'send'; readonly message: FromPart }
  /** The event changed nothing. */
  | { readonly type: 'rejected'; readonly rejection: Rejection };
