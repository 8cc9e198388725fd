import type { TaskStatus } from '../words.ts';

export type TaskOutcomeKind =
  | 'ok'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  /** Nothing was done: the run was stopped before it started. */
  | 'withdrawn'
  | 'interrupted'
  | 'rejected'
  | 'skipped'
  | 'offline'
  /** It was started, or may have been, and its outcome is unknown. */
  | 'unknown';

/** How a task ended on its node: a result, never an exception (docs/design.md#failures-are-results). Under 2 KB; everything else is in the log store. */
export interface TaskEnd {
  readonly outcome: TaskOutcomeKind;
  /** Why it did not succeed, for the user; at most 300 characters. */
  readonly message?: string;
  readonly exit_code?: number;
  readonly changed?: boolean;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Of a `reboot`: the machine did not shut down, its boot id is unchanged. */
  readonly not_rebooted?: true;
  /** Tries within this generation. */
  readonly tries?: number;
  /** Counts of the task's runner, e.g. puppet's resources. */
  readonly summary?: Readonly<Record<string, number | string | boolean>>;
}

/** The outcome for the scheduler. A runner that found nothing to do did not fail. */
export function outcomeOf({ outcome }: TaskEnd): 'success' | 'failed' | 'withdrawn' {
  if (outcome === 'withdrawn') return 'withdrawn';
  return outcome === 'ok' || outcome === 'skipped' ? 'success' : 'failed';
}

/** The node will never run it: its agent does not know the type, or refuses the order. */
export const isFinal = (end: TaskEnd): boolean => end.outcome === 'rejected';

/** One row of a run's history: the state of a task's attempt on a node. */
export interface TaskRow {
  readonly task: string;
  readonly node: string;
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Of `blocked`: `task@node` or `offline:<node>`. */
  readonly root_cause?: string;
  readonly end?: TaskEnd;
}
