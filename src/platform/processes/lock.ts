import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../../core/data/given.ts';
import { readBootId, readProcess } from './process-identity.ts';

/** A holder on another host (with a shared home folder) cannot be checked; its lock expires after this time. */
const FOREIGN_LOCK_MS = 30 * 60_000;

interface LockOptions {
  /** Called once when another process holds the lock, with its process id. */
  readonly onWait?: (holder: number) => void;
  readonly pollMs?: number;
}

/** Runs `work` while holding the lock file `path`, and always releases it. */
export async function withLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await holdLock(path, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

/**
 * A lock between processes on one machine: holds the lock file `path`, whose folder is created, until it is released.
 * Waits while a running process holds it, and takes over the lock of a dead process.
 *
 * @returns releases it
 */
export async function holdLock(path: string, options: LockOptions = {}): Promise<() => Promise<void>> {
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
  return () => rm(path, { force: true });
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    const start = startOf(process.pid);
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname(), ...given({ start }) }));
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
  let holder: { readonly pid: number; readonly host: string; readonly start?: string };
  try {
    holder = JSON.parse(text);
  } catch {
    return age > 10_000 ? 'dead' : -1;
  }
  if (holder.host !== hostname()) return age > FOREIGN_LOCK_MS ? 'dead' : holder.pid;
  if (!isAlive(holder.pid)) return 'dead';
  // After a restart of the machine, or of a container, another program may have the number.
  const start = holder.start === undefined ? undefined : startOf(holder.pid);
  return start === undefined || start === holder.start ? holder.pid : 'dead';
}

/** The boot and the moment in which a process started. Undefined where there is no Linux /proc. */
export function startOf(pid: number): string | undefined {
  const start = readProcess(pid)?.startTime;
  return start === undefined ? undefined : `${readBootId()} ${start}`;
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
