import { YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { optional, p, rest } from '../runtime/parameters.ts';
import { Dict, DictView, type MappingRule } from '../values/collections.ts';
import { sameOrEqual } from '../values/equality.ts';
import { DONE, iterate, pullFrom } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { stopIteration } from './shared.ts';
import { asText } from './texts.ts';

const fn = chapterOf('collections');
const dict = () => p.mapping('dict');

const ruled = function* (rules: readonly MappingRule[]): Generator<[Value, Value]> {
  for (const rule of rules) yield [rule.source, rule.destination];
};

const build = fn(
  'dict',
  'function',
  [rest(p.rule('args'))],
  'Dict of `key => value` arguments.',
  (context, rules) => {
    context.runtime.checkMemoryOf(...rules.map((rule) => [1, rule] as const));
    return Dict.of(ruled(rules), true);
  },
  { keepsRules: true },
);

/** The value of a key, KeyError when there is none. */
function itemOf(from: Dict, key: Value): Value {
  const value = from.get(key);
  if (value === undefined) throw new YaqlError('KeyError', asText(key));
  return value;
}

function merged(left: Dict, changes: Iterable<readonly [Value, Value]>): Dict {
  const out = Dict.of(left.entries(), true);
  for (const [key, value] of changes) out.set(key, value);
  return out;
}

function without(from: Dict, keys: Iterable<Value>): Dict {
  const out = Dict.of(from.entries(), false);
  // An empty dict does not check the key.
  for (const key of keys) if (out.size > 0) out.delete(key);
  return out;
}

function fromPairs(context: Context, items: Value): Dict {
  const out = new Dict(true);
  for (const item of iterate(items)) {
    const pull = pullFrom(item);
    const key = pull();
    if (key === DONE) throw stopIteration('a pair needs a key');
    const value = pull();
    if (value === DONE) throw stopIteration('a pair needs a value');
    out.set(key, value);
  }
  context.runtime.checkMemory(Dict.of(out.entries(), false));
  return out;
}

function toDict(context: Context, items: Value, key: Lambda, value: Lambda | undefined): Dict {
  const out = new Dict(false);
  const { runtime } = context;
  for (const item of iterate(items)) {
    const k = key.call1(item);
    out.set(k, value === undefined ? item : value.call1(item));
    if (runtime.quota > 0) runtime.checkMemory(out);
  }
  return out;
}

export const dictFunctions: readonly FunctionDefinition[] = [
  build,
  renamed(build, '#map'),
  fn('dict', 'function', [p.iterable('items')], 'Dict of pairs of key and value.', fromPairs, { keepsRules: true }),
  fn(
    'toDict',
    'method',
    [p.iterable('collection'), p.lambda('keySelector'), optional(p.lambda('valueSelector'))],
    'Dict with a key and a value for each element; the last of equal keys wins.',
    toDict,
  ),
  fn('#operator_.', 'function', [dict(), p.keyword('key')], '`dict.key`: value of a key; KeyError.', (_, from, key) =>
    itemOf(from, key),
  ),
  fn('#indexer', 'function', [dict(), p.any('key')], '`dict[key]`: value of a key; KeyError.', (_, from, key) =>
    itemOf(from, key),
  ),
  fn(
    '#indexer',
    'function',
    [dict(), p.any('key'), p.any('default')],
    '`dict[key, default]`: value of a key, or the default.',
    (_, from, key, fallback) => from.get(key) ?? orNull(from, key, fallback),
  ),
  fn(
    'get',
    'method',
    [dict(), p.any('key'), optional(p.any('default'), null)],
    'Value of a key, or the default.',
    (_, from, key, fallback) => from.get(key) ?? orNull(from, key, fallback),
  ),
  fn(
    'set',
    'method',
    [dict(), p.any('key'), p.any('value')],
    'Dict with one key set.',
    (context, from, key, value) => {
      context.runtime.checkMemoryOf([1, from], [1, key], [1, value]);
      return merged(from, [[key, value]]);
    },
    { keepsRules: true },
  ),
  fn(
    'set',
    'method',
    [dict(), p.mapping('replacements')],
    'Dict with the keys of another one set.',
    (context, from, replacements) => {
      context.runtime.checkMemoryOf([1, from], [1, replacements]);
      return merged(from, replacements.entries());
    },
    { keepsRules: true },
  ),
  fn(
    'set',
    'method',
    [dict(), rest(p.rule('args'))],
    'Dict with the keys of `key => value` arguments set.',
    (_, from, rules) => merged(from, ruled(rules)),
    { keepsRules: true },
  ),
  fn('keys', 'method', [dict()], 'The keys, as a set.', (_, from) => new DictView(from, 'keys')),
  fn(
    'values',
    'method',
    [dict()],
    'The values; use `count()` for their number.',
    (_, from) => new DictView(from, 'values'),
  ),
  fn('items', 'method', [dict()], 'Pairs of key and value, as a set.', (_, from) => new DictView(from, 'items')),
  fn('containsKey', 'method', [dict(), p.any('key')], 'Whether there is such a key.', (_, from, key) => from.has(key)),
  fn('containsValue', 'method', [dict(), p.any('value')], 'Whether some key has this value.', (_, from, value) => {
    for (const candidate of from.values()) if (sameOrEqual(candidate, value)) return true;
    return false;
  }),
  fn(
    '#operator_+',
    'function',
    [p.mapping('left'), p.mapping('right')],
    'Keys of both; the right value wins.',
    (context, left, right) => {
      context.runtime.checkMemoryOf([1, left], [1, right]);
      return merged(left, right.entries());
    },
  ),
  fn('isDict', 'function', [p.any('arg')], 'Whether the value is a dict.', (_, value) => value instanceof Dict),
  fn('len', 'both', [dict()], 'Number of keys.', (_, from) => from.size),
  fn('delete', 'method', [dict(), rest(p.any('keys'))], 'Dict without these keys.', (_, from, keys) =>
    without(from, keys),
  ),
  fn('deleteAll', 'method', [dict(), p.iterable('keys')], 'Dict without these keys.', (_, from, keys) =>
    without(from, iterate(keys)),
  ),
];

/** `??` has already dealt with present values; a stored null must not become the default. */
function orNull(from: Dict, key: Value, fallback: Value): Value {
  return from.has(key) ? null : fallback;
}
