/**
 * Puts each known bug back into a copy of the project, and counts the seeds until the simulator finds it:
 * `node test/simulation/find-bugs.ts [WORDS OF THE NAME]`. Ends with 1 if one stays hidden.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installationFile } from '../../src/platform/installation.ts';
import { BUGS, type Bug } from './bugs.ts';

const COPIED = ['src', 'workflows', 'activities', 'worker', 'packages', 'test/simulation', 'bin'];
const FILES = ['package.json', 'tsconfig.base.json', 'tsconfig.json'];

/** A copy of the project that shares the packages of others, and has its own of ours. */
async function copyOfProject(folder: string): Promise<void> {
  for (const name of COPIED)
    await cp(installationFile(name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes('/test/data'),
    });
  for (const name of FILES) await cp(installationFile(name), join(folder, name));
  const modules = installationFile('node_modules');
  await mkdir(join(folder, 'node_modules/@sitewright'), { recursive: true });
  for (const name of await readdir(modules))
    if (name !== '@sitewright' && name !== '.cache')
      await symlink(join(modules, name), join(folder, 'node_modules', name));
  for (const name of await readdir(installationFile('packages')))
    await symlink(join(folder, 'packages', name), join(folder, 'node_modules/@sitewright', name));
}

async function putBack(folder: string, { name, file, is, was }: Bug): Promise<void> {
  const path = join(folder, file);
  const now = await readFile(path, 'utf8');
  if (now.split(is).length !== 2) throw new Error(`${file} has changed: put the bug '${name}' back in another way`);
  await writeFile(
    path,
    now.replace(is, () => was),
  );
}

interface Found {
  readonly seed: number;
  readonly violation: string;
}

async function find(bug: Bug): Promise<Found | null> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-bug-'));
  try {
    await copyOfProject(folder);
    await putBack(folder, bug);
    const main = join(folder, 'test/simulation/main.ts');
    const options = ['--json', '--first', '--world', 'site', '--processes', '1', '--seeds', String(bug.within)];
    const child = spawn(process.execPath, [main, ...options], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const { failed } = JSON.parse(await text(child.stdout)) as { failed: readonly Found[] };
    return failed[0] ?? null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const words = process.argv.slice(2);
const wanted = BUGS.filter(({ name }) => words.every((word) => name.includes(word)));
let hidden = 0;
for (const bug of wanted) {
  const found = await find(bug);
  if (found === null) hidden++;
  console.log(
    found === null
      ? `NOT FOUND within ${bug.within} seeds: ${bug.name}`
      : `seed ${found.seed}: ${bug.name}\n    ${found.violation.split('\n')[0]?.slice(0, 300)}`,
  );
}
console.log(`${wanted.length - hidden} of ${wanted.length} found`);
process.exit(hidden === 0 ? 0 : 1);
