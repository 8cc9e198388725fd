import type { RootCause, TaskOnNode } from '../task-on-node.ts';

/** Why an event was rejected. A new reason is a new variant. */
export type Rejection =
  | ({ readonly reason: 'unknown_task' } & TaskOnNode)
  | { readonly reason: 'unknown_node'; readonly node: string }
  | ({ readonly reason: 'not_running'; readonly attempt: number } & TaskOnNode)
  | ({ readonly reason: 'not_failed'; readonly status: string } & TaskOnNode)
  | ({ readonly reason: 'not_skippable'; readonly status: string; readonly cause?: RootCause } & TaskOnNode)
  /** A message of a coordinator for a scheduler of a whole run. */
  | { readonly reason: 'not_a_part' }
  | { readonly reason: 'not_started' }
  | { readonly reason: 'already_started' }
  /** The scheduler is a part of a split run: pause, stop and operator updates go to the coordinator. */
  | { readonly reason: 'ask_the_coordinator' }
  | { readonly reason: 'finished' }
  | { readonly reason: 'stopped' }
  /** An operator's request to rollouts, in words. */
  | { readonly reason: 'rollout'; readonly why: string }
  /** The driver has no capacity for more attempts (`Scheduler.exhausted`). */
  | { readonly reason: 'exhausted' };
