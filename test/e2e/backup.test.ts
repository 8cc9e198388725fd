import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MachineStatus } from '@sitewright/maas';
import { type Effect, type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { type DevServer, startDevServer } from '../../src/platform/temporal/dev-server.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { type Orchestrator, startOrchestrator } from '../../worker/orchestrator.ts';
import { exampleHosts } from '../rig/living-site.ts';
import { PATIENCE } from '../rig/temporal.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';

/*
 * Backup, restore and upgrade as in docs/how-to/back-up.md: a run is in progress when everything is stopped and
 * copied; its folder is lost; the copy is restored elsewhere, with a worker of another build, and the run
 * runs to completion. MAAS has continued meanwhile.
 */
const documents = fileURLToPath(new URL('../../examples/stl1', import.meta.url));
const site = 'stl1';

let root = '';
let simulator: Simulator;
let env: NodeJS.ProcessEnv = {};
let running: { temporal: DevServer; api: RunningApi; worker: Orchestrator } | undefined;

/** All processes over one folder that has all data worth keeping. */
async function start(folder: string, bundle: string): Promise<void> {
  const temporal = await startDevServer({
    binary: inject('temporalBinary'),
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    uiPort: 'none',
  });
  env = {
    SITEWRIGHT_TEMPORAL_ADDRESS: temporal.address,
    SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'sitewright.db')}`,
    SITEWRIGHT_MAAS_URL: simulator.url,
    SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
    SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.05',
    SITEWRIGHT_MAAS_POLL_MAX_SECONDS: '0.5',
    SITEWRIGHT_API_PORT: '0',
    SITEWRIGHT_LOG_LEVEL: 'error',
  };
  const loaded = loadSettings({ cwd: folder, env });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const log = createLogger(loaded.settings.log, 'test');
  // The order of the page: the worker first.
  const worker = await startOrchestrator(loaded.settings, log, { bundlePath: bundle });
  running = { temporal, worker, api: await startApi(loaded.settings, log, { patience: PATIENCE }) };
}

async function stop(): Promise<void> {
  await running?.api.stop();
  await running?.worker.stop();
  await running?.temporal.stop();
  running = undefined;
}

async function sitewright(...args: string[]): Promise<string> {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_API: running!.api.url, USER: 'ann' }, cwd: root });
  terminal.onSleep = () => new Promise((done) => setTimeout(done, 50));
  const code = await runCli(args, terminal);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${terminal.said.err}${terminal.said.out}`);
  return terminal.said.out;
}

const control = async (path: string, body?: unknown): Promise<unknown> => {
  const method = body === undefined ? 'GET' : 'POST';
  const sent = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const answer = await fetch(`${simulator.controlUrl}/${path}`, sent);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};

/** How often MAAS began to deploy each machine. */
async function deploys(): Promise<Record<string, number>> {
  const effects = (await control('effects')) as readonly Effect[];
  const started: Record<string, number> = {};
  for (const { hostname, from, to } of effects)
    if (to === MachineStatus.Deploying && from !== to) started[hostname] = (started[hostname] ?? 0) + 1;
  return started;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sitewright-backup-'));
  const machines = exampleHosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' }));
  // No machine finishes deploying until the test allows it.
  simulator = await simulateMaas({ port: 0, seed: { machines }, auto: { commission_ms: 20, deploy_ms: 3_600_000 } });
});
afterAll(async () => {
  await stop();
  await simulator?.close();
  rmSync(root, { recursive: true, force: true });
});

it('an open run continues from a backup, in a new folder, with a newer worker', async () => {
  const lost = join(root, 'lost');
  const brought = join(root, 'brought-back');
  const bundle = inject('workflowBundlePath');
  await start(lost, bundle);
  await sitewright('site', 'create', site);
  await sitewright('site', 'commit', site, documents);
  const run = JSON.parse(await sitewright('site', 'deploy', site, '-f', 'json')) as { id: string };
  // Until the first group deploys, and waits for MAAS.
  const masters = exampleHosts.slice(0, 3);
  const isDeploying = async (): Promise<boolean> => {
    const started = await deploys();
    return masters.every((host) => started[host] === 1);
  };
  while (!(await isDeploying())) await new Promise((done) => setTimeout(done, 50));

  await stop();
  cpSync(lost, brought, { recursive: true });
  rmSync(lost, { recursive: true });
  for (const host of masters) await control(`${host}/deployed`, {});
  await control('auto', { commission_ms: 20, deploy_ms: 20 });
  const newer = join(root, 'newer-bundle.js');
  // At the head: the SDK reads the bundle's tail as its source map.
  writeFileSync(newer, `// Another build.\n${readFileSync(bundle, 'utf8')}`);
  await start(brought, newer);

  expect(await sitewright('doctor')).toContain('everything needed for a deployment is available');
  expect(await sitewright('run', 'watch', run.id)).toMatch(/deploy_site of stl1: success/);
  expect(await sitewright('db', 'status')).toMatch(/up to date/);
  const report = JSON.parse(await sitewright('run', 'report', run.id, '-f', 'json'));
  expect(report.baremetal.nodes_by_state.success).toHaveLength(exampleHosts.length);
  expect(await deploys()).toEqual(Object.fromEntries(exampleHosts.map((host) => [host, 1])));
  // And the steps after it.
  expect(await sitewright('site', 'update', site, '--wait')).toMatch(/success/);
});
