import type { ValuePath } from '../core/data/plain-value.ts';
import {
  type DataNode,
  type MappingEntry,
  type MappingNode,
  type ScalarNode,
  textOf,
} from '../documents/reader/data-node.ts';
import { rangeOf, type SourceRange, startOf } from '../documents/reader/source-text.ts';
import { entryAt, isTruthy, withEntries } from './data-node.ts';
import { emptyListAsNull, FileLoader, isFailure, isTooLarge, MAX_TREE_VALUES, type PathFailure } from './load-path.ts';
import { FOLDER_KEYS, formatOf, KNOWN_VERSIONS, type PackageFormat } from './package-format.ts';
import type { PackageTree } from './package-tree.ts';
import { type Finding, type PackageDiagnostic, Problems } from './problems.ts';

/** A package read into one data tree. */
export interface LoadedPackage {
  /** Undefined when `package_version` names no known format: such a package cannot be checked further. */
  readonly format: PackageFormat | undefined;
  /** metadata.yaml as it was written, before `_path` keys were replaced. */
  readonly metadata: MappingNode | undefined;
  /**
   * metadata.yaml with every loadable `_path` key replaced by the content of its files, and the fixed files
   * under their keys; in release records `os` has become `operating_system`.
   */
  readonly root: MappingNode | undefined;
  /** Content of the readable fixed files, by file name. The tree has null for an empty list. */
  readonly fixedFiles: ReadonlyMap<string, DataNode>;
  readonly problems: readonly PackageDiagnostic[];
}

const PATH_SUFFIX = '_path';
const METADATA_FILES = ['metadata.json', 'metadata.yaml', 'metadata.yml'] as const;

/** Keys of a release without a schema: there, a file was always allowed to replace inline data. */
const FREE_FORM_KEYS: ReadonlySet<string> = new Set(['networks', 'vmware_attributes']);

/** Loads all data of a package. Never throws for an invalid package: see `problems`. */
export function loadPackage(tree: PackageTree): LoadedPackage {
  const problems = new Problems();
  for (const [path, file] of tree.files) {
    if (file.refused === undefined) continue;
    problems.inFile(path, [], {
      code: 'package.refused-file',
      message: `this ${file.refused}`,
      hint: 'Put the file itself into the package.',
    });
  }
  const files = new FileLoader(tree, problems);
  const metadata = loadMetadata(files, problems);
  if (!metadata)
    return { format: undefined, metadata, root: undefined, fixedFiles: new Map(), problems: problems.list };
  const format = findFormat(metadata, problems);
  if (format && format.version !== '5.0.0' && !files.has('metadata.yaml')) {
    problems.at(metadata, [], {
      code: 'package.no-metadata',
      message: `packages of version ${format.version} have their metadata in metadata.yaml`,
      hint: 'Rename the file, or raise package_version.',
    });
  }
  const resolved = new PathResolver(files, format, problems).mapping(metadata, []);
  const { entries, fixedFiles } = loadFixedFiles(files, format, problems);
  const root = withOperatingSystem(withEntries(resolved, [...resolved.entries, ...entries]));
  if (isTooLarge(root)) {
    problems.at(root, [], {
      code: 'package.too-many-values',
      message: `the package expands to more than ${MAX_TREE_VALUES} values`,
      hint: 'Do not load one large file under many keys.',
    });
    return { format, metadata, root: undefined, fixedFiles, problems: problems.list };
  }
  return { format, metadata, root, fixedFiles, problems: problems.list };
}

function loadMetadata(files: FileLoader, problems: Problems): MappingNode | undefined {
  const found = METADATA_FILES.filter((name) => files.has(name));
  if (found.length === 0) {
    problems.inFile('metadata.yaml', [], {
      code: 'package.no-metadata',
      message: 'there is no metadata.yaml: this is not a package',
      hint: 'Name the folder with metadata.yaml, or make a package with `sitewright package create FOLDER`.',
    });
    return undefined;
  }
  const entries = new Map<string, MappingEntry>();
  let range: SourceRange | undefined;
  let usable = true;
  for (const name of found) {
    const node = files.file(name);
    if (node?.kind === 'mapping') {
      for (const [key, entry] of node.entries) entries.set(key, entry);
      if (range === undefined || name === 'metadata.yaml') range = rangeOf(node);
    } else {
      usable = false;
      if (node) {
        problems.inFile(name, [], {
          code: 'package.metadata-not-mapping',
          message: node.kind === 'null' ? 'the file has no data' : 'the file must be a mapping of keys to values',
          hint: 'Start with `name:`, `title:`, `version:` and `package_version:`.',
        });
      }
    }
  }
  if (found.length > 1) {
    problems.inFile(found[1]!, [], {
      severity: 'warning',
      code: 'package.several-metadata-files',
      message: `the package has ${found.join(' and ')}; they are merged; keys of later files win`,
      hint: 'Keep metadata.yaml only.',
    });
  }
  return usable && range ? { kind: 'mapping', entries, ...range } : undefined;
}

