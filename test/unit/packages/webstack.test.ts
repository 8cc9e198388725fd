import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadSite, readDocumentFiles } from '../../../src/documents/index.ts';
import { checkPackage, readPackageFolder } from '../../../src/packages/index.ts';

const folder = fileURLToPath(new URL('../../../examples/webstack', import.meta.url));
const missing = spawnSync('puppet', ['--version']).status !== 0;

it('the release of a web service is valid, and so are the documents of its site', async () => {
  const { errors, warnings } = checkPackage(await readPackageFolder(folder));
  expect([errors, warnings]).toEqual([[], []]);
  const { files, diagnostics } = await readDocumentFiles([`${folder}/site`]);
  const loaded = loadSite(files);
  expect([...diagnostics, ...loaded.diagnostics]).toEqual([]);
  expect(loaded.site?.nodes.map(({ hostname }) => hostname)).toEqual([
    'web-lb-1',
    'web-lb-2',
    'web-app-1',
    'web-app-2',
    'web-app-3',
    'web-db-1',
    'web-db-2',
    'web-db-3',
    'web-cache-1',
  ]);
});

it.skipIf(missing)(
  'Puppet understands its manifests',
  () => {
    const manifests = readdirSync(`${folder}/scripts/manifests`).map((name) => `${folder}/scripts/manifests/${name}`);
    const { status, stderr } = spawnSync('puppet', ['parser', 'validate', ...manifests], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  },
  60_000,
);
