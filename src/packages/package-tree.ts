import { withoutEnd } from '../core/text/text.ts';

/** A file of a package. */
export interface PackageFile {
  readonly size: number;
  readonly executable: boolean;
  /** The content; absent for files no check reads (repositories, images). */
  readonly content?: Uint8Array;
  /** Of the content, 64 hexadecimal digits; known of files of an archive. */
  readonly sha256?: string;
  /** Why it must not be read, as the end of a sentence: "is a link out of …". */
  readonly refused?: string;
}

/** The files of a package folder or archive, with the contents that checks read. */
export interface PackageTree {
  /** The folder or archive, as the user named it. */
  readonly name: string;
  /** By path inside the package, with `/` but no leading one. */
  readonly files: ReadonlyMap<string, PackageFile>;
  /** Every folder, empty ones included; the root is the empty path. */
  readonly folders: ReadonlySet<string>;
}

/** Makes a tree of contents by path; `folders` adds empty ones. For archives, tests and templates. */
export function packageTree(
  name: string,
  contents: Iterable<readonly [path: string, content: Uint8Array | string, executable?: boolean]>,
  folders: Iterable<string> = [],
): PackageTree {
  const files = new Map<string, PackageFile>();
  const all = new Set<string>(['']);
  for (const [path, content, executable = false] of contents) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    files.set(path, { size: bytes.length, executable, content: bytes });
    addFolders(all, parentOf(path));
  }
  for (const folder of folders) addFolders(all, withoutEnd(folder, '/'));
  return { name, files, folders: all };
}

/** Adds a folder and all above it. */
export function addFolders(folders: Set<string>, path: string): void {
  for (let folder = path; folder !== '' && !folders.has(folder); folder = parentOf(folder)) folders.add(folder);
}

export const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

export const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** The part after the last dot of the last name, in lower case; '' when there is none. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/^\.+/, '');
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase();
}

/** Names directly inside each folder, computed once per tree. */
export class FolderIndex {
  readonly #children = new Map<string, string[]>();

  constructor(tree: PackageTree) {
    for (const path of [...tree.folders, ...tree.files.keys()]) {
      if (path === '') continue;
      const parent = parentOf(path);
      const names = this.#children.get(parent);
      const name = parent === '' ? path : path.slice(parent.length + 1);
      if (names) names.push(name);
      else this.#children.set(parent, [name]);
    }
  }

  names(folder: string): readonly string[] {
    return this.#children.get(folder) ?? [];
  }
}
