import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PackageTree, packageTree } from '../../../src/packages/index.ts';

const ROOT = fileURLToPath(new URL('../../data/plugins/', import.meta.url));

/** A recorded package: its files, the output of the tools of its time, and the reading that rules. */
export interface Vector {
  readonly id: string;
  readonly base?: string;
  readonly package?: { files?: Record<string, string>; files_base64?: Record<string, string>; dirs?: string[] };
  readonly package_at?: string;
  readonly dirs_added?: string[];
  readonly ruling?: {
    verdict: 'valid' | 'invalid';
    differs_from_oracle: false | 'warnings' | 'verdict';
    warnings: { code: string }[];
  };
  readonly oracle: {
    fpb5: { verdict: string; mapping?: string; tree?: unknown };
    fpb42: { verdict: string };
    nailgun?: { releases_created?: unknown[]; extension_releases?: { os?: string }[]; stored_keys?: string[] };
  };
}

export const vectors = (kind: 'mutated' | 'real'): Vector[] =>
  readdirSync(join(ROOT, 'vectors', kind))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(ROOT, 'vectors', kind, name), 'utf8')) as Vector);

/** Contents of a vector's package by path. */
export function contentsOf(vector: Vector): Map<string, string | Uint8Array> {
  if (vector.package) {
    const { files = {}, files_base64 = {} } = vector.package;
    const binary = Object.entries(files_base64).map(
      ([path, text]) => [path, new Uint8Array(Buffer.from(text, 'base64'))] as const,
    );
    return new Map<string, string | Uint8Array>([...Object.entries(files), ...binary]);
  }
  return folderContents(vector.package_at!.replace(/^shared\/plugins\//, ''));
}

/** Contents of a real package under test/data/plugins. */
export function folderContents(name: string): Map<string, string | Uint8Array> {
  const folder = join(ROOT, name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')];
    }),
  );
}

export const treeOf = (vector: Vector): PackageTree =>
  packageTree(vector.id, contentsOf(vector), vector.package?.dirs ?? vector.dirs_added);
