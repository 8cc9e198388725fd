// The first hour of a newcomer, timed: clone, npm ci, the README's graph, an own site, an own graph, an own release, each copied from the
// pages. Git, Node.js and a Temporal server are there; packages come from npm's cache or registry.
//   node bench/first-hour.ts
import './bounded.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/platform/free-port.ts';
import { newcomer } from '../test/rig/newcomer.ts';
import { endUp, isUp } from '../test/rig/running-up.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sitewright-first-hour-'));
const clone = join(folder, 'clone');
const [api, temporal] = [await freePort(), await freePort()];
const env = {
  ...process.env,
  SITEWRIGHT_API_PORT: String(api),
  SITEWRIGHT_API: `http://127.0.0.1:${api}`,
  SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${temporal}`,
};
const groups: ChildProcess[] = [];
let system: ChildProcess | undefined;

/** Returns the processor seconds of the commands, without what they leave running. */
async function shell(block: string, cwd = clone): Promise<number> {
  const metered = `trap 'times >&3' EXIT\n${block}`;
  const child = spawn('bash', ['-ec', metered], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  groups.push(child);
  let spent = '';
  child.stdio[3]!.on('data', (text: Buffer) => (spent += text));
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text: Buffer) => (said += text));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${block}\n${said}`);
  return [...spent.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, min, s]) => sum + Number(min) * 60 + Number(s), 0);
}

async function up(): Promise<undefined> {
  system = spawn('bin/sitewright', ['up', ...newcomer.upOptions], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await isUp(system);
  return undefined;
}

const steps: readonly (readonly [string, () => Promise<number | undefined>])[] = [
  ['git clone', () => shell(`git clone --quiet file://${repository} clone`, folder)],
  ['npm ci', () => shell('npm ci --no-audit --no-fund')],
  ['write and check an own site', () => shell(newcomer.writeOwnSite)],
  ['start everything', up],
  ['deploy the own site, simulated machines', () => shell(newcomer.deployOwnSite)],
  ['the graph of the README', () => shell(newcomer.readmeGraph)],
  [
    'an own graph',
    () => {
      writeFileSync(join(clone, newcomer.ownGraph.name), newcomer.ownGraph.text);
      return shell(newcomer.runOwnGraph);
    },
  ],
  ['an own release with its graph', () => shell(newcomer.ownRelease)],
];

try {
  let total = 0;
  console.log('| step | seconds | of processors | since the start |\n| --- | ---: | ---: | ---: |');
  for (const [name, work] of steps) {
    const from = performance.now();
    const spent = await work();
    const took = (performance.now() - from) / 1000;
    total += took;
    console.log(
      `| ${name} | ${took.toFixed(0)} | ${spent?.toFixed(0) ?? ''} | ${Math.floor(total / 60)} min ${Math.round(total % 60)} s |`,
    );
  }
  console.log(
    `\nNode.js ${process.version}, load ${loadavg()[0]!.toFixed(0)} at the end. Goal: an own graph within 8 minutes.`,
  );
} finally {
  for (const { pid } of groups) {
    try {
      process.kill(-pid!, 'SIGTERM');
    } catch {
      // Nothing of it is left.
    }
  }
  await endUp(system);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
