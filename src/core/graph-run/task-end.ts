import type { SettledStatus } from '../scheduler/index.js';

export type TaskOutcomeKind =
  | 'ok'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  | 'interrupted'
  | 'rejected'
  | 'skipped'
  | 'offline';

/** How a task ended on its node: a result, never an exception (design §5). Under 2 KB; everything else is in the log store. */
export interface TaskEnd {
  readonly outcome: TaskOutcomeKind;
  /** For a person, at most 300 characters: why it did not succeed. */
  readonly message?: string;
  readonly exit_code?: number;
  readonly changed?: boolean;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Of a `reboot`: the machine did not go down, its boot id stayed the same. */
  readonly not_rebooted?: true;
  /** Tries within this generation. */
  readonly tries?: number;
  /** Counts of the runner, e.g. puppet's resources. */
  readonly summary?: Readonly<Record<string, number | string | boolean>>;
}

/** What the scheduler receives: a runner that found nothing to do did not fail. */
export const outcomeOf = (end: TaskEnd): 'successful' | 'failed' =>
  end.outcome === 'ok' || end.outcome === 'skipped' ? 'successful' : 'failed';

/** The node did not run it and never will as it stands: its agent does not know the type, or refuses the order. */
export const isFinal = (end: TaskEnd): boolean => end.outcome === 'rejected';

/** One row of a run's history: where a task on a node stands, by attempt. */
export interface TaskRow {
  readonly task: string;
  readonly node: string;
  readonly status: SettledStatus | 'running' | 'retrying' | 'waiting';
  readonly attempt: number;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Of `dep_failed`: `task@node` or `offline:<node>`. */
  readonly root_cause?: string;
  /** Of `skipped`: whether there was work in it, which a stop left undone. Absent: as it was said before, or no. */
  readonly undone?: boolean;
  readonly end?: TaskEnd;
}
