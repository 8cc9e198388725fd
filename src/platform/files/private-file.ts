import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupError } from '../../core/problems/refusal.ts';
import { whyNotPrivate } from '../secrets/why-not-private.ts';
import { createDurably, replaceDurably } from './durable-file.ts';

/** A problem with a file of secrets, such as wrong permissions. */
export class PrivateFileError extends SetupError {
  override readonly name = 'PrivateFileError';

  constructor(message: string) {
    super('private-file', message);
  }
}

/**
 * Reads a file that only its owner may read; undefined if it does not exist.
 *
 * @throws PrivateFileError with a message for operators if it is a link, not a file, or not private
 */
export function readPrivate(path: string): string | undefined {
  try {
    const state = lstatSync(path);
    if (!state.isFile()) throw new PrivateFileError(`${path} is not a regular file`);
    const why = whyNotPrivate(path, state);
    if (why !== undefined) throw new PrivateFileError(`${path} ${why.what}: ${why.fix}`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a file for its owner only (0600, new folders 0700), atomically. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceDurably(path, text);
}

/**
 * The content of a private file that is created at first use. If several processes call it concurrently, one creates the
 * file and all get the same content.
 */
export function readOrMakePrivate(path: string, make: () => string): string {
  const present = readPrivate(path);
  if (present !== undefined) return present;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createDurably(path, make());
  const made = readPrivate(path);
  if (made === undefined) throw new PrivateFileError(`${path} was removed during its creation`);
  return made;
}
