import { kindOf } from './shrink.ts';

export interface Found {
  readonly seed: number;
  readonly violation: string;
}

/** Above all that people and nights live through, and above all from which worlds have more in them. */
const FIRST = 20_300_000_000_000;
/** Digits of a hash that choose a range: as many as keep virtual time (`beginOf`) below the year 10,000. */
const DIGITS = 7;

/** First of the seeds that a commit lives through. No other commit has them, unless the hashes begin alike. */
export const firstSeedOf = (hash: string, seeds: number): number =>
  FIRST + Number.parseInt(hash.slice(0, DIGITS), 16) * seeds;

/** Those that a commit has caused: on the same seed its parent keeps what they violate. */
export const causedBy = (found: readonly Found[], before: readonly Found[]): Found[] =>
  found.filter(
    ({ seed, violation }) => !before.some((one) => one.seed === seed && kindOf(one.violation) === kindOf(violation)),
  );
