import { compileRegex, type Regex, YaqlError } from '@sitewright/yaql';
import { isMapping, kindOf, type ValuePath } from '../../core/data/plain-value.ts';
import { controlCharacterOf } from '../../core/text/control-characters.ts';
import { GraphProblemError, type Problems } from '../problem.ts';

/**
 * Steps for matching. Each name adds some, far more than a match needs; a hostile pattern uses up the reserve, and
 * then fails immediately.
 */
const STEPS_PER_NAME = 10_000;
const MAX_STEPS = 5_000_000;
const budget = { regexSteps: MAX_STEPS };

/** A name of a task or a tag, or a regular expression between slashes. */
export interface NamePattern {
  /** The one name it can match; undefined for a regular expression. */
  readonly exact: string | undefined;
  /** Throws GraphProblemError (`graph.bad-regex`) when matching takes too long; after that, each time. */
  matches(name: string): boolean;
  /** The same error, once it was thrown. */
  readonly failure?: GraphProblemError | undefined;
}

const known = new Map<string, NamePattern>();
const MAX_KNOWN = 2000;

/**
 * `/x/` matches names that start with a match of Python's regular expression x; other text
 * matches itself. Throws GraphProblemError (`graph.bad-regex`, `graph.bad-name`).
 */
export function namePattern(text: unknown): NamePattern {
  if (typeof text !== 'string') {
    throw new GraphProblemError(
      'graph.bad-name',
      `a name must be text, not ${kindOf(text)}`,
      'Write a name, or a regular expression as "/…/".',
    );
  }
  const control = controlCharacterOf(text);
  if (control !== undefined)
    throw new GraphProblemError('graph.bad-name', `a name has the control character ${control}`, 'Remove it.');
  let pattern = known.get(text);
  if (pattern === undefined) {
    pattern = isRegex(text) ? regexPattern(text) : { exact: text, matches: (name) => name === text };
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, pattern);
  }
  return pattern;
}

/**
 * The tags that an entry of `tags` or `roles` means: as {@link namePattern}, and `corosync*` matches every tag that
 * begins so, instances (`corosync:1`) included. A regular expression matches instances only if it names them, with a colon:
 * `/.*\/` and `/(primary-)?corosync/` place nothing by them (docs/explain/design.md#spec-3). `*` alone is a name: only outside lists it means all nodes.
 */
export function tagPattern(text: unknown): NamePattern {
  if (typeof text === 'string' && isRegex(text) && !namesInstances(text)) return withoutInstances(namePattern(text));
  if (typeof text !== 'string' || text === '*' || !text.includes('*') || isRegex(text)) return namePattern(text);
  return { exact: undefined, matches: (tag) => matchesWildcard(text.split('*'), tag) };
}

/** Whether a tag is an instance of a service, such as `mysql:1`: only a task that names it is placed by it. */
export const isInstanceTag = (tag: string): boolean => tag.includes(':');

/** Whether a regular expression has a colon of its own, not one of `(?:` or `(?i:`. */
const namesInstances = (regex: string): boolean => regex.replace(/\(\?[a-zA-Z-]{0,10}:/g, '').includes(':');

const withoutInstances = (pattern: NamePattern): NamePattern => ({
  exact: undefined,
  matches: (tag) => !isInstanceTag(tag) && pattern.matches(tag),
  get failure() {
    return pattern.failure;
  },
});

/** Whether the parts occur in this order, the first at the start of the tag, and the last at its end. */
function matchesWildcard(parts: readonly string[], tag: string): boolean {
  const last = parts.at(-1)!;
  let from = parts[0]!.length;
  if (!tag.startsWith(parts[0]!)) return false;
  for (const part of parts.slice(1, -1)) {
    const found = tag.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return tag.length - last.length >= from && tag.endsWith(last);
}

export const isRegex = (text: string): boolean => text.startsWith('/') && text.endsWith('/');

/**
 * The common prefix of all names that a regular expression matches, where that is easy to see: empty for alternatives and
 * for `(?…)`, which may change the meaning of letters.
 */
export function beginningOf(regex: string): string {
  const inner = regex.slice(1, -1);
  if (inner.includes('|') || inner.includes('(?')) return '';
  const letters = /^\^?([\w-]*)/.exec(inner)![1]!;
  const next = inner[(inner.startsWith('^') ? 1 : 0) + letters.length];
  return next !== undefined && '*+?{'.includes(next) ? letters.slice(0, -1) : letters;
}

function regexPattern(text: string): NamePattern {
  const regex = compiled(text);
  let failure: GraphProblemError | undefined;
  return {
    exact: undefined,
    matches(name) {
      if (failure !== undefined) throw failure;
      budget.regexSteps = Math.min(Math.max(0, budget.regexSteps) + STEPS_PER_NAME, MAX_STEPS);
      try {
        return regex.search(name, budget)?.start === 0;
      } catch (error) {
        if (!(error instanceof YaqlError)) throw error;
        const message = `matching ${text} takes too long`;
        failure = new GraphProblemError('graph.bad-regex', message, 'Write a simpler expression.');
        throw failure;
      }
    },
    get failure() {
      return failure;
    },
  };
}

/** Reports each pattern below a value that took too long when it was matched. */
export function reportSlowPatterns(value: unknown, at: ValuePath, problems: Problems): void {
  if (typeof value === 'string') {
    const failure = isRegex(value) ? known.get(value)?.failure : undefined;
    if (failure !== undefined) problems.error(at, failure.code, failure.message, failure.hint);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) reportSlowPatterns(item, [...at, index], problems);
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) reportSlowPatterns(item, [...at, key], problems);
  }
}

function compiled(text: string): Regex {
  try {
    return compileRegex(text.slice(1, -1));
  } catch (error) {
    if (!(error instanceof YaqlError)) throw error;
    throw new GraphProblemError(
      'graph.bad-regex',
      `${text} is not a regular expression: ${error.message}`,
      'Correct it, or remove the slashes for a plain name.',
    );
  }
}
