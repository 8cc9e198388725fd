// A newcomer's first minutes, as rows of first-minutes.md: `node bench/first-minutes.ts [cached] [warm] [built] [npx]`; all by default.
//   cached  git clone to the end of `npm run demo`, with Node.js 24 and Temporal's server in the cache
//   warm    `npm run demo` again in that clone
//   built   the same as cached with an empty cache: Node.js is fetched, and Temporal's server compiled by a Go without a cache
//   npx     the packed package in an empty folder, with an empty cache of npx
import './bounded.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
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
const bare = { ...process.env, PATH, NO_COLOR: '1' };

/** Prints a row of the table: seconds by the clock and of the processor, load, what is wanted, and the ratio to it. */
function measure(name: string, goal: number, script: string, env: NodeJS.ProcessEnv): void {
  const load = loadavg()[0]!.toFixed(1);
  const log = join(folder, 'said');
  const times = execFileSync('bash', ['-ec', `TIMEFORMAT='%R %U %S'; { time { ${script}; } >"$0" 2>&1; } 2>&1`, log], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  const [wall = 0, user = 0, system = 0] = times.trim().split(' ').map(Number);
  const ran = execFileSync('grep', ['-c', 'deploy_site of stl1 revision 1: success with failures', log], {
    encoding: 'utf8',
  });
  if (ran.trim() !== '1') throw new Error(`${name}: the demo did not end as it should, see ${log}`);
  const day = new Date().toISOString().slice(0, 16).replace('T', ' ');
  console.log(
    `| ${day} | ${name} | ${wall.toFixed(0)} | ${(user + system).toFixed(0)} | ${load} to ${loadavg()[0]!.toFixed(1)} | ${goal} | ${(wall / goal).toFixed(2)} |`,
  );
}

try {
  const clone = (name: string) => `git clone --quiet --no-hardlinks ${root} ${name} && cd ${name} && npm run demo`;
  if (wants('cached')) measure('clone to the end of the demo, Temporal cached', 90, clone('one'), bare);
  if (wants('warm') && wants('cached')) measure('demo again in that clone', 30, 'cd one && npm run demo', bare);
  if (wants('built')) {
    const cache = { SITEWRIGHT_CACHE: join(folder, 'cache'), GOCACHE: join(folder, 'go-cache') };
    const without = PATH.split(':')
      .filter((part) => !part.includes('temporal'))
      .join(':');
    measure('clone to the end of the demo, Temporal built', 300, clone('two'), { ...bare, ...cache, PATH: without });
  }
  if (wants('npx')) {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
        cwd: root,
        encoding: 'utf8',
      }),
    ) as [{ readonly filename: string }];
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    symlinkSync(join(folder, packed.filename), join(empty, packed.filename));
    measure(
      'npx of the package in an empty folder, Temporal cached',
      90,
      `cd empty && npx --yes ./${packed.filename} demo`,
      bare,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
