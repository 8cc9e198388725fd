import { type DataNode, keyName, type MappingEntry } from '../documents/reader/data-node.ts';

import { DEFAULT_READ_LIMITS } from '../documents/reader/limits.ts';
import { readJson } from '../documents/reader/read-json.ts';
import { rangeOf, type SourceRange, SourceText, startOf } from '../documents/reader/source-text.ts';
import { weigh } from './data-node.ts';
import { PathFinder } from './glob.ts';
import { extensionOf, type PackageTree } from './package-tree.ts';
import type { Finding, Problems } from './problems.ts';
import { readPackageYaml } from './read-yaml.ts';

/** Extensions the loader reads: data, and text that becomes one value. */
export const DATA_EXTENSIONS = ['yaml', 'yml', 'json'] as const;
export const TEXT_EXTENSIONS = ['txt', 'md', 'sh'] as const;
const READABLE: readonly string[] = [...DATA_EXTENSIONS, ...TEXT_EXTENSIONS];

/** Size of one file of data; a release of a whole OpenStack takes 0.1 MB. */
export const MAX_DATA_BYTES = 8 * 1024 * 1024;

/** Why a path could not be loaded; reported at the key that names it. */
export type PathFailure =
  | { readonly kind: 'outside' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'mixed-roots'; readonly roots: readonly { readonly path: string; readonly root: string }[] }
  /** The files themselves are invalid, which has been reported at their places. */
  | { readonly kind: 'unreadable' };

/** Reads the files named by paths of a package, each at most once. */
export class FileLoader {
  readonly #tree: PackageTree;
  readonly #finder: PathFinder;
  readonly #problems: Problems;
  readonly #read = new Map<string, DataNode | undefined>();

  constructor(tree: PackageTree, problems: Problems) {
    this.#tree = tree;
    this.#finder = new PathFinder(tree);
    this.#problems = problems;
  }

  isFolder(written: string): boolean {
    return this.#finder.folder(written) !== undefined;
  }

  /** Loads a path or glob and merges the files: lists into one list, mappings by key, later files over earlier. */
  load(written: string, at: SourceRange): DataNode | PathFailure {
    const match = this.#finder.find(written);
    if (match.kind === 'outside') return { kind: 'outside' };
    const paths = match.kind === 'none' ? [] : match.paths.filter((path) => READABLE.includes(extensionOf(path)));
    if (paths.length === 0) return { kind: 'not-found' };
    const folder = paths.find((path) => this.#tree.folders.has(path));
    if (folder !== undefined) return { kind: 'folder', path: folder };
    const nodes = paths.map((path) => ({ path, node: this.file(path) }));
    if (!nodes.every(isRead)) return { kind: 'unreadable' };
    const result = nodes.length === 1 ? nodes[0]!.node : merge(nodes, at);
    return isFailure(result) ? result : emptyListAsNull(result);
  }

  /** Reads an existing file. Undefined if it cannot be used: `problems` has the reason. */
  file(path: string): DataNode | undefined {
    if (!this.#read.has(path)) this.#read.set(path, this.#readFile(path));
    return this.#read.get(path);
  }

  has(path: string): boolean {
    return this.#tree.files.has(path);
  }

  #readFile(path: string): DataNode | undefined {
    const file = this.#tree.files.get(path)!;
    if (file.refused !== undefined) return undefined;
    if (file.size > MAX_DATA_BYTES || !file.content) {
      return this.#fail(path, {
        code: 'package.file-too-large',
        message: `the file has ${file.size} bytes; ${MAX_DATA_BYTES} are allowed for a data file`,
        hint: 'Split it; a path may be a glob of several files.',
      });
    }
    const text = decode(file.content);
    if (text === undefined) {
      return this.#fail(path, {
        code: 'package.not-utf8',
        message: 'the file is not UTF-8 text',
        hint: 'Save it as UTF-8.',
      });
    }
    const extension = extensionOf(path);
    if (extension === 'json') return this.#json(text, path);
    if (extension === 'yaml' || extension === 'yml') return readPackageYaml(text, path, this.#problems);
    return { kind: 'text', value: text, ...startOf(path) };
  }

  #json(text: string, path: string): DataNode | undefined {
    const read = readJson(new SourceText(text, path), { maxDepth: DEFAULT_READ_LIMITS.maxDepth, constants: true });
    if (read.ok) return read.root;
    this.#problems.at(read.at, [], { code: 'package.json-syntax', message: `not valid JSON: ${read.message}` });
    return undefined;
  }

  #fail(path: string, finding: Finding): undefined {
    this.#problems.inFile(path, [], finding);
    return undefined;
  }
}

/** Files with an empty list were always loaded as null; graphs and task lists rely on it. */
export const emptyListAsNull = (node: DataNode): DataNode =>
  node.kind === 'list' && node.items.length === 0 ? { kind: 'null', value: null, ...rangeOf(node) } : node;

interface ReadFile {
  readonly path: string;
  readonly node: DataNode;
}

const isRead = (file: { path: string; node: DataNode | undefined }): file is ReadFile => file.node !== undefined;

export const isFailure = (result: DataNode | PathFailure): result is PathFailure => !('source' in result);

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Files of one glob. The roots must be of one kind: lists, mappings, or single values (which become a list).
 * An empty file adds nothing to a mapping, and a null to a list.
 */
function merge(files: readonly ReadFile[], at: SourceRange): DataNode | PathFailure {
  const rooted = files.filter(({ node }) => node.kind !== 'null');
  const kinds = new Set(rooted.map(({ node }) => rootKind(node)));
  if (kinds.size > 1) {
    return { kind: 'mixed-roots', roots: rooted.map(({ path, node }) => ({ path, root: rootKind(node) })) };
  }
  if (kinds.has('mapping')) {
    const entries = new Map<string, MappingEntry>();
    for (const { node } of rooted) {
      if (node.kind !== 'mapping') continue;
      for (const entry of node.entries.values()) entries.set(keyName(entry.key), entry);
    }
    return { kind: 'mapping', entries, ...rangeOf(at) };
  }
  if (kinds.has('list')) {
    const items = rooted.flatMap(({ node }) => (node.kind === 'list' ? node.items : []));
    // A list of tasks must not lose a file silently: the schemas report its null.
    const nulls = files.filter(({ node }) => node.kind === 'null').map(({ node }) => node);
    return { kind: 'list', items: items.length === 0 ? [] : [...items, ...nulls], ...rangeOf(at) };
  }
  return { kind: 'list', items: files.map(({ node }) => node), ...rangeOf(at) };
}

const rootKind = (node: DataNode): 'list' | 'mapping' | 'single value' =>
  node.kind === 'list' || node.kind === 'mapping' ? node.kind : 'single value';

/** Values of the whole package after expansion: many keys may name one file. */
export const MAX_TREE_VALUES = 1_000_000;

export const isTooLarge = (root: DataNode): boolean => weigh(root) > MAX_TREE_VALUES;
