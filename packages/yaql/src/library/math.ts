import { typeError, valueError } from '../errors.ts';
import type { FunctionDefinition } from '../runtime/context.ts';
import { chapterOf } from '../runtime/function-definition.ts';
import { nullable, optional, p } from '../runtime/parameters.ts';
import { callFunction } from '../runtime/value-call.ts';
import type { Value } from '../values/kind.ts';
import { parseFloatText, parseInteger } from '../values/number-text.ts';
import {
  absolute,
  add,
  compareNumbers,
  divide,
  Float,
  float,
  type Integer,
  integer,
  isInteger,
  modularPower,
  modulo,
  multiply,
  type Numeric,
  negate,
  power,
  shiftLeft,
  shiftRight,
  subtract,
  toDouble,
} from '../values/numbers.ts';
import { round, truncate } from '../values/rounding.ts';
import { isTruthy } from './shared.ts';
import { asText } from './texts.ts';

const fn = chapterOf('math');
const two = () => [p.number('left'), p.number('right')] as const;

const isNumber = (value: Value): value is Numeric =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof Float;

export const mathFunctions: readonly FunctionDefinition[] = [
  fn('#operator_+', 'function', two(), 'Sum.', (_, a, b) => add(a, b)),
  fn('#operator_-', 'function', two(), 'Difference.', (_, a, b) => subtract(a, b)),
  fn('#operator_*', 'function', two(), 'Product.', (_, a, b) => multiply(a, b)),
  fn('#operator_/', 'function', two(), 'Quotient; of two integers rounded down; ZeroDivisionError.', (_, a, b) =>
    divide(a, b),
  ),
  fn('#operator_mod', 'function', two(), 'Remainder with the sign of the divisor; ZeroDivisionError.', (_, a, b) =>
    modulo(a, b),
  ),
  fn('#unary_operator_+', 'function', [p.number('op')], 'The number itself.', (_, a) => a),
  fn('#unary_operator_-', 'function', [p.number('op')], 'The negative number.', (_, a) => negate(a)),
  fn('#operator_>', 'function', two(), 'Whether the left number is greater.', (_, a, b) => compareNumbers(a, b) > 0),
  fn('#operator_>=', 'function', two(), 'Whether the left number is not less.', (_, a, b) => compareNumbers(a, b) >= 0),
  fn('#operator_<', 'function', two(), 'Whether the left number is less.', (_, a, b) => compareNumbers(a, b) < 0),
  fn(
    '#operator_<=',
    'function',
    two(),
    'Whether the left number is not greater.',
    (_, a, b) => compareNumbers(a, b) <= 0,
  ),
  fn('abs', 'function', [p.number('op')], 'Absolute value.', (_, a) => absolute(a)),
  fn(
    'int',
    'function',
    [p.any('value')],
    'Integer of a number (towards zero), a decimal text, a boolean or null (0); ValueError, TypeError, OverflowError.',
    (_, value) => toInteger(value),
  ),
  fn(
    'float',
    'function',
    [p.any('value')],
    'Float of a number, a text, a boolean or null (0.0); ValueError, TypeError.',
    (_, value) => toFloat(value),
  ),
  fn(
    'random',
    'function',
    [],
    'Random float from 0 inclusive to 1 exclusive; needs a source given to the engine.',
    (context) => float(randomSource(context.runtime.options.random)()),
  ),
  fn(
    'random',
    'function',
    [p.any('from'), p.any('to')],
    'Random integer between the bounds, both included.',
    (context, from, to) => randomInteger(from, to, randomSource(context.runtime.options.random)),
  ),
  fn('bitwiseAnd', 'function', [p.intOrBoolean('left'), p.intOrBoolean('right')], 'Bits set in both.', (_, a, b) =>
    typeof a === 'boolean' && typeof b === 'boolean' ? a && b : integer(big(a) & big(b)),
  ),
  fn('bitwiseOr', 'function', [p.intOrBoolean('left'), p.intOrBoolean('right')], 'Bits set in either.', (_, a, b) =>
    typeof a === 'boolean' && typeof b === 'boolean' ? a || b : integer(big(a) | big(b)),
  ),
  fn(
    'bitwiseXor',
    'function',
    [p.intOrBoolean('left'), p.intOrBoolean('right')],
    'Bits set in exactly one.',
    (_, a, b) => (typeof a === 'boolean' && typeof b === 'boolean' ? a !== b : integer(big(a) ^ big(b))),
  ),
  fn('bitwiseNot', 'function', [p.int('arg')], 'All bits inverted, as in two’s complement.', (_, a) =>
    integer(~BigInt(a)),
  ),
  fn(
    'shiftBitsLeft',
    'function',
    [p.int('value'), p.int('bitsNumber')],
    'Shifted to the left; ValueError for a negative count.',
    (_, a, n) => shiftLeft(a, n),
  ),
  fn(
    'shiftBitsRight',
    'function',
    [p.int('value'), p.int('bitsNumber')],
    'Shifted to the right, rounding down; ValueError for a negative count.',
    (_, a, n) => shiftRight(a, n),
  ),
  fn('max', 'function', [p.any('a'), p.any('b')], 'The greater one; the first when neither is.', (context, a, b) =>
    isTruthy(callFunction(context, '#operator_>', [b, a])) ? b : a,
  ),
  fn('min', 'function', [p.any('a'), p.any('b')], 'The lesser one; the second when neither is.', (context, a, b) =>
    isTruthy(callFunction(context, '#operator_>', [b, a])) ? a : b,
  ),
  fn(
    'pow',
    'function',
    [p.number('a'), p.number('b'), optional(nullable(p.number('c')), null)],
    'Power; with a third number the remainder of the power by it, for integers only.',
    (_, a, b, c) => {
      if (c === null) return power(a, b);
      if (!isInteger(a) || !isInteger(b) || !isInteger(c as Numeric))
        throw typeError('pow() 3rd argument not allowed unless all arguments are integers');
      return modularPower(a, b, c as Integer);
    },
  ),
  fn('sign', 'function', [p.number('num')], '1, -1 or 0.', (_, a) => {
    const order = compareNumbers(a, 0);
    return order > 0 ? 1 : order < 0 ? -1 : 0;
  }),
  fn(
    'round',
    'function',
    [p.number('number'), optional(p.int('ndigits'), 0)],
    'Rounded half to even at that many digits; a float stays a float.',
    (_, a, digits) => round(a, digits as Integer),
  ),
  fn('isInteger', 'function', [p.any('value')], 'Whether the value is an integer; booleans are not.', (_, value) =>
    isInteger(value),
  ),
  fn(
    'isNumber',
    'function',
    [p.any('value')],
    'Whether the value is an integer or a float; booleans are not.',
    (_, value) => isNumber(value),
  ),
];

