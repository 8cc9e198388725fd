import { valueError, YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf, renamed } from '../runtime/function-definition.ts';
import type { Lambda } from '../runtime/lambda.ts';
import { nullable, optional, p, rest } from '../runtime/parameters.ts';
import { Dict, MappingRule, Tuple } from '../values/collections.ts';
import { DONE, iterate, LazyIterator, pullFrom, sequenceItems } from '../values/iterators.ts';
import { Kind, kindOf, type Value } from '../values/kind.ts';
import { add, type Integer } from '../values/numbers.ts';
import { isTruthy, stopIteration } from './shared.ts';

const fn = chapterOf('legacy');

/** The pair an argument of the old `switch` and `as` must be. */
function pairOf(value: Value, who: string): readonly [Value, Value] {
  if (value instanceof MappingRule) return [value.source, value.destination];
  if (!(value instanceof Tuple)) throw valueError(`${who} must have tuple parameters`);
  if (value.items.length !== 2) throw valueError(`${who} tuples must be of size 2`);
  return value.items as unknown as [Value, Value];
}

const dictOfTuples = fn(
  'dict',
  'both',
  [rest(p.tuple('tuples'))],
  'Dict of tuples `key => value`.',
  (_, tuples) => {
    const out = new Dict(true);
    for (const tuple of tuples) {
      const items = sequenceItems(tuple) as readonly Value[];
      if (items.length < 2) throw stopIteration('a pair needs a key and a value');
      out.set(items[0] as Value, items[1] as Value);
    }
    return out;
  },
  { keepsRules: true },
);

/** Functions of the 0.2 language beyond, or in place of, the standard library. */
export const legacyFunctions: readonly FunctionDefinition[] = [
  fn(
    '#operator_=>',
    'function',
    [p.expression('left'), p.any('right')],
    '`a => b`: tuple; `a => b => c` is one of three.',
    (context, left, right) => {
      const value = left.run(context);
      const chained = left.node.type === 'binary' && left.node.operator === '=>';
      return chained && value instanceof Tuple ? new Tuple([...value.items, right]) : new Tuple([value, right]);
    },
  ),
  fn('toList', 'method', [p.iterable('collection')], 'Mutable list of the elements.', (_, items) => [
    ...iterate(items),
  ]),
  fn('tuple', 'function', [rest(p.any('args'))], 'Tuple of the arguments.', (_, args) => new Tuple(args)),
  dictOfTuples,
  renamed(dictOfTuples, '#map'),
  fn(
    'range',
    'both',
    [p.int('start'), optional(nullable(p.int('stop')), null)],
    'Integers from the start on, without end when there is no bound.',
    (context, start, stop) => {
      if (stop !== null) {
        const bound = stop as Integer;
        context.runtime.checkLength(Number(bound) - Number(start));
        const out: Value[] = [];
        for (let i: Integer = start; i < bound; i = add(i, 1) as Integer) out.push(i);
        return out;
      }
      let next = start;
      return new LazyIterator(() => {
        const value = next;
        next = add(next, 1) as Integer;
        return value;
      });
    },
  ),
  fn(
    'as',
    'method',
    [p.any('receiver'), rest(p.lambda('mappings'))],
    'Context with variables: `x.as(expression => name)`.',
    (context, receiver, mappings) => {
      for (const mapping of mappings) {
        const [value, name] = pairOf(mapping.call1(receiver), 'as()');
        if (typeof name !== 'string') throw new YaqlError('AttributeError', 'as() needs names');
        context.setVariable(name, value);
      }
      context.setVariable('0', receiver);
      return context;
    },
    { keepsRules: true, ownContext: true },
  ),
  fn(
    '#operator_.',
    'function',
    [p.context('receiver'), p.methodLambda('expr')],
    'Calls a method on what `as` was called on.',
    (_, receiver, expr) => expr.callMethodIn(receiver, receiver.variable('0')),
  ),
  fn(
    '#operator_.',
    'function',
    [p.mapping('dict'), p.keyword('key')],
    '`dict.key`: value of a key, null when there is none.',
    (_, from, key) => from.get(key) ?? null,
  ),
];

/** These hide the standard overloads of the same name. */
export const exclusiveLegacyFunctions: readonly FunctionDefinition[] = [
  fn(
    '#indexer',
    'function',
    [p.iterable('collection'), p.lambda('indexExpression')],
    '`list[index]`, or the elements for which the expression holds.',
    (_, items, expression) => {
      const list = sequenceItems(items);
      if (list !== null) {
        const index = expression.call0();
        if (kindOf(index) === Kind.Integer) return elementAt(list, index as Integer);
      }
      return filtered(items, expression);
    },
  ),
  fn(
    'switch',
    'both',
    [p.any('value'), rest(p.lambda('conditions'))],
    'Value of the first tuple `condition => value` whose condition holds for `$`.',
    (context: Context, value, conditions) => {
      const inner = context.child();
      inner.first = value;
      for (const condition of conditions) {
        const [holds, result] = pairOf(condition.callIn(inner), 'switch()');
        if (isTruthy(holds)) return result;
      }
      return null;
    },
    { keepsRules: true, ownContext: true },
  ),
];

/** Names whose standard overloads can be called both ways in the old language. */
export const calledBothWays = ['get', 'list', 'bool', 'int', 'float', 'select', 'where', 'join', 'sum', 'takeWhile'];

function elementAt(list: readonly Value[], index: Integer): Value {
  const i = Number(index);
  const item = list[i < 0 ? i + list.length : i];
  if (item === undefined) throw indexError();
  return item;
}

function filtered(items: Value, predicate: Lambda): LazyIterator {
  const pull = pullFrom(items);
  return new LazyIterator(() => {
    for (;;) {
      const item = pull();
      if (item === DONE || isTruthy(predicate.call1(item))) return item;
    }
  });
}

const indexError = (): YaqlError => new YaqlError('IndexError', 'list index out of range');
