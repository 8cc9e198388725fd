/**
 * Lives through seeds that nobody has lived through: `node test/simulation/of-commit.ts [--seeds 300]`. Their range comes from the hash of
 * the newest commit. Where one is violated, the parent commit lives through the same seed: what it violates, too, is reported, and only
 * what it does not fails.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs, promisify } from 'node:util';
import { installationFile } from '../../src/platform/installation.ts';
import { causedBy, type Found, firstSeedOf } from './commit-seeds.ts';
import { linkModules } from './linked-modules.ts';

const MAIN = 'test/simulation/main.ts';
const run = promisify(execFile);
const git = async (...args: string[]): Promise<string> =>
  (await run('git', args, { cwd: installationFile('.') })).stdout.trim();

/** The violations of a project's seeds. */
async function violations(folder: string, ...options: string[]): Promise<readonly Found[]> {
  const child = spawn(process.execPath, [join(folder, MAIN), '--json', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await text(child.stdout);
  if (said === '') throw new Error('the simulation has ended without an answer');
  return (JSON.parse(said) as { failed: readonly Found[] }).failed;
}

/** The same of a commit, on these seeds alone. */
async function violationsAt(commit: string, seeds: readonly number[]): Promise<readonly Found[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-parent-'));
  try {
    const archive = join(folder, 'project.tar');
    await git('archive', '--output', archive, commit);
    await run('tar', ['-xf', archive, '-C', folder]);
    await linkModules(folder);
    return await violations(folder, '--only', seeds.join());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '300' } } });
const count = Number(values.seeds);
const [head = '', parent] = (await git('rev-list', '--parents', '-n', '1', 'HEAD')).split(' ');
const from = firstSeedOf(head, count);
console.log(`seeds ${from} to ${from + count - 1}, of commit ${head.slice(0, 12)}`);
const found = await violations(installationFile('.'), '--from', String(from), '--seeds', String(count));
const before =
  found.length === 0 || parent === undefined
    ? []
    : await violationsAt(
        parent,
        found.map(({ seed }) => seed),
      );
const caused = causedBy(found, before);
for (const one of found) {
  const whose = caused.includes(one) ? 'VIOLATED, and not by the parent commit' : 'violated by the parent commit, too';
  console.log(`seed ${one.seed}: ${whose}: ${one.violation}`);
}
console.log(`${count} seeds: ${found.length} with a violation, ${caused.length} of them caused by this commit`);
if (found.length > 0) console.log(`the story of one: npm run simulate -- --seed ${found[0]!.seed} --shrink`);
process.exitCode = caused.length === 0 ? 0 : 1;
