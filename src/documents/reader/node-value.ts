import { setKey } from '../../core/data/plain-value.ts';
import { type DataNode, jsonKey, type ScalarNode } from './data-node.ts';

type NodeValue<T> = T | NodeValue<T>[] | { [key: string]: NodeValue<T> };

/** The plain value of a tree. A node used in several places becomes one object: aliases can expand to far more than they take. */
export function nodeValue<T>(root: DataNode, scalar: (node: ScalarNode) => T): NodeValue<T> {
  const done = new Map<object, NodeValue<T>>();
  const convert = (node: DataNode): NodeValue<T> => {
    if (node.kind !== 'list' && node.kind !== 'mapping') return scalar(node);
    const content = node.kind === 'list' ? node.items : node.entries;
    const known = done.get(content);
    if (known !== undefined) return known;
    const value = node.kind === 'list' ? node.items.map(convert) : mapping(node.entries.values());
    done.set(content, value);
    return value;
  };
  const mapping = (entries: Iterable<{ readonly key: ScalarNode; readonly value: DataNode }>): NodeValue<T> => {
    const value: { [key: string]: NodeValue<T> } = {};
    for (const entry of entries) setKey(value, jsonKey(entry.key), convert(entry.value));
    return value;
  };
  return convert(root);
}
