import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { endUp, isUp, spawnUp } from '../rig/running-up.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/*
 * examples/rehearsal/README.md as its reader goes through it: a whole system (`sitewright up`) on a Temporal server, six agents
 * and each command in separate processes, 204 real tasks as a rehearsal, a pause, a killed agent, a retry, a service
 * moved to another node.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'examples/rehearsal/README.md'), 'utf8');
const steps = [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((one) => ({ command: one.slice(0, one.indexOf('\n')), prints: one.slice(one.indexOf('\n') + 1) })),
);

/** Commands that only read: the page shows their final output. */
const LOOKS = /^sitewright (run (status|report|logs)|history)\b|^tail /;
const PATIENCE_MS = 120_000;
/** A read is a process, which would take its time from the run under test. */
const BETWEEN_LOOKS_MS = 500;

let rig: TemporalRig;
let folder: string;
let env: NodeJS.ProcessEnv;
let system: ChildProcess | undefined;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.ts')]);
  rig = await temporalRig({ namespace: 'own' });
  folder = mkdtempSync(join(tmpdir(), 'sitewright-graphs-'));
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(join(root, 'bin/sitewright'), join(folder, 'bin/sitewright'));
  const port = await freePort();
  env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: rig.address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: rig.namespace,
    SITEWRIGHT_API_PORT: String(port),
    SITEWRIGHT_API: `http://127.0.0.1:${port}`,
    SITEWRIGHT_DEPLOY_HEARTBEAT_SECONDS: '5',
    SITEWRIGHT_DEPLOY_OFFLINE_WAIT_SECONDS: '10',
    SITEWRIGHT_AGENT_MASTER: 'allow',
  };
  system = spawnUp('sitewright', folder, env);
  await isUp(system);
});

afterAll(async () => {
  for (const file of folder === undefined ? [] : readdirSync(folder).filter((name) => /^agent-\w+\.pid$/.test(name)))
    end(Number(readFileSync(join(folder, file), 'utf8')));
  await endUp(system);
  await rig?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended.
  }
}

/** As a shell runs it; returns the output of both streams. Its background processes keep running. */
async function shell(command: string): Promise<string> {
  const child = spawn('bash', ['-c', `exec 2>&1; ${command}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text;
  });
  await new Promise((done) => child.once('exit', done));
  // Output already in the pipe arrives before the next turn.
  await new Promise((done) => setImmediate(done));
  return said;
}

/** `…` matches anything. */
const asPattern = (prints: string): RegExp =>
  new RegExp(
    `^${plain(prints)
      .split('…')
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[\\s\\S]*?')}$`,
  );
const plain = (text: string): string => text.replaceAll(/[ \t]+$/gm, '').trim();

it('examples/rehearsal/README.md has its examples', () => expect(steps.length).toBeGreaterThan(30));

it('following examples/rehearsal/README.md gives the results it shows, from an empty system to a moved service', async () => {
  for (const { command, prints } of steps) {
    const expected = asPattern(prints);
    const until = Date.now() + PATIENCE_MS;
    let said = await shell(command);
    while (!expected.test(plain(said)) && LOOKS.test(command) && Date.now() < until) {
      await delay(BETWEEN_LOOKS_MS);
      said = await shell(command);
    }
    expect(plain(said), `$ ${command}`).toMatch(expected);
  }
}, 900_000);
