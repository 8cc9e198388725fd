import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, withLock } from '../../../src/platform/processes/lock.ts';

describe('withLock', () => {
  let folder: string;
  let lock: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-lock-'));
    lock = join(folder, 'deep/a.lock');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('admits one at a time, and all in the end', async () => {
    let inside = 0;
    let most = 0;
    const enter = () =>
      withLock(
        lock,
        async () => {
          most = Math.max(most, ++inside);
          await readdir(folder);
          inside--;
        },
        { pollMs: 1 },
      );
    await Promise.all(Array.from({ length: 8 }, enter));
    expect(most).toBe(1);
    expect(await readdir(join(folder, 'deep'))).toEqual([]);
  });

  it('is released when the work fails', async () => {
    await expect(withLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withLock(lock, async () => 'again')).toBe('again');
  });

  it('is taken from a dead process, by one of many', async () => {
    const process_ = spawn(process.execPath, ['-e', '']);
    await once(process_, 'close');
    await withLock(lock, async () => {});
    await writeFile(lock, JSON.stringify({ pid: process_.pid, host: hostname() }));
    let inside = 0;
    let most = 0;
    const enter = () =>
      withLock(
        lock,
        async () => {
          most = Math.max(most, ++inside);
          await readdir(folder);
          inside--;
        },
        { pollMs: 1 },
      );
    await Promise.all(Array.from({ length: 8 }, enter));
    expect(most).toBe(1);
  });

  it('is taken from a process of before a restart, whose number another program has now', async () => {
    await withLock(lock, async () => {
      const held = JSON.parse(await readFile(lock, 'utf8'));
      expect(held).toMatchObject({ pid: process.pid, start: expect.any(String) });
    });
    await writeFile(lock, JSON.stringify({ pid: process.pid, host: hostname(), start: 'another-boot 1' }));
    const onWait = (): never => {
      throw new Error('it waits for a stranger');
    };
    expect(await withLock(lock, async () => 'taken', { onWait })).toBe('taken');
  });

  it('reports the holder it waits for, once', async () => {
    const holder = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    await once(holder, 'spawn');
    await withLock(lock, async () => {});
    await writeFile(lock, JSON.stringify({ pid: holder.pid, host: hostname() }));
    const waitedFor: number[] = [];
    await withLock(lock, async () => {}, {
      pollMs: 1,
      onWait: (pid) => {
        waitedFor.push(pid);
        holder.kill('SIGKILL');
      },
    });
    expect(waitedFor).toEqual([holder.pid]);
  });

  it('distinguishes live from dead processes', () => {
    expect(isAlive(process.pid)).toBe(true);
    expect(isAlive(2 ** 22 + 1)).toBe(false);
  });
});
