import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreError } from '../failure.ts';

/** A busy run writes some megabytes a minute, and SQLite needs space to clean up after itself. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;

/** Which file a path names. Undefined when there is none. */
export async function identityOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(file);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** In bytes. Undefined when there is no such file. */
export const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );

/**
 * Whether writes to an open database are kept: SQLite continues to write to a file that was removed, and everything in it
 * is lost with the process.
 *
 * @param opened the identity of the file when it was opened
 * @throws StoreError `removed`, `full`
 */
export async function checkPlace(file: string, opened: string | undefined): Promise<void> {
  const now = await identityOf(file);
  if (opened !== undefined && now !== opened) {
    throw new StoreError({
      kind: 'removed',
      message: `The database ${file} was ${now === undefined ? 'removed' : 'replaced by another file'} while process ${process.pid} has it open: its writes are lost when it stops.`,
      hint: 'Do not stop it yet: see docs/reference/troubleshooting.md, "A store file that was removed", which saves its data.',
    });
  }
  await checkSpace(file);
}

/** @throws StoreError `full` */
async function checkSpace(file: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize >= LEAST_FREE_BYTES) return;
  throw new StoreError({
    kind: 'full',
    message: `The disk of the database ${file} is full: ${Math.floor((bavail * bsize) / 1024)} KB are free.`,
    hint: 'Free space on the disk of the database; nothing stored was lost.',
  });
}
