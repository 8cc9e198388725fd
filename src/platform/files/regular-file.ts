import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/**
 * Opens a regular file for reading. Its last part may be no link. What others may put in its place is not waited for (a FIFO),
 * nor read without end (a device).
 *
 * @returns undefined for anything but a regular file
 * @throws the system's error
 */
async function openRegular(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** Of a file that is read into memory. */
const LARGEST = 256 * 1024 * 1024;

/** The content of a regular file; undefined if there is none that can be read, or a larger one. */
export async function readRegular(path: string): Promise<Buffer | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await openRegular(path);
    return file !== undefined && (await file.stat()).size <= LARGEST ? await file.readFile() : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
