/** Requests that an API passes on to Temporal: each is in the audit trail before, and its entry goes along. */

/** Action of the entry of a start. */
export const STARTED = 'run.start';

/** Id of the entry that says that a run refused what another entry asked for. */
export const refusedId = (entry: string): string => `${entry}-refused`;

/** What a run knows of its own start; whoever opens it believes neither. */
export interface StartedWith {
  /** Entry of the audit trail with which an API passed the start on. */
  readonly entry?: string;
  /** Workflow id of the run that started it. */
  readonly parent?: string;
}
