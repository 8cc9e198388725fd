import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createDurably, replaceDurably } from './durable-file.js';

/** A file that holds a secret and is not kept like one. */
export class PrivateFileError extends Error {
  override readonly name = 'PrivateFileError';
}

/**
 * Reads a file that only its owner may read; undefined when there is none.
 *
 * @throws PrivateFileError in words for an operator, when it is a link, no file, or readable by others
 */
export function readPrivate(path: string): string | undefined {
  try {
    const state = lstatSync(path);
    if (!state.isFile()) throw new PrivateFileError(`${path} is no regular file`);
    const mode = state.mode & 0o777;
    if ((mode & 0o077) !== 0)
      throw new PrivateFileError(`${path} may be read by others (mode ${mode.toString(8)}): chmod 600 ${path}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file for its owner alone (0600, new folders 0700), whole or not at all. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceDurably(path, text);
}

/**
 * The content of a private file that is made at its first use. Of several processes that come at once one makes it,
 * and all get the same.
 */
export function readOrMakePrivate(path: string, make: () => string): string {
  const present = readPrivate(path);
  if (present !== undefined) return present;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createDurably(path, make());
  const made = readPrivate(path);
  if (made === undefined) throw new PrivateFileError(`${path} was removed while it was made`);
  return made;
}
