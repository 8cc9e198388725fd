// Builds dist/: the compiled code, the programs and the workflow bundle. npm runs it as `prepare` at the end of `npm ci`, so it is
// silent and fast when nothing changed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundlePrograms } from './bundle-programs.mjs';
import { contentKey, filesIn } from './content-key.mjs';
import { withLock } from './lock.mjs';
import { nodeVersionProblem } from './node-version.mjs';
import { bundleWorkflows } from './workflow-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Written last: the content key of the sources that dist was built from. */
const stamp = join(dist, '.built');

/** An output that every built dist contains. */
const SAMPLE = 'src/core/diagnostic.js';

/** Sources of the web page; tsconfig.build.json excludes them, and they are bundled. */
const BROWSER_FILES = join('src', 'ui', 'assets');

/** Everything that dist depends on. */
const buildSources = [
  'workflows',
  'activities',
  'worker',
  'src',
  'scripts',
  'tsconfig.base.json',
  'tsconfig.build.json',
  'package-lock.json',
].map((path) => join(root, path));

/** The files of dist that go into the workflow bundle. */
const bundleSources = ['workflows', 'src/core', 'src/yaql', 'activities/contract.js'].map((path) => join(dist, path));

process.exitCode = await main();

async function main() {
  const outdated = nodeVersionProblem();
  if (outdated !== undefined) return fail(outdated);
  const lock = join(tmpdir(), `sitewright-build-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`);
  return await withLock(lock, build);
}

async function build() {
  const tsc = compiler();
  if (tsc === undefined) {
    // `npm ci --omit=dev`: a package that was built elsewhere needs no compiler.
    if (existsSync(stamp)) return 0;
    return fail(
      'dist/ is not built and TypeScript is not installed (it is a development package). Run `npm ci` without --omit=dev, then `npm prune --omit=dev`.',
    );
  }
  const key = await contentKey({ sources: buildSources, root });
  if (await isBuilt(key)) return 0;
  await rm(stamp, { force: true });
  // If someone emptied dist except its hidden files, the compiler would assume it is up to date.
  if (!existsSync(join(dist, SAMPLE))) await rm(join(dist, '.tsbuildinfo'), { force: true });
  const code = await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--pretty', 'false']);
  if (code !== 0) return fail('The code does not compile; see above. `npm run typecheck` shows the same.');
  await removeOrphans();
  await copyAssets();
  await bundlePrograms(dist);
  const cli = join(dist, 'src/cli/main.js');
  if (existsSync(cli)) await chmod(cli, 0o755);

  const entry = join(dist, 'workflows/index.js');
  if (!existsSync(entry)) return await built(key);
  try {
    const made = await bundleWorkflows({
      entry,
      sources: bundleSources,
      root: dist,
      target: join(dist, 'workflow-bundle.js'),
      payloadConverter: join(dist, 'workflows/payload-converter.js'),
      interceptors: [join(dist, 'workflows/interceptors.js')],
    });
    if (made.fresh) console.error(`Bundled the workflows: ${(made.bytes / 1024 / 1024).toFixed(1)} MiB.`);
    return await built(key);
  } catch (error) {
    return fail(`The workflows cannot be bundled: ${error instanceof Error ? error.message : error}`);
  }
}

/** @param {string} key */
async function isBuilt(key) {
  const there = await readFile(stamp, 'utf8').catch(() => '');
  return there === key && existsSync(join(dist, SAMPLE));
}

/** @param {string} key */
async function built(key) {
  await writeFile(stamp, key);
  return 0;
}

/** Removes outputs of sources that were deleted or renamed: code that lists folders would find them. */
async function removeOrphans() {
  for (const file of await filesIn(dist)) {
    const output = /^(.*?)(\.d)?\.([cm]?)(?:js|ts)(?:\.map)?$/.exec(relative(dist, file));
    if (output === null || !/[/\\]/.test(output[1] ?? '')) continue;
    const sources = [`${output[1]}.${output[3]}ts`, `${output[1]}.${output[3]}js`];
    if (!sources.some((source) => existsSync(join(root, source)))) await rm(file);
  }
}

/** Copies files that the code reads at run time, and bundles the browser's. */
async function copyAssets() {
  for (const file of await filesIn(join(root, 'src'))) {
    const path = relative(root, file);
    const isBundled = path.startsWith(BROWSER_FILES) && path.endsWith('.css');
    if (/\.[cm]?[jt]s$/.test(path) || isBundled || path.endsWith('.md')) continue;
    await mkdir(dirname(join(dist, path)), { recursive: true });
    await copyFile(file, join(dist, path));
  }
  const { bundlePage } = await import(pathToFileURL(join(dist, 'src/api/page/bundle-page.js')).href);
  for (const [name, content] of Object.entries(bundlePage(join(root, BROWSER_FILES))))
    await writeFile(join(dist, BROWSER_FILES, name), content);
}

/** Path of TypeScript's command, or nothing when it is not installed. */
function compiler() {
  try {
    return createRequire(join(root, 'package.json')).resolve('typescript/bin/tsc');
  } catch {
    return undefined;
  }
}

/**
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<number | null>}
 */
function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', done);
  });
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  return 1;
}
