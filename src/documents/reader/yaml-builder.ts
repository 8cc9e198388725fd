import { isMapping, setKey } from '../../core/data/plain-value.ts';
import type { DataNode, MappingEntry, ScalarNode } from './data-node.ts';
import { nodeValue } from './node-value.ts';
import { rangeOf, type SourceRange, type SourceText, startOf } from './source-text.ts';

export type Entries<T> = Map<string, MappingEntry<T>>;

export type MakeScalar<T> = (
  kind: ScalarNode['kind'],
  value: ScalarNode['value'],
  source: SourceText,
  start: number,
  end: number,
) => T;

export const scalarNode: MakeScalar<ScalarNode> = (kind, value, source, start, end) => ({
  kind,
  value,
  source,
  start,
  end,
});

/** Values built by a reader of YAML. */
export interface YamlBuilder<T> {
  readonly scalar: MakeScalar<T>;
  list(items: T[], range: SourceRange): T;
  mapping(entries: Entries<T>, range: SourceRange): T;
  /** The value of an anchor, where an alias uses it. */
  aliased(value: T, range: SourceRange): T;
  /** The items of a list; undefined for other values. */
  itemsOf(value: T): readonly T[] | undefined;
  /** The entries of a mapping; undefined for other values. */
  entriesOf(value: T): Iterable<readonly [name: string, MappingEntry<T>]> | undefined;
  /** The range of a value; undefined when it knows none. */
  rangeOf(value: T): SourceRange | undefined;
  /** Equal texts for equal values. */
  json(value: T): string;
}

/** A tree whose values have their ranges and keep details that JSON loses. */
export const TREE: YamlBuilder<DataNode> = {
  scalar: scalarNode,
  list: (items, { source, start, end }) => ({ kind: 'list', items, source, start, end }),
  mapping: (entries, { source, start, end }) => ({ kind: 'mapping', entries, source, start, end }),
  aliased: (node, range) => ({ ...node, ...rangeOf(range) }),
  itemsOf: (node) => (node.kind === 'list' ? node.items : undefined),
  entriesOf: (node) => (node.kind === 'mapping' ? node.entries : undefined),
  rangeOf: (node) => node,
  json: (node) => JSON.stringify(nodeValue(node, ({ value }) => value)),
};

const NOT_IN_TEXT = startOf('');

/** Plain JSON-like values: half the work. Aliased parts are shared objects. */
export const VALUES: YamlBuilder<unknown> = {
  scalar: (_, value) => value,
  list: (items) => items,
  mapping: (entries) => {
    const value: Record<string, unknown> = {};
    for (const [name, entry] of entries) setKey(value, name, entry.value);
    return value;
  },
  aliased: (value) => value,
  itemsOf: (value) => (Array.isArray(value) ? value : undefined),
  entriesOf: (value) =>
    isMapping(value)
      ? Object.entries(value).map(([name, one]) => [
          name,
          { key: { kind: 'text', value: name, ...NOT_IN_TEXT }, value: one },
        ])
      : undefined,
  rangeOf: () => undefined,
  json: (value) => JSON.stringify(value),
};
