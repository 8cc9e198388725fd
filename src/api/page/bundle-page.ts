import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as Esbuild from 'esbuild';

/** The page's files by name: one script with all libraries in it, one style sheet. */
type PageBundle = Readonly<Record<'page.js' | 'page.css', Buffer>>;

/**
 * Bundles the page from the folder of its sources. The build does it once; from source (tests, tsx) it takes a tenth of a
 * second. Needs esbuild, a development package.
 */
export function bundlePage(folder: string): PageBundle {
  const esbuild: typeof Esbuild = createRequire(import.meta.url)('esbuild');
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const { outputFiles } = esbuild.buildSync({
    entryPoints: { page: join(folder, 'main.js') },
    alias: { 'core/words': fileURLToPath(new URL(`../../core/words.${extension}`, import.meta.url)) },
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'error',
    outdir: folder,
    write: false,
  });
  const named = (end: string) => Buffer.from(outputFiles.find(({ path }) => path.endsWith(end))!.contents);
  return { 'page.js': named('.js'), 'page.css': named('.css') };
}
