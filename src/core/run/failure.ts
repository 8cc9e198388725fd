import { pascalCase } from '../pascal-case.js';

/** The input of a run is invalid: nothing was started. */
export type InvalidInput = { readonly kind: 'invalid-input'; readonly problems: readonly string[] };

/** Another run has the site or cluster, or the run has ended: this execution of it may change nothing. */
export type ClaimLost = { readonly kind: 'claim-lost'; readonly message: string };

/** Type of the failure of a step whose run does not have its claim. */
export const CLAIM_LOST = 'ClaimLost';

/** Temporal's error of a failed activity or child workflow. */
export type StepError = { readonly type: string; readonly message: string };

/** A step that failed since the run does not have its claim. */
export const claimLost = ({ type, message }: StepError): ClaimLost | undefined =>
  type === CLAIM_LOST ? { kind: 'claim-lost', message } : undefined;

export const describeInvalidInput = ({ problems }: InvalidInput): string =>
  `the input is invalid: ${problems.join('; ')}`;

/** The failure's type on the wire, e.g. `CriticalGroupFailed`. */
export const failureType = ({ kind }: { readonly kind: string }): string => pascalCase(kind);

/** Joins the first `shown` items and says how many more there are. */
export function listSome(items: readonly string[], shown: number, separator: string): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}
