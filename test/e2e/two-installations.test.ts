import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { given } from '../../src/core/data/given.ts';
import { CertificateAuthority } from '../../src/gateway/identity/certificate-authority.ts';
import { newKeyPair, privateKeyPem } from '../../src/gateway/identity/key-pair.ts';
import { waitingRuns } from '../../src/ops/waiting-runs.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { openStore } from '../../src/store/index.ts';
import { runAgents } from '../../worker/agents.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { type Orchestrator, startOrchestrator } from '../../worker/orchestrator.ts';
import type { RunningAgents } from '../../worker/parts/agent.ts';
import { environment } from '../api/fuel-graphs-rig.ts';
import { createNamespace, PATIENCE } from '../rig/temporal.ts';
import { type TlsProxy, tlsProxy } from '../rig/tls-proxy.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';

/*
 * Two installations share a namespace of a server that requires client certificates, like one run by others. They have
 * the same sites, clusters, nodes and numbers of runs; only the setting `temporal.prefix` differs.
 */
const folder = mkdtempSync(join(tmpdir(), 'sitewright-two-'));
const at = (name: string): string => join(folder, name);
const namespace = `two-${process.pid}`;
const authority = new CertificateAuthority(at('authority'));

interface Installation {
  readonly api: RunningApi;
  readonly worker: Orchestrator;
  readonly agents: RunningAgents;
  readonly env: NodeJS.ProcessEnv;
  readonly cluster: number;
  readonly node: string;
}

let proxy: TlsProxy;
let connection: Connection;
let west: Installation;
let east: Installation;

/** Writes a new certificate and its key. Returns the fingerprint. */
function certify(name: string): string {
  const keys = newKeyPair();
  const { pem } = authority.issueNode(name, 'client', keys.publicKey);
  writeFileSync(at(`${name}.key`), privateKeyPem(keys.privateKey), { mode: 0o600 });
  writeFileSync(at(`${name}.pem`), pem);
  return new X509Certificate(pem).fingerprint256;
}

async function install(prefix: string): Promise<Installation> {
  const own = at(prefix);
  mkdirSync(own);
  const env = {
    SITEWRIGHT_TEMPORAL_ADDRESS: proxy.address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: namespace,
    SITEWRIGHT_TEMPORAL_PREFIX: prefix,
    SITEWRIGHT_TEMPORAL_TLS_CA_FILE: at('ca.pem'),
    SITEWRIGHT_TEMPORAL_TLS_CERT_FILE: at(`${prefix}.pem`),
    SITEWRIGHT_TEMPORAL_TLS_KEY_FILE: at(`${prefix}.key`),
    SITEWRIGHT_STORE_URL: `sqlite:${join(own, 'store.db')}`,
    SITEWRIGHT_AGENT_STATE_DIR: join(own, 'agents'),
    SITEWRIGHT_TASK_LOGS_FOLDER: join(own, 'logs'),
    SITEWRIGHT_GATEWAY_DATA_DIR: join(own, 'gateway'),
    SITEWRIGHT_API_PORT: '0',
    SITEWRIGHT_LOG_LEVEL: 'error',
  };
  const loaded = loadSettings({ env, cwd: own });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { settings } = loaded;
  const log = createLogger(settings.log, prefix);
  const store = await openStore(settings.store.url);
  await store.migrate();
  const { cluster, nodes } = await environment(store);
  const node = String(nodes[0]);
  const agentSettings = { ...settings, agent: { ...settings.agent, state_dir: join(own, 'node') } };
  const [worker, api, agents] = await Promise.all([
    startOrchestrator(settings, log, { bundlePath: inject('workflowBundlePath') }),
    startApi(settings, log, { patience: PATIENCE }),
    runAgents(agentSettings, [{ site: `cluster-${cluster}`, node }], log),
  ]);
  await store.close();
  return { api, worker, agents, env, cluster, node };
}

beforeAll(async () => {
  const { key, pem } = authority.issueServer(['127.0.0.1']);
  writeFileSync(at('ca.pem'), authority.certificate);
  proxy = await tlsProxy(inject('temporalAddress'), { authority: authority.certificate, cert: pem, key });
  connection = await Connection.connect({ address: inject('temporalAddress'), interceptors: [repeatCalls()] });
  await createNamespace(connection, namespace);
  for (const name of ['west', 'east']) certify(name);
  [west, east] = await Promise.all([install('west'), install('east')]);
});

