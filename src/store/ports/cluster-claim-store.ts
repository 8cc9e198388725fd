import type { ClaimHolder } from './site-claim-store.js';

export interface ClusterClaim extends ClaimHolder {
  readonly clusterId: number;
  readonly claimedAt: string;
}

/** One run per cluster at a time. The rules are those of SiteClaimStore. */
export interface ClusterClaimStore {
  /** Claims the cluster, or says who has it. Claiming again as the same holder is a success. @throws `not-found` */
  claim(
    clusterId: number,
    holder: ClaimHolder,
  ): Promise<{ readonly claimed: true } | { readonly claimed: false; readonly holder: ClusterClaim }>;
  /** Compare and swap; `holder: null` when nobody has it. Repeating a take-over that succeeded is a success. */
  takeOver(
    clusterId: number,
    expected: ClaimHolder,
    next: ClaimHolder,
  ): Promise<{ readonly claimed: true } | { readonly claimed: false; readonly holder: ClusterClaim | null }>;
  /** Gives the claim up. False, and nothing happens, when this holder does not have it. */
  release(clusterId: number, holder: ClaimHolder): Promise<boolean>;
  /** Who has the cluster; null when nobody. */
  holder(clusterId: number): Promise<ClusterClaim | null>;
  /** All claims, by cluster. */
  list(): Promise<readonly ClusterClaim[]>;
}
