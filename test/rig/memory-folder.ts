import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const TMPFS = 0x01021994;

/** Much more than the databases of eight concurrent test files. */
const ROOM = 2 * 1024 ** 3;

/**
 * A folder in memory, where this machine has one with room, else that for temporary files: a database of PostgreSQL is hundreds
 * of files, and on a disk the kernel takes twenty times the processor time to copy and remove them.
 */
export function memoryFolder(shared = '/dev/shm'): string {
  try {
    accessSync(shared, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(shared);
    if (type === TMPFS && bavail * bsize >= ROOM) return shared;
  } catch {
    // Not every system has it.
  }
  return tmpdir();
}
