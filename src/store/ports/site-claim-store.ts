/** The run that works on a site. Equal when both ids are equal. */
export interface ClaimHolder {
  readonly workflowId: string;
  /** Temporal's run id. */
  readonly runId: string;
}

export interface SiteClaim extends ClaimHolder {
  readonly site: string;
  readonly claimedAt: string;
}

export type ClaimResult = { readonly claimed: true } | { readonly claimed: false; readonly holder: SiteClaim };

/**
 * One run per site at a time, whatever number of processes ask at the same moment. A claim has no time limit: a holder
 * that died is known from Temporal, and its claim is then taken over by whoever has made sure of that.
 */
export interface SiteClaimStore {
  /**
   * Claims the site, or says who has it. Claiming again as the same holder is a success.
   * @throws `not-found` when there is no such site.
   */
  claim(site: string, holder: ClaimHolder): Promise<ClaimResult>;
  /**
   * Compare and swap: the claim goes to `next` only if `expected` has it still. Otherwise the answer names who has it,
   * or is `holder: null` when nobody has. Repeating a take-over that succeeded is a success.
   */
  takeOver(
    site: string,
    expected: ClaimHolder,
    next: ClaimHolder,
  ): Promise<{ readonly claimed: true } | { readonly claimed: false; readonly holder: SiteClaim | null }>;
  /** Gives the claim up. False, and nothing happens, when this holder does not have it. */
  release(site: string, holder: ClaimHolder): Promise<boolean>;
  /** Who has the site; null when nobody. */
  holder(site: string): Promise<SiteClaim | null>;
  /** All claims, by site. */
  list(): Promise<readonly SiteClaim[]>;
}
