/** What only one run at a time may work on. */
export type ClaimSubject = { readonly site: string } | { readonly cluster: number };

/** The run that has a subject, by its workflow id and the run id of its first execution. */
export interface ClaimHolder {
  readonly workflowId: string;
  readonly runId: string;
}

/** The execution of a run that claims a subject. */
export interface ClaimExecution extends ClaimHolder {
  /** Run id of the execution that the run has now: a reset changes it. */
  readonly executionId: string;
}

export interface Claim extends ClaimExecution {
  readonly claimedAt: string;
  /** From 1; one more with each take-over. */
  readonly generation: number;
}

type ClaimResult<Holder = Claim> = { readonly claimed: true } | { readonly claimed: false; readonly holder: Holder };

/**
 * One run per subject at a time, however many processes ask. A claim has no time limit: Temporal knows when its holder
 * is gone, and `claimFor` takes the claim over then. Every call fails with `not-found` for an unknown subject.
 */
export interface ClaimStore {
  /** Claims the subject, or says who has it. Claiming again as the same execution of the same run is a success. */
  claim(subject: ClaimSubject, holder: ClaimExecution): Promise<ClaimResult>;
  /**
   * Compare and swap: the claim goes to `next` only if `expected` still holds it. Otherwise `holder` is the run that
   * holds it, or null. Repeating a take-over that succeeded succeeds.
   */
  takeOver(subject: ClaimSubject, expected: ClaimExecution, next: ClaimExecution): Promise<ClaimResult<Claim | null>>;
  /** Releases the claim of a run. False, and nothing happens, when this run does not have it. */
  release(subject: ClaimSubject, holder: ClaimHolder): Promise<boolean>;
  /** Who holds the subject; null when no run does. */
  holder(subject: ClaimSubject): Promise<Claim | null>;
}
