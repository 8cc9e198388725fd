import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-init-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('`init site` writes a valid, commented site, and prints the next commands', async () => {
  const site = join(folder, 'dc1');
  const { code, out } = await cli(['init', 'site', site]);
  expect(code).toBe(0);
  expect(out).toContain('sitewright site commit dc1');
  expect(await cli(['site', 'check', site])).toMatchObject({ code: 0, out: 'valid: 4 nodes in 2 groups\n', err: '' });
  expect(readFileSync(join(site, 'strategy.yaml'), 'utf8')).toMatch(/^ *# /m);
});

it('`init release` writes a valid release with its own name and a graph of five tasks', async () => {
  const release = join(folder, 'shop');
  const { code, out } = await cli(['init', 'release', release]);
  expect(code).toBe(0);
  expect(out).toContain('--release shop');
  const check = await cli(['package', 'check', release, '-f', 'json']);
  expect(JSON.parse(check.out)).toMatchObject({ verdict: 'valid', errors: [] });
  expect(readFileSync(join(release, 'metadata.yaml'), 'utf8')).toMatch(/^name: shop$/m);
  const graph = await cli(['graph', 'check', join(release, 'graphs/default.yaml')]);
  expect(graph).toMatchObject({ code: 0, out: '5 tasks: ok\n' });
});

it.each([
  ['a folder with files', 'dc1', 4],
  ['a name that no site can have', 'Not a name', 2],
])('%s is refused, and not changed', async (_, name, expected) => {
  expect((await cli(['init', 'site', join(folder, name)])).code).toBe(expected);
});
