import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { MachineStatus } from '@sitewright/maas';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { type Answer, type ApiRig, apiOfSite, apiWithoutTemporal, readAnswer } from '../api/api-rig.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain, lookUntil } from '../rig/look-again.ts';
import { openapiCheck } from '../rig/openapi-check.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sitewright-away-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const logged: Record<string, unknown>[] = [];
const sink = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
    done();
  },
});
const log = pino({ level: 'info' }, sink);

async function settingsFor(variables: Record<string, string>): Promise<Settings> {
  const loaded = await loadSettings({
    cwd: folder,
    env: { SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`, SITEWRIGHT_API_PORT: '0', ...variables },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded));
  return loaded.settings;
}

async function ask(api: RunningApi, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${api.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return readAnswer(answer.status, Object.fromEntries(answer.headers), await answer.text());
}

describe('without Temporal and MAAS', () => {
  let api: RunningApi;
  beforeAll(async () => {
    const settings = await settingsFor({ SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:1' });
    api = await startApi(settings, log, { checkAnswer: openapiCheck() });
  });
  afterAll(() => api.stop());

  it('the API starts, stays live, and reports unavailable services with the next step', async () => {
    for (const path of ['/health', '/api/v1/health']) {
      const health = await ask(api, 'GET', path);
      expect(health).toMatchObject({ status: 503, body: { status: 'unavailable', ok: false } });
      const checks = Object.fromEntries(health.body.checks.map((one: { name: string }) => [one.name, one]));
      expect(checks.store).toMatchObject({ ok: true });
      expect(checks.temporal).toMatchObject({ ok: false, fix: expect.stringContaining('sitewright up') });
      expect(checks.maas).toMatchObject({ ok: false, fix: expect.stringContaining('maas.url') });
    }
    expect(await ask(api, 'GET', '/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it('sites and documents work as usual', async () => {
    expect((await ask(api, 'POST', '/api/v1/sites', { name: 'dc1' })).status).toBe(201);
    const files = await exampleDocuments();
    expect((await ask(api, 'POST', '/api/v1/sites/dc1/revisions', { files })).status).toBe(201);
    expect((await ask(api, 'GET', '/api/v1/sites')).body.items).toMatchObject([{ name: 'dc1', latest_revision: 1 }]);
    expect((await ask(api, 'GET', '/api/v1/runs')).body).toEqual({ items: [], next: null });
  });

  it('a fresh system has a base release: a cluster and its own graph need nothing else, and it can be removed', async () => {
    const { body: releases } = await ask(api, 'GET', '/api/v1/releases');
    expect(releases).toMatchObject([{ name: 'base', version: 'base-1.0', roles: ['base-os'], is_deployable: true }]);
    const cluster = await ask(api, 'POST', '/api/v1/clusters', { name: 'own', release_id: releases[0].id });
    expect(cluster.status).toBe(201);
    const at = `/api/v1/clusters/${cluster.body.id}`;
    const node = await ask(api, 'POST', '/api/v1/nodes', { name: 'one', status: 'provisioned' });
    expect((await ask(api, 'POST', `${at}/assignment`, [{ id: node.body.id, roles: ['base-os'] }])).status).toBe(200);
    expect((await ask(api, 'GET', `${at}/deployment_tasks?graph_type=default`)).body).toEqual([]);
    const task = { id: 'mine', type: 'shell', version: '2.1.0', tags: ['base-os'], parameters: { cmd: 'true' } };
    expect((await ask(api, 'PUT', `${at}/deployment_graphs/default`, { tasks: [task] })).status).toBe(200);
    const plan = await ask(api, 'GET', `${at}/plan?graph_type=default`);
    expect(plan.body.totals).toMatchObject({ nodes: 1, running: 1 });
    const { body: packages } = await ask(api, 'GET', '/api/v1/packages');
    expect(packages).toMatchObject([{ name: 'base', version: '1.0.0', kind: 'release' }]);
    expect((await ask(api, 'DELETE', `/api/v1/packages/${packages[0].id}`)).status).toBe(409);
    expect((await ask(api, 'DELETE', at)).status).toBe(204);
    expect((await ask(api, 'DELETE', `/api/v1/packages/${packages[0].id}`)).status).toBe(204);
    expect((await ask(api, 'GET', '/api/v1/releases')).body).toEqual([]);
    expect((await ask(api, 'POST', '/api/v1/clusters', { name: 'own' })).status).toBe(409);
  });

  it('requests that need Temporal are refused with the fix; nothing is left behind', async () => {
    const started = await ask(api, 'POST', '/api/v1/sites/dc1/runs', { kind: 'deploy_site' });
    expect(started).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { code: 'temporal-unreachable', hint: expect.stringContaining('temporal.address') },
    });
    expect((await ask(api, 'GET', '/api/v1/runs')).body.items).toEqual([]);
  });

  it('nodes are shown without the data of MAAS; its check names the setting to correct', async () => {
    const nodes = await ask(api, 'GET', '/api/v1/sites/dc1/nodes/status');
    expect(nodes).toMatchObject({ status: 200, body: { stale: true, reason: expect.stringContaining('maas.url') } });
    expect(nodes.body.nodes).toHaveLength(exampleHosts.length);
    const check = await ask(api, 'GET', '/api/v1/maas/check');
    expect(check).toMatchObject({
      status: 503,
      body: { code: 'maas-not-configured', hint: expect.stringContaining('maas.url') },
    });
  });

  it('a second API on the same port is refused with a clear message, and does not disturb the first', async () => {
    const settings = await settingsFor({ SITEWRIGHT_API_PORT: new URL(api.url).port });
    await expect(startApi(settings, log)).rejects.toThrow(
      /cannot listen on 127\.0\.0\.1:\d+: the port is already in use; set api\.host and api\.port/,
    );
    expect((await ask(api, 'GET', '/api/v1/version')).status).toBe(200);
  });
});

it('without tokens, requests from other machines are refused', async () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org'])
    await expect(startApi(await settingsFor({ SITEWRIGHT_API_HOST: host }), log)).rejects.toThrow(
      /^the API cannot listen on .*: it would accept requests from anyone\. Set access\.tokens to on/,
    );
});

it('the log warns of a listener beyond this machine without TLS', async () => {
  const api = await startApi(
    await settingsFor({ SITEWRIGHT_API_HOST: '0.0.0.0', SITEWRIGHT_ACCESS_TOKENS: 'on' }),
    log,
  );
  expect((await ask(api, 'GET', '/api/v1/sites')).status).toBe(401);
  expect(logged).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('token bootstrap') }));
  expect(logged).toContainEqual(
    expect.objectContaining({ level: 40, host: '0.0.0.0', msg: expect.stringContaining('without TLS') }),
  );
  expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const stopped = Promise.all([api.stop(), api.stop(), api.done]);
  await stopped;
  await expect(fetch(`${api.url}/health/live`)).rejects.toThrow();
});

it('a server that accepts connections but never answers is distinguished from an unavailable worker', async () => {
  const deaf = createServer(() => undefined);
  await new Promise<void>((listening) => deaf.listen(0, '127.0.0.1', listening));
  const { port } = deaf.address() as { port: number };
  const api = await startApi(await settingsFor({ SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${port}` }), log);
  const started = await ask(api, 'POST', '/api/v1/sites/dc1/runs', { kind: 'deploy_site' });
  expect(started).toMatchObject({ status: 503, body: { code: 'temporal-unreachable' } });
  await api.stop();
  deaf.close();
});

