import type { Regex } from '../regex/regex.ts';
import type { Dict, DictView, MappingRule, ValueSet } from '../values/collections.ts';
import type { OrderedIterable } from '../values/iterators.ts';
import { Kind, type Value } from '../values/kind.ts';
import type { Integer, Numeric } from '../values/numbers.ts';
import type { DateTime, TimeSpan } from '../values/time.ts';
import type { Code } from './code.ts';
import type { Context } from './context.ts';
import type { Lambda, LazyRule } from './lambda.ts';
import type { Parameter, ParameterRole, ParameterType } from './parameter.ts';

/** Set of kinds as bits. */
const bits = (...kinds: readonly Kind[]): number => kinds.reduce<number>((mask, kind) => mask | (1 << kind), 0);
const everything = (1 << 23) - 1;
const sets = bits(Kind.Set, Kind.SetView, Kind.MutableSet);
const dicts = bits(Kind.Dict, Kind.FrozenDict);
const iterables = sets | bits(Kind.Tuple, Kind.List, Kind.ValuesView, Kind.Iterator, Kind.Ordered);

const type = (
  name: string,
  accepts: number,
  pythonClass: string | null,
  more: Partial<ParameterType> = {},
): ParameterType => ({
  name,
  role: 'value',
  accepts,
  iterable: false,
  coercesBooleans: false,
  pythonClass,
  ...more,
});
const lazy = (name: string, role: ParameterRole): ParameterType => type(name, everything, null, { role });

/** Ancestors of the Python classes among one another. */
const ancestors: Record<string, readonly string[]> = {
  bool: ['int', 'object'],
  int: ['object'],
  str: ['sequence', 'iterable', 'object'],
  iterable: ['object'],
  iterator: ['iterable', 'object'],
  sequence: ['iterable', 'object'],
  tuple: ['sequence', 'iterable', 'object'],
  mapping: ['iterable', 'object'],
  set: ['iterable', 'object'],
  ordered: ['iterable', 'object'],
  datetime: ['object'],
  timedelta: ['object'],
  regex: ['object'],
  rule: ['object'],
  context: ['object'],
  null: ['object'],
};

/** Whether `a` is strictly more special than `b`. */
export const isSpecialization = (a: ParameterType, b: ParameterType): boolean =>
  a.pythonClass !== null && b.pythonClass !== null && (ancestors[a.pythonClass]?.includes(b.pythonClass) ?? false);

const parameter = <T>(name: string, parameterType: ParameterType): Parameter<T> => ({
  name,
  type: parameterType,
  position: 'single',
  required: true,
  fallback: undefined,
});

/** An iterable as implementations get it: walk it with `iterate` or `pullFrom`. */
type IterableValue = object;
/** A list or tuple: `sequenceItems` gives its items. */
type SequenceValue = object;

