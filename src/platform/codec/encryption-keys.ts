import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { PrivateFileError, readPrivate, writePrivate } from '../files/private-file.ts';

/** AES-256 keys by id. Writes use `current`; reads use the key that the data names. */
export interface EncryptionKeys {
  readonly current: string;
  /** 32 bytes each. */
  readonly keys: ReadonlyMap<string, Buffer>;
}

/** Begins the ids of new keys. Data of earlier keys names no place. */
const BINDING = 'bound-';

/**
 * Whether all that is written with a key is bound to its place. The id of the key says so, so that all processes know it, and
 * no data can claim otherwise. A new key comes after all processes were upgraded: earlier versions cannot read such data.
 */
export const bindsToPlace = (id: string): boolean => id.startsWith(BINDING);

const LINE = /^([A-Za-z0-9._-]{1,100}) ([A-Za-z0-9+/]{43}=)$/;

/** Parses keys, one per line: id, space, 32 bytes in base64. The first is current; `#` starts a comment. */
export function parseEncryptionKeys(text: string, name: string): EncryptionKeys {
  const keys = new Map<string, Buffer>();
  text.split('\n').forEach((line, at) => {
    if (line.trim() === '' || line.startsWith('#')) return;
    const [, id, key] = LINE.exec(line.trimEnd()) ?? [];
    if (id === undefined || key === undefined)
      throw new PrivateFileError(`${name}:${at + 1}: a line is an id, a space and 32 bytes in base64`);
    if (keys.has(id)) throw new PrivateFileError(`${name}:${at + 1}: there is a key ${id} already`);
    keys.set(id, Buffer.from(key, 'base64'));
  });
  const [current] = keys.keys();
  if (current === undefined) throw new PrivateFileError(`${name} contains no key`);
  return { current, keys };
}

/** @throws PrivateFileError if the file is missing, readable by others, or contains no keys */
export function readEncryptionKeys(path: string): EncryptionKeys {
  // The files of a mounted Secret of Kubernetes are links.
  const text = existsSync(path) ? readPrivate(realpathSync(path)) : undefined;
  if (text === undefined)
    throw new PrivateFileError(`${path} does not exist: create it with 'sitewright identity encryption-key ${path}'`);
  return parseEncryptionKeys(text, path);
}

/** Adds a new current key; former keys stay to decrypt old data. Returns its id. */
export function addEncryptionKey(path: string, now: Date = new Date()): string {
  const before = readPrivate(path) ?? '';
  if (before !== '') parseEncryptionKeys(before, path);
  const id = `${BINDING}${now.toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;
  writePrivate(path, `${id} ${randomBytes(32).toString('base64')}\n${before}`);
  return id;
}