afterAll(async () => {
  for (const one of [west, east]) {
    await one?.agents.stop();
    await one?.api.stop();
    await one?.worker.stop();
  }
  await connection?.close();
  await proxy?.close();
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function ask({ api }: Installation, method: string, path: string, body?: unknown): Promise<any> {
  const headers = {
    'x-sitewright-user': 'nina',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const answer = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

async function sitewright({ api, env }: Installation, ...args: string[]) {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_API: api.url, USER: 'nina' }, cwd: folder });
  return { code: await runCli(args, terminal), ...terminal.said };
}

/** Runs the graph to completion. Returns its transaction. */
async function run(one: Installation): Promise<number> {
  const { id } = await ask(one, 'POST', '/graphs/execute/', { cluster: one.cluster, graphs: [{ type: 'custom' }] });
  await expect.poll(async () => (await ask(one, 'GET', `/transactions/${id}`)).status, { interval: 200 }).toBe('ready');
  return id;
}

const upload = (one: Installation, name: string) =>
  ask(one, 'POST', `/clusters/${one.cluster}/deployment_graphs/custom`, {
    tasks: [
      {
        ...{ id: 'say', type: 'shell', version: '2.1.0', role: ['controller'] },
        parameters: { cmd: `echo ${name} >> ${at(`${name}.said`)}`, timeout: 60, retries: 0, interval: 0 },
      },
    ],
  });

const said = (name: string): string => readFileSync(at(`${name}.said`), 'utf8');

it('two installations never see each other’s runs, tasks and schedules', async () => {
  expect([west.cluster, west.node]).toEqual([east.cluster, east.node]);
  await Promise.all([upload(west, 'west'), upload(east, 'east')]);
  const [transaction, other] = await Promise.all([run(west), run(east)]);
  expect(transaction).toBe(other);
  expect([said('west'), said('east')]).toEqual(['west\n', 'east\n']);

  const client = new Client({ connection, namespace });
  for (const [name, one, another] of [
    ['west', west, 'east'],
    ['east', east, 'west'],
  ] as const) {
    const { items } = await ask(one, 'GET', '/runs');
    expect(items).toMatchObject([{ number: transaction }]);
    const own: string = items[0].workflow_id;
    expect(own).toMatch(new RegExp(`^${name}:execute_graph:${one.cluster}:[0-9a-z]+$`));
    // Without its store, each finds its own runs in the namespace, which has both.
    const inTemporal = (prefix: string | undefined) =>
      waitingRuns({ client, taskQueue: 'sitewright', ...given({ prefix }) }).find(items[0].id);
    await expect.poll(() => inTemporal(name)).toMatchObject({ workflowId: own });
    expect([await inTemporal(another), await inTemporal(undefined)]).toEqual([undefined, undefined]);
    // By its number, and by its workflow with and without the prefix; that of the other one is not found.
    for (const reference of [String(transaction), own, own.replace(`${name}:`, '')])
      expect(JSON.parse((await sitewright(one, 'run', 'show', reference, '-f', 'json')).out)).toMatchObject({
        workflow_id: own,
      });
    expect((await sitewright(one, 'run', 'show', own.replace(name, another))).code).toBe(3);
    const agents = await sitewright(one, 'doctor');
    expect(agents.out).toMatch(new RegExp(`^ok +worker +1 worker polls task queue ${name}:sitewright$`, 'm'));
  }
});

it('two installations can have schedules of the same name', async () => {
  for (const one of [west, east]) {
    const body = {
      name: 'nightly',
      kind: 'execute_graph',
      input: { cluster: one.cluster, graphs: [{ type: 'custom' }] },
    };
    await ask(one, 'POST', '/schedules', { ...body, cron: ['0 3 1 1 *'], paused: true });
  }
  const names = async (one: Installation) =>
    (await ask(one, 'GET', '/schedules')).items.map(({ name }: { name: string }) => name);
  await expect.poll(() => Promise.all([names(west), names(east)])).toEqual([['nightly'], ['nightly']]);
  const client = new Client({ connection, namespace });
  const action = (await client.schedule.getHandle('west:nightly').describe()).action;
  expect(action).toMatchObject({ taskQueue: 'west:sitewright', workflowId: 'west:execute_graph:1:nightly' });
  await ask(east, 'DELETE', '/schedules/nightly');
  await expect.poll(() => Promise.all([names(west), names(east)])).toEqual([['nightly'], []]);
});

it('a health check passes TLS, with the certificate and the prefix of its installation', async () => {
  const health = fileURLToPath(new URL('../../deploy/health.mjs', import.meta.url));
  const polls = (env: NodeJS.ProcessEnv, queue: string) =>
    promisify(execFile)(process.execPath, [health, 'polls', queue], { env: { ...process.env, ...env } }).then(
      () => 'healthy',
      ({ stderr }: { stderr: string }) => stderr,
    );
  expect(await polls(west.env, 'sitewright')).toBe('healthy');
  expect(await polls(west.env, 'elsewhere')).toMatch(/no process on .* polls west:elsewhere/);
  expect(
    await polls(
      { ...west.env, SITEWRIGHT_TEMPORAL_TLS_CERT_FILE: '', SITEWRIGHT_TEMPORAL_TLS_KEY_FILE: '' },
      'sitewright',
    ),
  ).toMatch(/^unhealthy: /m);
});

it('a renewed certificate is used everywhere without a restart, before the old one is refused', async () => {
  const old = new X509Certificate(readFileSync(at('west.pem'))).fingerprint256;
  const before = proxy.count(old);
  const renewed = certify('west');
  // API, worker, the agents of its host and the agent of the node notice changed files by themselves.
  await expect.poll(() => proxy.count(renewed), { interval: 200 }).toBeGreaterThanOrEqual(before);
  proxy.revoke(old);
  await run(west);
  expect(said('west')).toBe('west\n'.repeat(2));
  expect(proxy.count(old)).toBe(0);
  // The other one continues with its own.
  await run(east);
  expect(said('east')).toBe('east\n'.repeat(2));
});

it('an agent is drained by its own installation', async () => {
  const site = `cluster-${west.cluster}`;
  expect(await sitewright(west, 'agent', 'drain', '--site', site, '--node', west.node)).toMatchObject({ code: 0 });
  await west.agents.done;
  await run(east);
});
