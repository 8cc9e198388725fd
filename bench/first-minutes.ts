// A newcomer's first minutes, as rows of first-minutes.md: `node bench/first-minutes.ts [cached] [warm] [built] [install] [npx]`; all by default.
//   cached  git clone to the end of `npm run demo`, with Node.js 24 and Temporal's server in the cache
//   warm    `npm run demo` again in that clone
//   built   the same as cached with an empty cache: Node.js is fetched, and Temporal's server compiled by a Go without a cache
//   install npm's installation of the packed package in an empty project, from npm's cache
//   npx     the packed package in an empty folder, with an empty cache of npm; Node.js 24 and Temporal's server cached
import './bounded.ts';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../src/platform/temporal/find-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const asked = process.argv.slice(2);
const wants = (name: string) => asked.length === 0 || asked.includes(name);
const folder = mkdtempSync(join(tmpdir(), 'sitewright-first-minutes-'));
/** What a newcomer has: a Node.js that may be older, no variables of ours. */
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((part) => !part.startsWith(cacheFolder()))
  .join(':');
const DEMO = 'deploy_site of stl1 revision 1: success with failures';
const bare = { ...process.env, PATH, NO_COLOR: '1' };

/**
 * Prints a row of the table: seconds by the clock and of the processor, load, what is wanted, and the ratio to it.
 * @param said what the script must have printed once
 */
function measure(name: string, goal: number | undefined, script: string, env: NodeJS.ProcessEnv, said = DEMO): void {
  const load = loadavg()[0]!.toFixed(1);
  const log = join(folder, 'said');
  const times = execFileSync(
    'bash',
    ['-ec', `TIMEFORMAT='%R %U %S'; { time { ${script}; } >"$0" 2>&1; } 2>&1 || { cat "$0" >&2; exit 1; }`, log],
    {
      cwd: folder,
      env,
      encoding: 'utf8',
    },
  );
  const [wall = 0, user = 0, system = 0] = times.trim().split(' ').map(Number);
  const output = readFileSync(log, 'utf8');
  if (output.split(said).length !== 2) throw new Error(`${name} did not end as it should:\n${output}`);
  const day = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const wanted = goal === undefined ? '| |' : `${goal} | ${(wall / goal).toFixed(2)} |`;
  const took = `${wall.toFixed(0)} | ${(user + system).toFixed(0)} | ${load} to ${loadavg()[0]!.toFixed(1)}`;
  console.log(`| ${day} | ${name} | ${took} | ${wanted}`);
}

try {
  const clone = (name: string) => `git clone --quiet --no-hardlinks ${root} ${name} && cd ${name} && npm run demo`;
  if (wants('cached') || wants('warm'))
    measure('clone to the end of the demo, Temporal cached', 90, clone('one'), bare);
  if (wants('warm')) measure('demo again in that clone', 30, 'cd one && npm run demo', bare);
  if (wants('built')) {
    const cache = { SITEWRIGHT_CACHE: join(folder, 'cache'), GOCACHE: join(folder, 'go-cache') };
    const without = PATH.split(':')
      .filter((part) => !part.includes('temporal'))
      .join(':');
    measure('clone to the end of the demo, Temporal built', 300, clone('two'), { ...bare, ...cache, PATH: without });
  }
  if (wants('install') || wants('npx')) {
    const [{ filename, size, unpackedSize }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
        cwd: root,
        encoding: 'utf8',
      }),
    ) as [{ readonly filename: string; readonly size: number; readonly unpackedSize: number }];
    const archive = join(folder, filename);
    if (wants('install')) {
      const script = `mkdir project && cd project && npm init --yes >/dev/null && npm install --prefer-offline --no-audit ${archive}`;
      measure('npm install of the package, from a full cache of npm', undefined, script, bare, '\nadded ');
      const [installed] = execFileSync('du', ['--summarize', '--block-size=1MB', join(folder, 'project')], {
        encoding: 'utf8',
      }).split('\t');
      const [packed, unpacked] = [size, unpackedSize].map((bytes) => (bytes / 1e6).toFixed(1));
      console.log(`The package is ${packed} MB, unpacked ${unpacked} MB, and with all that it needs ${installed} MB.`);
    }
    if (wants('npx')) {
      // npx would run a path from the root as a program.
      const script = `mkdir empty && cd empty && npx --yes ../${filename} demo`;
      const empty = { ...bare, npm_config_cache: join(folder, 'npm-cache') };
      measure('npx of the package in an empty folder, with an empty cache of npm', 90, script, empty);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
