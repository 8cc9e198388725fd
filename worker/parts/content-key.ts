import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

interface KeyedSources {
  /** Files and folders; missing ones count as empty. */
  readonly sources: readonly string[];
  /** Names in the hash are relative to it, so that a moved checkout keeps its key. */
  readonly root: string;
  /** Other inputs of the result, e.g. the version of a tool. */
  readonly salt?: string;
}

/** A hash of the content of files, to detect changes. */
export async function contentKey({ sources, root, salt = '' }: KeyedSources): Promise<string> {
  const hash = createHash('sha256').update(`${salt}\n`);
  for (const source of sources) {
    for (const file of await filesIn(source)) {
      const content = await readFile(file);
      hash.update(`${relative(root, file)} ${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

/** The files of a folder, or the file itself, in a stable order; none if the path does not exist. */
export async function filesIn(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
