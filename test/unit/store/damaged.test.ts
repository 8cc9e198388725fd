import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../packages/yaql/test/mutations.ts';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { openStore, StoreError } from '../../../src/store/index.ts';
import { recordingTerminal } from '../cli/recording-terminal.ts';
import { failureOf } from './failures.ts';

/** The files of a store as `kill -9` leaves them: 40 sites in the file, 40 more in its log of changes. */
const whole = mkdtempSync(join(tmpdir(), 'sitewright-whole-'));
const folder = mkdtempSync(join(tmpdir(), 'sitewright-damaged-'));
const file = join(folder, 'store.db');
const [log, index] = [`${file}-wal`, `${file}-shm`];
const backup = join(whole, 'backup.db');

beforeAll(async () => {
  const store = await openStore(file);
  const add = async (from: number): Promise<void> => {
    for (let n = from; n < from + 40; n++) {
      await store.sites.create({ name: `dc${n}` });
      await store.sites.addRevision(`dc${n}`, {
        files: [{ name: 'a.yaml', text: `${n} `.repeat(700) }],
        resolved: null,
      });
    }
  };
  await add(0);
  const raw = new DatabaseSync(file);
  raw.exec('pragma wal_checkpoint(truncate)');
  raw.close();
  await add(40);
  cpSync(folder, whole, { recursive: true });
  await store.close();
  cpSync(file, backup);
});
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(whole, folder, { recursive: true });
});
afterAll(() => {
  for (const each of [whole, folder]) rmSync(each, { recursive: true, force: true });
});

const sites = async (): Promise<number> => {
  const store = await openStore(file);
  try {
    return (await store.sites.list()).length;
  } finally {
    await store.close();
  }
};

/** The index does not count: it is rebuilt from the log. */
const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  );

const changed = (path: string, change: (bytes: Buffer) => void): void => {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
};

const PAGE = 4096;
const FRAME = 24 + PAGE;
const half = (path: string): number => Math.floor(readFileSync(path).length / 2);

/** Each with the sites that remain once the error's step was followed. */
const damages: Record<string, { readonly damage: () => void; readonly left: number }> = {
  'the file is empty': { damage: () => truncateSync(file, 0), left: 80 },
  'the file is empty, and its log gone': {
    damage: () => {
      truncateSync(file, 0);
      for (const other of [log, index]) rmSync(other);
    },
    left: 80,
  },
  'the file is gone, and its log there': { damage: () => rmSync(file), left: 80 },
  'the file is cut': {
    damage: () => {
      truncateSync(file, half(file));
      for (const other of [log, index]) rmSync(other);
    },
    left: 80,
  },
  'the file is a text': {
    damage: () => {
      writeFileSync(file, 'This is not a database. '.repeat(1000));
      for (const other of [log, index]) rmSync(other);
    },
    left: 80,
  },
  'the log is gone': { damage: () => rmSync(log), left: 40 },
  'the log is garbage': { damage: () => writeFileSync(log, Buffer.alloc(50_000, 7)), left: 40 },
  'the log begins with another byte': {
    damage: () =>
      changed(log, (bytes) => {
        bytes[17]! ^= 1;
      }),
    left: 40,
  },
  'the log has another byte in its middle': {
    damage: () =>
      changed(log, (bytes) => {
        bytes[32 + FRAME * Math.floor((bytes.length - 32) / FRAME / 2) + 500]! ^= 1;
      }),
    left: 60,
  },
};

