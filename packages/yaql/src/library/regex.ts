import { typeError, valueError, YaqlError } from '../errors.ts';
import { compileRegex, escapeRegex, Regex } from '../regex/regex.ts';
import type { RegexMatch } from '../regex/template.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { nullable, optional, p } from '../runtime/parameters.ts';
import { Dict } from '../values/collections.ts';
import { lazily } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import type { Integer } from '../values/numbers.ts';
import { isTruthy, toSize } from './shared.ts';

const fn = chapterOf('regex');

const flag = (name: string) => optional(nullable(p.boolean(name)), false);
const finds = (context: Context, regex: Regex, text: string): boolean => regex.search(text, context.runtime) !== null;
const findsPattern = (context: Context, text: string, pattern: string): boolean =>
  finds(context, compileRegex(pattern), text);

/** Makes the whole match `$1` and group n `$(n+1)`, each a dict of value, start and end. */
function publish(context: Context, regex: Regex, match: RegexMatch): void {
  for (let n = 0; n <= regex.groups; n++) {
    const [start, end] = match.bounds(n);
    const record = new Dict(false);
    record.set('value', match.group(n));
    record.set('start', start);
    record.set('end', end);
    context.setVariable(String(n + 1), record);
  }
  for (const name of regex.names) takeApart(context, regex, match, match.group(name[1]));
}

/**
 * The reference implementation intends to publish named groups, too, but unpacks the text of each instead. This is nearly
 * always an error, and the same error here.
 */
function takeApart(context: Context, regex: Regex, match: RegexMatch, text: string | null): void {
  if (text === null) throw typeError('cannot unpack non-iterable NoneType object');
  const letters = Array.from(text);
  if (letters.length !== 2) throw valueError('A pattern with named groups cannot be used with a selector');
  const [variable, groupName] = letters as [string, string];
  const group = regex.names.find(([name]) => name === groupName);
  if (group === undefined) throw new YaqlError('IndexError', 'no such group');
  const [start, end] = match.bounds(group[1]);
  const record = Dict.of(
    [
      ['value', groupName],
      ['start', start],
      ['end', end],
    ],
    false,
  );
  context.setVariable(variable, record);
}

function* searchAll(context: Context, regex: Regex, text: string, selector: Lambda | undefined): Generator<Value> {
  for (const match of regex.matches(text, context.runtime)) {
    if (selector === undefined) yield match.group(0);
    else {
      const inner = context.child();
      publish(inner, regex, match);
      yield selector.callIn(inner);
    }
  }
}

function replaceBy(context: Context, regex: Regex, text: string, replacement: Lambda, count: Integer): Value {
  return regex.replace(
    text,
    (match) => {
      publish(context, regex, match);
      const value = replacement.callIn(context.child());
      if (value !== null && typeof value !== 'string') throw typeError('the replacement of a match must be a string');
      return value;
    },
    toSize(count),
    context.runtime,
  );
}

const replace = (context: Context, regex: Regex, text: string, template: string, count: Integer): Value =>
  regex.replaceByTemplate(text, template, toSize(count), context.runtime);

const split = (context: Context, regex: Regex, text: string, limit: Integer): Value =>
  regex.split(text, toSize(limit), context.runtime);

