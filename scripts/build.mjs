// Builds dist/: the compiled code and the workflow bundle. npm runs it as `prepare` at the end of
// `npm ci`, so it is silent and quick when nothing changed. TypeScript's incremental state and the
// bundle's key are what "nothing changed" is judged by.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { nodeVersionProblem } from './node-version.mjs';
import { bundleWorkflows } from './workflow-bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** The files of dist that the workflow bundle is made of. */
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
    // `npm ci --omit=dev`: a package that was built elsewhere and copied here needs no compiler.
    if (existsSync(join(dist, '.tsbuildinfo'))) return 0;
    return fail(
      'dist/ is not built and TypeScript is not installed (it is a development package). Run `npm ci` without --omit=dev, then `npm prune --omit=dev`.',
    );
  }
  // State without its output (somebody emptied dist by hand) would make tsc believe all is done.
  const code = await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--pretty', 'false']);
  if (code !== 0) return fail('The code does not compile; see above. `npm run typecheck` shows the same.');
  const cli = join(dist, 'src/cli/main.js');
  if (existsSync(cli)) await chmod(cli, 0o755);

  const entry = join(dist, 'workflows/index.js');
  if (!existsSync(entry)) return 0;
  try {
    const made = await bundleWorkflows({
      entry,
      sources: bundleSources,
      root: dist,
      target: join(dist, 'workflow-bundle.js'),
    });
    if (made.fresh) console.error(`Bundled the workflows: ${(made.bytes / 1024 / 1024).toFixed(1)} MiB.`);
    return 0;
  } catch (error) {
    return fail(`The workflows cannot be bundled: ${error instanceof Error ? error.message : error}`);
  }
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
