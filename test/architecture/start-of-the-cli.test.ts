import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { ownPackages } from '../../scripts/own-packages.mjs';

it('the command line loads one package to start', async () => {
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [ownPackages],
    format: 'esm',
    platform: 'node',
    outdir: 'not-written',
    write: false,
    metafile: true,
  });
  const modules = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (modules.has(path)) return;
    modules.add(path);
    for (const { path: to, kind, external } of metafile.inputs[path]!.imports) {
      if (kind !== 'import-statement') continue;
      if (external === true) packages.add(to);
      else visit(to);
    }
  };
  visit('src/cli/main.ts');
  expect([...packages].filter((name) => !name.startsWith('node:'))).toEqual(['commander']);
});
