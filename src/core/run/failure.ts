import { pascalCase } from '../pascal-case.js';

/** The input of a run is not usable: nothing was begun. */
export type InvalidInput = { readonly kind: 'invalid-input'; readonly problems: readonly string[] };

/** What Temporal says of an activity or a child workflow that gave up. */
export type StepError = { readonly type: string; readonly message: string };

export const describeInvalidInput = ({ problems }: InvalidInput): string =>
  `the input is not usable: ${problems.join('; ')}`;

/** The failure's type on the wire, e.g. `CriticalGroupFailed`. */
export const failureType = ({ kind }: { readonly kind: string }): string => pascalCase(kind);

/** Items joined, or as many as are shown and how many more there are. */
export function listSome(items: readonly string[], shown: number, separator: string): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}
