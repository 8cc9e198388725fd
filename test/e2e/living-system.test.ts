import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine, MachineContext } from '@sitewright/maas';
import { openMachines } from '@sitewright/maas';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import type { SiteDrift } from '../../src/core/contracts/site-drift.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { type Orchestrator, startOrchestrator } from '../../worker/orchestrator.ts';
import { exampleHosts } from '../rig/living-site.ts';
import { openapiCheck } from '../rig/openapi-check.ts';
import { PATIENCE } from '../rig/temporal.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';

/** Everything real but the machines, in this process; the command line talks to it as it would from a shell. */
const documents = fileURLToPath(new URL('../../examples/stl1', import.meta.url));
/** Workflow ids hold the name of the site, and all test files share one Temporal server. */
const site = `cli-${process.pid}`;

let folder = '';
let simulator: Simulator;
let api: RunningApi;
let settings: Settings;
/** By build. */
const workers = new Map<string, Orchestrator>();
let env: NodeJS.ProcessEnv = {};

async function sitewright(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_API: api.url, USER: 'ann' }, cwd: folder });
  // Following a run reads often, and leaves the processor to the run.
  terminal.onSleep = () => new Promise((done) => setTimeout(done, 100));
  const code = await runCli(args, terminal);
  return { code, ...terminal.said };
}

async function control(path: string, body: unknown): Promise<void> {
  const answer = await fetch(`${simulator.controlUrl}/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

/** A person with a browser, logged in at the same MAAS. */
async function atMaas<T>(act: (maas: MachineContext['client']) => Promise<T>): Promise<T> {
  const { url } = simulator;
  const maas = openMachines({ url, apiKey: simulatorKeys.admin, pollMinSeconds: 1, pollMaxSeconds: 1 });
  return await act(maas.client).finally(() => maas.close());
}

/** As `temporal workflow reset --type LastWorkflowTask` does. */
async function resetInTemporal(id: string): Promise<void> {
  const shown = JSON.parse((await sitewright('run', 'show', id, '-f', 'json')).out) as { workflow_id: string };
  const connection = await Connection.connect({ address: inject('temporalAddress'), interceptors: [repeatCalls()] });
  const handle = new Client({ connection }).workflow.getHandle(shown.workflow_id);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
  await connection.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: shown.workflow_id, runId },
    reason: 'a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: last!.eventId!,
  });
  await connection.close();
}

async function startWorker(build: string): Promise<void> {
  const log = createLogger(settings.log, 'test');
  workers.set(build, await startOrchestrator(settings, log, { bundlePath: inject('workflowBundlePath'), build }));
}

const quick = { commission_ms: 20, deploy_ms: 50, erase_ms: 20, release_ms: 20 };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-cli-'));
  const machines = exampleHosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' }));
  simulator = await simulateMaas({
    port: 0,
    seed: { machines },
    auto: { ...quick, fail_times: { deploy: { stl1r01s06: 1 } } },
  });
  env = {
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_TEMPORAL_TASK_QUEUE: site,
    SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`,
    SITEWRIGHT_MAAS_URL: simulator.url,
    SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
    SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.05',
    SITEWRIGHT_MAAS_POLL_MAX_SECONDS: '0.5',
    SITEWRIGHT_API_PORT: '0',
    SITEWRIGHT_LOG_LEVEL: 'error',
  };
  const loaded = loadSettings({ env, cwd: folder });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  settings = loaded.settings;
  await startWorker('1.0.0+old');
  api = await startApi(settings, createLogger(settings.log, 'test'), {
    temporalUiUrl: 'http://ui.test',
    checkAnswer: openapiCheck(),
    patience: PATIENCE,
  });
});

