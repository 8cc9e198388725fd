import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A process by its id and start time, because ids are used again; undefined when it has ended.
 *
 * @param {number} pid
 */
export function processName(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in parentheses and may contain any character. The start time is field 22.
    const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
    return `${pid}-${fields[20]}`;
  } catch {
    return undefined;
  }
}

/**
 * Whether the process of a name has ended.
 *
 * @param {string} name from `processName`
 */
export const isGone = (name) => processName(Number.parseInt(name, 10)) !== name;

/**
 * Removes what processes that were killed left in a folder: entries called by a prefix, the name of their process, and `-`.
 *
 * @param {string} folder
 * @param {string} prefix
 */
export async function removeAbandoned(folder, prefix) {
  const owned = new RegExp(`^${prefix}(\\d+-\\d+)-`);
  for (const entry of await readdir(folder)) {
    const [, owner] = owned.exec(entry) ?? [];
    if (owner !== undefined && isGone(owner)) await rm(join(folder, entry), { recursive: true, force: true });
  }
}
