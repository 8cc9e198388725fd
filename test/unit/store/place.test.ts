import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore, type Store } from '../../../src/store/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sitewright-place-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function opened(name: string): Promise<{ store: Store; file: string }> {
  await mkdir(join(folder, name), { recursive: true });
  const file = join(folder, name, 'store.db');
  return { store: await openStore(file), file };
}

const failure = (store: Store) =>
  store.status().then(
    () => null,
    (error: { failure: { kind: string; message: string } }) => error.failure,
  );

it('a store whose file was removed reports that, and its data can be saved as documented', async () => {
  const { store, file } = await opened('removed');
  for (const ending of ['', '-wal', '-shm']) await rm(file + ending);
  await store.sites.create({ name: 'dc1' });
  expect(await failure(store)).toMatchObject({
    kind: 'removed',
    message: expect.stringContaining('was removed while'),
  });
  const saved = join(folder, 'saved.db');
  for (const fd of await readdir('/proc/self/fd')) {
    const target = await readlink(`/proc/self/fd/${fd}`).catch(() => '');
    const ending = target.startsWith(file) ? /store\.db(-wal)? \(deleted\)$/.exec(target) : null;
    if (ending) await copyFile(`/proc/self/fd/${fd}`, saved + (ending[1] ?? ''));
  }
  await store.close();
  const again = await openStore(saved);
  expect(await again.sites.get('dc1')).toMatchObject({ name: 'dc1' });
  await again.close();
});

it('a store whose file was replaced reports that', async () => {
  const { store, file } = await opened('replaced');
  await rename(file, `${file}.old`);
  await writeFile(file, '');
  expect(await failure(store)).toMatchObject({ kind: 'removed', message: expect.stringContaining('replaced') });
  await store.close();
});

it('a store on a full disk reports that before a change fails', async ({ skip }) => {
  const place = join(folder, 'full');
  await mkdir(place);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', place], { stdio: 'ignore' });
  } catch {
    skip('needs the right to mount');
  }
  try {
    const { store } = await opened('full');
    expect(await failure(store)).toMatchObject({ kind: 'full', message: expect.stringMatching(/\d+ KB are free/) });
    await store.close();
  } finally {
    execFileSync('umount', [place]);
  }
});
