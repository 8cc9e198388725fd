import type { ValuePath } from '../core/data/plain-value.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { type DataNode, placeAt } from './reader/data-node.ts';
import type { YamlDialect } from './reader/dialect.ts';
import { DEFAULT_READ_LIMITS, type ReadLimits } from './reader/limits.ts';
import { type ReadDocument, readYaml } from './reader/read-yaml.ts';
import { type Place, SourceText } from './reader/source-text.ts';
import { TREE, VALUES } from './reader/yaml-builder.ts';

/** A place in the document's own text. */
type DocumentPlace = Omit<Place, 'file'>;

/** One document of a YAML text. */
export interface YamlDocument {
  /** Plain JSON-like data; aliased parts are shared objects, so treat it as read-only. */
  readonly value: unknown;
  /** False when aliases or tags could not be resolved: check no schema then, its problems would mislead. */
  readonly usable: boolean;
  /** True when there is nothing between two document markers. */
  readonly empty: boolean;
  readonly source: SourceText;
  /** Problems of its values; the problems of the text include them. */
  readonly diagnostics: readonly Diagnostic[];
  /** Place of the value (or key) at a path; of the nearest one above when there is nothing at the path. */
  place(path: ValuePath, part?: 'key' | 'value'): DocumentPlace;
  /** Of a rendered document: the document that a value comes from, and its path there. */
  origin?(path: ValuePath): { readonly yaml: YamlDocument; readonly path: ValuePath };
}

interface ParsedYaml {
  readonly documents: readonly YamlDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ParseYamlOptions {
  /** Name of the text in diagnostics, as its user knows it. */
  readonly file?: string;
  readonly limits?: Partial<ReadLimits>;
}

/** Documents become JSON: dates are text, and a key with two different values is an error. */
const DOCUMENT_YAML: Omit<YamlDialect, 'limits'> = {
  tags: 'core',
  dates: false,
  tabs: true,
  duplicateKeys: 'refused',
  codeOf: (kind) => `yaml.${kind}`,
};

/** Reads a YAML text of any number of documents, with PyYAML's scalars (see reader/yaml-scalars.ts). Never throws for input. */
export function parseYaml(text: string, { file, limits }: ParseYamlOptions = {}): ParsedYaml {
  const source = new SourceText(text, file);
  const dialect = { ...DOCUMENT_YAML, limits: { ...DEFAULT_READ_LIMITS, ...limits } };
  const read = readYaml(source, dialect, VALUES);
  // Most texts have no problem to place.
  let trees: readonly ReadDocument<DataNode>[] | undefined;
  const place = (index: number, path: ValuePath, part: 'key' | 'value' = 'value') => {
    trees ??= readYaml(source, dialect, TREE).documents;
    const { line, column, text } = placeAt(trees[index]!.root, path, part);
    return { line, column, text };
  };
  const documents = read.documents.map(({ root, usable, empty, problems }, index) => ({
    value: root,
    usable,
    empty,
    source,
    diagnostics: problems,
    place: place.bind(undefined, index),
  }));
  return { documents, diagnostics: read.problems };
}
