import { YaqlError } from '../errors.ts';
import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import { p, rest } from '../runtime/parameters.ts';
import { callMethod } from '../runtime/value-call.ts';
import { type DictView, ValueSet } from '../values/collections.ts';
import { isSubset } from '../values/equality.ts';
import { isSetLike, iterate, lazily } from '../values/iterators.ts';
import { spliced } from './lists.ts';

const fn = chapterOf('collections');
type SetLike = ValueSet | DictView;
const two = () => [p.set('left'), p.set('right')] as const;

/** Views of dicts behave as sets but have none of a set's methods. */
function realSet(set: SetLike, method: string): ValueSet {
  if (set instanceof ValueSet) return set;
  throw new YaqlError('AttributeError', `a view of a dict has no '${method}'; use toSet() first`);
}

const minus = (left: SetLike, right: SetLike): ValueSet => {
  const others = new ValueSet(right);
  return new ValueSet([...left].filter((value) => !others.has(value)));
};

/** Of members that are equal but not the same, like 1 and true, those of the smaller set are kept, as CPython does. */
const common = (left: ValueSet, right: SetLike): ValueSet => {
  if (right instanceof ValueSet && right.size > left.size) return common(right, left);
  return new ValueSet([...right].filter((value) => left.has(value)));
};

const difference = fn(
  'difference',
  'method',
  two(),
  'Members of the left set that the right one does not have.',
  (_, left, right) => minus(realSet(left, 'difference'), right),
);

export const setFunctions: readonly FunctionDefinition[] = [
  fn('isSet', 'function', [p.any('arg')], 'Whether the value is a set; keys and items of a dict are.', (_, value) =>
    isSetLike(value),
  ),
  fn(
    'set',
    'function',
    [rest(p.any('args'))],
    'Set of the arguments; the elements of iterators among them take their place.',
    (context, args) => callMethod(context, 'toSet', [lazily(spliced(args))]),
  ),
  fn(
    'toSet',
    'method',
    [p.iterable('collection')],
    'Set of the elements; TypeError for unhashable elements.',
    (_, items) => new ValueSet(iterate(items)),
  ),
  fn('len', 'both', [p.set('set')], 'Number of members.', (_, set) => set.size),
  fn(
    '#operator_<',
    'function',
    two(),
    'Whether the left set is a proper subset.',
    (_, a, b) => a.size < b.size && isSubset(a, b),
  ),
  fn('#operator_<=', 'function', two(), 'Whether the left set is a subset.', (_, a, b) => isSubset(a, b)),
  fn(
    '#operator_>',
    'function',
    two(),
    'Whether the left set is a proper superset.',
    (_, a, b) => b.size < a.size && isSubset(b, a),
  ),
  fn('#operator_>=', 'function', two(), 'Whether the left set is a superset.', (_, a, b) => isSubset(b, a)),
  fn(
    'add',
    'method',
    [p.set('set'), rest(p.any('values'))],
    'Set with these members too.',
    (_, set, values) => new ValueSet([...realSet(set, 'union'), ...values]),
  ),
  fn('remove', 'method', [p.set('set'), rest(p.any('values'))], 'Set without these members.', (_, set, values) =>
    minus(realSet(set, 'difference'), new ValueSet(values)),
  ),
  fn('union', 'method', two(), 'Members of either set.', (_, a, b) => new ValueSet([...realSet(a, 'union'), ...b])),
  fn('intersect', 'method', two(), 'Members of both sets.', (_, a, b) => common(realSet(a, 'intersection'), b)),
  difference,
  { ...renamed(difference, '#operator_-'), isFunction: true, isMethod: false },
  fn('symmetricDifference', 'method', two(), 'Members of exactly one of the sets.', (_, a, b) => {
    const left = realSet(a, 'symmetric_difference');
    return new ValueSet([...minus(left, b), ...minus(b, left)]);
  }),
];
