import type { DataNode, MappingEntry, MappingNode, ScalarNode } from '../documents/reader/data-node.js';

import { nodeValue } from '../documents/reader/node-value.js';

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
export const toJson = (node: DataNode): JsonValue => nodeValue<JsonValue>(node, scalarJson, true);

function scalarJson({ kind, value }: ScalarNode): JsonValue {
  if (kind === 'timestamp') return { $yaml_timestamp: String(value) };
  return typeof value === 'number' && !Number.isFinite(value) ? floatName(value) : value;
}

const floatName = (value: number): string => (Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf');

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
