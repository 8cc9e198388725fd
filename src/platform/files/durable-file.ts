import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

function writeBeside(path: string, text: string): string {
  const temporary = join(dirname(path), `.${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
  const fd = openSync(temporary, 'wx', 0o600);
  try {
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  return temporary;
}

export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Replaces a small file atomically: after a power failure and for readers, it has the old or the new content. */
export function replaceDurably(path: string, text: string): void {
  const temporary = writeBeside(path, text);
  try {
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  syncFolder(dirname(path));
}

/** Creates a small file atomically; false if it exists. */
export function createDurably(path: string, text: string): boolean {
  const temporary = writeBeside(path, text);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
  syncFolder(dirname(path));
  return true;
}

/** A file exists, but without the written content: a disk or a person lost or changed it. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly path: string;
  readonly why: string;

  constructor(path: string, why: string) {
    super(`${path} is unreadable: ${why}`);
    this.path = path;
    this.why = why;
  }
}

/**
 * The JSON of a file; undefined if it does not exist. Files written as above are never partial, but disks lose data.
 * @throws UnreadableFile
 */
export function readJson<T>(path: string, fits: (value: unknown) => value is T): T | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new UnreadableFile(path, code === 'EISDIR' ? 'it is a folder' : (code ?? String(error)));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableFile(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  if (fits(value)) return value;
  throw new UnreadableFile(path, 'it has other content');
}

/** The value; undefined if it is in an unreadable file. */
export function unlessUnreadable<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableFile) return undefined;
    throw error;
  }
}

/** Renames a file, or a folder in its place, so that the name is free again; returns the new path. */
export function setAside(path: string): string {
  for (let number = 1; ; number += 1) {
    const aside = number === 1 ? `${path}.unreadable` : `${path}.unreadable-${number}`;
    if (existsSync(aside)) continue;
    renameSync(path, aside);
    return aside;
  }
}

/**
 * Deletes a folder, if it is there, while others may delete files of it: `rmSync` then returns without an error and leaves
 * the folder (Node 24, seen 58 times in 20,000).
 */
export function deleteFolder(folder: string): void {
  for (let tries = 0; tries === 0 || (existsSync(folder) && tries < 100); tries += 1)
    rmSync(folder, { recursive: true, force: true });
}
