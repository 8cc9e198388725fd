/** What only one run at a time may work on. */
export type ClaimSubject = { readonly site: string } | { readonly cluster: number };

/** The run that holds a subject. Equal when both ids are equal. */
export interface ClaimHolder {
  readonly workflowId: string;
  /** Temporal's run id. */
  readonly runId: string;
}

export interface Claim extends ClaimHolder {
  readonly claimedAt: string;
}

export type ClaimResult<Holder = Claim> =
  | { readonly claimed: true }
  | { readonly claimed: false; readonly holder: Holder };

/**
 * One run per subject at a time, however many processes ask. A claim has no time limit: Temporal knows when its holder
 * is gone, and `claimFor` takes the claim over then. Every call fails with `not-found` for an unknown subject.
 */
export interface ClaimStore {
  /** Claims the subject, or returns who holds it. Claiming again as the same holder succeeds. */
  claim(subject: ClaimSubject, holder: ClaimHolder): Promise<ClaimResult>;
  /**
   * Compare and swap: the claim goes to `next` only if `expected` still holds it. Otherwise `holder` is the run that
   * holds it, or null. Repeating a take-over that succeeded succeeds.
   */
  takeOver(subject: ClaimSubject, expected: ClaimHolder, next: ClaimHolder): Promise<ClaimResult<Claim | null>>;
  /** Releases the claim. False when this holder does not have it. */
  release(subject: ClaimSubject, holder: ClaimHolder): Promise<boolean>;
  /** Who holds the subject; null when no run does. */
  holder(subject: ClaimSubject): Promise<Claim | null>;
}
