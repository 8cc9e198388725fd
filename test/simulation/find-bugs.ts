/**
 * Puts each known bug back into a copy of the project, and counts the seeds until the simulator finds it:
 * `node test/simulation/find-bugs.ts [--check] [--world site] [--part 2/7] [--seeds N] [--json FILE] [WORDS OF THE NAME]`. Ends with 1 if one stays
 * hidden. Few seeds have much of two kinds: for a bug that needs that, N is five times as much, and more for three. With `--json` it
 * goes on where it ended: it leaves out what FILE has as found, tries the others with later seeds, and writes what it finds at once.
 * Delete the file when stories have moved.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { installationFile } from '../../src/platform/installation.ts';
import { BUGS, type Bug } from './bugs.ts';
import { linkModules } from './linked-modules.ts';

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
  await linkModules(folder);
}

/** @returns what takes it out again */
async function putBack(folder: string, { name, changes }: Bug): Promise<() => Promise<void>> {
  const texts = new Map<string, { readonly before: string; after: string }>();
  for (const { file, is, was } of changes) {
    const path = join(folder, file);
    const before = texts.get(path)?.before ?? (await readFile(path, 'utf8'));
    const after = texts.get(path)?.after ?? before;
    if (after.split(is).length !== 2) throw new Error(`${file} has changed: put the bug '${name}' back in another way`);
    texts.set(path, { before, after: after.replace(is, () => was) });
  }
  for (const [path, { after }] of texts) await writeFile(path, after);
  return async () => {
    for (const [path, { before }] of texts) await writeFile(path, before);
  };
}

interface Found {
  readonly seed: number;
  readonly violation: string;
}

interface Result {
  readonly name: string;
  readonly found: Found | null;
  /** Seeds, from the first. */
  readonly tried: number;
}

async function find(folder: string, bug: Bug, from: number, seeds: number): Promise<Found | null> {
  const takeOut = await putBack(folder, bug);
  try {
    const main = join(folder, 'test/simulation/main.ts');
    const among = async (from: number, count: number, much: readonly string[] = []): Promise<Found | null> => {
      const range = ['--from', String(from), '--seeds', String(count), '--world', bug.world];
      if (much.length > 0) range.push('--much', much.join());
      const options = [main, '--json', '--first', '--processes', '1', ...range];
      const child = spawn(process.execPath, options, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
      const said = await text(child.stdout);
      if (said === '') return { seed: 0, violation: 'the process of the simulation has ended' };
      return (JSON.parse(said) as { failed: readonly Found[] }).failed[0] ?? null;
    };
    const known = bug.seed === undefined || from > 1 ? null : await among(bug.seed, 1);
    return known ?? (await among((bug.from ?? 0) + from, seeds, bug.much));
  } finally {
    await takeOut();
  }
}

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1000' },
    /** Only puts each in its place, and looks whether it is there. */
    check: { type: 'boolean', default: false },
    /** Only those of `site` or `cluster`. */
    world: { type: 'string' },
    /** `2/7`: of each seven the third, since all take hours. */
    part: { type: 'string', default: '0/1' },
    json: { type: 'string' },
  },
});
const [own, parts] = values.part.split('/').map(Number) as [number, number];
const wanted = BUGS.filter(
  ({ name, world, isHidden }, at) =>
    words.every((word) => name.includes(word)) &&
    (values.world ?? world) === world &&
    at % parts === own &&
    // Unless they are asked for by name, or only looked for in the text.
    (isHidden === undefined || words.length > 0 || values.check),
);
const before =
  values.json !== undefined && existsSync(values.json)
    ? (JSON.parse(await readFile(values.json, 'utf8')) as readonly Result[])
    : [];
const results = new Map(before.map((one) => [one.name, one]));
const folder = await mkdtemp(join(tmpdir(), 'sitewright-bugs-'));
try {
  await copyOfProject(folder);
  for (const bug of wanted) {
    const { name, world } = bug;
    if (values.check) {
      await (await putBack(folder, bug))();
      continue;
    }
    const known = results.get(name);
    if (known?.found != null) continue;
    const tried = known?.tried ?? 0;
    const seeds = Number(values.seeds) * 5 ** Math.max(0, (bug.much?.length ?? 0) - 1);
    const found = await find(folder, bug, tried + 1, seeds);
    results.set(name, { name, found, tried: tried + seeds });
    if (values.json !== undefined) await writeFile(values.json, JSON.stringify([...results.values()], null, 2));
    console.log(
      found === null
        ? `NOT FOUND within ${tried + seeds} seeds: ${name}`
        : `${world} seed ${found.seed}: ${name}\n    ${found.violation.split('\n')[0]?.slice(0, 300)}`,
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const hidden = wanted.filter(({ name }) => results.get(name)?.found == null).length;
console.log(
  values.check ? `${wanted.length} bugs have their place` : `${wanted.length - hidden} of ${wanted.length} found`,
);
process.exit(hidden === 0 || values.check ? 0 : 1);
