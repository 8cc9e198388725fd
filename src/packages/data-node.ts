import type { DataNode, MappingEntry, MappingNode, ScalarNode } from '../documents/reader/data-node.ts';

import { nodeValue } from '../documents/reader/node-value.ts';
import { rangeOf } from '../documents/reader/source-text.ts';

export const isNull = (node: DataNode | undefined): boolean => node === undefined || node.kind === 'null';

/** Whether a flag like `is_release` is on, as the original package loaders decide. */
export function isTruthy(node: DataNode | undefined): boolean {
  if (!node) return false;
  if (node.kind === 'list') return node.items.length > 0;
  if (node.kind === 'mapping') return node.entries.size > 0;
  return Boolean(node.value);
}

/** A copy of the mapping with other entries. */
export const withEntries = (node: MappingNode, entries: Iterable<readonly [string, MappingEntry]>): MappingNode => ({
  ...node,
  entries: new Map(entries),
});

/** An entry under a text key that is in no file: it has the place of the value. */
export const entryAt = (key: string, value: DataNode): readonly [string, MappingEntry] => [
  key,
  { key: { kind: 'text', value: key, ...rangeOf(value) }, value },
];

/** A value of the data tree as JSON: dates are `{"$yaml_timestamp": "…"}`, special floats are inf, -inf and nan. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** The data tree in the form of the original package tools. Shared nodes become shared values: read only. */
export const toJson = (node: DataNode): JsonValue => nodeValue<JsonValue>(node, scalarJson);

function scalarJson({ kind, value }: ScalarNode): JsonValue {
  if (kind === 'timestamp') return { $yaml_timestamp: String(value) };
  return typeof value === 'number' && !Number.isFinite(value) ? floatName(value) : value;
}

const floatName = (value: number): string => (Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf');

/**
 * The size of a node with shared parts expanded: values, and long texts by their length,
 * because a few lines of aliases, or one file named by many keys, can expand to more than memory holds.
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
