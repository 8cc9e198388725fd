import { readFileSync } from 'node:fs';

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
