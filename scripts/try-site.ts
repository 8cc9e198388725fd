// Checks the documents of a site as they lie in a repository, plays its MAAS on the simulator and deploys it there:
//   node scripts/try-site.ts FOLDER...
// The folders are those that `site check` takes, one for each layer. Prints what each step said; exits with 1 where one refuses or a node fails.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/platform/free-port.ts';

const bin = fileURLToPath(new URL('../bin/sitewright', import.meta.url));
const folders = process.argv.slice(2).map((folder) => resolve(folder));
if (folders.length === 0) {
  console.error('Name the folders of a site, one for each layer: node scripts/try-site.ts global type/T site/S');
  process.exit(2);
}
const LIMIT_MS = 20 * 60_000;

const work = mkdtempSync(join(tmpdir(), 'sitewright-try-'));
const env: NodeJS.ProcessEnv = {
  ...process.env,
  HOME: work,
  SITEWRIGHT_API_PORT: String(await freePort()),
  SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
  SITEWRIGHT_MAAS_POLL_MIN: '0.5',
};

function run(...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: work,
    env,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: 64 * 2 ** 20,
  });
  return { status, text: `${stdout}${stderr}` };
}

const lastOf = (text: string, lines: number): string => text.trim().split('\n').slice(-lines).join('\n');

let isGood = true;
const say = (what: string, { status, text }: ReturnType<typeof run>, lines: number): void => {
  isGood &&= status === 0;
  console.log(`${what}: exit code ${status}\n${lastOf(text, lines)}\n`);
};

const checked = run('site', 'check', ...folders);
say('check', checked, 3);
const up = spawn(process.execPath, [bin, 'up', '--simulate-maas', '--no-token', '--maas-seed', ...folders], {
  cwd: work,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise<void>((done) => void up.once('exit', () => done()));
try {
  if (checked.status === 0) {
    await new Promise<void>((ready, refuse) => {
      up.stdout.on('data', (data: Buffer) => {
        if (data.toString().includes('Ctrl-C')) ready();
      });
      up.once('exit', (code) => refuse(new Error(`sitewright up ended with exit code ${code}`)));
    });
    run('site', 'create', 'tried');
    say('commit', run('site', 'commit', 'tried', ...folders), 1);
    const began = performance.now();
    const deployed = run('site', 'deploy', 'tried', '--yes', '--wait');
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`deploy, ${seconds} s`, deployed, 3);
    say('nodes', run('node', 'status', 'tried'), 20);
    if (deployed.status !== 0) say('report', run('run', 'report', '1'), 60);
  }
} finally {
  up.kill('SIGTERM');
  await ended;
  rmSync(work, { recursive: true, force: true });
}
process.exitCode = isGood ? 0 : 1;
