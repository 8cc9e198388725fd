import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { directorySecrets } from '../../../../src/platform/secrets/directory-secrets.ts';
import { environmentSecrets, firstOf, isSecretReference } from '../../../../src/platform/secrets/secret-provider.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const put = (name: string, text: string, mode = 0o600) => {
  mkdirSync(join(folder, name, '..'), { recursive: true });
  writeFileSync(join(folder, name), text, { mode });
  chmodSync(join(folder, name), mode);
};
const secrets = directorySecrets(folder);

describe('secrets of a folder', () => {
  it('are read when used, without a trailing line feed', async () => {
    put('db/password', 'one\n');
    expect(await secrets.read('db/password')).toEqual({ kind: 'found', value: 'one' });
    put('db/password', ' two \n\nthree\n\n');
    expect(await secrets.read('db/password')).toEqual({ kind: 'found', value: ' two \n\nthree\n' });
    expect(await secrets.read('db/other')).toEqual({ kind: 'absent' });
    expect(await secrets.read('nothing/here')).toEqual({ kind: 'absent' });
  });

  it('are refused if others may read them, or if they are not regular files', async () => {
    put('open', 'CANARY', 0o640);
    put('world', 'CANARY', 0o604);
    symlinkSync(join(folder, 'db/password'), join(folder, 'link'));
    symlinkSync(join(folder, 'db'), join(folder, 'linked'));
    execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')]);
    put('huge', '');
    truncateSync(join(folder, 'huge'), 2 ** 31);
    for (const [ref, why] of [
      ['open', 'may be read by others (mode 640): chmod 600'],
      ['world', 'may be read by others'],
      ['link', 'is a link'],
      ['linked/password', 'is not a folder'],
      ['open/x', 'is not a folder'],
      ['db', 'is not a regular file'],
      ['pipe', 'is not a regular file'],
      ['huge', 'is larger'],
    ] as const) {
      const answer = await secrets.read(ref);
      expect(answer, ref).toMatchObject({ kind: 'unusable', message: expect.stringContaining(why) });
      expect(JSON.stringify(answer)).not.toContain('CANARY');
    }
  });

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/../b',
    '/etc/passwd',
    'a//b',
    'a/',
    '.hidden',
    'a/.b',
    'a\0b',
    'a b',
    'ä',
    'x'.repeat(201),
  ])('have no name like %j', async (ref) => {
    expect(isSecretReference(ref)).toBe(false);
    expect(await secrets.read(ref)).toEqual({ kind: 'absent' });
    expect(await firstOf([secrets]).read(ref)).toMatchObject({ kind: 'unusable' });
  });
});

it('secrets of the environment have names in capitals', async () => {
  const found = environmentSecrets('OUR_', { OUR_DB_PASSWORD: 'x', OUR_EMPTY: '', DB_PASSWORD: 'wrong' });
  expect(await found.read('db/password')).toEqual({ kind: 'found', value: 'x' });
  expect(await found.read('empty')).toEqual({ kind: 'absent' });
});

it('the first source that has or withholds a secret decides', async () => {
  put('both', 'folder');
  put('closed', 'x', 0o644);
  const all = firstOf([secrets, environmentSecrets('S_', { S_BOTH: 'environment', S_CLOSED: 'y', S_MORE: 'z' })]);
  expect(await all.read('both')).toMatchObject({ value: 'folder' });
  expect(await all.read('closed')).toMatchObject({ kind: 'unusable' });
  expect(await all.read('more')).toMatchObject({ value: 'z' });
  expect(await all.read('never')).toEqual({ kind: 'absent' });
});
