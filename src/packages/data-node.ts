/** Where a value stands in the package: lines and columns count from 1, columns in code points. */
export interface Place {
  /** Path inside the package, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export type ScalarKind = 'null' | 'boolean' | 'integer' | 'float' | 'text' | 'timestamp';

/**
 * A value as a file of a package holds it, with its place and with the distinctions plain JSON loses
 * and package schemas make: `10` and `10.0`, a date and its text, the key `1` and the key `"1"`.
 * Parts that YAML aliases share are shared nodes: never change one, make another.
 */
export type DataNode = ScalarNode | ListNode | MappingNode;

export interface ScalarNode {
  readonly kind: ScalarKind;
  /** A timestamp is held as ISO 8601 text without zone (UTC). */
  readonly value: string | number | boolean | null;
  readonly place: Place;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly DataNode[];
  readonly place: Place;
}

export interface MappingNode {
  readonly kind: 'mapping';
  /** By `keyName` of the key, in the order of the file. */
  readonly entries: ReadonlyMap<string, MappingEntry>;
  readonly place: Place;
}

export interface MappingEntry {
  readonly key: ScalarNode;
  readonly value: DataNode;
}

/** Name of a key inside a mapping. Text keys are themselves; other kinds cannot be mistaken for text. */
export const keyName = (key: ScalarNode): string =>
  key.kind === 'text' ? String(key.value) : `\u0000${key.kind}:${String(key.value)}`;

/** The key as the file has it, from its name. */
export const writtenKey = (name: string): string =>
  name.charCodeAt(0) === 0 ? name.slice(name.indexOf(':') + 1) : name;

/** The value of a text key, if the node is a mapping that has it. */
export const child = (node: DataNode | undefined, key: string): DataNode | undefined =>
  node?.kind === 'mapping' ? node.entries.get(key)?.value : undefined;

/** The items of a list; nothing for any other node. */
export const items = (node: DataNode | undefined): readonly DataNode[] => (node?.kind === 'list' ? node.items : []);

/** The text a node holds, if it is text. */
export const textOf = (node: DataNode | undefined): string | undefined =>
  node?.kind === 'text' ? String(node.value) : undefined;

export const isNull = (node: DataNode | undefined): boolean => node === undefined || node.kind === 'null';

/** Whether a flag like `is_release` is on: what the loaders of such packages take for true. */
export function isTruthy(node: DataNode | undefined): boolean {
  if (!node) return false;
  if (node.kind === 'list') return node.items.length > 0;
  if (node.kind === 'mapping') return node.entries.size > 0;
  return Boolean(node.value);
}

/** The same mapping with other entries; used where keys are added, renamed or dropped. */
export const withEntries = (node: MappingNode, entries: Iterable<readonly [string, MappingEntry]>): MappingNode => ({
  ...node,
  entries: new Map(entries),
});

/** An entry under a text key that no file spells: the place is that of the value. */
export const entryAt = (key: string, value: DataNode): readonly [string, MappingEntry] => [
  key,
  { key: { kind: 'text', value: key, place: value.place }, value },
];

/** A value of the data tree as JSON: dates are `{"$yaml_timestamp": "…"}`, infinities the texts inf, -inf and nan. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The data tree as recorded by the tools packages were written for. Shared nodes are shared values: read only. */
export function toJson(node: DataNode, done: Map<DataNode, JsonValue> = new Map()): JsonValue {
  const known = done.get(node);
  if (known !== undefined) return known;
  const value = convert(node, done);
  done.set(node, value);
  return value;
}

function convert(node: DataNode, done: Map<DataNode, JsonValue>): JsonValue {
  switch (node.kind) {
    case 'list':
      return node.items.map((item) => toJson(item, done));
    case 'mapping': {
      const result: { [key: string]: JsonValue } = {};
      for (const { key, value } of node.entries.values()) {
        // defineProperty, for the key `__proto__` must be a key like any other.
        Object.defineProperty(result, jsonKey(key), {
          value: toJson(value, done),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return result;
    }
    case 'timestamp':
      return { $yaml_timestamp: String(node.value) };
    case 'float':
      return Number.isFinite(node.value) ? (node.value as number) : floatName(node.value as number);
    default:
      return node.value;
  }
}

const floatName = (value: number): string => (Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf');

const jsonKey = (key: ScalarNode): string =>
  key.kind === 'float' && Number.isInteger(key.value) ? `${String(key.value)}.0` : String(key.value);

/**
 * How much a node stands for once shared parts are written out: values, and long texts by their length,
 * for a few lines of aliases, or one file named by many keys, can stand for more than memory holds.
 */
export function weigh(node: DataNode, known: Map<DataNode, number> = new Map()): number {
  const weight = known.get(node);
  if (weight !== undefined) return weight;
  let sum = node.kind === 'text' ? textWeight(node) : 1;
  if (node.kind === 'list') for (const item of node.items) sum += weigh(item, known);
  if (node.kind === 'mapping') {
    for (const { key, value } of node.entries.values()) sum += textWeight(key) + weigh(value, known);
  }
  known.set(node, sum);
  return sum;
}

const textWeight = (node: ScalarNode): number => 1 + (String(node.value).length >> 5);
