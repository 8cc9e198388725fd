import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
/** The package as npm installs it, in a project of a user that has nothing else. */
let installed: string;
let files: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-pack-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; size: number; files: readonly { path: string }[] },
  ];
  files = packed.files.map(({ path }) => path);
  const from = performance.now();
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  await run('npm', ['install', '--prefer-offline', '--no-audit', `./${packed.filename}`], { cwd: folder });
  console.log(`${packed.size} bytes, installed in ${Math.round(performance.now() - from)} ms`);
  installed = join(folder, 'node_modules/sitewright');
  // Builds and installs the package, beside all other tests.
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the npm package has what runs, and no more', () => {
  const tops = [...new Set(files.map((file) => file.split('/')[0]))].sort();
  expect(tops).toEqual([
    ...['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'examples', 'node_modules', 'package.json'],
  ]);
  expect(files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))).toEqual([]);
  expect(files.filter((file) => /\.(map|log|db|tsbuildinfo)$|\.test\./.test(file))).toEqual([]);
  // Those that `init` and `demo` read.
  expect([...new Set(files.flatMap((file) => /^examples\/[^/]+/.exec(file)?.[0] ?? []))].sort()).toEqual([
    ...['examples/first-release', 'examples/first-site', 'examples/stl1'],
  ]);
});

it('the simulator of MAAS is a package of its own in it, and the programs have none of it', () => {
  const bundled = files.filter((file) => file.startsWith('node_modules/'));
  expect(bundled.filter((file) => !file.startsWith('node_modules/@sitewright/maas-simulator/'))).toEqual([]);
  expect(bundled).toContain('node_modules/@sitewright/maas-simulator/dist/index.js');
  const programs = files.filter((file) => file.startsWith('dist/programs/'));
  const text = (file: string) => readFileSync(join(installed, file), 'utf8');
  expect(programs.filter((file) => text(file).includes('packages/maas-simulator/src/region.ts'))).toEqual([]);
});

it('needs no package that only the build of the page needs', () => {
  expect(existsSync(join(folder, 'node_modules/fastify'))).toBe(true);
  for (const name of ['preact', '@codemirror/view', 'esbuild', 'minisearch', 'typescript'])
    expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false);
});

it('the npm package names every package it is made of', () => {
  expect(files).toContain('dist/sbom.cdx.json');
});

it('the command runs, and deploys the example site without a clone', async () => {
  const env = { ...process.env, NO_COLOR: '1', TEMPORAL_CLI: inject('temporalBinary') };
  const sitewright = (...args: readonly string[]) => run('npx', ['sitewright', ...args], { cwd: folder, env });
  expect((await sitewright('yaql', 'eval', '[1, 2].sum()')).stdout.trim()).toBe('3');
  const { stdout } = await sitewright('demo');
  expect(stdout).toContain('deploy_site of stl1 revision 1: success with failures');
  expect(readdirSync(folder)).toContain('.sitewright');
});

it('functions of a user are loaded from a folder that has nothing of the package, and the doctor names them', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'sitewright-helpers-'));
  try {
    const helpers = join(elsewhere, 'helpers.mjs');
    copyFileSync(join(root, 'examples/yaql-helpers/helpers.mjs'), helpers);
    const env = { ...process.env, NO_COLOR: '1', SITEWRIGHT_YAQL_HELPERS: helpers };
    const program = join(installed, 'bin/sitewright');
    const { stdout } = await run(program, ['yaql', 'eval', 'fqdn(a)'], { cwd: elsewhere, env });
    expect(stdout.trim()).toBe('"a.example.org"');
    // Nothing runs that it could reach.
    const doctor = await run(program, ['doctor', '-f', 'json'], { cwd: elsewhere, env }).catch((failed) => failed);
    expect(JSON.parse(doctor.stdout)).toContainEqual({
      name: 'yaql.helpers',
      state: 'ok',
      message: `${helpers}: fqdn`,
    });
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});

it('the expression language can be imported, with types', async () => {
  const source =
    "import { createEngine } from 'sitewright/yaql';\nconsole.log(createEngine().parse('1 + 1').evaluateToHost(null));\n";
  writeFileSync(join(folder, 'program.ts'), source);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const flags = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--typeRoots'];
  await run(process.execPath, [tsc, ...flags, join(root, 'node_modules/@types'), 'program.ts'], { cwd: folder });
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
  expect(stdout).toBe('2\n');
});

it('publint accepts the npm package', async () => {
  expect(existsSync(join(installed, 'dist/yaql/index.d.ts'))).toBe(true);
  expect(readdirSync(installed)).toContain('package.json');
  const { messages } = await publint({ pkgDir: installed, strict: true });
  expect(messages).toEqual([]);
});
