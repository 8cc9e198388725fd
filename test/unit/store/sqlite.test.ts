import { access, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../../src/store/index.ts';
import { classifySqliteError } from '../../../src/store/sqlite/errors.ts';
import { failureOf } from './failures.ts';

describe('The store on a SQLite file', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-sqlite-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('makes the file and its folder, for this user alone, and writes ahead', async () => {
    const file = join(folder, 'new/deep/store.db');
    const store = await openStore(file);
    expect((await stat(join(folder, 'new/deep'))).mode & 0o777).toBe(0o700);
    expect((await store.status()).location).toBe(`sqlite:${file}`);
    const raw = new DatabaseSync(file);
    expect(raw.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
    raw.close();
    await store.close();
  });

  it('makes no file when it may only read', async () => {
    const file = join(folder, 'absent.db');
    expect(await failureOf(openStore(file, { readOnly: true }))).toMatchObject({ kind: 'unreachable' });
    await expect(access(file)).rejects.toThrow();
  });

  it('keeps two stores in memory apart', async () => {
    const [one, other] = [await openStore('sqlite::memory:'), await openStore(':memory:')];
    await one.sites.create({ name: 'dc1' });
    expect(await other.sites.list()).toEqual([]);
    await one.close();
    await other.close();
  });

  it('waits for another process’ lock without blocking this one', async () => {
    const file = join(folder, 'locked.db');
    const store = await openStore(file);
    const raw = new DatabaseSync(file);
    raw.exec('begin immediate');
    let done = false;
    const waiting = store.sites.create({ name: 'dc1' }).finally(() => {
      done = true;
    });
    // Readers do not wait, and our own thread continues.
    for (let turns = 0; turns < 5; turns++) {
      expect(await store.sites.list()).toEqual([]);
      await turn();
    }
    expect(done).toBe(false);
    raw.exec('commit');
    expect(await waiting).toMatchObject({ name: 'dc1' });
    raw.close();
    await store.close();
  });

  it('waits for another process that has locked a new file', async () => {
    const file = join(folder, 'new-and-locked.db');
    const raw = new DatabaseSync(file);
    raw.exec('pragma user_version = 1');
    raw.exec('begin exclusive');
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    let ended = false;
    const opening = openStore(file).finally(() => {
      ended = true;
    });
    // Until it has been refused twice.
    while (!ended && exec.mock.results.filter((call) => call.type === 'throw').length < 2) await turn();
    raw.close();
    const store = await opening;
    exec.mockRestore();
    const after = new DatabaseSync(file);
    expect(after.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
    after.close();
    await store.close();
  });

  it('reports an invalid path', async () => {
    await writeFile(join(folder, 'notes.txt'), 'This is not a database, but a text that is long enough. '.repeat(50));
    await mkdir(join(folder, 'folder.db'));
    expect(await failureOf(openStore(join(folder, 'notes.txt')))).toMatchObject({ kind: 'corrupt' });
    expect(await failureOf(openStore(join(folder, 'folder.db')))).toMatchObject({ kind: 'unreachable' });
    expect(await failureOf(openStore(join(folder, 'notes.txt/x.db')))).toMatchObject({ kind: 'unreachable' });
  });

  it('reports a full disk, and continues when there is space again', async () => {
    const file = join(folder, 'full.db');
    const store = await openStore(file);
    await store.sites.create({ name: 'dc1' });
    await store.close();
    // SQLite's own limit of pages plays the full disk; it belongs to a connection, so the error is made on one.
    const raw = new DatabaseSync(file);
    raw.exec(`pragma max_page_count = ${raw.prepare('pragma page_count').get()!.page_count}`);
    let thrown: unknown;
    try {
      raw
        .prepare('insert into audit_entry values (?, ?, ?, ?, ?, ?, ?)')
        .run('i', 'a', 'b', 'c', 'd', 'x'.repeat(1e6), null);
    } catch (error) {
      thrown = error;
    }
    raw.close();
    expect(classifySqliteError(thrown, file)).toMatchObject({ failure: { kind: 'full' }, retry: 'never' });
    const again = await openStore(file);
    expect(await again.sites.list()).toHaveLength(1);
    await again.close();
  });
});

describe('classifySqliteError', () => {
  /** By Node's code alone, or with SQLite's extended result code (https://sqlite.org/rescode.html). */
  it.each([
    ['SQLITE_BUSY', 5, 'busy', 'transaction'],
    ['SQLITE_BUSY_SNAPSHOT', 517, 'busy', 'transaction'],
    ['SQLITE_LOCKED_SHAREDCACHE', 262, 'busy', 'transaction'],
    ['SQLITE_READONLY_DBMOVED', 1032, 'read-only', 'never'],
    ['EROFS', undefined, 'read-only', 'never'],
    ['SQLITE_FULL', 13, 'full', 'never'],
    ['SQLITE_IOERR_WRITE', 778, 'full', 'never'],
    ['ENOSPC', undefined, 'full', 'never'],
    ['SQLITE_CORRUPT_INDEX', 779, 'corrupt', 'never'],
    ['SQLITE_NOTADB', 26, 'corrupt', 'never'],
    ['SQLITE_PERM', 3, 'denied', 'never'],
    ['EACCES', undefined, 'denied', 'never'],
    ['SQLITE_CANTOPEN', 14, 'unreachable', 'never'],
    ['SQLITE_IOERR_READ', 266, 'unreachable', 'never'],
    ['SQLITE_CONSTRAINT_FOREIGNKEY', 787, 'conflict', 'never'],
    ['SQLITE_ERROR', 1, 'defect', 'never'],
    ['ERR_INVALID_ARG_TYPE', undefined, 'defect', 'never'],
  ])('%s (%s) is %s, retried: %s', (name, errcode, kind, retry) => {
    const code = errcode === undefined ? name : 'ERR_SQLITE_ERROR';
    const error = Object.assign(new Error('as SQLite says'), { code, ...(errcode !== undefined && { errcode }) });
    const classified = classifySqliteError(error, 'sqlite:/x.db');
    expect(classified).toMatchObject({ failure: { kind }, retry });
    expect(classified.failure.hint).not.toBe('');
  });
});