function findFormat(metadata: MappingNode, problems: Problems): PackageFormat | undefined {
  const written = metadata.entries.get('package_version');
  const text = textOf(written?.value);
  const format = text === undefined ? undefined : formatOf(text);
  if (format) return format;
  const hint = `Known versions: ${KNOWN_VERSIONS.map((version) => `'${version}'`).join(', ')}.`;
  if (!written) {
    problems.at(metadata, ['package_version'], {
      code: 'package.no-version',
      message: 'package_version is missing: it selects the format of the package',
      hint,
    });
  } else {
    const value =
      written.value.kind === 'list' || written.value.kind === 'mapping' ? 'this' : String(written.value.value);
    problems.at(written.value, ['package_version'], {
      code: 'package.unknown-version',
      message: text === undefined ? `package_version must be text, not ${value}` : `wrong package version "${value}"`,
      hint: text === undefined ? `Put it in quotes. ${hint}` : hint,
    });
  }
  return undefined;
}

/** Each may search the whole package; the largest known package has 40. */
const MAX_PATH_KEYS = 2000;

const TOO_MANY_PATHS: Finding = {
  code: 'package.too-many-paths',
  message: `metadata.yaml has more than ${MAX_PATH_KEYS} keys that end in ${PATH_SUFFIX}; the rest are not loaded`,
  hint: 'Let a glob load several files.',
};

/** Replaces `_path` keys at any depth with the files they name. Loaded data is not searched again. */
class PathResolver {
  readonly #files: FileLoader;
  readonly #format: PackageFormat | undefined;
  readonly #problems: Problems;
  #loads = 0;

  constructor(files: FileLoader, format: PackageFormat | undefined, problems: Problems) {
    this.#files = files;
    this.#format = format;
    this.#problems = problems;
  }

  mapping(node: MappingNode, path: ValuePath): MappingNode {
    const entries = new Map<string, MappingEntry>();
    const loaded = new Map<string, MappingEntry>();
    for (const [name, entry] of node.entries) {
      const target = this.#target(entry);
      const result = target === undefined ? undefined : this.#load(entry, target, node, path);
      // One mistake, one error: what was to be loaded is neither missing nor an unknown key.
      if (result === 'unread') entries.set(name, { ...entry, value: { ...(entry.value as ScalarNode), unread: true } });
      else if (result) loaded.set(target!, { key: { ...entry.key, value: target! }, value: result });
      else entries.set(name, { ...entry, value: this.#walk(entry.value, [...path, name]) });
    }
    for (const [name, entry] of loaded) entries.set(name, entry);
    return withEntries(node, entries);
  }

  #walk(node: DataNode, path: ValuePath): DataNode {
    if (node.kind === 'mapping') return this.mapping(node, path);
    if (node.kind !== 'list') return node;
    return { ...node, items: node.items.map((item, index) => this.#walk(item, [...path, index])) };
  }

  /** The key for the loaded data; undefined for an entry that loads nothing. */
  #target({ key, value }: MappingEntry): string | undefined {
    const name = textOf(key);
    if (!name?.endsWith(PATH_SUFFIX) || value.kind !== 'text') return undefined;
    return name.slice(0, -PATH_SUFFIX.length);
  }

  #load(entry: MappingEntry, target: string, owner: MappingNode, path: ValuePath): DataNode | 'unread' | undefined {
    const key = String(entry.key.value);
    const written = textOf(entry.value) ?? '';
    const here = [...path, key];
    if (++this.#loads > MAX_PATH_KEYS) {
      if (this.#loads === MAX_PATH_KEYS + 1) this.#problems.at(entry.value, here, TOO_MANY_PATHS);
      return undefined;
    }
    if (this.#files.isFolder(written)) return undefined;
    if (FOLDER_KEYS.has(key)) {
      this.#problems.at(entry.value, here, this.#folderFinding(written));
      return undefined;
    }
    const result = this.#files.load(written, entry.value);
    if (isFailure(result)) {
      const finding = result.kind === 'unreadable' ? undefined : this.#finding(result, written);
      if (finding) this.#problems.at(entry.value, here, finding);
      return finding?.severity === 'warning' ? undefined : 'unread';
    }
    const inline = owner.entries.get(target);
    if (inline) this.#reportInline(inline, target, path, key);
    return result;
  }

  #reportInline(inline: MappingEntry, target: string, path: ValuePath, key: string): void {
    const freeForm = FREE_FORM_KEYS.has(target);
    this.#problems.at(inline.key, [...path, target], {
      severity: freeForm ? 'warning' : 'error',
      code: 'package.key-and-path',
      message: `both '${target}' and '${key}' are present${freeForm ? `: the file wins, '${target}' is not used` : ''}`,
      hint: `Keep one of them.`,
    });
  }

