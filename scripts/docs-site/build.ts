// The documents as a static site: `npm run docs:site` writes it to dist/docs, where the API finds it and serves it under /docs.
import { access, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { renderSvg } from '../../src/graph/pictures/render-svg.ts';
import { indexOf } from '../../src/ui/docs/search.ts';
import { root } from '../freshness.mjs';
import { type Rendered, renderPage } from './markdown.ts';
import { layOut } from './page.ts';
import { addressOf, SHELVES } from './shelves.ts';

/** A page of the documents with its file: `how-to/repair.md`. */
export interface Page extends Rendered {
  readonly path: string;
}

/** Renders all pages in the order of the shelves; the first is the index. @throws Error for a link to a file that is not there */
export async function renderPages(): Promise<readonly Page[]> {
  const docs = join(root, 'docs');
  const files = new Set(
    (await readdir(docs, { recursive: true, withFileTypes: true }))
      .filter((file) => file.isFile())
      .map((file) => posix.join(file.parentPath.slice(docs.length + 1), file.name)),
  );
  const paths = ['README.md', ...SHELVES.flatMap(({ folder, pages }) => pages.map((page) => `${folder}/${page}.md`))];
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(docs, path), 'utf8');
      return { path, ...(await renderPage({ path, text, has: (file) => files.has(file), draw })) };
    }),
  );
}

const draw = async (dot: string): Promise<string> => {
  const svg = await renderSvg(dot);
  // Two drawings of a page would have the same ids.
  return svg.replace(/ id="[^"]*"/g, '').replace('<svg', '<svg role="img" aria-label="Drawing of states"');
};

/** Writes the site to a folder, in place of what is there. */
export async function buildSite(to: string): Promise<void> {
  const making = `${to}.${process.pid}`;
  await mkdir(making, { recursive: true });
  const pages = await renderPages();
  for (const page of pages) {
    const file = join(making, addressOf(page.path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, layOut(page, pages));
  }
  for (const file of new Set(pages.flatMap(({ files }) => files))) {
    await mkdir(dirname(join(making, file)), { recursive: true });
    await copyFile(join(root, 'docs', file), join(making, file));
  }
  const sections = pages.flatMap((page) => page.sections);
  await writeFile(join(making, 'search.json'), indexOf(sections));
  await build({
    entryPoints: { site: join(root, 'src/ui/docs/main.ts'), style: join(root, 'src/ui/docs/site.css') },
    outdir: making,
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'error',
  });
  await rm(to, { recursive: true, force: true });
  await rename(making, to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const to = join(root, 'dist/docs');
  await buildSite(to);
  await access(join(to, 'index.html'));
  console.log(`${to}: sitewright api serves it under /docs`);
}
