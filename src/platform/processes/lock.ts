import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A holder on another host (with a shared home folder) cannot be checked; its lock expires after this time. */
const FOREIGN_LOCK_MS = 30 * 60_000;

interface LockOptions {
  /** Called once when another process holds the lock, with its process id. */
  readonly onWait?: (holder: number) => void;
  readonly pollMs?: number;
}

/**
 * A lock between processes on one machine: runs `work` while holding the lock file `path`, whose folder is created, and
 * always releases it. Waits while a running process holds it, and takes over the lock of a dead process.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
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

async function tryCreate(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** The process id of the running holder. */
async function readHolder(path: string): Promise<number | 'dead' | 'gone'> {
  let text: string;
  let age: number;
  try {
    text = await readFile(path, 'utf8');
    age = Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return 'gone';
  }
  // A new file may not be written yet; one that is still empty after ten seconds never will be.
  if (text === '') return age > 10_000 ? 'dead' : -1;
  let holder: { readonly pid: number; readonly host: string };
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
 */
async function removeDead(path: string): Promise<void> {
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

/** Whether a process is running on this machine, even as another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