/** One builder for each kind of parameter. */
export const p = {
  /** Anything, null included. */
  any: (name: string) => parameter<Value>(name, type('any', everything, 'object')),
  /** Anything but null. */
  present: (name: string) =>
    parameter<Exclude<Value, null>>(name, type('not null', everything & ~bits(Kind.Null), 'object')),
  null: (name: string) => parameter<null>(name, type('null', bits(Kind.Null), 'null')),
  string: (name: string) => parameter<string>(name, type('string', bits(Kind.String), 'str')),
  /** Integer or boolean (as 0 or 1). */
  int: (name: string) =>
    parameter<Integer>(name, type('integer', bits(Kind.Integer, Kind.Boolean), 'int', { coercesBooleans: true })),
  /** Integer or boolean, as distinct types. */
  intOrBoolean: (name: string) =>
    parameter<Integer | boolean>(name, type('integer', bits(Kind.Integer, Kind.Boolean), 'int')),
  /** Integer only. */
  integer: (name: string) => parameter<Integer>(name, type('integer', bits(Kind.Integer), 'int')),
  /** Integer or float. */
  number: (name: string) => parameter<Numeric>(name, type('number', bits(Kind.Integer, Kind.Float), 'number')),
  boolean: (name: string) => parameter<boolean>(name, type('boolean', bits(Kind.Boolean), 'bool')),
  iterable: (name: string) =>
    parameter<IterableValue>(name, type('iterable', iterables, 'iterable', { iterable: true })),
  /** Any iterable that is not a set. */
  iterableNotSet: (name: string) =>
    parameter<IterableValue>(name, type('iterable', iterables & ~sets, 'iterable', { iterable: true })),
  iterator: (name: string) => parameter<IterableValue>(name, type('iterator', bits(Kind.Iterator), 'iterator')),
  sequence: (name: string) => parameter<SequenceValue>(name, type('list', bits(Kind.Tuple, Kind.List), 'sequence')),
  tuple: (name: string) => parameter<SequenceValue>(name, type('tuple', bits(Kind.Tuple), 'tuple')),
  mapping: (name: string) => parameter<Dict>(name, type('dict', dicts, 'mapping')),
  set: (name: string) => parameter<ValueSet | DictView>(name, type('set', sets, 'set')),
  ordered: (name: string) => parameter<OrderedIterable>(name, type('ordered iterable', bits(Kind.Ordered), 'ordered')),
  datetime: (name: string) => parameter<DateTime>(name, type('datetime', bits(Kind.DateTime), 'datetime')),
  timespan: (name: string) => parameter<TimeSpan>(name, type('timespan', bits(Kind.TimeSpan), 'timedelta')),
  regex: (name: string) => parameter<Regex>(name, type('regex', bits(Kind.Regex), 'regex')),
  context: (name: string) => parameter<Context>(name, type('context', bits(Kind.Context), 'context')),
  callable: (name: string) => parameter<Lambda>(name, type('function', bits(Kind.Callable), 'object')),
  /** An evaluated `key => value`. */
  rule: (name: string) => parameter<MappingRule>(name, type('key => value', bits(Kind.MappingRule), 'rule')),
  lambda: (name: string) => parameter<Lambda>(name, lazy('expression', 'lambda')),
  methodLambda: (name: string) => parameter<Lambda>(name, lazy('method call', 'method-lambda')),
  expression: (name: string) => parameter<Code>(name, lazy('expression', 'expression')),
  keyword: (name: string) => parameter<string>(name, lazy('name', 'keyword')),
  keywordExpression: (name: string) => parameter<Code>(name, lazy('name', 'keyword-expression')),
  lazyRule: (name: string) => parameter<LazyRule>(name, lazy('key => value', 'lazy-rule')),
};

/** May be null too. */
export const nullable = <T>(of: Parameter<T>): Parameter<T | null> => ({
  ...of,
  type: { ...of.type, name: of.type.name, accepts: of.type.accepts | bits(Kind.Null) },
});

/** May be left out; without a fallback the implementation receives `undefined`. */
export function optional<T>(of: Parameter<T>): Parameter<T | undefined>;
export function optional<T, F extends Value>(of: Parameter<T>, fallback: F): Parameter<T | F>;
export function optional<T>(of: Parameter<T>, fallback?: Value): Parameter<T | Value | undefined> {
  const widened = fallback === null ? nullable(of) : of;
  return { ...widened, required: false, fallback };
}

/** All further positional arguments, as an array. */
export const rest = <T>(of: Parameter<T>): Parameter<T[]> =>
  ({ ...of, position: 'rest', required: false }) as Parameter<T[]>;

/** All further named arguments. */
export const keywords = <T>(of: Parameter<T>): Parameter<ReadonlyMap<string, T>> =>
  ({ ...of, position: 'keywords', required: false }) as Parameter<ReadonlyMap<string, T>>;

/** Whether lazy evaluation is part of the role, which all overloads of a call must agree on. */
export const isLazy = (t: ParameterType): boolean =>
  t.role === 'lambda' || t.role === 'method-lambda' || t.role === 'expression' || t.role === 'lazy-rule';
