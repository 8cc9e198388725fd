import { isDeepStrictEqual } from 'node:util';
import { isMapping, kindOf, type Mapping, type ValuePath } from '../../core/data/plain-value.ts';
import { PatternError, type Patterns } from './patterns.ts';

interface Mismatch {
  readonly message: string;
  readonly path: ValuePath;
}

/** Steps for all documents of a site: schemas can refer to themselves. */
const MAX_STEPS = 2_000_000;
const MAX_DEPTH = 200;

/** Checks values by schemas of JSON Schema draft 4, within one budget of steps. `format` is not checked. */
export class JsonSchemaCheck {
  readonly #patterns: Patterns;
  #steps = 0;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
  }

  /** @throws PatternError for a bad pattern; JsonSchemaError for a schema that is none, or too complex */
  mismatches(schema: unknown, value: unknown): readonly Mismatch[] {
    return [...this.#check(schema, value, [], schema, 0)];
  }

  #matches(schema: unknown, value: unknown, root: unknown, depth: number): boolean {
    for (const _ of this.#check(schema, value, [], root, depth)) return false;
    return true;
  }

  *#check(schema: unknown, value: unknown, path: ValuePath, root: unknown, depth: number): Generator<Mismatch> {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS || depth > MAX_DEPTH) throw new JsonSchemaError('the schema is too complex');
    if (!isMapping(schema)) throw new JsonSchemaError('a part of the schema is no mapping');
    const mismatch = (message: string): Mismatch => ({ message, path });
    if (typeof schema.$ref === 'string') {
      yield* this.#check(resolve(root, schema.$ref), value, path, root, depth + 1);
      return;
    }
    const types = schema.type === undefined ? [] : [schema.type].flat();
    if (types.length > 0 && !types.some((type) => isOfType(value, type)))
      yield mismatch(
        `is ${kindOf(value)}, not ${types.map((type) => WORDS[String(type)] ?? String(type)).join(' or ')}`,
      );
    if (Array.isArray(schema.enum) && !schema.enum.some((one) => isDeepStrictEqual(one, value)))
      yield mismatch(`is not one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`);
    if (typeof value === 'string') yield* this.#text(schema, value, mismatch);
    if (typeof value === 'number') yield* numbers(schema, value, mismatch);
    if (Array.isArray(value)) yield* this.#list(schema, value, path, root, depth);
    if (isMapping(value)) yield* this.#mapping(schema, value, path, root, depth);
    for (const one of listOf(schema.allOf)) yield* this.#check(one, value, path, root, depth + 1);
    const fits = (one: unknown): boolean => this.#matches(one, value, root, depth + 1);
    if (schema.anyOf !== undefined && !listOf(schema.anyOf).some(fits))
      yield mismatch('fits none of the allowed forms');
    if (schema.oneOf !== undefined && listOf(schema.oneOf).filter(fits).length !== 1)
      yield mismatch('does not fit exactly one of the allowed forms');
    if (schema.not !== undefined && fits(schema.not)) yield mismatch('has a form that is not allowed');
  }

  *#text(schema: Mapping, value: string, mismatch: (message: string) => Mismatch): Generator<Mismatch> {
    const length = [...value].length;
    if (isOver(schema.minLength, length)) yield mismatch(`has fewer than ${String(schema.minLength)} characters`);
    if (isUnder(schema.maxLength, length)) yield mismatch(`has more than ${String(schema.maxLength)} characters`);
    const { pattern } = schema;
    if (typeof pattern === 'string' && this.#patterns.search(pattern, value, 0) === undefined)
      yield mismatch(`does not match '${pattern}'`);
  }

  *#list(schema: Mapping, value: readonly unknown[], path: ValuePath, root: unknown, depth: number) {
    const mismatch = (message: string): Mismatch => ({ message, path });
    if (isOver(schema.minItems, value.length)) yield mismatch(`has fewer than ${String(schema.minItems)} items`);
    if (isUnder(schema.maxItems, value.length)) yield mismatch(`has more than ${String(schema.maxItems)} items`);
    if (schema.uniqueItems === true && new Set(value.map((one) => JSON.stringify(one))).size < value.length)
      yield mismatch('has an item twice');
    const { items, additionalItems } = schema;
    for (const [index, item] of value.entries()) {
      const below = [...path, index];
      const own: unknown = Array.isArray(items) ? items[index] : items;
      if (own !== undefined) yield* this.#check(own, item, below, root, depth + 1);
      else if (Array.isArray(items) && additionalItems === false)
        yield { message: 'is one item too many', path: below };
      else if (Array.isArray(items) && isMapping(additionalItems))
        yield* this.#check(additionalItems, item, below, root, depth + 1);
    }
  }

  *#mapping(schema: Mapping, value: Mapping, path: ValuePath, root: unknown, depth: number): Generator<Mismatch> {
    const mismatch = (message: string): Mismatch => ({ message, path });
    const keys = Object.keys(value);
    if (isOver(schema.minProperties, keys.length))
      yield mismatch(`has fewer than ${String(schema.minProperties)} keys`);
    if (isUnder(schema.maxProperties, keys.length))
      yield mismatch(`has more than ${String(schema.maxProperties)} keys`);
    for (const key of listOf(schema.required))
      if (!Object.hasOwn(value, String(key))) yield mismatch(`lacks the key '${String(key)}'`);
    const properties = isMapping(schema.properties) ? schema.properties : {};
    const patterns = isMapping(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
    const { additionalProperties: others, dependencies } = schema;
    for (const [key, one] of Object.entries(value)) {
      const below = [...path, key];
      const matching = patterns.filter(([pattern]) => this.#patterns.search(pattern, key, 0) !== undefined);
      const own = Object.hasOwn(properties, key);
      if (own) yield* this.#check(properties[key], one, below, root, depth + 1);
      for (const [, other] of matching) yield* this.#check(other, one, below, root, depth + 1);
      if (own || matching.length > 0) continue;
      if (others === false) yield mismatch(`has the unknown key '${key}'`);
      else if (isMapping(others)) yield* this.#check(others, one, below, root, depth + 1);
    }
    for (const [key, needs] of isMapping(dependencies) ? Object.entries(dependencies) : []) {
      if (!Object.hasOwn(value, key)) continue;
      if (isMapping(needs)) yield* this.#check(needs, value, path, root, depth + 1);
      for (const needed of listOf(needs))
        if (!Object.hasOwn(value, String(needed))) yield mismatch(`has '${key}' without '${String(needed)}'`);
    }
  }
}

export class JsonSchemaError extends PatternError {}

const WORDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isOver = (limit: unknown, value: number): boolean => typeof limit === 'number' && limit > value;
const isUnder = (limit: unknown, value: number): boolean => typeof limit === 'number' && limit < value;

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object':
      return isMapping(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      throw new JsonSchemaError(`the schema has the unknown type ${JSON.stringify(type)}`);
  }
}

function* numbers(schema: Mapping, value: number, mismatch: (message: string) => Mismatch): Generator<Mismatch> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (isOver(minimum, value) || (exclusiveMinimum === true && minimum === value))
    yield mismatch(`is less than allowed (${String(minimum)})`);
  if (isUnder(maximum, value) || (exclusiveMaximum === true && maximum === value))
    yield mismatch(`is more than allowed (${String(maximum)})`);
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf))
    yield mismatch(`is no multiple of ${multipleOf}`);
}

/** A reference within the schema: `#/definitions/address`. */
function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) throw new JsonSchemaError(`the schema refers to '${reference}', outside of it`);
  let at = root;
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isMapping(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined;
  }
  return at;
}
