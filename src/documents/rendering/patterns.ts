import { compileRegex, type Regex, YaqlError } from '@sitewright/yaql';

/** Steps of matching that all patterns of one site have together: some seconds. Real sites need a thousandth. */
const MAX_STEPS = 20_000_000;
const MAX_PATTERN = 2_000;

export class PatternError extends Error {}

/** Evaluates the regular expressions of documents, which are Python's, within one budget of steps. */
export class Patterns {
  readonly #budget = { regexSteps: MAX_STEPS };

  /** The text of a group of the first match; undefined without a match. */
  search(pattern: string, text: string, group: number): string | undefined {
    return this.#bounded(() => {
      const regex = compiled(pattern);
      const match = regex.search(text, this.#budget);
      if (match === null) return undefined;
      if (group < 0 || group > regex.groups) throw new PatternError(`'${pattern}' has no group ${group}`);
      return match.group(group) ?? '';
    });
  }

  /** The text with each match replaced; undefined without a match. */
  replace(pattern: string, text: string, replacement: string): string | undefined {
    return this.#bounded(() => {
      let found = false;
      const put = (): string => {
        found = true;
        return replacement;
      };
      const replaced = compiled(pattern).replace(text, put, 0, this.#budget);
      return found ? replaced : undefined;
    });
  }

  #bounded<Result>(match: () => Result): Result {
    try {
      return match();
    } catch (error) {
      if (!(error instanceof YaqlError)) throw error;
      throw new PatternError(error.message);
    }
  }
}

function compiled(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN) throw new PatternError(`a pattern has more than ${MAX_PATTERN} characters`);
  return compileRegex(pattern);
}
