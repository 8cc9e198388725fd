import { type FileHandle, open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { shellWord } from '../../core/text/text.ts';
import { StoreError } from '../failure.ts';
import { identityOf, sizeOf } from './place.ts';
import { goingOnWithout, restoring } from './steps.ts';

/**
 * SQLite opens what is left of a damaged database, and deletes or overwrites the rest: an empty file is a new database, and a
 * log of changes ends at its first unreadable one. So we look first, and refuse before anything is changed.
 *
 * Unseen: a log that was removed with its index, and damage to the last change of a log, which a crash of the machine may
 * leave, too.
 *
 * @throws StoreError `corrupt`
 */
export async function refuseDamage(file: string): Promise<void> {
  const [log, index] = [`${file}-wal`, `${file}-shm`];
  const [size, logSize] = [await sizeOf(file), (await sizeOf(log)) ?? 0];
  if (size === undefined) {
    if (logSize === 0) return;
    throw damaged(`The database ${file} is missing, but its log of changes ${log} is there.`, restoring(file));
  }
  if (size === 0) {
    const cause = 'a full disk, or a copy that was cut off, leaves such a file';
    throw damaged(`The database ${file} is empty: ${cause}.`, restoring(file));
  }
  if (await twice(() => isLogMissing(log, index))) {
    const message = `The log of changes of the database ${file} is missing: there is ${index}, but no ${log}.`;
    throw damaged(message, `Put it back if you have it. ${goingOnWithout(file, `rm ${shellWord(index)}`)}`);
  }
  const end = await twice(() => readableEnd(log));
  if (end === undefined) return;
  const message = `The log of changes of the database ${file} is damaged: ${log} cannot be read from byte ${end} on, where other changes follow.`;
  throw damaged(message, goingOnWithout(file, `truncate -s ${end} ${shellWord(log)}`));
}

/**
 * Reads every page, through a connection that changes nothing. Takes two seconds for each gigabyte.
 *
 * @throws StoreError `corrupt`; errors of SQLite
 */
export function refuseDamagedPages(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const [first] = database.prepare('pragma quick_check(1)').all();
    const found = String(Object.values(first ?? {})[0]);
    if (found !== 'ok')
      throw damaged(`The database ${file} is damaged: ${found.replaceAll('\n', ' ')}.`, restoring(file));
  } finally {
    database.close();
  }
}

const damaged = (message: string, hint: string): StoreError => new StoreError({ kind: 'corrupt', message, hint });

/** What holds twice is not the work of another process that has the database open. */
async function twice<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  const first = await look();
  if (first === undefined) return undefined;
  await delay(100);
  return (await look()) === first ? first : undefined;
}

/** SQLite removes the index before the log. */
async function isLogMissing(log: string, index: string): Promise<true | undefined> {
  const isThere = (await identityOf(index)) !== undefined;
  return isThere && (await identityOf(log)) === undefined ? true : undefined;
}

const HEADER = 32;
const FRAME_HEADER = 24;
const MAGIC = 0x377f0682;
const FRAMES_AT_ONCE = 256;

/**
 * Where a log (https://sqlite.org/fileformat2.html#the_write_ahead_log) ceases to be readable although a complete change
 * follows; undefined if it does nowhere. Each frame continues the checksum of the one before, so those behind an unreadable one
 * are known by what it says.
 */
async function readableEnd(log: string): Promise<number | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(log, 'r');
  } catch {
    return undefined;
  }
  try {
    const header = await read(handle, 0, HEADER);
    if (header.length < HEADER) return undefined;
    const magic = header.readUInt32BE(0);
    const sum = checksum(magic === MAGIC, [0, 0], header, 0, FRAME_HEADER);
    if ((magic & ~1) !== MAGIC || !isEqual(sum, header, FRAME_HEADER)) return 0;
    const end = await unreadableFrame(handle, header, magic === MAGIC, sum);
    // Another process has begun the log again meanwhile.
    return (await read(handle, 0, HEADER)).equals(header) ? end : undefined;
  } finally {
    await handle.close();
  }
}

async function unreadableFrame(
  handle: FileHandle,
  header: Buffer,
  isLittle: boolean,
  start: Sum,
): Promise<number | undefined> {
  const length = FRAME_HEADER + header.readUInt32BE(8);
  let end: number | undefined;
  let sum = start;
  for (let at = HEADER; ; ) {
    const frames = await read(handle, at, FRAMES_AT_ONCE * length);
    for (let from = 0; from + length <= frames.length; from += length, at += length) {
      const isOurs = frames.compare(header, 16, 24, from + 8, from + 16) === 0;
      const found = isOurs
        ? checksum(isLittle, checksum(isLittle, sum, frames, from, 8), frames, from + 24, length - 24)
        : sum;
      if (isOurs && isEqual(found, frames, from + 16)) {
        const endsChange = frames.readUInt32BE(from + 4) !== 0;
        if (end !== undefined && endsChange) return end;
      } else end ??= at;
      sum = [frames.readUInt32BE(from + 16), frames.readUInt32BE(from + 20)];
    }
    if (frames.length < FRAMES_AT_ONCE * length) return undefined;
  }
}

type Sum = readonly [number, number];

const isEqual = ([one, other]: Sum, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === one && bytes.readUInt32BE(at + 4) === other;

function checksum(isLittle: boolean, [first, second]: Sum, bytes: Buffer, from: number, length: number): Sum {
  let [one, other] = [first, second];
  for (let at = from; at < from + length; at += 8) {
    one = (one + (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + other) >>> 0;
    other = (other + (isLittle ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + one) >>> 0;
  }
  return [one, other];
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, from);
  return bytes.subarray(0, bytesRead);
}
