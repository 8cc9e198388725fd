import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileErrorCode } from '../../../src/platform/files/file-errors.ts';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

it.each([
  ['ENOENT', () => readFile(join(tmpdir(), 'sitewright', 'no', 'such', 'file'))],
  ['EISDIR', () => readFile(tmpdir())],
  ['ENOTDIR', () => readFile(join(process.execPath, 'below'))],
  ['ENAMETOOLONG', () => readFile(join(tmpdir(), 'x'.repeat(300)))],
])('%s is an error of the file, not worth a retry', async (code, read) => {
  expect(fileErrorCode(await failureOf(read()))).toBe(code);
});

it('a refused connection, a full disk and other errors are outages, worth a retry', async () => {
  const refused = await new Promise((resolve) => connect(1, '127.0.0.1').once('error', resolve));
  expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  for (const error of [refused, full, new Error('gateway away'), { code: 404 }, 'ENOENT', undefined])
    expect(fileErrorCode(error)).toBeUndefined();
});
