import type { ValuePath } from '../../core/data/plain-value.ts';
import { locate, type Place, type SourceRange } from './source-text.ts';

export type ScalarKind = 'null' | 'boolean' | 'integer' | 'float' | 'text' | 'timestamp';

/**
 * A value as a text holds it, with its place and with the distinctions plain JSON loses: `10` and `10.0`, a date and
 * its text, the key `1` and the key `"1"`. YAML aliases share nodes: never change one, make a copy.
 */
export type DataNode = ScalarNode | ListNode | MappingNode;

/** For a value that is not written (`key:`), the range is that of its key. */
export interface ScalarNode extends SourceRange {
  readonly kind: ScalarKind;
  /** A timestamp is held as ISO 8601 text without zone (UTC). */
  readonly value: string | number | boolean | null;
  /** A path to data that cannot be read, which is reported. */
  readonly unread?: true;
}

interface ListNode extends SourceRange {
  readonly kind: 'list';
  readonly items: readonly DataNode[];
}

export interface MappingNode extends SourceRange {
  readonly kind: 'mapping';
  /** By `keyName` of the key, in the order of the text. */
  readonly entries: ReadonlyMap<string, MappingEntry>;
}

export interface MappingEntry<T = DataNode> {
  readonly key: ScalarNode;
  readonly value: T;
}

/** Name of a key inside a mapping. Text keys are themselves; other kinds have a prefix that text cannot have. */
export const keyName = (key: ScalarNode): string =>
  key.kind === 'text' ? String(key.value) : `\u0000${key.kind}:${String(key.value)}`;

/** The key as written in the text, from its name. */
export const writtenKey = (name: string): string =>
  name.charCodeAt(0) === 0 ? name.slice(name.indexOf(':') + 1) : name;

/** The key as JSON text. */
export function jsonKey({ kind, value }: Pick<ScalarNode, 'kind' | 'value'>): string {
  if (typeof value === 'string') return value;
  return kind === 'float' && Number.isInteger(value) ? `${String(value)}.0` : String(value);
}

/** The value of a text key, if the node is a mapping that has it. */
export const child = (node: DataNode | undefined, key: string): DataNode | undefined =>
  node?.kind === 'mapping' ? node.entries.get(key)?.value : undefined;

/** The items of a list; nothing for any other node. */
export const items = (node: DataNode | undefined): readonly DataNode[] => (node?.kind === 'list' ? node.items : []);

/** The text a node holds, if it is text. */
export const textOf = (node: DataNode | undefined): string | undefined =>
  node?.kind === 'text' ? String(node.value) : undefined;

/** The value one step down, with its key if it has one; undefined when there is none. */
function step(node: DataNode, key: string | number): Partial<MappingEntry> | undefined {
  if (node.kind === 'list') {
    const item = node.items[Number(key)];
    return item && { value: item };
  }
  if (node.kind !== 'mapping') return undefined;
  const name = String(key);
  return node.entries.get(name) ?? [...node.entries.values()].find((entry) => jsonKey(entry.key) === name);
}

/**
 * The place of the value at a path (keys as JSON has them), or of its key; of the nearest value above when it is missing.
 */
export function nearestPlace(root: DataNode, path: ValuePath, part: 'key' | 'value' = 'value'): Place {
  let node = root;
  let key: ScalarNode | undefined;
  for (const name of path) {
    const next = step(node, name);
    if (next?.value === undefined) return locate(node);
    key = next.key;
    node = next.value;
  }
  return locate(part === 'key' ? (key ?? node) : node);
}

/**
 * The place of the value at a path, or of its key. For a missing key, the place of the value that lacks
 * it: the key of that mapping, or its first line in a list or at the root.
 */
export function placeAt(root: DataNode, path: ValuePath, part: 'key' | 'value'): Place {
  let node = root;
  let key: ScalarNode | undefined;
  for (const name of path) {
    const next = step(node, name);
    if (next?.value === undefined) return locate(key ?? node);
    key = next.key;
    node = next.value;
  }
  return locate(part === 'key' ? (key ?? node) : node);
}
