import type { ValuePath } from '../../core/data/plain-value.ts';
import {
  child,
  type DataNode,
  type MappingEntry,
  type MappingNode,
  type ScalarKind,
  textOf,
  writtenKey,
} from '../../documents/reader/data-node.ts';

import type { Problems } from '../problems.ts';

type NodeKind = DataNode['kind'];

/** The expected shape of a part of a package. Anything not stated is allowed. */
export interface Shape {
  readonly kind?: NodeKind;
  /** Instead of the value, `{yaql_exp: text}` may compute it. */
  readonly computed?: boolean;
  /** Mapping: required keys. */
  readonly required?: readonly string[];
  /** Mapping: shapes of known keys. */
  readonly keys?: Readonly<Record<string, Shape>>;
  /** Mapping: shapes of all keys whose name matches. */
  readonly keysLike?: { readonly pattern: RegExp; readonly shape: Shape };
  /** Mapping: no other keys than `keys` and `keysLike`. */
  readonly closed?: boolean;
  /** Mapping: number of keys. */
  readonly entries?: { readonly min?: number; readonly max?: number };
  readonly items?: Shape;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly oneOf?: readonly Shape[];
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  readonly minLength?: number;
  readonly minimum?: number;
  /** An extra check for text: returns the problem, or undefined. */
  readonly text?: (text: string) =>
    | {
        readonly code: string;
        readonly message: string;
        readonly hint?: string;
        readonly severity?: 'error' | 'warning';
      }
    | undefined;
}

export const text: Shape = { kind: 'text' };
export const integer: Shape = { kind: 'integer' };
export const boolean: Shape = { kind: 'boolean' };
export const mapping: Shape = { kind: 'mapping' };
export const listOf = (items: Shape, more: Shape = {}): Shape => ({ kind: 'list', items, ...more });
export const listOfText = listOf(text);

const KIND_NAMES: Readonly<Record<NodeKind, string>> = {
  null: 'nothing (null)',
  boolean: 'true or false',
  integer: 'a whole number',
  float: 'a number with a fraction',
  text: 'text',
  timestamp: 'a date',
  list: 'a list',
  mapping: 'a mapping',
};

/** The shape, in which expressions may compute the value and everything in it. */
export function computed(shape: Shape): Shape {
  const { keys, items, oneOf } = shape;
  return {
    ...shape,
    computed: true,
    ...(keys && { keys: Object.fromEntries(Object.entries(keys).map(([key, one]) => [key, computed(one)])) }),
    ...(items && { items: computed(items) }),
    ...(oneOf && { oneOf: oneOf.map(computed) }),
  };
}

/** Reports every way a value differs from its shape, each at its place. Returns true when there is none. */
export function checkShape(node: DataNode, shape: Shape, path: ValuePath, problems: Problems): boolean {
  return new ShapeCheck(problems).check(node, shape, path);
}

class ShapeCheck {
  readonly #problems: Problems | undefined;

  /** Without `problems`, only the result is returned. */
  constructor(problems: Problems | undefined) {
    this.#problems = problems;
  }

