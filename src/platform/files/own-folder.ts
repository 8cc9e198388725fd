import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes a folder for this user alone: what this process and its children make from now on has no rights for others, and neither
 * has what was there before.
 *
 * @returns gives the process its former umask back
 */
export function openOwnFolder(path: string): () => void {
  const before = process.umask(0o077);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  tighten(path);
  return () => void process.umask(before);
}

/** A folder that others cannot enter is left as it is: nothing in it can be reached. */
function tighten(path: string): void {
  const { mode, uid } = lstatSync(path);
  if ((mode & 0o077) === 0 || uid !== process.getuid?.()) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) tighten(inside);
    else if (entry.isFile()) chmodSync(inside, lstatSync(inside).mode & 0o700);
  }
  // Last, so that an interrupted start goes on the next time.
  chmodSync(path, mode & 0o700);
}
