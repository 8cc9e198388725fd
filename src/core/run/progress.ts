import type { Paused } from '../contracts/site-run.js';

/** What every run knows of itself; queries and reports are read from it. */
export interface AnyProgress<Input = object, Outcome extends string = string, Failure = { readonly kind: string }> {
  readonly input: Input;
  readonly workflow_id: string;
  readonly run_id: string;
  /** Milliseconds, as `ended_at`. */
  readonly started_at: number;
  ended_at?: number;
  outcome?: Outcome;
  failure?: Failure;
  paused: Paused | null;
  stopping: boolean;
}

/** What every report of a run says, beside what became of its work. */
interface AnyReport<Outcome extends string, Failure> {
  readonly workflow_id: string;
  readonly run_id: string;
  /** Absent while the run goes on. */
  readonly outcome?: Outcome;
  readonly failure?: Failure;
  /** The failure in one sentence, and what to do about it. */
  readonly reason?: string;
  readonly next_step?: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly started_by?: string;
}

/** A failure for a person: why, and what to do next. */
export interface Explained {
  readonly reason: string;
  readonly next_step: string;
}

export function reportAny<Outcome extends string, Failure>(
  progress: AnyProgress<{ readonly started_by?: string }, Outcome, Failure>,
  explain: (failure: Failure) => Explained,
): AnyReport<Outcome, Failure> {
  const { workflow_id, run_id, outcome, failure, started_at, ended_at, input } = progress;
  return {
    workflow_id,
    run_id,
    ...(outcome === undefined ? {} : { outcome }),
    ...(failure === undefined ? {} : { failure, ...explain(failure) }),
    started_at: isoTime(started_at),
    ...(ended_at === undefined ? {} : { ended_at: isoTime(ended_at) }),
    ...(input.started_by === undefined ? {} : { started_by: input.started_by }),
  };
}

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
