/** What one run at a time works on. */
export type ClaimSubject = { readonly site: string } | { readonly cluster: number };

/** The run that has a subject. Equal when both ids are equal. */
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
 * One run per subject at a time, whatever number of processes ask at the same moment. A claim has no time limit: a
 * holder that died is known from Temporal, and its claim is taken over then (`claimFor`). Every call fails as
 * `not-found` when there is no such subject.
 */
export interface ClaimStore {
  /** Claims the subject, or says who has it. Claiming again as the same holder is a success. */
  claim(subject: ClaimSubject, holder: ClaimHolder): Promise<ClaimResult>;
  /**
   * Compare and swap: the claim goes to `next` only if `expected` has it still. Otherwise the answer names who has it,
   * or is `holder: null` when no run has. Repeating a take-over that succeeded is a success.
   */
  takeOver(subject: ClaimSubject, expected: ClaimHolder, next: ClaimHolder): Promise<ClaimResult<Claim | null>>;
  /** Releases the claim. False, and nothing happens, when this holder does not have it. */
  release(subject: ClaimSubject, holder: ClaimHolder): Promise<boolean>;
  /** Who has the subject; null when no run has. */
  holder(subject: ClaimSubject): Promise<Claim | null>;
}
