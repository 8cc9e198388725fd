// A hash of the content of files, to detect changes. File times are meaningless after a checkout.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * @param {object} options
 * @param {readonly string[]} options.sources files and folders; missing ones count as empty
 * @param {string} options.root names in the hash are relative to it, so that a moved checkout keeps its key
 * @param {string} [options.salt] what else the result depends on, e.g. the version of a tool
 * @returns {Promise<string>}
 */
export async function contentKey({ sources, root, salt = '' }) {
  const hash = createHash('sha256').update(`${salt}\n`);
  for (const source of sources) {
    for (const file of await filesIn(source)) {
      const content = await readFile(file);
      hash.update(`${relative(root, file)} ${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

/**
 * @param {string} path a file or a folder
 * @returns {Promise<string[]>} in a stable order; empty if the path does not exist
 */
export async function filesIn(path) {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
