import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { newcomer } from '../rig/newcomer.ts';
import { endUp, isUp, spawnUp } from '../rig/running-up.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/*
 * A newcomer's first hour on a fresh system, by the commands of the pages: docs/start/first-graph.md; docs/how-to/move-a-service.md, which
 * continues from it; a site of one's own, docs/start/first-site.md.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
let rig: TemporalRig;
let folder: string;
let env: NodeJS.ProcessEnv;
let system: ChildProcess | undefined;
/** Started in a separate process group, so that the agents it leaves behind can be ended with it. */
const shells: ChildProcess[] = [];

beforeAll(async () => {
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
  rig = await temporalRig({ namespace: 'own' });
  folder = mkdtempSync(join(tmpdir(), 'sitewright-first-'));
  for (const name of ['bin', 'examples']) symlinkSync(join(root, name), join(folder, name));
  const port = await freePort();
  env = {
    ...process.env,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: rig.address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: rig.namespace,
    SITEWRIGHT_API_PORT: String(port),
    SITEWRIGHT_API: `http://127.0.0.1:${port}`,
    SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'master'),
  };
  await shell(newcomer.writeOwnSite);
  system = spawnUp('bin/sitewright', folder, env, newcomer.upOptions);
  await isUp(system);
});

afterAll(async () => {
  for (const { pid } of shells) {
    try {
      process.kill(-pid!, 'SIGTERM');
    } catch {
      // Nothing of it is left.
    }
  }
  await endUp(system);
  await rig?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs a block as it is copied from the page, until its first failure. Its background processes keep running. */
async function shell(block: string): Promise<string> {
  const child = spawn('bash', ['-ec', block], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  shells.push(child);
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  expect(code, `${block}\n${said}`).toBe(0);
  return said;
}

it('the graph of the README runs to success as written', async () => {
  const said = await shell(newcomer.readmeGraph);
  expect(said).toContain('8 tasks on 2 nodes: 8 run');
  expect(said).toContain('execute_graph of cluster 1: success');
});

it('a cluster is scaled up, a service moved and cleaned up, the cluster scaled down, as in docs/how-to/move-a-service.md', async () => {
  const [up, detach, cleanup, down] = newcomer.scaling;
  expect(newcomer.scaling).toHaveLength(4);
  expect(await shell(up!)).toMatch(/balancer \(shell\) new: \$\.nodes\.name[\s\S]*node node-3: 3 run[\s\S]*: success/);
  expect(await shell(detach!)).toMatch(/node node-3: 5 run[\s\S]*database \(shell\) first time here[\s\S]*: success/);
  expect(await shell(cleanup!)).toMatch(/: success[\s\S]*deleted the graph of type cleanup/);
  expect(await shell(down!)).toMatch(/node-2 +discover +true +- /);
});

it('a user’s own site is deployed, as in docs/start/first-site.md', async () => {
  expect(await shell(newcomer.deployOwnSite)).toMatch(
    /deploy_site of mysite: success\n[\s\S]*0 new, 0 changed, 0 removed, 4 unchanged/,
  );
});

it('a user’s own graph runs on this machine in one command, as in docs/start/first-graph.md', async () => {
  const { name, text } = newcomer.ownGraph;
  writeFileSync(join(folder, name), text);
  expect(await shell(newcomer.runOwnGraph)).toMatch(/2 of 2 tasks done[\s\S]*: success/);
  // Again, with the existing objects, and its own tags.
  writeFileSync(join(folder, name), text.replace('[web]', '[web, primary-db, api]'));
  expect(await shell(newcomer.runOwnGraph)).toMatch(/: success/);
});

it('the release written by `init release` runs unchanged, as in docs/start/first-graph.md', async () => {
  const said = await shell(newcomer.ownRelease);
  // The command's next steps are those of the page.
  const [, next] = /^next:\n((?: {2}.*\n)+)/m.exec(said) ?? [];
  const commandsOf = (text: string) =>
    text.split('\n').flatMap((line) => /sitewright ([^>#]*[^>#\s])/.exec(line)?.[1] ?? []);
  expect(commandsOf(next!)).toEqual(commandsOf(newcomer.ownRelease).slice(1));
  expect(said).toMatch(/myrelease: valid[\s\S]*8 of 8 tasks done[\s\S]*: success/);
});