afterAll(async () => {
  await api?.stop();
  await Promise.all([...workers.values()].map((worker) => worker.stop()));
  await simulator?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('the doctor reports a healthy system', async () => {
  const { code, out, err } = await sitewright('doctor');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const name of ['node', 'settings', 'temporal', 'namespace', 'worker', 'maas', 'store', 'api'])
    expect(out).toMatch(new RegExp(`^ok +${name} `, 'm'));
});

it('MAAS is checked through the API, and directly', async () => {
  for (const args of [
    ['maas', 'check'],
    ['maas', 'check', '--direct'],
  ]) {
    const { code, out } = await sitewright(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/may edit all machines/);
    expect(out).toMatch(/^ +6 {2}New$/m);
  }
});

it('a bad key is reported with its fix', async () => {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_MAAS_KEY: 'not:the:key' }, cwd: folder });
  expect(await runCli(['maas', 'check', '--direct'], terminal)).toBe(5);
  expect(terminal.said.out).toMatch(/^failed .*\n +fix: /m);
  expect(terminal.said.out + terminal.said.err).not.toContain('not:the:key');
});

it('a wanted series without an image is reported with its fix', async () => {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_DEPLOY_DISTRO_SERIES: 'warty' }, cwd: folder });
  expect(await runCli(['maas', 'check', '--direct'], terminal)).toBe(5);
  expect(terminal.said.out).toMatch(/^failed +MAAS has no image for warty, .*\n +fix: import the image/m);
});

it('db status reports the state of the store', async () => {
  const { code, out } = await sitewright('db', 'status');
  expect(code).toBe(0);
  expect(out).toMatch(/up to date\n$/);
  expect((await sitewright('db', 'migrate')).out).toMatch(/nothing to do/);
});