const big = (x: Integer | boolean): bigint => BigInt(x);

function toInteger(value: Value): Value {
  if (value === null) return 0;
  if (typeof value === 'boolean') return Number(value);
  if (isInteger(value)) return value;
  if (isNumber(value)) return truncate(toDouble(value));
  if (typeof value === 'string') return parseInteger(value);
  throw typeError(`int() argument must be a string or a real number, not ${asText(value)}`);
}

function toFloat(value: Value): Value {
  if (value === null) return new Float(0);
  if (typeof value === 'boolean' || isNumber(value)) return float(toDouble(value));
  if (typeof value === 'string') return parseFloatText(value);
  throw typeError(`float() argument must be a string or a real number, not ${asText(value)}`);
}

function randomSource(source: (() => number) | undefined): () => number {
  if (source === undefined) throw valueError('No source of random numbers was given to the engine');
  return source;
}

function randomInteger(from: Value, to: Value, source: () => number): Value {
  const whole = (x: Value): bigint => {
    if (typeof x === 'boolean' || isInteger(x)) return BigInt(x);
    throw typeError(`${asText(x)} cannot be interpreted as an integer`);
  };
  const low = whole(from);
  const width = whole(to) - low + 1n;
  if (width <= 0n) throw valueError('empty range for randrange()');
  // 52 bits of the source are enough for every realistic width.
  return integer(low + (BigInt(Math.floor(source() * 2 ** 52)) * width) / 2n ** 52n);
}
