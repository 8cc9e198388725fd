import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installProblem } from '../../../scripts/ensure-installed.ts';

describe('installProblem', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'sitewright-install-'));
    await mkdir(join(root, 'node_modules'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const write = async (wanted: object, installed?: object): Promise<void> => {
    await writeFile(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...wanted } }));
    if (installed === undefined) return;
    await writeFile(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
  };
  const a = { version: '1.0.0', integrity: 'sha512-a' };

  it('is none in this project', async () => {
    expect(await installProblem(fileURLToPath(new URL('../../..', import.meta.url)))).toBeUndefined();
  });

  it('reports a folder that npm did not make', async () => {
    await write({ 'node_modules/a': a });
    expect(await installProblem(root)).toContain('not created by npm');
  });

  it('reports another version, other content, or a missing package', async () => {
    await write({ 'node_modules/a': a }, { 'node_modules/a': a });
    expect(await installProblem(root)).toBeUndefined();
    await write({ 'node_modules/a': { ...a, version: '1.0.1' } }, { 'node_modules/a': a });
    expect(await installProblem(root)).toBe('a is not at 1.0.1');
    await write({ 'node_modules/a': { ...a, integrity: 'sha512-b' } }, { 'node_modules/a': a });
    expect(await installProblem(root)).toBe('a is not at 1.0.0');
    await write({ 'node_modules/x/node_modules/@s/b': a }, {});
    expect(await installProblem(root)).toBe('@s/b is not at 1.0.0');
  });

  it('ignores an optional package of another platform', async () => {
    await write({ 'node_modules/a': a, 'node_modules/o': { ...a, optional: true } }, { 'node_modules/a': a });
    expect(await installProblem(root)).toBeUndefined();
  });
});