export const regexFunctions: readonly FunctionDefinition[] = [
  fn(
    'regex',
    'function',
    [p.string('pattern'), flag('ignoreCase'), flag('multiLine'), flag('dotAll')],
    'Compiled pattern in the dialect of Python’s `re`. re.error for a bad one.',
    (_, pattern, ignoreCase, multiLine, dotAll) =>
      compileRegex(pattern, {
        unicode: true,
        ignoreCase: isTruthy(ignoreCase),
        multiLine: isTruthy(multiLine),
        dotAll: isTruthy(dotAll),
      }),
  ),
  fn(
    'matches',
    'method',
    [p.regex('regexp'), p.string('string')],
    'Whether the pattern is found anywhere in the text.',
    finds,
  ),
  fn(
    'matches',
    'method',
    [p.string('string'), p.string('regexp')],
    'Whether the pattern is found anywhere in the text.',
    findsPattern,
  ),
  fn(
    '#operator_=~',
    'function',
    [p.string('string'), p.string('pattern')],
    'Whether the pattern is found anywhere in the text.',
    findsPattern,
  ),
  fn(
    '#operator_=~',
    'function',
    [p.string('string'), p.regex('regexp')],
    'Whether the pattern is found anywhere in the text.',
    (context, text, regex) => finds(context, regex, text),
  ),
  fn(
    '#operator_!~',
    'function',
    [p.string('string'), p.string('pattern')],
    'Whether the pattern is nowhere in the text.',
    (context, text, pattern) => !findsPattern(context, text, pattern),
  ),
  fn(
    '#operator_!~',
    'function',
    [p.string('string'), p.regex('regexp')],
    'Whether the pattern is nowhere in the text.',
    (context, text, regex) => !finds(context, regex, text),
  ),
  fn(
    'search',
    'method',
    [p.regex('regexp'), p.string('string'), optional(p.lambda('selector'))],
    "The first match, or the selector's result for it: `$` is the match, `$2` group 1 …, each with value, start and end; null when nothing matches.",
    (context, regex, text, selector) => {
      const match = regex.search(text, context.runtime);
      if (match === null) return null;
      if (selector === undefined) return match.group(0);
      const inner = context.child();
      publish(inner, regex, match);
      return selector.callIn(inner);
    },
    { ownContext: true },
  ),
  fn(
    'searchAll',
    'method',
    [p.regex('regexp'), p.string('string'), optional(p.lambda('selector'))],
    'All matches, as `search` gives one.',
    (context, regex, text, selector) => lazily(searchAll(context, regex, text, selector)),
    { ownContext: true },
  ),
  fn(
    'split',
    'method',
    [p.regex('regexp'), p.string('string'), optional(p.int('maxSplit'), 0)],
    'Parts between matches, with the groups of the pattern in between.',
    (context, regex, text, limit) => split(context, regex, text, limit as Integer),
  ),
  fn(
    'split',
    'method',
    [p.string('string'), p.regex('regexp'), optional(p.int('maxSplit'), 0)],
    'Parts between matches, with the groups of the pattern in between.',
    (context, text, regex, limit) => split(context, regex, text, limit as Integer),
  ),
  fn(
    'replace',
    'method',
    [p.regex('regexp'), p.string('string'), p.string('repl'), optional(p.int('count'), 0)],
    'All (or the first `count`) matches replaced by a template with `\\1`, `\\g<1>`, `\\g<name>`.',
    (context, regex, text, template, count) => replace(context, regex, text, template, count as Integer),
  ),
  fn(
    'replaceBy',
    'method',
    [p.regex('regexp'), p.string('string'), p.lambda('repl'), optional(p.int('count'), 0)],
    "Matches replaced by the expression's result for each, with variables as in `search`.",
    (context, regex, text, replacement, count) => replaceBy(context, regex, text, replacement, count as Integer),
    { ownContext: true },
  ),
  fn(
    'replace',
    'method',
    [p.string('string'), p.regex('regexp'), p.string('repl'), optional(p.int('count'), 0)],
    'All (or the first `count`) matches replaced by a template.',
    (context, text, regex, template, count) => replace(context, regex, text, template, count as Integer),
  ),
  fn(
    'replaceBy',
    'method',
    [p.string('string'), p.regex('regexp'), p.lambda('repl'), optional(p.int('count'), 0)],
    "Matches replaced by the expression's result for each.",
    (context, text, regex, replacement, count) => replaceBy(context, regex, text, replacement, count as Integer),
    { ownContext: true },
  ),
  fn('escapeRegex', 'function', [p.string('string')], 'Pattern that matches exactly this text.', (_, text) =>
    escapeRegex(text),
  ),
  fn(
    'isRegex',
    'function',
    [p.any('value')],
    'Whether the value is a compiled pattern.',
    (_, value) => value instanceof Regex,
  ),
];
