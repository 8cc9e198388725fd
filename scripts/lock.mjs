// A lock between processes on one machine: a file that only one of them can create. No dependencies.
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A holder on another host (with a shared home folder) cannot be checked; its lock expires after this time. */
const FOREIGN_LOCK_MS = 30 * 60_000;

/**
 * Runs `work` while holding the lock `path`, and always releases the lock. Waits while a running process holds it, and
 * takes over the lock of a dead process.
 *
 * @template T
 * @param {string} path the lock file; its folder is created
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (holder: number) => void, pollMs?: number }} [options] `onWait` is called once, with the holder's process id
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  await mkdir(dirname(path), { recursive: true });
  let hasReported = false;
  while (!(await tryCreate(path))) {
    const holder = await readHolder(path);
    if (holder === 'gone') continue;
    if (holder === 'dead') {
      await removeDead(path);
      continue;
    }
    if (!hasReported) options.onWait?.(holder);
    hasReported = true;
    await delay(options.pollMs ?? 250);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** @param {string} path */
async function tryCreate(path) {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }));
    await file.close();
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {Promise<number | 'dead' | 'gone'>} process id of the running holder
 */
async function readHolder(path) {
  /** @type {string} */
  let text;
  /** @type {number} */
  let age;
  try {
    text = await readFile(path, 'utf8');
    age = Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return 'gone';
  }
  // A new file may not be written yet; one that is still empty after ten seconds never will be.
  if (text === '') return age > 10_000 ? 'dead' : -1;
  /** @type {{ pid: number, host: string }} */
  let holder;
  try {
    holder = JSON.parse(text);
  } catch {
    return age > 10_000 ? 'dead' : -1;
  }
  if (holder.host !== hostname()) return age > FOREIGN_LOCK_MS ? 'dead' : holder.pid;
  return isAlive(holder.pid) ? holder.pid : 'dead';
}

/**
 * Renames the file first: if two waiters see a dead holder, only one may remove the file. Otherwise the second would
 * remove the lock that the first has just created.
 *
 * @param {string} path
 */
async function removeDead(path) {
  const aside = `${path}.dead-${process.pid}-${process.hrtime.bigint()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  // Another waiter may have acquired the lock between our check and our rename: then restore it.
  const moved = await readHolder(aside);
  if (typeof moved === 'number' && moved > 0) await rename(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

/**
 * Whether a process is running on this machine, even as another user.
 *
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
