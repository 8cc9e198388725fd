import { typeError, valueError, YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import { nullable, optional, p, rest } from '../runtime/parameters.ts';
import { binaryFunction, callFunction } from '../runtime/value-call.ts';
import { Tuple } from '../values/collections.ts';
import { iterate } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { hexText } from '../values/number-text.ts';
import { Float, type Integer, isInteger } from '../values/numbers.ts';
import { toText } from '../values/repr.ts';
import {
  compareText,
  findText,
  replaceText,
  sliceText,
  splitText,
  splitTextFromRight,
  textLength,
  trimText,
} from '../values/text.ts';
import { isTruthy, toIndex, toSize } from './shared.ts';
import { asText } from './texts.ts';

const fn = chapterOf('strings');
const two = () => [p.string('left'), p.string('right')] as const;
const characters = () => optional(nullable(p.string('chars')), null);

const concat = fn('concat', 'function', [rest(p.string('args'))], 'The texts one after another.', (context, parts) => {
  context.runtime.checkLength(parts.reduce((n, part) => n + part.length, 0));
  return parts.join('');
});

const joinTexts = (context: Context, items: Value, separator: string): string => {
  const parts: string[] = [];
  let length = 0;
  const custom = context.lookup('str').functions.layers.length !== 1;
  for (const item of iterate(items)) {
    const text = custom ? callFunction(context, 'str', [item]) : toText(item);
    if (typeof text !== 'string') throw typeError('str() must give a string');
    parts.push(text);
    context.runtime.checkLength((length += text.length + separator.length));
  }
  return parts.join(separator);
};

const repeatText = (context: Context, text: string, count: Integer): string => {
  const { runtime } = context;
  runtime.checkMemoryOf([1 - Number(count), ''], [count, text]);
  const times = Math.max(0, toSize(count));
  runtime.checkLength(times * text.length);
  return text.repeat(times);
};

const splitting =
  (split: typeof splitText) =>
  (_: Context, text: string, separator: string | null | Value, limit: Integer | Value): Value => {
    if (separator === '') throw valueError('empty separator');
    return split(text, separator as string | null, toSize(limit as Integer));
  };

const replaceIn = (context: Context, text: string, old: string, replacement: string, count: Integer): string => {
  const places = old === '' ? text.length + 1 : text.length / old.length;
  context.runtime.checkLength(places * replacement.length);
  return replaceText(text, old, replacement, toSize(count));
};

/** `start` and `length` of the four-argument forms, as a slice. */
function window(text: string, start: Integer, length: Integer): [number, number] {
  const size = textLength(text);
  let from = toIndex(start);
  if (from < 0) from += size;
  let n = toIndex(length);
  if (n < 0) n = size - from;
  return [from, from + n];
}

export const stringFunctions: readonly FunctionDefinition[] = [
  fn(
    '#operator_>',
    'function',
    two(),
    'Whether the left text comes after the right one, by code points.',
    (_, a, b) => compareText(a, b) > 0,
  ),
  fn(
    '#operator_<',
    'function',
    two(),
    'Whether the left text comes before the right one, by code points.',
    (_, a, b) => compareText(a, b) < 0,
  ),
  fn(
    '#operator_>=',
    'function',
    two(),
    'Whether the left text does not come before the right one.',
    (_, a, b) => compareText(a, b) >= 0,
  ),
  fn(
    '#operator_<=',
    'function',
    two(),
    'Whether the left text does not come after the right one.',
    (_, a, b) => compareText(a, b) <= 0,
  ),
  fn('len', 'both', [p.string('string')], 'Number of code points.', (_, text) => textLength(text)),
  fn('toLower', 'method', [p.string('string')], 'In lower case.', (_, text) => text.toLowerCase()),
  fn('toUpper', 'method', [p.string('string')], 'In upper case.', (_, text) => text.toUpperCase()),
  fn(
    'split',
    'method',
    [p.string('string'), optional(nullable(p.string('separator')), null), optional(p.int('maxSplits'), -1)],
    'Parts between separators, by default runs of whitespace; at most `maxSplits` cuts; ValueError for an empty separator.',
    splitting(splitText),
  ),
  fn(
    'rightSplit',
    'method',
    [p.string('string'), optional(nullable(p.string('separator')), null), optional(p.int('maxSplits'), -1)],
    'Like `split`, counting cuts from the right.',
    splitting(splitTextFromRight),
  ),
  fn(
    'join',
    'method',
    [p.iterable('sequence'), p.string('separator')],
    'Texts of the items with the separator between them.',
    joinTexts,
  ),
  fn(
    'join',
    'method',
    [p.string('separator'), p.iterable('sequence')],
    'Texts of the items with the separator between them.',
    (context, separator, items) => joinTexts(context, items, separator),
  ),
  fn(
    'str',
    'function',
    [p.any('value')],
    'Text of a value. null, true and false as they are written; nested values as Python shows them.',
    (_, value) => toText(value),
  ),
  concat,
  renamed(concat, '#operator_+'),
  fn(
    'trim',
    'method',
    [p.string('string'), characters()],
    'Without whitespace (or the given characters) at both ends.',
    (_, text, chars) => trimText(text, chars, true, true),
  ),
  fn(
    'trimLeft',
    'method',
    [p.string('string'), characters()],
    'Without whitespace (or the given characters) at the start.',
    (_, text, chars) => trimText(text, chars, true, false),
  ),
  fn(
    'trimRight',
    'method',
    [p.string('string'), characters()],
    'Without whitespace (or the given characters) at the end.',
    (_, text, chars) => trimText(text, chars, false, true),
  ),
  fn(
    'replace',
    'method',
    [p.string('string'), p.string('old'), p.string('new'), optional(p.int('count'), -1)],
    'All (or the first `count`) occurrences replaced.',
    (context, text, old, replacement, count) => replaceIn(context, text, old, replacement, count as Integer),
  ),
  fn(
    'replace',
    'method',
    [p.string('string'), p.mapping('replacements'), optional(p.int('count'), -1)],
    'Each key of the dict replaced by its value, one after another.',
    (context, text, replacements, count) => {
      let out = text;
      for (const [key, value] of replacements.entries()) {
        const old = callFunction(context, 'str', [key]);
        const replacement = callFunction(context, 'str', [value]);
        if (typeof old !== 'string' || typeof replacement !== 'string') throw typeError('str() must give a string');
        out = replaceIn(context, out, old, replacement, count as Integer);
      }
      return out;
    },
  ),
  fn(
    'isEmpty',
    'both',
    [nullable(p.string('string')), optional(p.boolean('trim'), true), characters()],
    'Whether the text is null or empty, by default after trimming.',
    (_, text, trim, chars) => {
      if (text === null) return true;
      return (isTruthy(trim) ? trimText(text, chars, true, true) : text) === '';
    },
  ),
  fn('#operator_*', 'function', [p.string('left'), p.int('right')], 'The text that many times.', repeatText),
  fn(
    '#operator_*',
    'function',
    [p.int('left'), p.string('right')],
    'The text that many times.',
    (context, count, text) => repeatText(context, text, count),
  ),
  fn(
    'substring',
    'method',
    [p.string('string'), p.int('start'), optional(p.int('length'), -1)],
    'Part of a text; a negative start counts from the end, a negative length means all the rest.',
    (_, text, start, length) => {
      const size = textLength(text);
      const n = (length as Integer) < 0 ? size : toIndex(length as Integer);
      let from = toIndex(start);
      if (from < 0) from += size;
      // Still negative: as in a Python slice, bounds then count from the end again.
      const bound = (x: number): number => (x < 0 ? Math.max(0, x + size) : Math.min(x, size));
      return sliceText(text, bound(from), bound(from + n));
    },
  ),
  fn(
    'indexOf',
    'method',
    [p.string('string'), p.string('sub'), optional(p.int('start'), 0)],
    'First place of a text in another, -1 when it is not there.',
    (_, text, sought, start) => findText(text, sought, toIndex(start as Integer), Number.MAX_SAFE_INTEGER, false),
  ),
  fn(
    'indexOf',
    'method',
    [p.string('string'), p.string('sub'), p.int('start'), p.int('length')],
    'First place within a part of the text.',
    (_, text, sought, start, length) => {
      const [from, to] = window(text, start, length);
      return findText(text, sought, from, to, false);
    },
  ),
  fn(
    'lastIndexOf',
    'method',
    [p.string('string'), p.string('sub'), optional(p.int('start'), 0)],
    'Last place of a text in another, -1 when it is not there.',
    (_, text, sought, start) => findText(text, sought, toIndex(start as Integer), Number.MAX_SAFE_INTEGER, true),
  ),
  fn(
    'lastIndexOf',
    'method',
    [p.string('string'), p.string('sub'), p.int('start'), p.int('length')],
    'Last place within a part of the text.',
    (_, text, sought, start, length) => {
      const [from, to] = window(text, start, length);
      return findText(text, sought, from, to, true);
    },
  ),
  fn(
    'toCharArray',
    'method',
    [p.string('string')],
    'List of the characters.',
    (_, text) => new Tuple(Array.from(text)),
  ),
  fn(
    'characters',
    'function',
    characterClasses().map(([name]) => optional(nullable(p.boolean(name)), false)),
    'The distinct characters of the chosen classes, in no particular order.',
    (_, ...flags) => chosenCharacters(flags as readonly Value[]),
  ),
  fn('isString', 'function', [p.any('arg')], 'Whether the value is a text.', (_, value) => typeof value === 'string'),
  fn(
    'norm',
    'both',
    [nullable(p.string('string')), characters()],
    'The trimmed text, null when nothing is left of it.',
    (_, text, chars) => {
      if (text === null) return null;
      const trimmed = trimText(text, chars, true, true);
      return trimmed === '' ? null : trimmed;
    },
  ),
  fn('#operator_in', 'function', two(), 'Whether the left text occurs in the right one.', (_, a, b) => b.includes(a)),
  fn(
    'startsWith',
    'method',
    [p.string('string'), rest(p.string('prefixes'))],
    'Whether the text starts with one of the others.',
    (_, text, prefixes) => prefixes.some((prefix) => text.startsWith(prefix)),
  ),
  fn(
    'endsWith',
    'method',
    [p.string('string'), rest(p.string('suffixes'))],
    'Whether the text ends with one of the others.',
    (_, text, suffixes) => suffixes.some((suffix) => text.endsWith(suffix)),
  ),
  fn('hex', 'function', [nullable(p.number('num'))], 'Hexadecimal text of an integer, such as 0xff.', (_, x) => {
    if (x === null || x instanceof Float || !isInteger(x))
      throw typeError(`${asText(x)} cannot be interpreted as an integer`);
    return hexText(x);
  }),
];

function characterClasses(): readonly (readonly [string, string | null])[] {
  const digits = '0123456789';
  const lower = 'abcdefghijklmnopqrstuvwxyz';
  const upper = lower.toUpperCase();
  const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
  const whitespace = ' \t\n\r\v\f';
  return [
    ['digits', digits],
    ['hexdigits', `${digits}abcdefABCDEF`],
    ['asciiLowercase', lower],
    ['asciiUppercase', upper],
    ['asciiLetters', lower + upper],
    // Three names of Python 2 that Python 3 no longer has.
    ['letters', null],
    ['octdigits', '01234567'],
    ['punctuation', punctuation],
    ['printable', digits + lower + upper + punctuation + whitespace],
    ['lowercase', null],
    ['uppercase', null],
    ['whitespace', whitespace],
  ];
}

function chosenCharacters(flags: readonly Value[]): Value {
  let all = '';
  characterClasses().forEach(([name, members], i) => {
    if (!isTruthy(flags[i] as Value)) return;
    if (members === null) throw new YaqlError('AttributeError', `module 'string' has no attribute '${name}'`);
    all += members;
  });
  return new Tuple([...new Set(all)]);
}

/** The comparison of a context as a three-way one. */
export const orderIn = (context: Context): ((a: Value, b: Value) => number) => {
  const less = binaryFunction(context, '#operator_<');
  const greater = binaryFunction(context, '#operator_>');
  return (a, b) => (isTruthy(less(a, b)) ? -1 : isTruthy(greater(a, b)) ? 1 : 0);
};