  check(node: DataNode, shape: Shape, path: ValuePath): boolean {
    if (shape.computed && textOf(child(node, 'yaql_exp')) !== undefined) return true;
    if (shape.oneOf) return this.#oneOf(node, shape.oneOf, path);
    if (shape.values) return this.#values(node, shape.values, path);
    if (shape.kind !== undefined && node.kind !== shape.kind) return this.#wrongKind(node, [shape.kind], path);
    switch (node.kind) {
      case 'mapping':
        return this.#mapping(node, shape, path);
      case 'list':
        return this.#list(node, shape, path);
      case 'text':
        return this.#text(node, String(node.value), shape, path);
      case 'integer':
        if (shape.minimum === undefined || Number(node.value) >= shape.minimum) return true;
        return this.#report(
          node,
          path,
          'package.too-small',
          `${name(path)} must be ${shape.minimum} or more, not ${node.value}`,
        );
      default:
        return true;
    }
  }

  #mapping(node: MappingNode, shape: Shape, path: ValuePath): boolean {
    let good = true;
    for (const key of shape.required ?? []) {
      if (node.entries.has(key) || isUnread(node.entries.get(`${key}_path`))) continue;
      good = this.#report(
        node,
        [...path, key],
        'package.missing-key',
        `the key '${key}' is missing`,
        `Add \`${key}:\`.`,
      );
    }
    const { min, max } = shape.entries ?? {};
    if ((min !== undefined && node.entries.size < min) || (max !== undefined && node.entries.size > max)) {
      good = this.#report(
        node,
        path,
        'package.key-count',
        `${name(path)} must have ${min === max ? `${min}` : `${min ?? 0} to ${max ?? 'any number of'}`} keys, not ${node.entries.size}`,
      );
    }
    for (const [key, entry] of node.entries) {
      const here = [...path, key];
      const known = shape.keys && Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
      const like = entry.key.kind === 'text' && shape.keysLike?.pattern.test(key) ? shape.keysLike.shape : undefined;
      if (known && !this.check(entry.value, known, here)) good = false;
      if (like && !this.check(entry.value, like, here)) good = false;
      if (!known && !like && !isUnread(entry) && (shape.closed || (shape.keysLike && entry.key.kind !== 'text'))) {
        good = this.#unknownKey(node, key, shape, path);
      }
    }
    return good;
  }

  #unknownKey(node: MappingNode, key: string, shape: Shape, path: ValuePath): boolean {
    const { key: keyNode } = node.entries.get(key)!;
    const known = Object.keys(shape.keys ?? {});
    const allowed = [
      ...(known.length > 0 ? [`Allowed here: ${known.join(', ')}.`] : []),
      ...(shape.keysLike ? [`Names must match ${shape.keysLike.pattern.source}.`] : []),
    ].join(' ');
    const written = keyNode.kind === 'text' ? `'${keyNode.value}'` : `${keyNode.value} (${KIND_NAMES[keyNode.kind]})`;
    return this.#report(
      keyNode,
      [...path, key],
      'package.unknown-key',
      `the key ${written} is not allowed in ${name(path)}`,
      allowed,
    );
  }

  #list(node: DataNode & { kind: 'list' }, shape: Shape, path: ValuePath): boolean {
    let good = true;
    if (shape.minItems !== undefined && node.items.length < shape.minItems) {
      good = this.#report(
        node,
        path,
        'package.too-few-items',
        `${name(path)} must have at least ${shape.minItems} item${shape.minItems === 1 ? '' : 's'}`,
        'Remove the key if it has no items.',
      );
    }
    if (shape.uniqueItems) {
      const seen = new Set<string>();
      for (const [index, item] of node.items.entries()) {
        if (!('value' in item)) continue;
        const identity = `${item.kind}:${String(item.value)}`;
        if (seen.has(identity)) {
          good = this.#report(
            item,
            [...path, index],
            'package.duplicate-item',
            `'${String(item.value)}' is in ${name(path)} twice`,
            'Remove one.',
          );
        }
        seen.add(identity);
      }
    }
    if (shape.items) {
      for (const [index, item] of node.items.entries()) {
        if (!this.check(item, shape.items, [...path, index])) good = false;
      }
    }
    return good;
  }

  #text(node: DataNode, value: string, shape: Shape, path: ValuePath): boolean {
    if (shape.minLength !== undefined && [...value].length < shape.minLength) {
      return this.#report(node, path, 'package.empty-text', `${name(path)} must not be empty`);
    }
    if (shape.pattern && !shape.pattern.test(value)) {
      return this.#report(
        node,
        path,
        'package.pattern',
        `'${cut(value)}' is not a valid ${name(path)}: it must match ${shape.pattern.source}`,
      );
    }
    const finding = shape.text?.(value);
    if (finding) this.#problems?.at(node, path, finding);
    return finding === undefined || finding.severity === 'warning';
  }

  #values(node: DataNode, values: readonly string[], path: ValuePath): boolean {
    if (node.kind === 'text' && values.includes(String(node.value))) return true;
    const written = 'value' in node ? `'${cut(String(node.value))}'` : KIND_NAMES[node.kind];
    return this.#report(
      node,
      path,
      'package.value',
      `${name(path)} must not be ${written}`,
      `Allowed: ${values.map((value) => `'${value}'`).join(', ')}.`,
    );
  }

  #oneOf(node: DataNode, shapes: readonly Shape[], path: ValuePath): boolean {
    const match = shapes.find((shape) => new ShapeCheck(undefined).check(node, shape, path));
    // Check again with reporting, for its warnings.
    if (match) return this.check(node, match, path);
    // Report the problems of the alternative the author meant: the one of the value's kind.
    const meant = shapes.find(({ kind, values }) => kind === node.kind || (values && node.kind === 'text'));
    if (meant) return this.check(node, meant, path);
    return this.#wrongKind(
      node,
      shapes.map(({ kind }) => kind ?? 'text'),
      path,
    );
  }

  #wrongKind(node: DataNode, kinds: readonly NodeKind[], path: ValuePath): boolean {
    const wanted = [...new Set(kinds)].map((kind) => KIND_NAMES[kind]).join(' or ');
    const hint =
      kinds.includes('text') && isPlainWord(node.kind)
        ? 'Put it in quotes.'
        : kinds.includes('list') && 'value' in node
          ? 'Write it as a list: [a, b].'
          : undefined;
    return this.#report(
      node,
      path,
      'package.kind',
      `${name(path)} must be ${wanted}, not ${KIND_NAMES[node.kind]}`,
      hint,
    );
  }

  #report(node: DataNode, path: ValuePath, code: string, message: string, hint?: string): false {
    this.#problems?.at(node, path, { code, message, ...(hint ? { hint } : {}) });
    return false;
  }
}

const isPlainWord = (kind: NodeKind): kind is ScalarKind =>
  kind === 'boolean' || kind === 'integer' || kind === 'float' || kind === 'timestamp';

/** The innermost key of the path: the value's name for people. */
function name(path: ValuePath): string {
  const key = path.findLast((step) => typeof step === 'string');
  const item = typeof path.at(-1) === 'number' ? 'an item of ' : '';
  return key === undefined ? 'the file' : `${item}'${writtenKey(key)}'`;
}

const cut = (value: string): string => (value.length > 80 ? `${value.slice(0, 79)}…` : value);

const isUnread = (entry: MappingEntry | undefined): boolean =>
  entry !== undefined && 'unread' in entry.value && entry.value.unread === true;
