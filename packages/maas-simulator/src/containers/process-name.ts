import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A process by its id and start time, because ids are used again; undefined when it has ended.
 */
export function processName(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in parentheses and may contain any character. The start time is field 22.
    const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
    return `${pid}-${fields[20]}`;
  } catch {
    return undefined;
  }
}

/** Whether the process of a name that `processName` gave has ended. */
export const isGone = (name: string): boolean => processName(Number.parseInt(name, 10)) !== name;

/** Removes remains of killed processes in a folder: entries named by a prefix, the name of their process, and `-`. */
export async function removeAbandoned(folder: string, prefix: string): Promise<void> {
  const owned = new RegExp(`^${prefix}(\\d+-\\d+)-`);
  for (const entry of await readdir(folder)) {
    const [, owner] = owned.exec(entry) ?? [];
    if (owner !== undefined && isGone(owner)) await rm(join(folder, entry), { recursive: true, force: true });
  }
}
