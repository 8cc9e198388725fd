import { kindOf } from '../../core/plain-value.js';
import { compileRegex, type Regex, YaqlError } from '../../yaql/index.js';
import { GraphProblemError } from '../problem.js';

/** Limit of steps for one match: far more than a name needs, far fewer than a hostile pattern takes. */
const REGEX_STEPS = 1_000_000;

/** A name of a task or a tag, or a regular expression between slashes. */
export interface NamePattern {
  /** The one name it can match; undefined for a regular expression. */
  readonly exact: string | undefined;
  matches(name: string): boolean;
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
 * begins so, instances (`corosync:1`) included. `*` alone is a name: only outside lists it means all nodes.
 */
export function tagPattern(text: unknown): NamePattern {
  if (typeof text !== 'string' || text === '*' || !text.includes('*') || isRegex(text)) return namePattern(text);
  return { exact: undefined, matches: (tag) => matchesWildcard(text.split('*'), tag) };
}

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

function regexPattern(text: string): NamePattern {
  const regex = compiled(text);
  return {
    exact: undefined,
    matches(name) {
      try {
        return regex.search(name, { regexSteps: REGEX_STEPS })?.start === 0;
      } catch (error) {
        if (!(error instanceof YaqlError)) throw error;
        throw new GraphProblemError(
          'graph.bad-regex',
          `matching ${text} takes too long`,
          'Write a simpler expression.',
        );
      }
    },
  };
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
