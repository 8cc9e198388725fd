import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
let unpacked: string;
let files: readonly string[];

/** The files that a user of the package gets, laid out as npm would. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-pack-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  files = packed.files.map(({ path }) => path);
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', folder]);
  unpacked = join(folder, 'package');
  symlinkSync(join(root, 'node_modules'), join(unpacked, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the npm package has the program, its documentation and examples, and no more', () => {
  const tops = [...new Set(files.map((file) => file.split('/')[0]))].sort();
  expect(tops).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'docs', 'examples', 'package.json']);
  expect(files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))).toEqual([]);
  expect(files.filter((file) => /\.(map|log|db|tsbuildinfo)$|\.test\./.test(file))).toEqual([]);
});

it('the npm package names every package it is made of', () => {
  expect(files).toContain('dist/sbom.cdx.json');
});

it('the command of the npm package runs from where it was unpacked', async () => {
  const { stdout } = await run(process.execPath, [join(unpacked, 'bin/sitewright'), 'yaql', 'eval', '[1, 2].sum()']);
  expect(stdout.trim()).toBe('3');
});

it('the expression language can be imported, with types', async () => {
  const user = join(folder, 'user');
  await run('mkdir', ['-p', join(user, 'node_modules')]);
  symlinkSync(unpacked, join(user, 'node_modules', 'sitewright'));
  writeFileSync(join(user, 'package.json'), '{"type": "module"}');
  const source =
    "import { createEngine } from 'sitewright/yaql';\nconsole.log(createEngine().parse('1 + 1').evaluateToHost(null));\n";
  writeFileSync(join(user, 'program.ts'), source);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const flags = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--typeRoots'];
  await run(process.execPath, [tsc, ...flags, join(root, 'node_modules/@types'), 'program.ts'], { cwd: user });
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: user });
  expect(stdout).toBe('2\n');
});

it('publint accepts the npm package', async () => {
  expect(existsSync(join(unpacked, 'dist/yaql/index.d.ts'))).toBe(true);
  expect(readdirSync(unpacked)).toContain('package.json');
  const { messages } = await publint({ pkgDir: unpacked, strict: true });
  expect(messages).toEqual([]);
});
