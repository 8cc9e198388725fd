import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

/*
 * A machine whose Node.js is 20: its version is a pretence (a preloaded module), its npm a script. `.ci/run` does the same with a
 * real one, whose npm reaches a registry.
 */
const entry = fileURLToPath(new URL('../../../bin/node-24.mjs', import.meta.url));
const version = /version: '([\d.]+)'/.exec(readFileSync(join(entry, '../own-node.mjs'), 'utf8'))![1]!;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-node-'));
  mkdirSync(join(folder, 'path'));
  for (const name of ['tar', 'sh', 'cat']) symlinkSync(`/bin/${name}`, join(folder, 'path', name));
  write('old.mjs', `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`);
  write('script.mjs', `console.log('ran with', process.argv.slice(2).join(' '));`);
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string, mode = 0o644): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const command = (...args: string[]) => [
  '--import',
  join(folder, 'old.mjs'),
  entry,
  join(folder, 'script.mjs'),
  ...args,
];
const env = () => ({ PATH: join(folder, 'path'), SITEWRIGHT_CACHE: join(folder, 'cache') });
const run = (...args: string[]) => spawnSync(process.execPath, command(...args), { env: env(), encoding: 'utf8' });

/** The Node.js that was fetched before. */
const cached = (text: string) => write(`cache/node-${version}/bin/node`, `#!/bin/sh\n${text}\n`, 0o755);

it('an old Node.js continues in the fetched one, with its arguments, its exit code and its place on PATH', () => {
  cached(`echo "$PATH"; "${process.execPath}" "$@"; exit 7`);
  const { status, stdout, stderr } = run('a', 'b');
  expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
  expect(stdout).toBe(`${join(folder, `cache/node-${version}/bin`)}:${join(folder, 'path')}\nran with a b\n`);
});

it('a signal reaches the program, and its end by a signal is passed on', async () => {
  cached('echo ready; exec cat');
  const child = spawn(process.execPath, command(), { env: env(), stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((ready) => child.stdout.once('data', ready));
  child.kill('SIGTERM');
  expect(await new Promise((ended) => child.once('close', (_code, signal) => ended(signal)))).toBe('SIGTERM');
});

it('a download with another checksum than ours is not unpacked', () => {
  write('path/npm', '#!/bin/sh\necho evil > evil.tgz\necho evil.tgz\n', 0o755);
  const { status, stderr } = run();
  expect(status).toBe(5);
  expect(stderr).toMatch(/has the checksum sha512-\S+ where sha512-\S+ was expected/);
  expect(existsSync(join(folder, `cache/node-${version}`))).toBe(false);
});

it('without a registry one sentence names the requirement and why it is unavailable', () => {
  write('path/npm', '#!/bin/sh\necho "npm error network request failed" >&2\nexit 1\n', 0o755);
  const { status, stderr } = run();
  expect(status).toBe(5);
  expect(stderr.split('\n').at(-2)).toBe(
    `Sitewright needs Node.js 24.15 or later; this is 20.20.2, and Node.js ${version} cannot be fetched with npm (network request failed). Install Node.js 24 (https://nodejs.org) and try again.`,
  );
});
