// Bundles what runs: the programs and the page (a second or two), made when first needed; with --all also what only a package
// needs, the workflows and the types of the exported language.
//   node scripts/build.ts [--all]
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BuildOptions } from 'esbuild';
import { withLock } from '../src/platform/processes/lock.ts';
import { contentKey } from '../worker/parts/content-key.ts';
import { isOlderThanSources, root, SOURCES, stamp } from './freshness.mjs';
import { ownPackages, simulatorApart } from './own-packages.mjs';

/** Explains the problem and the next step; shown without a stack trace. */
export class BuildError extends Error {}

/** What processes and threads start with, and the modules that others load by their path. `runnableProgram` finds what is made of them. */
const PROGRAMS = [
  'src/cli/main.ts',
  'src/agent/supervision/supervisor-main.ts',
  'src/api/page/drawing-main.ts',
  'src/clusters/planning/planning-thread-main.ts',
  'src/ops/reading/reading-thread-main.ts',
  'worker/parts/rehearsals/rehearsal-main.ts',
  'src/platform/processes/run-with-parent.ts',
  'src/platform/codec/encoded-failures.ts',
];

const at = (path: string): string => join(root, path);

/** Makes dist/programs and dist/page, unless they are up to date. With concurrent callers, one builds and the others wait. */
export async function buildPrograms(): Promise<void> {
  if (!isOlderThanSources()) return;
  const lock = join(tmpdir(), `sitewright-build-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`);
  await withLock(lock, async () => {
    if (!isOlderThanSources()) return;
    // From before the sources are read: what changes meanwhile is newer.
    const now = new Date();
    const key = await contentKey({ sources: SOURCES.map(at), root });
    if ((await readFile(stamp, 'utf8').catch(() => '')) !== key) {
      await rm(stamp, { force: true });
      await bundlePrograms();
      await bundleSimulator();
      await bundlePage();
      await buildDocuments();
      await writeFile(stamp, key);
    }
    await utimes(stamp, now, now);
  });
}

async function bundlePrograms(): Promise<void> {
  await bundleForNode({
    entryPoints: [
      ...PROGRAMS.map((program) => ({ in: at(program), out: basename(program, '.ts') })),
      // Helper functions import the language by the package's name: the copy that the programs have, whose values are theirs.
      { in: at('packages/yaql/src/index.ts'), out: 'yaql' },
    ],
    outdir: at('dist/programs'),
    packages: 'external',
    plugins: [simulatorApart, ownPackages],
  });
}

/** A package of its own, with all that it needs: npm packs it into ours as a bundled dependency. */
async function bundleSimulator(): Promise<void> {
  const folder = at('packages/maas-simulator');
  await bundleForNode({
    entryPoints: [
      { in: join(folder, 'src/index.ts'), out: 'index' },
      { in: join(folder, 'src/containers/index.ts'), out: 'containers' },
    ],
    outdir: join(folder, 'dist'),
  });
}

/** Modules of Node.js 24. They replace those of an earlier build when all are there. */
async function bundleForNode(options: BuildOptions & { readonly outdir: string }): Promise<void> {
  const { build } = await esbuild();
  const making = at(`dist/making.${process.pid}`);
  await build({
    ...options,
    outdir: making,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'error',
  });
  await rm(options.outdir, { recursive: true, force: true });
  await rename(making, options.outdir);
}

/** One script with all libraries in it, one style sheet; and the editor of documents, which the page loads where it needs it. */
async function bundlePage(): Promise<void> {
  const { build } = await esbuild();
  const page = at('src/ui');
  await build({
    entryPoints: {
      page: join(page, 'main.tsx'),
      editor: at('src/ui/editor/main.ts'),
      live: join(page, 'live-worker.ts'),
    },
    outdir: at('dist/page'),
    jsx: 'automatic',
    jsxImportSource: 'preact',
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'error',
  });
  for (const name of ['index.html', 'icon.svg']) await copyFile(join(page, name), at(`dist/page/${name}`));
}

/** The documents as the API serves them. After a change to a page alone: `npm run docs:site`. */
async function buildDocuments(): Promise<void> {
  const { buildSite } = await import('./docs-site/build.ts').catch(() => {
    throw new BuildError('The packages are not installed. Run `npm ci` in the project’s folder.');
  });
  await buildSite(at('dist/docs'));
}

/** All contents of a package but its programs. */
async function buildPackage(): Promise<void> {
  await buildDocuments();
  const { bundleOurWorkflows } = await import('../worker/parts/workflow-bundle.ts');
  for (const encrypted of [false, true]) {
    const { bytes, fresh } = await bundleOurWorkflows({ encrypted });
    if (fresh) console.error(`Bundled the workflows: ${(bytes / 1024 / 1024).toFixed(1)} MiB.`);
  }
  await rm(at('dist/yaql'), { recursive: true, force: true });
  const tsc = createRequire(at('package.json')).resolve('typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.yaql.json'], { cwd: root }).catch(({ stdout }) => {
    throw new BuildError(`The types of the language cannot be written:\n${stdout}`);
  });
}

async function esbuild(): Promise<typeof import('esbuild')> {
  try {
    return await import('esbuild');
  } catch {
    throw new BuildError('The packages are not installed. Run `npm ci` in the project’s folder.');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await mkdir(at('dist'), { recursive: true });
    await buildPrograms();
    if (process.argv.includes('--all')) await buildPackage();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
