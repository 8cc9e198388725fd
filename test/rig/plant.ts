import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ownPackages } from '../../scripts/own-packages.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** By file, from the root: a new file's text, or the changes in an existing one. */
export type Plant = Readonly<Record<string, string | ((text: string) => string)>>;

/** Inserts a text after a place that occurs once in the file. */
export const behind =
  (place: string | RegExp, inserted: string) =>
  (text: string): string => {
    const parts = text.split(place);
    if (parts.length !== 2) throw new Error(`the file has ${String(place)} ${parts.length - 1} times`);
    return `${text.slice(0, text.length - parts[1]!.length)}${inserted}${parts[1]}`;
  };

/** Both changes, one after the other. */
export const both =
  (first: (text: string) => string, second: (text: string) => string) =>
  (text: string): string =>
    second(first(text));

/**
 * The exports of a module of the project as they would be with the plant; no file changes.
 *
 * @param entry text of the module, with imports from the root: `export * from './src/…'`
 */
// biome-ignore lint/suspicious/noExplicitAny: the planted value has no type here
export async function withPlanted(plant: Plant, entry: string): Promise<Record<string, any>> {
  const packages = dirname(dirname(createRequire(import.meta.url).resolve('esbuild/package.json')));
  const folder = join(packages, '.cache/sitewright/planted');
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${process.pid}-${Object.keys(plant)[0]!.replaceAll('/', '-')}.mjs`);
  // Types alone are in no bundle: their files are changed anyway.
  const contents = new Map(
    Object.entries(plant).map(([file, planted]) => [
      file,
      typeof planted === 'string' ? planted : planted(readFileSync(join(root, file), 'utf8')),
    ]),
  );
  await build({
    stdin: { contents: entry, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'error',
    // Files next to a module are found from where it is bundled.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src/cli/commands/planted.ts')).href) },
    plugins: [
      ownPackages,
      {
        name: 'plant',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
            const file = join(resolveDir, path.replace(/\.js$/, '.ts'));
            return contents.has(file.slice(root.length)) ? { path: file } : undefined;
          });
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const planted = contents.get(path.slice(root.length));
            return planted === undefined ? undefined : { contents: planted, loader: 'ts', resolveDir: dirname(path) };
          });
        },
      },
    ],
  });
  try {
    return await import(/* @vite-ignore */ pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}