describe('a site', () => {
  it('is created, gets documents and is planned', async () => {
    expect((await sitewright('site', 'create', site)).code).toBe(0);
    expect((await sitewright('site', 'create', site)).code).toBe(4);
    expect((await sitewright('site', 'create', 'Not a name')).code).toBe(2);
    expect((await sitewright('site', 'deploy', site)).code).toBe(3);

    const commit = await sitewright('site', 'commit', site, documents, '-m', 'first');
    expect(commit).toMatchObject({ code: 0, err: '' });
    expect(commit.out).toContain(`revision 1 of ${site} stored: 6 nodes in 3 groups`);
    expect((await sitewright('site', 'commit', site, documents)).out).toContain('nothing changed');
    const revisions = await sitewright(
      'site',
      'revisions',
      site,
      '-f',
      'csv',
      '-c',
      'number',
      '-c',
      'author',
      '-c',
      'message',
    );
    expect(revisions.out).toBe('number,author,message\r\n1,ann,first\r\n');

    const plan = await sitewright('site', 'plan', site);
    expect(plan.out).toMatch(/1\. masters \(critical\) {2}3 nodes/);
    expect(plan.out).toMatch(/machines: 6 New/);
  });

  it('has the same strategy as its documents on disk', async () => {
    const [fromApi, fromDisk] = [
      await sitewright('strategy', 'show', site, '-f', 'json'),
      await sitewright('strategy', 'show', documents, '--json'),
    ];
    expect(JSON.parse(fromApi.out)).toEqual(JSON.parse(fromDisk.out));
  });

  it('lists the nodes that selectors match', async () => {
    const { out } = await sitewright('node', 'select', site, '--name', 'stl1r01s06', '--name', 'stl1r01s07');
    expect(out).toBe('stl1r01s06\nstl1r01s07\n');
    const bad = await sitewright('node', 'select', site, '--label', 'gold');
    expect(bad.code).toBe(2);
    expect(bad.err).toMatch(/gold/);
  });

  it('is deployed with live progress, and its failure is reported first', async () => {
    const run = await sitewright('site', 'deploy', site, '--watch', '--reason', 'trial');
    expect(run.err).toBe('');
    expect(run.code).toBe(0);
    expect(run.out).toContain('Temporal  http://ui.test/namespaces/default/workflows/');
    expect(run.out).toMatch(/group masters \(critical\) success/);
    expect(run.out).toMatch(/failed stl1r01s06/);
    expect(run.out).toMatch(/run ended: success with failures/);

    const report = await sitewright('run', 'report', site);
    expect(report.out).toMatch(/Failed nodes \(1\)\n {2}stl1r01s06 {2}failed/);
    for (const state of ['not reached', 'prepared', 'success', 'failed'])
      expect(report.out).toMatch(new RegExp(`^ {2}${state} +\\d`, 'm'));
    expect((await sitewright('run', 'tree', `deploy_site:${site}`)).out).toMatch(/└─ .*stl1r01s0/);
    expect((await sitewright('run', 'status', site)).out).toMatch(/success with failures, 6 of 6 nodes/);
    const nodes = await sitewright('run', 'nodes', site, '-f', 'csv', '-c', 'name', '-c', 'state');
    expect(nodes.out).toContain('stl1r01s06,failed');
    const list = await sitewright('run', 'list', '--site', site, '--outcome', 'success_with_failures', '-f', 'json');
    expect(JSON.parse(list.out)).toMatchObject([{ site, started_by: 'ann', reason: 'trial', revision: 1 }]);
    const status = await sitewright('node', 'status', site, '-f', 'csv', '-c', 'node', '-c', 'status');
    expect(status.out).toContain('stl1r01s02,Deployed');
  });

  it('deploys a failed node again, alone', async () => {
    const run = await sitewright('site', 'redeploy', site, 'stl1r01s06', '--yes', '--wait', '-f', 'json');
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(run.out)).toMatchObject({ kind: 'redeploy_nodes', outcome: 'success' });
    const history = await sitewright('node', 'history', site, 'stl1r01s06', '-f', 'csv', '-c', 'kind', '-c', 'state');
    expect(history.out).toBe('kind,state\r\nredeploy_nodes,success\r\ndeploy_site,failed\r\n');
  });

  it('has no drift until people change machines at MAAS', async () => {
    expect(await sitewright('site', 'drift', site)).toEqual({
      ...{ code: 0, err: '' },
      out: `${site}, 6 nodes: 6 as deployed, 0 changed, 0 missing\n`,
    });
    await atMaas(async ({ machines, inventory }) => {
      const [{ systemId }] = (await machines.list({ hostnames: ['stl1r01s02'] })) as [Machine];
      await inventory.ensureTag('by-hand', 'a test');
      await inventory.changeTag('by-hand', { add: [systemId] });
      await machines.update(systemId, { description: 'no drift' });
    });
    const { code, out } = await sitewright('site', 'drift', site);
    expect(code).toBe(1);
    expect(out).toMatch(
      new RegExp(
        `^~ stl1r01s02, deployed .* UTC with revision 1\n {2}tag by-hand: none -> set\n${site}, 6 nodes: 5 as deployed, 1 changed, 0 missing\n$`,
      ),
    );
    // Changes by the site's own runs do not count: a redeployment records the machine as it is then.
    await sitewright('site', 'redeploy', site, 'stl1r01s02', '--yes', '--wait');
    expect((await sitewright('site', 'drift', site)).code).toBe(0);
  });

  it('is controlled during a run: refused, paused, resumed, cancelled', async () => {
    await control('auto', { ...quick, deploy_ms: 3_600_000 });
    const start = await sitewright('site', 'redeploy', site, 'stl1r01s07', '--yes', '-f', 'json');
    const { id, number } = JSON.parse(start.out) as { id: string; number: number };

    const second = await sitewright('site', 'deploy', site);
    expect(second.code).toBe(4);
    expect(second.err).toContain(`(run ${number})`);

    expect((await sitewright('run', 'pause', id, '--reason', 'lunch')).out).toBe(
      `run ${number} paused\n  next:  sitewright run resume ${id}\n`,
    );
    expect((await sitewright('run', 'status', id)).out).toMatch(/paused since .* by ann: lunch/);
    expect((await sitewright('run', 'resume', id)).code).toBe(0);
    await expect.poll(async () => (await sitewright('run', 'status', id)).out).toMatch(/^now: deploy/m);
    await resetInTemporal(id);
    await expect.poll(async () => (await sitewright('run', 'status', id)).out).toMatch(/^now: deploy/m);
    expect((await sitewright('run', 'pause', id, '--reason', 'after the reset')).code).toBe(0);
    expect((await sitewright('run', 'status', id)).out).toMatch(/paused since .* by ann: after the reset/);
    expect((await sitewright('run', 'resume', id)).code).toBe(0);
    expect((await sitewright('run', 'tree', id)).out).toContain('stl1r01s07');
    expect((await sitewright('run', 'list', '--site', site, '-f', 'csv', '-c', 'id')).out.split(id)).toHaveLength(2);
    expect((await sitewright('site', 'delete', site, '--yes')).code).toBe(4);
    const refused = await sitewright('run', 'retry', id, 'stl1r01s07');
    expect(refused.code).toBe(4);
    expect(refused.err).toMatch(/has not failed/);

    const cancelled = await sitewright('run', 'cancel', id, '--wait');
    expect(cancelled.code).toBe(1);
    expect(cancelled.out).toMatch(/redeploy_nodes of .*: cancelled/);
    expect((await sitewright('run', 'pause', id)).code).toBe(4);
  });

  it('has runs with titles and labels, which are found by them and started again', async () => {
    const said = ['--title', 'Look at the racks', '--description', 'Before the *move*.', '--label', 'ticket:OPS-7'];
    const first = JSON.parse((await sitewright('site', 'test', site, ...said, '--wait', '-f', 'json')).out);
    const again = await sitewright('run', 'again', first.id, '--reason', 'after the move', '--wait', '-f', 'json');
    const second = JSON.parse(again.out);
    expect(again.code).toBe(0);
    expect(second).toMatchObject({ kind: 'test_site', revision: first.revision, title: 'Look at the racks' });
    expect(second.id).not.toBe(first.id);
    const found = await sitewright('run', 'list', '--label', 'ticket:OPS-7', '--by', 'ann', '-f', 'json');
    expect(JSON.parse(found.out).map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect((await sitewright('run', 'list', '--label', 'ticket:OPS-8', '-f', 'csv', '-c', 'id')).out).toBe('id\r\n');
    expect((await sitewright('run', 'show', second.id)).out).toMatch(/^description +Before the \*move\*\.$/m);
    const { out } = await sitewright(
      'audit',
      'list',
      '--target',
      `site/${site}`,
      '--action',
      'run.test_site',
      '-f',
      'csv',
    );
    expect(out).toContain(`,ann,run.test_site,site/${site},after the move,\r\n`);
    expect((await sitewright('site', 'diff', site)).out).toMatch(/^nodes: 0 new, 0 changed, 0 removed, 6 unchanged$/m);
  });

  describe('with workers of two builds', () => {
    const node = 'stl1r01s07';
    const [old, newer, later] = ['1.0.0+old', '1.1.0+new', '1.2.0+later'];
    type Version = { version: string; status: string; open_runs: number; workers: unknown[] };

    const versions = async (): Promise<Record<string, string>> => {
      const found = JSON.parse((await sitewright('worker', 'versions', '-f', 'json')).out) as Version[];
      return Object.fromEntries(
        found.map((one) => [one.version, `${one.status}, ${one.open_runs} open, ${one.workers.length} workers`]),
      );
    };
    const isDeploying = async () => {
      const now = async () => (await sitewright('node', 'status', site, '-f', 'csv', '-c', 'node', '-c', 'status')).out;
      await expect.poll(now).toContain(`${node},Deploying`);
    };
    /** A run that waits for a machine. */
    const start = async (): Promise<string> => {
      const { out } = await sitewright('site', 'redeploy', site, node, '--yes', '-f', 'json');
      const { id } = JSON.parse(out) as { id: string };
      await isDeploying();
      return id;
    };
    /** Resolves to the build that finished the run. */
    const finish = async (id: string): Promise<string | undefined> => {
      await control(`${node}/deployed`, {});
      const ended = await sitewright('run', 'watch', id);
      expect(ended).toMatchObject({ code: 0 });
      expect(ended.out).toMatch(/redeploy_nodes of .*: success/);
      const connection = await Connection.connect({
        address: inject('temporalAddress'),
        interceptors: [repeatCalls()],
      });
      const { raw } = await new Client({ connection }).workflow.getHandle(`redeploy_nodes:${site}`).describe();
      await connection.close();
      const { versioningOverride, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      return (versioningOverride?.pinned?.version ?? deploymentVersion)?.buildId ?? undefined;
    };

    it('a run that an old worker started ends there, while new runs go to the new one', async () => {
      await control('auto', { ...quick, deploy_ms: 3_600_000 });
      const first = await start();
      await startWorker(newer);
      await expect
        .poll(versions)
        .toEqual({ [newer]: 'current, 0 open, 1 workers', [old]: 'draining, 1 open, 1 workers' });
      expect(await finish(first)).toBe(old);
      expect(await finish(await start())).toBe(newer);
    });

    it('a run that a new worker started ends there, after a step back', async () => {
      const run = await start();
      const back = await sitewright('worker', 'drain', newer, '--no-wait', '--reason', 'it is slow');
      expect(back.out).toContain(`new runs go to ${old}\n${newer} still has 1 open workflow: redeploy_nodes:${site}\n`);
      expect(await finish(run)).toBe(newer);
      expect(await finish(await start())).toBe(old);
      const drained = await sitewright('worker', 'drain', newer);
      expect(drained.out).toMatch(/^1\.1\.0\+new is drained\n {2}next: {2}stop its workers: .*\n$/m);
      const { out } = await sitewright('audit', 'list', '--action', 'worker.drain', '-f', 'csv');
      expect(out).toContain(`,ann,worker.drain,worker/${newer},it is slow`);
    });

    it('a run that an operator moves continues on the other build', async () => {
      const run = await start();
      const moved = await sitewright('worker', 'drain', '1.0.0', '--move');
      expect(moved.out).toMatch(/^new runs go to 1\.1\.0\+new\nmoved 1 open workflow there\n1\.0\.0\+old is drained\n/);
      await workers.get(old)!.stop();
      workers.delete(old);
      expect(await finish(run)).toBe(newer);
    });

    it('an ended run without workers of its build has its report and its tree', async () => {
      const { out } = await sitewright('run', 'list', '--site', site, '-f', 'json', '-l', '2');
      const [, earlier] = JSON.parse(out) as { id: string }[];
      expect((await sitewright('run', 'tree', earlier!.id)).out).toMatch(/^redeploy_nodes:\S+ {2}success\n/);
      expect((await sitewright('run', 'report', earlier!.id)).code).toBe(0);
    });

    it('open runs continue with the next build when all workers of theirs have stopped', async () => {
      const run = await start();
      await workers.get(newer)!.stop();
      workers.delete(newer);
      await startWorker(later);
      expect(await finish(run)).toBe(later);
      expect((await versions())[later]).toBe('current, 0 open, 1 workers');
    });

    it('an unknown version, and one that no other can replace, are refused', async () => {
      const unknown = await sitewright('worker', 'drain', '1.0.O+old');
      expect(unknown).toMatchObject({ code: 3 });
      expect(unknown.err).toContain("Did you mean '1.0.0+old'?");
      const last = await sitewright('worker', 'drain', later);
      expect(last).toMatchObject({ code: 4 });
      expect(last.err).toContain('Start a worker of the new build first');
    });
  });

  it('has drift where machines were released and deleted by hand', async () => {
    const ids = await atMaas(async ({ machines }) => {
      const found = await machines.list({ hostnames: ['stl1r01s02', 'stl1r01s06'] });
      const [released, deleted] = found.map(({ systemId }) => systemId).sort() as [string, string];
      await machines.release(released);
      await machines.delete(deleted);
      return { released, deleted };
    });
    const { code, out } = await sitewright('site', 'drift', site, '-f', 'json');
    expect(code).toBe(1);
    const { nodes } = JSON.parse(out) as SiteDrift;
    const of = (id: string) => nodes.find(({ system_id }) => system_id === id);
    expect(of(ids.deleted)).toMatchObject({ state: 'missing', revision: 1, differences: [] });
    expect(of(ids.released)).toMatchObject({
      state: 'drifted',
      differences: [{ what: 'status', deployed: 'Deployed' }],
    });
    expect((await sitewright('site', 'drift', 'unknown')).code).toBe(3);
  });

  it('is deleted when the user confirms', async () => {
    expect((await sitewright('site', 'delete', site)).code).toBe(2);
    expect((await sitewright('site', 'delete', site, '--yes')).code).toBe(0);
    expect((await sitewright('site', 'show', site)).code).toBe(3);
  });
});
