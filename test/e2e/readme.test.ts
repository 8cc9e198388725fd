import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

/*
 * A newcomer's first site, docs/start/first-site.md: a demo that stays up, a run that is paused and continues, a failure that
 * is repaired. The commands are those of the page, in its order. (.ci/demo runs `npm run demo` itself.)
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(new URL('../../docs/start/first-site.md', import.meta.url), 'utf8');
const section = /^\*\*Pause it, and repair the failure\.\*\*[\s\S]*?(?=^## A system)/m.exec(page)?.[0] ?? '';
const commands = [...section.matchAll(/^bin\/sitewright .*$/gm)].map(([line]) => line);

let demo: ChildProcess;
let said = '';
let api = '';

/** As in a shell in the project's folder. */
async function shell(line: string): Promise<string> {
  const env = { ...process.env, SITEWRIGHT_API: api, USER: 'ann', NO_COLOR: '1' };
  return (await promisify(execFile)('bash', ['-c', line], { cwd: root, env, timeout: 120_000 })).stdout;
}

async function startDemo(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
  demo = spawn(process.execPath, ['bin/sitewright', 'demo', '--keep'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', TEMPORAL_CLI: inject('temporalBinary') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((underWay, failed) => {
    demo.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Try these in another terminal')) underWay();
    });
    demo.once('exit', () => failed(new Error(`the demo ended:\n${said}`)));
  });
  api = /^ +API +(http:\S+)$/m.exec(said)?.[1] ?? '';
}

async function endDemo(): Promise<void> {
  if (demo === undefined || demo.exitCode !== null || demo.signalCode !== null) return;
  demo.kill('SIGKILL');
  await once(demo, 'exit');
}

beforeAll(startDemo);
afterAll(endDemo);

it('docs/start/first-site.md leads to a paused run and a repaired failure', async () => {
  expect(commands.map((line) => line.split(' ').slice(1, 3).join(' '))).toEqual([
    'run pause',
    'run status',
    'run resume',
    'run watch',
    'run report',
    'site deploy',
  ]);
  const [pause = '', status = '', resume = '', watch = '', report = '', deploy = ''] = commands;
  expect(await shell(pause)).toMatch(/paused$/m);
  expect(await shell(status)).toMatch(/paused since .* by \S+: rack power/);
  await shell(resume);
  expect(await shell(watch)).toMatch(/run ended: success with failures/);
  expect(await shell(report)).toMatch(/Failed nodes \(1\)\n {2}stl1r01s06 {2}failed/);
  const repaired = await shell(deploy);
  expect(repaired).toMatch(/run ended: success$/m);

  const ended = once(demo, 'exit');
  demo.kill('SIGINT');
  const [code] = await ended;
  expect({ code, said: said.slice(-20) }).toEqual({ code: 0, said: expect.stringContaining('Stopping.') });
});
