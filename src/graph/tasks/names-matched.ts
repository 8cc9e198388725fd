import { GraphProblemError } from '../problem.ts';
import { beginningOf, isRegex, namePattern } from './name-pattern.ts';

/** Comparisons of patterns with names in one graph: forty patterns without a fixed beginning among 10,000 names. */
const MAX_COMPARISONS = 400_000;

/** The remaining budget of comparisons of one graph; shared by all its lists of names. */
export class ComparisonsLeft {
  #left = MAX_COMPARISONS;
  /** A pattern had to be left out. */
  usedUp = false;

  take(names: number): boolean {
    this.usedUp ||= names > this.#left;
    if (names > this.#left) return false;
    this.#left -= names;
    return true;
  }
}

/** Names of a graph, in order, to be looked through by patterns; each pattern looks once. */
export class MatchedNames {
  readonly #names: readonly string[];
  readonly #left: ComparisonsLeft;
  readonly #found = new Map<string, readonly string[]>();
  /** Places of names by their order as texts. */
  #sorted: readonly number[] | undefined;

  constructor(names: readonly string[], left: ComparisonsLeft) {
    this.#names = names;
    this.#left = left;
  }

  /**
   * The names that a name or a regular expression means, in order; itself when none. Nothing is found for a pattern that is
   * not valid, or takes too long: checks report those.
   */
  meantBy(text: string): readonly string[] {
    if (!isRegex(text)) return [text];
    let found = this.#found.get(text);
    if (found === undefined) {
      const matching = this.#matching(text);
      found = matching.length === 0 ? [text] : matching;
      this.#found.set(text, found);
    }
    return found;
  }

  #matching(text: string): readonly string[] {
    try {
      const pattern = namePattern(text);
      const candidates = this.#beginningWith(beginningOf(text));
      if (!this.#left.take(candidates.length)) return [];
      return candidates.filter((name) => pattern.matches(name));
    } catch (error) {
      if (!(error instanceof GraphProblemError)) throw error;
      return [];
    }
  }

  #beginningWith(beginning: string): readonly string[] {
    if (beginning === '') return this.#names;
    const names = this.#names;
    this.#sorted ??= names.map((_, at) => at).sort((a, b) => (names[a]! < names[b]! ? -1 : 1));
    const sorted = this.#sorted;
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (names[sorted[middle]!]! < beginning) from = middle + 1;
      else to = middle;
    }
    const places: number[] = [];
    for (let at = from; at < sorted.length && names[sorted[at]!]!.startsWith(beginning); at++) places.push(sorted[at]!);
    return places.sort((a, b) => a - b).map((at) => names[at]!);
  }
}