describe.each(Object.entries(damages))('when %s', (_, { damage, left }) => {
  it('the store is refused with a step that can be typed, and not changed', async () => {
    damage();
    const before = contents();
    for (const options of [{}, { readOnly: true }]) {
      const failure = await failureOf(openStore(file, { ...options, verify: true }));
      expect(failure).toMatchObject({ kind: 'corrupt', message: expect.stringContaining(file) });
      expect(failure.hint).toMatch(/\b(mv|truncate|rm) .*store\.db/);
    }
    expect(contents()).toMatchObject(before);
  });

  it('the doctor finds it, and no process starts', async () => {
    damage();
    const before = contents();
    const env = {
      SITEWRIGHT_STORE_URL: file,
      SITEWRIGHT_API: 'http://127.0.0.1:9',
      SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9',
      SITEWRIGHT_API_PORT: '0',
      HOME: folder,
    };
    const said = async (...args: string[]) => {
      const terminal = recordingTerminal({ env, cwd: tmpdir() });
      const code = await runCli(args, terminal);
      return { code, ...terminal.said };
    };
    const { out } = await said('doctor', '-f', 'json');
    const found = JSON.parse(out).find(({ name }: { name: string }) => name === 'store');
    expect(found).toMatchObject({ state: 'fail', message: expect.stringContaining(file), fix: expect.any(String) });
    for (const process of ['api', 'worker']) {
      const { code, err } = await said(process);
      expect([code, err]).toEqual([expect.any(Number), expect.stringContaining(found.message)]);
      expect(code).not.toBe(0);
    }
    expect(contents()).toMatchObject(before);
  });

  it('its step leads to a store with all that can be read, and keeps the rest', async () => {
    damage();
    const { hint } = await failureOf(openStore(file, { verify: true }));
    const command = /run: (.+)$/.exec(hint)![1]!;
    execFileSync('sh', ['-ec', command.replace('BACKUP', backup)]);
    expect(await sites()).toBeGreaterThanOrEqual(left);
    expect(readdirSync(join(folder, 'kept'))).not.toEqual([]);
  });
});

it('a store whose writer was killed opens with all it had answered', async () => {
  expect(await sites()).toBe(80);
});

it('a store whose last change was cut off opens without that one, wherever the cut is', async () => {
  const bytes = readFileSync(log);
  const random = seededRandom(7);
  for (let n = 0; n < 30; n++) {
    const end = 32 + Math.floor(random() * (bytes.length - 32));
    for (const rest of [Buffer.alloc(0), Buffer.alloc(3000)]) {
      writeFileSync(log, Buffer.concat([bytes.subarray(0, end), rest]));
      cpSync(join(whole, 'store.db'), file);
      rmSync(index, { force: true });
      expect(await sites()).toBeGreaterThanOrEqual(40);
    }
  }
});

it('damage anywhere in the file is found at the start, or is no error of ours later', async () => {
  const random = seededRandom(32);
  const bytes = readFileSync(join(whole, 'store.db'));
  let found = 0;
  for (let n = 0; n < 60; n++) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const hurt = Buffer.from(bytes);
    const page = Math.floor(random() * (bytes.length / PAGE)) * PAGE;
    if (n % 3 === 0) hurt.fill(0, page, page + PAGE);
    else if (n % 3 === 1) for (let at = page; at < page + PAGE; at++) hurt[at] = Math.floor(random() * 256);
    else hurt[page + Math.floor(random() * 100)]! ^= 1 << Math.floor(random() * 8);
    writeFileSync(file, hurt);
    try {
      const store = await openStore(file, { verify: true });
      try {
        for (const { name } of await store.sites.list()) await store.sites.getRevision(name, 'latest');
      } finally {
        await store.close();
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      expect(error.failure.kind).toBe('corrupt');
      expect(readFileSync(file).equals(hurt)).toBe(true);
      found++;
    }
  }
  expect(found).toBeGreaterThan(20);
});

it('the tables of another program get none of ours among them', async () => {
  const other = join(folder, 'temporal.db');
  const raw = new DatabaseSync(other);
  raw.exec('create table executions (a)');
  raw.close();
  expect(await failureOf(openStore(other))).toMatchObject({
    kind: 'schema-foreign',
    message: expect.stringContaining('a table "executions"'),
  });
});

it('a disk that is read-only is named, and the doctor finds it', async ({ skip }) => {
  try {
    execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' });
  } catch {
    skip('needs the right to mount');
  }
  try {
    execFileSync('mount', ['-o', 'remount,bind,ro', folder]);
    expect(await failureOf(openStore(file))).toMatchObject({
      kind: 'read-only',
      hint: expect.stringMatching(/mount -o remount,rw/),
    });
    const env = {
      SITEWRIGHT_STORE_URL: file,
      SITEWRIGHT_API: 'http://127.0.0.1:9',
      SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9',
    };
    const terminal = recordingTerminal({ env, cwd: tmpdir() });
    await runCli(['doctor', '-f', 'json'], terminal);
    expect(JSON.parse(terminal.said.out)).toContainEqual(
      expect.objectContaining({ name: 'store', state: 'fail', message: expect.stringMatching(/cannot be written/) }),
    );
  } finally {
    execFileSync('umount', [folder]);
  }
  expect(await sites()).toBe(80);
});
