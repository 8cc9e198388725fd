// Part of the build: each program of ours as few files, in dist/programs. Its hundreds of modules, each looked for and read by
// itself, take a worker or an API a quarter of a second of the processor at each start. Packages stay where they are.
import { readFile, rm } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { build } from 'esbuild';

/** The compiled modules that processes and threads start with. `runnableProgram` (src/platform/threads) finds what is made of them. */
const PROGRAMS = [
  'src/cli/main.js',
  'src/agent/supervisor-main.js',
  'src/api/page/drawing-main.js',
  'src/clusters/planning/planning-thread-main.js',
  'src/ops/reading/reading-thread-main.js',
];

/** @param {string} dist the compiled code */
export async function bundlePrograms(dist) {
  const target = join(dist, 'programs');
  await rm(target, { recursive: true, force: true });
  await build({
    entryPoints: PROGRAMS.map((program) => ({ in: join(dist, program), out: basename(program, '.js') })),
    outdir: target,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    plugins: [placesKept(dist)],
  });
}

/**
 * Modules name files beside themselves by `import.meta.url`: it stays what it was.
 *
 * @param {string} dist
 * @returns {import('esbuild').Plugin}
 */
function placesKept(dist) {
  return {
    name: 'places-kept',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const code = await readFile(path, 'utf8');
        const place = `../${relative(dist, path).split(sep).join('/')}`;
        return {
          contents: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`),
        };
      });
    },
  };
}
