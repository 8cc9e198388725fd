import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { flag, optional, text, time, valueThat, whole } from '../data/schema.ts';
import type { Words } from '../outcomes.ts';
import type { RootCause } from '../task-on-node.ts';
import type { TaskStatus } from '../words.ts';

/**
 * How an attempt may end. `not_reached`: nothing was done, as the run was stopped before it started. `refused`: its node will never
 * run it: its agent does not know the type, or the order is not valid. `lost`: it was started, or may have been, and its
 * outcome is unknown.
 */
export const TASK_OUTCOMES = [
  'success',
  'failed',
  'skipped',
  'cancelled',
  'refused',
  'not_reached',
  'lost',
] as const satisfies Words;
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];

/** Why an attempt failed. `offline`: its agent did not answer, and it was not started. Agents report the others. */
export const TASK_FAILURES = [
  'exit',
  'signal',
  'timeout',
  'interrupted',
  'offline',
  'busy',
  'no-space',
  'missing-program',
  'refused-path',
  'io',
  'files',
  'puppet-summary',
  'not-rebooted',
  'defect',
] as const;

/** Of what a check wrote. Its run has few tasks, but each wave has another. */
export const OUTPUT_CHARACTERS = 2_000;

/** How a task ended on its node: a result, never an exception (docs/explain/design.md#failures-are-results). Under 2 KB, those of checks under 5; everything else is in the log store. */
export const taskEnd = z.object({
  outcome: z.enum(TASK_OUTCOMES),
  ...optional({
    /** Of `failed`, if known. */
    failure_kind: z.enum(TASK_FAILURES),
    /** Why it did not succeed, for the user; at most 300 characters. */
    message: text,
    exit_code: whole,
    changed: flag,
    started_at: time,
    ended_at: time,
    /** Tries within this generation. */
    tries: whole,
    /** Counts of the task's runner, e.g. puppet's resources. */
    summary: z.record(
      z.string(),
      valueThat<string | number | boolean>(
        (value) => ['string', 'number', 'boolean'].includes(typeof value),
        'must be text, a number, true or false',
      ),
    ),
    /** Of a check: the end of what it wrote, `OUTPUT_CHARACTERS` at most. */
    output: text,
  }),
});
export type TaskEnd = Wire<typeof taskEnd>;

/** The outcome for the scheduler. A runner that found nothing to do did not fail. */
export function outcomeOf({ outcome }: TaskEnd): 'success' | 'failed' | 'not_reached' {
  if (outcome === 'not_reached') return 'not_reached';
  return outcome === 'success' || outcome === 'skipped' ? 'success' : 'failed';
}

export const isFinal = (end: TaskEnd): boolean => end.outcome === 'refused';

/** One row of a run's history: the state of a task's attempt on a node. */
export interface TaskRow {
  readonly task: string;
  readonly node: string;
  readonly status: TaskStatus;
  readonly attempt: number;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Of `blocked`. */
  readonly root_cause?: RootCause;
  readonly end?: TaskEnd;
}

/** Of the reasons of failures, in characters. */
export const REASON_LENGTH = 300;

/** Why a task did not succeed, as text for the user. */
export function failureText({
  outcome,
  message = OUTCOME_TEXTS[outcome],
  exit_code,
}: Pick<TaskEnd, 'outcome' | 'message' | 'exit_code'>): string {
  const exit = `exit code ${exit_code}`;
  const isSaid = exit_code === undefined || message.includes(exit);
  return (isSaid ? message : `${message} (${exit})`).slice(0, REASON_LENGTH);
}

const OUTCOME_TEXTS: Readonly<Record<TaskOutcome, string>> = {
  success: 'it succeeded',
  failed: 'it failed',
  cancelled: 'it was cancelled',
  not_reached: 'the run was stopped before it started',
  refused: 'its node refused it',
  skipped: 'it had nothing to do',
  lost: 'its outcome is unknown',
};