it('a Temporal server that starts later is used without a restart', async () => {
  // Its port first refuses and then leads to the real server.
  const { connect } = await import('node:net');
  const target = inject('temporalAddress').split(':');
  const gate = createServer((socket) => {
    const through = connect(Number(target[1]), target[0]);
    socket.pipe(through).pipe(socket);
    for (const end of [socket, through]) end.on('error', () => undefined);
  });
  const port = await freePort();
  const api = await startApi(await settingsFor({ SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${port}` }), log);
  expect((await ask(api, 'GET', '/health')).status).toBe(503);
  await new Promise<void>((listening) => gate.listen(port, '127.0.0.1', listening));
  for (;;) {
    const { body } = await ask(api, 'GET', '/health');
    if (body.checks.every((one: { name: string; ok: boolean }) => one.ok || ['worker', 'maas'].includes(one.name)))
      break;
    await lookAgain();
  }
  expect(await ask(api, 'GET', '/health')).toMatchObject({ status: 200, body: { status: 'degraded', ok: false } });
  await api.stop();
  gate.close();
});

describe('without a worker', () => {
  let rig: TemporalRig;
  let site: LivingSite;
  let api: ApiRig;
  let run: string;
  beforeAll(async () => {
    rig = await temporalRig({ namespace: 'own' });
    const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    api = await apiOfSite(rig, site, 1);
    await api.ask('POST', '/api/v1/sites/stl1/revisions', { files: await exampleDocuments() });
    run = (await api.ask('POST', '/api/v1/sites/stl1/runs', { kind: 'deploy_site' })).body.id;
    while ((await api.ask('GET', `/api/v1/runs/${run}/status`)).body.current?.running.length !== 3) await lookAgain();
    await site.worker.stop();
  });
  afterAll(async () => {
    await rig.client.workflow.getHandle('deploy_site:stl1').terminate();
    await api.close();
    await site.close();
    await rig.close();
  });

  const parts = [
    ['POST', 'pause'],
    ['POST', 'resume'],
    ['POST', 'nodes/stl1r01s02/retry'],
  ] as const;

  // Concurrently, as several people would who wonder why nothing happens.
  it('requests that need a worker are refused with the command that starts one, however many there are', async () => {
    const asked = [...parts, ...parts];
    const answers = await Promise.all(asked.map(([method, part]) => api.ask(method, `/api/v1/runs/${run}/${part}`)));
    expect(answers.map(({ status, body }) => [status, body.code, body.detail])).toEqual(
      asked.map(() => [503, 'worker-unavailable', expect.stringContaining('the run is safe')]),
    );
    for (const { headers, body } of answers) {
      expect(headers).toMatchObject({ 'retry-after': '5' });
      expect(body.hint).toContain('sitewright worker');
    }
    expect(api.log.filter((line) => Number(line.level) >= 50)).toEqual([]);
  });

  it('what it showed last is read without Temporal, too, and says so', async () => {
    const alone = await apiWithoutTemporal(site.store);
    const said = 'Temporal cannot be reached: this is what the run showed last.';
    const shown = { phase: 'baremetal', total: 6, as_of: expect.any(String), warnings: expect.arrayContaining([said]) };
    expect(await alone.ask('GET', `/api/v1/runs/${run}/status`)).toMatchObject({ status: 200, body: shown });
    expect(await alone.ask('GET', `/api/v1/runs/${run}`)).toMatchObject({ status: 200, body: { outcome: null } });
    expect(await alone.ask('GET', `/api/v1/runs/${run}/report`)).toMatchObject({
      status: 200,
      body: { baremetal: { nodes: expect.any(Array) }, warnings: expect.arrayContaining([said]) },
    });
    for (const part of ['nodes', 'tree', 'plan'])
      expect((await alone.ask('GET', `/api/v1/runs/${run}/${part}`)).status).toBe(200);
    expect(await alone.ask('POST', `/api/v1/runs/${run}/stop`)).toMatchObject({
      status: 503,
      body: { code: 'temporal-unreachable' },
    });
    await alone.close();
  });

  it('stored data is shown, and signals are accepted: they wait for the worker', async () => {
    const status = async () => (await api.ask('GET', `/api/v1/runs/${run}/status`)).body;
    expect(await status()).toMatchObject({ phase: 'baremetal', total: 6, as_of: expect.any(String) });
    expect(await api.ask('GET', `/api/v1/runs/${run}`)).toMatchObject({ status: 200, body: { outcome: null } });
    for (const part of ['nodes', 'report', 'tree', 'plan'])
      expect((await api.ask('GET', `/api/v1/runs/${run}/${part}`)).status).toBe(200);
    expect((await api.ask('POST', `/api/v1/runs/${run}/stop`)).status).toBe(202);
    const warned = await lookUntil(status, ({ warnings }) => /the run is safe/.test(warnings.at(-1)));
    expect(warned).toMatchObject({ phase: 'baremetal', stopping: false });
    expect(warned.warnings.at(-1)).toContain("Start a worker: 'sitewright worker'");
    expect(await api.ask('GET', '/api/v1/health')).toMatchObject({ status: 200, body: { status: expect.any(String) } });
  });
});
