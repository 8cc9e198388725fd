import { createHash } from 'node:crypto';
import { isMapping } from '../core/data/plain-value.ts';
import { filesBelow, formatManifest, type ManifestFile, packageSource } from '../core/sources/folder-manifest.ts';
import type { JsonObject } from './package-contents.ts';
import type { PackageTree } from './package-tree.ts';

/** Files below a folder of a package from an archive, for the list that nodes compare theirs with. */
export const manifestOf = (tree: PackageTree, folder: string): readonly ManifestFile[] =>
  filesBelow(
    [...tree.files].map(([path, file]) => ({ path, ...file })),
    folder,
  ).flatMap(({ path, executable, content, sha256: known = content && sha256(content) }) =>
    known === undefined ? [] : [{ path, sha256: known, executable }],
  );

/** Keys of a record that name folders for nodes, and the names under which their hashes are stored. */
const FOLDERS = { deployment_scripts_path: 'scripts', repository_path: 'repository' } as const;

/** Packages, and indexes of them: a repository with other files only, such as a README, is none that nodes could read. */
const OF_REPOSITORY = /\.(deb|rpm)$|(^|\/)(Packages(\.gz)?|repomd\.xml)$/;

/**
 * Adds `node_files` to a stored record of a release: for each folder of its nodes that has files, the source and the
 * hash of the list of its files, which orders name.
 */
export function withNodeFiles(
  record: JsonObject,
  tree: PackageTree,
  { name, version }: { readonly name: string; readonly version: string },
): JsonObject {
  const found: JsonObject = {};
  for (const [key, kind] of Object.entries(FOLDERS)) {
    const path = record[key];
    if (typeof path !== 'string') continue;
    const src = packageSource(name, version, path);
    const files = manifestOf(tree, src.slice(src.indexOf('/') + 1));
    const isOfUse = kind === 'repository' ? files.some(({ path: name }) => OF_REPOSITORY.test(name)) : files.length > 0;
    if (isOfUse) found[kind] = { src, digest: sha256(formatManifest(files)) };
  }
  return Object.keys(found).length === 0 ? record : { ...record, node_files: found };
}

/** `withNodeFiles` for a list of records, as packages store the releases that they extend. */
export const eachWithNodeFiles = (
  records: unknown,
  ...rest: [tree: PackageTree, pack: { readonly name: string; readonly version: string }]
) =>
  (Array.isArray(records) ? records : []).map((one) =>
    isMapping(one) ? withNodeFiles(one as JsonObject, ...rest) : one,
  );

/** 64 hexadecimal digits. */
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
