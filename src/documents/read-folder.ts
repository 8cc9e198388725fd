import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { compareText } from '../core/text/text.ts';
import type { SourceFile } from './site/site-texts.ts';

interface ReadFolderLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly maxDepth: number;
}

export const DEFAULT_FOLDER_LIMITS: ReadFolderLimits = {
  maxFiles: 5_000,
  maxFileBytes: 8 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxDepth: 32,
};

interface ReadDocuments {
  /** Sorted by name; names start with the path the user gave. */
  readonly files: readonly SourceFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Paths that do not exist; each has a diagnostic. */
  readonly missing: readonly string[];
}

/**
 * Reads the files a user named: each path is a file (of any name), or a folder, of which all `*.yaml` and
 * `*.yml` below are read, hidden ones left out. Links out of the folder, files and totals that are
 * too large, files that are not UTF-8 and unreadable files are errors; the rest is still read.
 */
export async function readDocumentFiles(
  paths: readonly string[],
  limits: Partial<ReadFolderLimits> = {},
): Promise<ReadDocuments> {
  const reader = new Reader({ ...DEFAULT_FOLDER_LIMITS, ...limits });
  for (const path of paths) await reader.read(path);
  return reader.result();
}

class Reader {
  readonly #limits: ReadFolderLimits;
  readonly #files = new Map<string, SourceFile>();
  readonly #diagnostics: Diagnostic[] = [];
  readonly #missing: string[] = [];
  #found = 0;
  #bytes = 0;
  #full = false;

  constructor(limits: ReadFolderLimits) {
    this.#limits = limits;
  }

  result(): ReadDocuments {
    const files = [...this.#files.values()].sort((a, b) => compareText(a.name, b.name));
    return { files, diagnostics: this.#diagnostics, missing: this.#missing };
  }

  async read(path: string): Promise<void> {
    try {
      const info = await stat(path);
      if (!info.isDirectory()) {
        await this.#file(path);
        return;
      }
      const before = this.#found + this.#diagnostics.length;
      await this.#folder(path, await realpath(path), 0);
      if (this.#found + this.#diagnostics.length === before) {
        this.#report('files.none', path, 'there is no *.yaml or *.yml file in this folder');
      }
    } catch (error) {
      this.#failed(path, error);
    }
  }

  async #folder(path: string, root: string, depth: number): Promise<void> {
    if (depth > this.#limits.maxDepth) {
      this.#report('files.too-deep', path, `folders are nested more than ${this.#limits.maxDepth} deep`);
      return;
    }
    const names = (await readdir(path)).sort();
    for (const name of names) {
      if (name.startsWith('.') || this.#full) continue;
      const entry = join(path, name);
      try {
        await this.#entry(entry, name, root, depth);
      } catch (error) {
        this.#failed(entry, error);
      }
    }
  }

  async #entry(entry: string, name: string, root: string, depth: number): Promise<void> {
    const isYaml = /\.ya?ml$/i.test(name);
    let info = await lstat(entry);
    if (info.isSymbolicLink()) {
      // Otherwise anyone who may write documents could read any file of this machine.
      const target = relative(root, await realpath(entry));
      if (target === '..' || target.startsWith(`..${sep}`) || target.startsWith(sep)) {
        this.#report(
          'files.link-outside',
          entry,
          'this link leads out of the folder and is not followed',
          'Copy the file.',
        );
        return;
      }
      info = await stat(entry);
      // The target of a link inside the folder is read at its own path.
      if (info.isDirectory()) return;
    }
    if (info.isDirectory()) await this.#folder(entry, root, depth + 1);
    else if (isYaml) await this.#file(entry);
  }

  async #file(path: string): Promise<void> {
    this.#found += 1;
    if (this.#files.has(path) || this.#full) return;
    const info = await stat(path);
    const { maxFiles, maxFileBytes, maxTotalBytes } = this.#limits;
    if (!info.isFile()) {
      this.#report('files.not-a-file', path, 'this is neither a file nor a folder');
      return;
    }
    if (info.size > maxFileBytes) {
      this.#report(
        'files.too-large',
        path,
        `the file has ${info.size} bytes; ${maxFileBytes} are allowed`,
        'Split it.',
      );
      return;
    }
    this.#bytes += info.size;
    if (this.#files.size >= maxFiles || this.#bytes > maxTotalBytes) {
      this.#full = true;
      this.#report(
        'files.too-many',
        path,
        `more than ${maxFiles} files or ${maxTotalBytes} bytes: this and the rest is not read`,
      );
      return;
    }
    const text = utf8(await readFile(path));
    if (text === undefined) this.#report('files.not-utf8', path, 'the file is not UTF-8 text', 'Save it as UTF-8.');
    else this.#files.set(path, { name: path, text });
  }

  #failed(path: string, error: unknown): void {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const missing = error.code === 'ENOENT';
    if (missing) this.#missing.push(path);
    this.#report(
      'files.unreadable',
      path,
      missing ? 'there is no such file or folder' : `cannot be read: ${error.code}`,
    );
  }

  #report(code: string, file: string, message: string, hint?: string): void {
    this.#diagnostics.push({ severity: 'error', code, message, file, ...(hint && { hint }) });
  }
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
