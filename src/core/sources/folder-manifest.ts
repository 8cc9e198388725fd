import { isMapping } from '../data/plain-value.ts';
import { withoutEnd } from '../text/text.ts';

/** One file of a folder that is brought to nodes. */
export interface ManifestFile {
  /** Relative to the folder, with `/` between its parts. */
  readonly path: string;
  /** SHA-256 of its content, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly executable: boolean;
}

/** Sources of packages begin with this; other sources are paths of files. */
export const PACKAGE_SOURCE = 'package:';

/** A folder of an installed package as a source: the result of `parsePackageSource`. */
export const packageSource = (name: string, version: string, folder: string): string =>
  `${PACKAGE_SOURCE}${name}==${version}/${withoutEnd(folder.replace(/^\.\//, ''), '/')}`;

/** One file below the folder of a source. */
export const fileOfSource = (source: string, path: string): string => `${source}//${path}`;

interface PackageSource {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  /** Undefined: the list of all files of the folder. */
  readonly file: string | undefined;
}

export function parsePackageSource(source: string): PackageSource | undefined {
  const found = /^package:([^/=]+)==([^/=]+)\/(.*?)(?:\/\/(.+))?$/s.exec(source);
  if (found === null) return undefined;
  const [, name, version, folder, file] = found;
  return { name: name!, version: version!, folder: folder!, file };
}

/** The files below a folder (empty or `.`: all), with their paths relative to it. */
export function filesBelow<F extends { readonly path: string }>(files: readonly F[], folder: string): readonly F[] {
  const start = folder === '' || folder === '.' ? '' : `${folder}/`;
  return files.flatMap((file) =>
    file.path.startsWith(start) ? [{ ...file, path: file.path.slice(start.length) }] : [],
  );
}

/** The list of files as text: the same files give the same text, and so the same hash. */
export const formatManifest = (files: readonly ManifestFile[]): string =>
  JSON.stringify(
    [...files]
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, sha256, executable }) => ({ path, sha256, executable })),
  );

/** Reads such a list; undefined if it is not one, or names files outside its folder. */
export function readManifest(text: string): readonly ManifestFile[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(value) && value.every(isManifestFile) ? value : undefined;
}

const isManifestFile = (value: unknown): value is ManifestFile =>
  isMapping(value) &&
  typeof value.path === 'string' &&
  isInside(value.path) &&
  typeof value.sha256 === 'string' &&
  /^[0-9a-f]{64}$/.test(value.sha256) &&
  typeof value.executable === 'boolean';

const isInside = (path: string): boolean =>
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
