// Processes of a life: they end with it, however it ends, and their folder goes with them.
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { processName, removeAbandoned, runAfterUs } from '@sitewright/maas-simulator/containers';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const watchdog = join(root, 'src/platform/processes/run-with-parent.ts');
const PREFIX = 'sitewright-life-';

/** What the commands of the tutorial find in the clone where they are typed. */
const CLONE = ['bin', 'examples', 'package.json', 'scripts'];

/**
 * A folder like a clone, for all files of one life. Removes those of lives that were killed.
 *
 * @param {readonly string[]} without machines that the site does without
 */
export async function makeFolder(without) {
  await removeAbandoned(tmpdir(), PREFIX);
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${processName(process.pid)}-`));
  runAfterUs(REMOVE, folder);
  for (const name of CLONE) await symlink(join(root, name), join(folder, name));
  if (without.length > 0) await makeSmall(folder, without);
  return folder;
}

/** Removes the folder $1 when all processes have ended that name it in their environments: they need it until then. */
const REMOVE = `for half_second in $(seq 240); do
  grep --quiet --no-messages --fixed-strings "$1" /proc/[0-9]*/environ || break
  sleep 0.5
done
rm --recursive --force "$1"`;

/** @param {string} folder */
export const removeFolder = (folder) => promisify(execFile)('sh', ['-c', REMOVE, 'remove', folder]);

/**
 * @typedef {object} Running
 * @property {(line: RegExp) => Promise<string>} said resolves with the first group of the first line that matches
 * @property {() => string[]} lines the newest ones
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a program that ends with this one, even after `kill -9`.
 *
 * @param {readonly string[]} command
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [where]
 * @returns {Running}
 */
export function start(command, where = {}) {
  const child = spawn(process.execPath, [watchdog, '60000', ...command], {
    ...where,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  child.stdin.on('error', () => undefined);
  /** @type {string[]} */
  const lines = [];
  /** @type {Set<() => void>} */
  const waiting = new Set();
  const look = () => {
    for (const check of waiting) check();
  };
  let isOver = false;
  createInterface(child.stderr).on('line', (line) => {
    lines.push(line);
    if (lines.length > 400) lines.shift();
    look();
  });
  const ended = new Promise((done) =>
    child.once('close', () => {
      isOver = true;
      look();
      done(undefined);
    }),
  );
  return {
    lines: () => lines,
    said: (pattern) =>
      new Promise((done, fail) => {
        const check = () => {
          const found = lines.map((line) => pattern.exec(line)).find((match) => match !== null);
          if (found === undefined && !isOver) return;
          waiting.delete(check);
          if (found) done(found[1] ?? '');
          else fail(new Error(`${command.at(-1)} ended:\n${lines.slice(-30).join('\n')}`));
        };
        waiting.add(check);
        check();
      }),
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * @param {string} folder
 * @param {readonly string[]} without
 */
async function makeSmall(folder, without) {
  await rm(join(folder, 'examples'));
  await cp(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  const site = join(folder, 'examples/webstack/site');
  const nodes = (await readFile(join(site, 'nodes.yaml'), 'utf8')).split('---\n');
  const kept = nodes.filter((node) => !without.some((name) => node.includes(name)));
  await writeFile(join(site, 'nodes.yaml'), kept.join('---\n'));
  const strategy = join(site, 'deployment-strategy.yaml');
  const text = await readFile(strategy, 'utf8');
  await writeFile(strategy, text.replace('minimum_successful_nodes: 4', 'minimum_successful_nodes: 2'));
}
