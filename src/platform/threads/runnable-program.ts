import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Esbuild from 'esbuild';

const bundled = new Map<string, URL>();

/**
 * The file to run one of our programs in its own thread or process. When built, that is what the build bundled of it
 * (scripts/bundle-programs.mjs), or the program itself in a package of its own, as agents have it. From source (tests, tsx),
 * bundles the program into one file, which starts in a tenth of the time.
 *
 * @param program its built name, e.g. `new URL('./drawing-thread-main.js', import.meta.url)`
 */
export function runnableProgram(program: URL): URL {
  if (!import.meta.url.endsWith('.ts')) return builtProgram(program);
  const known = bundled.get(program.href);
  if (known !== undefined) return known;
  const made = pathToFileURL(bundle(fileURLToPath(program).replace(/\.js$/, '.ts')));
  bundled.set(program.href, made);
  return made;
}

function builtProgram(program: URL): URL {
  const built = new URL(program.href.replace(/^(.*\/dist)\/src\/(?:.*\/)?([^/]+)$/, '$1/programs/$2'));
  return existsSync(built) ? built : program;
}

/** The file is named by its content, and in node_modules, where it finds the packages. */
function bundle(source: string): string {
  const require = createRequire(import.meta.url);
  const esbuild: typeof Esbuild = require('esbuild');
  const { outputFiles } = esbuild.buildSync({
    entryPoints: [source],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    write: false,
  });
  const { contents } = outputFiles[0]!;
  const packages = dirname(dirname(require.resolve('esbuild/package.json')));
  const folder = join(packages, '.cache/sitewright/programs');
  const key = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const target = join(folder, `${basename(source, '.ts')}-${key}.mjs`);
  if (!existsSync(target)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${target}.${process.pid}`, contents);
    renameSync(`${target}.${process.pid}`, target);
  }
  return target;
}
