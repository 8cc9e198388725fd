import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ownPackages, simulatorApart } from '../scripts/own-packages.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** What the command line loads before it knows its command: modules as paths below `root`, and packages. */
export async function loadedAtStart(): Promise<{ readonly modules: string[]; readonly packages: string[] }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [simulatorApart, ownPackages],
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
  return { modules: [...modules], packages: [...packages].filter((name) => !name.startsWith('node:')) };
}
