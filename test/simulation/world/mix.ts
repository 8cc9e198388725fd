import { Random } from '@sitewright/temporal-simulator';
import { WITH_OVERRIDES } from './limits.ts';

/**
 * What a seed has much of, and what it has not at all. Where each seed has a bit of everything, one thing keeps another from its
 * effect, and what needs a rare thing twice hardly ever happens; so each seed leaves things out, and does some of them often.
 */
export class Mix {
  readonly #random: Random;
  readonly #isEven: boolean;

  constructor(random: Random) {
    this.#random = random;
    this.#isEven = random.chance(0.2);
  }

  /** Of a kind of action or fault: how much more often than usual it happens. */
  factor(kind: string): number {
    if (this.#isEven) return 1;
    return this.#random.fork(kind).weighed([
      [4, 0],
      [4, 1],
      [2, 10],
    ]);
  }

  /** One of several, by its weight in this seed; by weight alone if the seed has none of them. */
  weighed<T extends string>(own: Random, usual: readonly (readonly [weight: number, kind: T])[]): T {
    const mixed = usual.map(([weight, kind]) => [weight * this.factor(kind), kind] as const);
    return own.weighed(mixed.some(([weight]) => weight > 0) ? mixed : usual);
  }
}

/** The mix of a seed. */
export const mixOf = (world: 'site' | 'cluster', seed: number): Mix =>
  new Mix(new Random(`${world} ${seed}`).fork('mix'));

/** Whether a run that starts goes beyond limits. */
export const overridesIn = (world: 'site' | 'cluster', seed: number, random: Random): boolean =>
  seed >= WITH_OVERRIDES &&
  random.fork('override').chance([0, 0.15, 0.5][Math.min(2, mixOf(world, seed).factor('override'))]!);
