import { typeError, valueError, YaqlError } from '../errors.ts';
import type { Context, FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import { keywords, optional, p, rest } from '../runtime/parameters.ts';
import { callFunction, callMethod } from '../runtime/value-call.ts';
import type { Dict } from '../values/collections.ts';
import { DONE, isIterableValue, LazyIterator, pullFrom, sequenceItems } from '../values/iterators.ts';
import type { Value } from '../values/kind.ts';
import { finalize } from './finalize.ts';
import { functionNameFor, isTruthy, memorize } from './shared.ts';
import { asText } from './texts.ts';

const fn = chapterOf('system');

/** Overloads that hosts' own ones of the same name come before: what a dot means when nothing else applies, and output. */
export const fallbacks: readonly FunctionDefinition[] = [
  fn(
    '#operator_.',
    'function',
    [p.any('obj'), p.keyword('name')],
    'Property of a value: calls `#property#NAME`.',
    (context, value, name) => callFunction(context, `#property#${name}`, [value]),
  ),
  fn(
    '#iter',
    'function',
    [p.iterable('iterator')],
    'Applies the limit on elements while the result is converted.',
    (_, iterator) => iterator,
  ),
  fn(
    '#finalize',
    'function',
    [p.any('obj')],
    'Converts the value of the whole expression into plain lists and dicts.',
    finalize,
  ),
];

export const systemFunctions: readonly FunctionDefinition[] = [
  fn(
    '#get_context_data',
    'function',
    [p.keyword('name')],
    'Value of a variable, null when there is none.',
    (context, name) => context.variable(name),
  ),
  fn(
    '#operator_.',
    'function',
    [p.any('receiver'), p.methodLambda('expr')],
    'Calls a method: `receiver.method(..)`.',
    (_, receiver, expr) => expr.callMethod(receiver),
  ),
  fn(
    '#operator_?.',
    'function',
    [p.any('receiver'), p.expression('expr')],
    'Like `.`, but null when the receiver is null; guards one step only.',
    (context, receiver, expr) => (receiver === null ? null : expr.dot(context, receiver)),
  ),
  fn(
    '#operator_->',
    'function',
    [p.context('left'), p.lambda('right')],
    'Evaluates the right side in the context on the left: `let(a => 1) -> $a`.',
    (_, left, right) => right.callIn(left),
  ),
  fn(
    'let',
    'function',
    [rest(p.any('args')), keywords(p.any('kwargs'))],
    'Context with variables: positional values become `$1`, `$2` …, named ones `$name`.',
    (context, args, named) => {
      setPositional(context, args);
      for (const [name, value] of named) context.setVariable(name, value);
      return context;
    },
    { ownContext: true },
  ),
  fn(
    'with',
    'function',
    [rest(p.any('args'))],
    'Context in which the values are `$1`, `$2` and so on.',
    (context, args) => setPositional(context, args),
    { ownContext: true },
  ),
  fn(
    'unpack',
    'method',
    [p.iterable('sequence'), rest(p.string('args'))],
    'Context with the elements under the given names; without names as `$1`, `$2` … ValueError when the numbers differ.',
    unpack,
    { ownContext: true },
  ),
  fn(
    'def',
    'function',
    [p.string('name'), p.lambda('func')],
    'Context with a new function; it may call itself and takes positional and named arguments.',
    (context, name, body) => {
      context.register(
        fn(
          functionNameFor(name),
          'function',
          [rest(p.any('args')), keywords(p.any('kwargs'))],
          'Defined in the expression.',
          (_, args, named) => body.call(args, named),
        ),
      );
      return context;
    },
    { ownContext: true },
  ),
  fn(
    'assert',
    'method',
    [p.any('obj'), p.lambda('condition'), optional(p.string('message'), 'Assertion failed')],
    'The receiver when the condition holds for it, AssertionError with the message otherwise.',
    (context, value, condition, message) => {
      const object = value instanceof LazyIterator ? memorize(context, value) : value;
      if (!isTruthy(condition.call1(object))) throw new YaqlError('AssertionError', message);
      return object;
    },
  ),
  fn(
    'call',
    'function',
    [p.string('name'), p.sequence('args'), p.mapping('kwargs'), optional(p.any('receiver'))],
    'Calls a function by name with a list of positional and a dict of named arguments; with a receiver, a method.',
    (context, name, args, kwargs, receiver) => {
      const items = sequenceItems(args) as readonly Value[];
      const named = namedArguments(kwargs);
      if (receiver === undefined) return callFunction(context, name, items, named);
      return callMethod(context, name, [receiver, ...items], named);
    },
    { ownContext: true },
  ),
];

/** Only in contexts made with delegates. */
export const delegateFunctions: readonly FunctionDefinition[] = [
  fn(
    '#call',
    'function',
    [p.callable('callable'), rest(p.any('args')), keywords(p.any('kwargs'))],
    'Calls a function value: `$f(1)`.',
    (_, callable, args, named) => callable.call(args, named),
  ),
  fn('lambda', 'function', [p.lambda('func')], 'Function value of an expression.', (_, body) => body),
];

function setPositional(context: Context, args: readonly Value[]): Context {
  args.forEach((value, i) => {
    context.setVariable(String(i + 1), value);
  });
  return context;
}

function unpack(context: Context, sequence: Value, names: readonly string[]): Value {
  const pull = pullFrom(sequence);
  const head: Value[] = [];
  for (let i = 0; i <= names.length; i++) {
    const value = pull();
    if (value === DONE) break;
    head.push(value);
  }
  if (names.length > 0) {
    if (head.length !== names.length) throw valueError(`Cannot unpack ${head.length} elements into ${names.length}`);
    names.forEach((name, i) => {
      context.setVariable(name, head[i] as Value);
    });
    return context;
  }
  // Reading the size has consumed the first element of an iterator; a list starts again.
  let index = 0;
  const again = isIterableValue(sequence) && !(sequence instanceof LazyIterator) ? pullFrom(sequence) : pull;
  for (let value = again(); value !== DONE; value = again()) context.setVariable(String(++index), value);
  return context;
}

const argumentName = /^(?!__)[\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_]*/u;

/** The reference implementation intends to drop keys that are not names, but fails on them. */
function namedArguments(kwargs: Dict): ReadonlyMap<string, Value> {
  const named = new Map<string, Value>();
  for (const [key, value] of kwargs.entries()) {
    if (typeof key !== 'string') throw typeError('expected string or bytes-like object');
    if (!argumentName.test(key)) throw new YaqlError('RuntimeError', `${asText(key)} cannot name an argument`);
    named.set(key, value);
  }
  return named;
}
