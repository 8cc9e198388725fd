import { lstatSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { writePrivate } from './files/private-file.ts';
import { isAlive, startOf } from './processes/lock.ts';

/** Where an API notes beside the token of its own user that it runs, and at which address. */
const noteOf = (tokenFile: string): string => `${tokenFile}.json`;

/** Says where the token in this file may be sent, until the process ends or the result is called. */
export function noteAddress(tokenFile: string, url: string): () => Promise<void> {
  const note = noteOf(tokenFile);
  writePrivate(note, `${JSON.stringify({ url, pid: process.pid, start: startOf(process.pid) })}\n`);
  return () => rm(note, { force: true });
}

/**
 * The token in a file of an API that runs as this user and answers at this address. Undefined for every other one, and unless
 * files and folder are this user's alone: whoever takes the port of an API that has ended gets no token.
 */
export function tokenForOwnApi(tokenFile: string, url: string): string | undefined {
  try {
    const [note, token] = [noteOf(tokenFile), tokenFile].map(readOwn);
    const { url: at, pid, start } = JSON.parse(note ?? '') as Readonly<Record<string, unknown>>;
    const isThere = at === url && typeof pid === 'number' && isAlive(pid) && startOf(pid) === start;
    return isThere ? token?.trim() : undefined;
  } catch {
    return undefined;
  }
}

/** @throws unless it is a file of this user's that nobody else may read or write */
function readOwn(path: string): string {
  const { uid, mode } = lstatSync(path);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) throw new Error(`${path} is not private`);
  return readFileSync(path, 'utf8');
}
