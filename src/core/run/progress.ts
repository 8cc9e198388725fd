import type { AwaitingApproval, Hold } from '../contracts/approval.ts';
import type { Paused } from '../contracts/primitives.ts';
import { given } from '../data/given.ts';
import { rejectionIn } from './approval.ts';
import type { Explained } from './failure.ts';

/** The common state of every run. Queries and reports are derived from it. */
export interface AnyProgress<Input = object, Outcome extends string = string, Failure = { readonly kind: string }> {
  readonly input: Input;
  readonly workflow_id: string;
  readonly run_id: string;
  /** Who started it, as far as it can be believed; before it is opened, as its input says. */
  started_by?: string;
  /** Milliseconds, as `ended_at`. */
  readonly started_at: number;
  ended_at?: number;
  outcome?: Outcome;
  failure?: Failure;
  paused: Paused | null;
  stopping: boolean;
  /** Where it waits for approval. */
  holds: readonly Hold[];
  /** Who started the run may not approve. */
  approved_by_another?: boolean;
  /** Since when MAAS has not answered the run's steps. */
  maas_silent_since?: string | null;
  /** Requests of operators. */
  readonly operator: readonly unknown[];
  /** Warnings of the run for an operator. */
  readonly warnings: string[];
}

/** A run that is sent the same wrong request again and again does not fill its report. */
const MAX_WARNINGS = 300;

/** Adds a warning to a run, once. */
export function addWarning(warnings: string[], text: string): boolean {
  if (warnings.includes(text) || warnings.length >= MAX_WARNINGS) return false;
  warnings.push(text);
  return true;
}

/** Since when MAAS has not answered, for a status; irrelevant once the run has ended. */
export const silenceOf = ({ maas_silent_since, outcome }: AnyProgress): { readonly maas_silent_since?: string } =>
  maas_silent_since && outcome === undefined ? { maas_silent_since } : {};

/** As many warnings as a status shows. */
export const newestWarnings = (warnings: readonly string[]): string[] => warnings.slice(-20);

/** The common fields of every run report. */
interface AnyReport<Outcome extends string, Failure> {
  readonly workflow_id: string;
  readonly run_id: string;
  /** Absent while the run continues. */
  readonly outcome?: Outcome;
  readonly failure?: Failure;
  /** The failure in one sentence, and the next step. */
  readonly reason?: string;
  readonly next_step?: string;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly started_by?: string;
  readonly holds?: readonly Hold[];
}

export function reportAny<Outcome extends string, Failure>(
  progress: AnyProgress<{ readonly started_by?: string }, Outcome, Failure>,
  explain: (failure: Failure) => Explained,
): AnyReport<Outcome, Failure> {
  const { workflow_id, run_id, outcome, failure, started_at, ended_at, input, holds } = progress;
  const rejected = rejectionIn(holds);
  return {
    workflow_id,
    run_id,
    ...given({ outcome }),
    ...(failure === undefined
      ? rejected === undefined
        ? {}
        : { reason: rejected }
      : { failure, ...explain(failure) }),
    started_at: isoTime(started_at),
    ...(ended_at === undefined ? {} : { ended_at: isoTime(ended_at) }),
    ...given({ started_by: progress.started_by ?? input.started_by }),
    ...(holds.length === 0 ? {} : { holds }),
  };
}

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** How a run stands, in one word: its outcome, once it has one. */
export const standingOf = ({ outcome, paused, awaiting_approval }: Standing): string =>
  outcome ?? (paused ? 'paused' : awaiting_approval === undefined ? 'running' : 'awaiting_approval');

/** What a run waits for, as the root of its tree says it. */
export const waitingDetail = ({ outcome, awaiting_approval: holds = [] }: Standing): { readonly detail?: string } =>
  outcome !== undefined || holds.length === 0
    ? {}
    : { detail: `before ${holds.map(({ before }) => (before === '*' ? 'any change' : before)).join(', ')}` };

/** What a status says of how a run stands. */
export interface Standing {
  readonly outcome?: string;
  readonly paused: Paused | null;
  readonly awaiting_approval?: AwaitingApproval;
}
