// A lock between processes of one machine: a file that only one can create. No dependencies.
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A holder on another host (a shared home folder) cannot be asked whether it lives; its lock is void after this long. */
const FOREIGN_LOCK_MS = 30 * 60_000;

/**
 * Runs `work` while holding the lock `path`, and gives the lock back whatever happens. Waits as long
 * as a living process holds it; the lock of a dead process is taken over.
 *
 * @template T
 * @param {string} path the lock file; its folder is made
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (holder: number) => void, pollMs?: number }} [options] `onWait` is told once, with the holder's process id
 * @returns {Promise<T>}
 */
export async function withLock(path, work, options = {}) {
  await mkdir(dirname(path), { recursive: true });
  let told = false;
  while (!(await tryCreate(path))) {
    const holder = await readHolder(path);
    if (holder === 'gone') continue;
    if (holder === 'dead') {
      await removeDead(path);
      continue;
    }
    if (!told) options.onWait?.(holder);
    told = true;
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
 * @returns {Promise<number | 'dead' | 'gone'>} the living holder's process id
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
  // A file just created may not be written yet; one still empty after ten seconds never will be.
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
 * Renamed first: of two waiters that both see a dead holder only one may remove the file, else the
 * second would remove the lock the first has just created.
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
  // Another waiter may have taken the lock between our look and our rename: then give it back.
  const moved = await readHolder(aside);
  if (typeof moved === 'number' && moved > 0) await rename(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

/**
 * Whether a process of this machine lives (also one of another user).
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
