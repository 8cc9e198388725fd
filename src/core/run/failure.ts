import { pascalCase } from '../pascal-case.js';

/** The input of a run is invalid: nothing was started. */
export type InvalidInput = { readonly kind: 'invalid-input'; readonly problems: readonly string[] };

/** Temporal's error of a failed activity or child workflow. */
export type StepError = { readonly type: string; readonly message: string };

export const describeInvalidInput = ({ problems }: InvalidInput): string =>
  `the input is invalid: ${problems.join('; ')}`;

/** The failure's type on the wire, e.g. `CriticalGroupFailed`. */
export const failureType = ({ kind }: { readonly kind: string }): string => pascalCase(kind);

/** Joins the first `shown` items and says how many more there are. */
export function listSome(items: readonly string[], shown: number, separator: string): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}
