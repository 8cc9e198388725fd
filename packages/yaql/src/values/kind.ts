/**
 * Every value has one of these kinds. Parameter types are sets of kinds, so "does this argument fit" is one bit test,
 * and a call's overload depends on nothing but the kinds of its arguments.
 */
export const Kind = {
  Null: 0,
  Boolean: 1,
  Integer: 2,
  Float: 3,
  String: 4,
  /** Immutable sequence; hashable when its items are. */
  Tuple: 5,
  /** Mutable sequence: a plain JavaScript array. */
  List: 6,
  /** Mutable dict. */
  Dict: 7,
  FrozenDict: 8,
  /** Immutable set. */
  Set: 9,
  /** The result of `keys()` and `items()`: behaves as a set. */
  SetView: 10,
  /** The result of `values()`: can be iterated repeatedly, has no length. */
  ValuesView: 11,
  /** One-shot. */
  Iterator: 12,
  /** The result of `orderBy`. */
  Ordered: 13,
  DateTime: 14,
  TimeSpan: 15,
  Regex: 16,
  Context: 17,
  Callable: 18,
  /** An evaluated `key => value` argument. */
  MappingRule: 19,
  /** The marker of `old(..)` for "could not be evaluated on the old data". */
  Undefined: 20,
  /** Mutable set; appears in results when sets are not converted to lists. */
  MutableSet: 21,
  /** An object of the host that the language cannot look into. */
  Foreign: 22,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

const names: Record<Kind, string> = {
  0: 'null',
  1: 'boolean',
  2: 'integer',
  3: 'float',
  4: 'string',
  5: 'list',
  6: 'mutable list',
  7: 'mutable dict',
  8: 'dict',
  9: 'set',
  10: 'set view',
  11: 'values view',
  12: 'iterator',
  13: 'ordered iterable',
  14: 'datetime',
  15: 'timespan',
  16: 'regex',
  17: 'context',
  18: 'function',
  19: 'mapping rule',
  20: 'undefined',
  21: 'mutable set',
  22: 'host object',
};

export const kindName = (kind: Kind): string => names[kind];

/** Base of all values that are not JavaScript primitives or arrays. */
export abstract class ValueObject {
  abstract get kind(): Kind;

  /** Key under which equal values meet in dicts and sets; identity unless a class has an equality of its own. */
  hashKey(): string | number | bigint | null | object {
    return this;
  }
}

/**
 * A value of the language. Integers are `number` while safe and `bigint` beyond; floats with a fraction are `number`,
 * all other floats (1.0, 1e20, -0.0, nan, inf) are a `Float` box, because 1.0 and 1 are different values here.
 */
export type Value = null | boolean | number | bigint | string | object;

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'string':
      return Kind.String;
    case 'number':
      return Number.isInteger(value) ? Kind.Integer : Kind.Float;
    case 'boolean':
      return Kind.Boolean;
    case 'bigint':
      return Kind.Integer;
    default:
      if (value === null || value === undefined) return Kind.Null;
      if (value instanceof ValueObject) return value.kind;
      return Array.isArray(value) ? Kind.List : Kind.Foreign;
  }
}