  #folderFinding(written: string): Finding {
    if (this.#leaves(written)) return this.#finding({ kind: 'outside' }, written);
    return {
      code: 'package.no-folder',
      message: `there is no folder '${written}' in the package`,
      hint: 'Make the folder (it may be empty), or correct the path; it is relative to metadata.yaml and not a glob.',
    };
  }

  #leaves(written: string): boolean {
    const result = this.#files.load(written, startOf(''));
    return isFailure(result) && result.kind === 'outside';
  }

  #finding(failure: Exclude<PathFailure, { kind: 'unreadable' }>, written: string): Finding {
    // Formats before 5.0.0 define only the two folder keys: other keys that end in _path belong to the author.
    const severity =
      this.#format && this.#format.version !== '5.0.0' && failure.kind !== 'outside' ? 'warning' : 'error';
    switch (failure.kind) {
      case 'outside':
        return {
          code: 'package.path-outside',
          message: `the path '${written}' leaves the package`,
          hint: 'Paths are relative to metadata.yaml and must stay inside the folder: copy the file into the package.',
        };
      case 'not-found':
        return {
          severity,
          code: 'package.file-not-found',
          message: `no readable file matches '${written}'`,
          hint: 'Check the name; data files end in .yaml, .yml or .json, texts in .txt, .md or .sh.',
        };
      case 'folder':
        return {
          severity,
          code: 'package.folder-matched',
          message: `'${written}' also matches the folder '${failure.path}'`,
          hint: 'Rename the folder, or make the glob narrower.',
        };
      case 'mixed-roots':
        return {
          severity,
          code: 'package.mixed-roots',
          message: `the files of '${written}' cannot be merged: ${failure.roots.map(({ path, root }) => `${path} is a ${root}`).join(', ')}`,
          hint: 'The files of one glob must all be lists, or all mappings.',
        };
    }
  }
}

function loadFixedFiles(files: FileLoader, format: PackageFormat | undefined, problems: Problems) {
  const entries: (readonly [string, MappingEntry])[] = [];
  const fixedFiles = new Map<string, DataNode>();
  for (const { name, key, required, whenEmpty } of format?.files ?? []) {
    if (!files.has(name)) {
      if (required) {
        problems.inFile(name, [key], {
          code: 'package.missing-file',
          message: `the file ${name} is missing; packages of version ${format!.version} need it`,
          hint: `Add ${name}, or raise package_version.`,
        });
      }
      continue;
    }
    const node = files.file(name);
    if (!node) continue;
    fixedFiles.set(name, node);
    if (node.kind === 'null' && whenEmpty === 'refused') {
      problems.at(node, [key], {
        code: 'package.empty-file',
        message: `the file ${name} is empty`,
        hint: 'Write its content, or remove the file.',
      });
    }
    entries.push(entryAt(key, emptyListAsNull(node)));
  }
  return { entries, fixedFiles };
}

/** `os` in a release record is the older name of `operating_system`, which wins where both are given. */
function withOperatingSystem(root: MappingNode): MappingNode {
  const releases = root.entries.get('releases');
  if (releases?.value.kind !== 'list') return root;
  const items = releases.value.items.map((record) => {
    if (record.kind !== 'mapping') return record;
    const short = record.entries.get('os');
    if (!short || !isTruthy(short.value)) return record;
    const entries = new Map(record.entries);
    entries.delete('os');
    const long = entries.get('operating_system');
    if (!long || long.value.kind === 'null') {
      entries.set('operating_system', { ...short, key: { ...short.key, value: 'operating_system' } });
    }
    return withEntries(record, entries);
  });
  return withEntries(root, [...root.entries, ['releases', { ...releases, value: { ...releases.value, items } }]]);
}
