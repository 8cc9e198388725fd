import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundleWorkflows } from '../../../worker/parts/workflow-bundle.ts';

let folder: string;
beforeEach(async () => {
  // Inside the project, where the SDK is found; a folder git does not see.
  const place = fileURLToPath(new URL('../../../.sitewright', import.meta.url));
  await mkdir(place, { recursive: true });
  folder = await mkdtemp(join(place, 'bundle-test-'));
  await mkdir(join(folder, 'workflows'));
});
afterEach(() => rm(folder, { recursive: true }));

it('the workflow bundle is made once for two callers, and again only after a change', async () => {
  const entry = join(folder, 'workflows/index.ts');
  const bundle = () =>
    bundleWorkflows({
      entry,
      sources: [join(folder, 'workflows')],
      root: folder,
      target: join(folder, 'out/bundle.js'),
    });
  await writeFile(entry, 'export async function first(): Promise<number> { return 1; }\n');
  const both = await Promise.all([bundle(), bundle()]);
  expect(both.map(({ fresh }) => fresh).sort()).toEqual([false, true]);
  expect(await readFile(both[0].codePath, 'utf8')).toContain('first');
  expect((await bundle()).fresh).toBe(false);

  await writeFile(entry, 'export async function second(): Promise<number> { return 2; }\n');
  const changed = await bundle();
  expect(changed.fresh).toBe(true);
  expect(changed.key).not.toBe(both[0].key);
  expect(await readFile(changed.codePath, 'utf8')).toContain('second');

  await rm(changed.codePath);
  expect((await bundle()).fresh).toBe(true);
});

it('code that cannot be bundled is reported with the reason', async () => {
  const entry = join(folder, 'workflows/index.ts');
  await writeFile(entry, "export * from './absent.js';\n");
  const target = join(folder, 'bundle.js');
  await expect(bundleWorkflows({ entry, sources: [entry], root: folder, target })).rejects.toThrow(/absent/);
});
