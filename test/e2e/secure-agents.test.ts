import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { TaskLogs } from '../../src/agent/output/task-logs.ts';
import { graphRunName } from '../../src/core/graph-run/title.ts';
import { hashOfToken } from '../../src/gateway/identity/signing-keys.ts';
import { issueTicket } from '../../src/gateway/index.ts';
import { addEncryptionKey } from '../../src/platform/codec/encryption-keys.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { drainAgent } from '../../worker/drain-agent.ts';
import { startEnrolledAgent } from '../../worker/enrolled-agent.ts';
import { type RunningGateway, startGateway } from '../../worker/gateway.ts';
import { type Orchestrator, startOrchestrator } from '../../worker/orchestrator.ts';
import type { RunningAgents } from '../../worker/parts/agent.ts';
import { encryptionOf } from '../../worker/parts/encryption.ts';
import { gatewayUrl } from '../../worker/parts/of-settings.ts';
import { nodeFiles } from '../../worker/parts/own-credentials.ts';
import { controlQueue, nodeQueue } from '../../workflows/protocol.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { eventually } from '../rig/agent-site.ts';
import { supervisorProgram } from '../rig/program.ts';
import { createNamespace, PATIENCE } from '../rig/temporal.ts';
import { type Span, type TraceCollector, traceCollector } from '../rig/trace-collector.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';
import { type CountedTasks, countedTasks } from '../rig/workflows/counted-tasks.ts';

/** Found only in the secret's own file and where the task puts it. */
const CANARY = `canary-${process.pid}-7f3e9b1c5d`;
/** Text that only a holder of the encryption key may read in a history. */
const REASON = `reason-${process.pid}-a41c`;

const metricsPage = new URL('../../docs/how-to/monitor.md', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'sitewright-secure-'));
const at = (name: string) => join(folder, name);
const namespace = `secure-${process.pid}`;
const stopping = new AbortController();
const logLines: string[] = [];
const answers: string[] = [];
const agents = new Map<string, RunningAgents>();

let collector: TraceCollector;
let settings: Settings;
let store: Store;
let env: Environment;
let site = '';
/** Of the first run. */
let transaction = 0;
/** Of the last run, which may be open. */
let latest = 0;
let client: Client;
let connection: Connection;
let native: NativeConnection;
let gateway: RunningGateway;
let worker: Orchestrator;
let api: RunningApi;

beforeAll(async () => {
  mkdirSync(at('secrets/db'), { recursive: true, mode: 0o700 });
  writeFileSync(at('secrets/db/password'), CANARY, { mode: 0o600 });
  addEncryptionKey(at('keys'));
  collector = await traceCollector(true);
  const loaded = loadSettings({
    cwd: folder,
    env: {
      SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
      SITEWRIGHT_TEMPORAL_NAMESPACE: namespace,
      SITEWRIGHT_TEMPORAL_TASK_QUEUE: namespace,
      SITEWRIGHT_TEMPORAL_ENCRYPTION_KEY_FILE: at('keys'),
      SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`,
      SITEWRIGHT_SECRETS_DIRECTORY: at('secrets'),
      SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
      SITEWRIGHT_GATEWAY_PORT: String(await freePort()),
      SITEWRIGHT_GATEWAY_DATA_DIR: at('gateway'),
      SITEWRIGHT_TASK_LOGS_FOLDER: at('task-logs'),
      SITEWRIGHT_AGENT_STATE_DIR: at('agents'),
      SITEWRIGHT_API_PORT: '0',
      SITEWRIGHT_TELEMETRY_OTLP_ENDPOINT: collector.endpoint,
      SITEWRIGHT_LOG_LEVEL: 'debug',
    },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  settings = loaded.settings;
  const log = createLogger({ level: 'debug', format: 'json' }, 'secure', (line) => logLines.push(line));
  const { address } = settings.temporal;
  connection = await Connection.connect({ address, interceptors: [repeatCalls()] });
  await createNamespace(connection, namespace);
  client = new Client({ connection, namespace, ...encryptionOf(settings) });
  store = await openStore(settings.store.url);
  await store.migrate();
  env = await environment(store);
  site = `cluster-${env.cluster}`;
  [gateway, worker, api] = await Promise.all([
    startGateway(settings, log),
    startOrchestrator(settings, log),
    // The gateway runs alone here.
    startApi({ ...settings, gateway: { ...settings.gateway, host: undefined } } as Settings, log, {
      patience: PATIENCE,
    }),
  ]);
  native = await NativeConnection.connect({ address });
  for (const node of env.nodes.map(String)) await enrol(node, `node-${node}`);
});

afterAll(async () => {
  stopping.abort();
  for (const running of agents.values()) await running.stop();
  await api?.stop();
  await worker?.stop();
  await gateway?.stop();
  await store?.close();
  await native?.close();
  await connection?.close();
  await collector?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As `agent serve` on a machine that was just deployed. */
async function enrol(node: string, name: string): Promise<void> {
  const own = at(name);
  mkdirSync(own, { mode: 0o700 });
  const office = {
    dataDir: settings.gateway.data_dir,
    gatewayUrl: gatewayUrl(settings),
    identities: store.nodeIdentities,
    tokenHours: 1,
  };
  const ticket = await issueTicket(office, site, node);
  writeFileSync(nodeFiles(own).ticket, JSON.stringify(ticket), { mode: 0o600 });
  const log = createLogger({ level: 'debug', format: 'json' }, 'agent', (line) => logLines.push(line));
  agents.set(
    node,
    await startEnrolledAgent(own, settings, log, '1', stopping.signal, { supervisorCommand: supervisorProgram() }),
  );
  // The token is spent.
  const token = await store.nodeIdentities.findToken(hashOfToken(ticket.token));
  expect(token).toMatchObject({ site, node, usedAt: expect.any(String), certificate: expect.any(String) });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function ask(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers: { 'x-sitewright-user': 'nina', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  answers.push(text);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
}

const count = (node: string, task: string) => `echo x >>${at(`count-${node}-${task}`)}`;
const counted = (node: string, task: string): number => {
  try {
    return readFileSync(at(`count-${node}-${task}`), 'utf8').length / 2;
  } catch {
    return 0;
  }
};

/** The graph of a run: its transaction, and its name in orders and journals. */
async function graphOf(parent: number): Promise<{ id: number; name: string; planHash: string | null }> {
  const all = await store.transactions.list({ clusterId: env.cluster });
  const { id } = all.find(({ parentId }) => parentId === parent)!;
  const { temporalRunId } = await store.transactions.get(parent);
  return { id, name: graphRunName(id, temporalRunId!), planHash: (await store.transactions.get(id)).planHash };
}

/** Runs the graph to completion; returns the transaction. */
async function run(): Promise<number> {
  const graphs = [{ type: 'custom' }];
  const { id } = await ask('POST', '/graphs/execute/', { cluster: env.cluster, graphs, reason: REASON });
  latest = id;
  for (;;) {
    const { status } = await ask('GET', `/transactions/${id}`);
    if (status === 'ready' || status === 'error') return id;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const statuses = async (id: number): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await ask('GET', `/transactions/${id}/deployment_history/`)).map(
      (one: { task_name: string; node_id: string; status: string }) => [`${one.task_name}@${one.node_id}`, one.status],
    ),
  );

const alarms = async (): Promise<string[]> =>
  (await store.audit.list({ action: 'agent.alarm', limit: 1000 })).items.map(
    ({ target, details }) => `${target} ${String((details as { kind: string }).kind)}`,
  );

function filesBelow(top: string): string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** All histories of the namespace: as the server stores them, and as a holder of the key reads them. */
async function histories(): Promise<{ raw: string; decoded: string }> {
  let [raw, decoded] = ['', ''];
  const codec = client.options.loadedDataConverter.payloadCodecs[0]!;
  for await (const { workflowId, runId } of client.workflow.list()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const bytes = temporal.api.history.v1.History.encode(history).finish();
    raw += Buffer.from(bytes).toString('latin1');
    const found: temporal.api.common.v1.IPayload[] = [];
    payloadsIn(history, found);
    for (const payload of await codec.decode(found as never))
      decoded += `${Buffer.from(payload.data ?? []).toString('utf8')}\n`;
  }
  return { raw, decoded };
}

function payloadsIn(value: unknown, found: temporal.api.common.v1.IPayload[]): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) found.push(value as never);
  else for (const inner of Object.values(value)) payloadsIn(inner, found);
}

it('a run over gateway, signed orders and encrypted payloads leaves the secret where it belongs, and nowhere else', async () => {
  const [first, second] = env.nodes.map(String) as [string, string];
  const uses = [
    { name: 'DB_PASSWORD', ref: 'db/password', as: 'environment' },
    { name: 'password_file', ref: 'db/password', as: 'file' },
  ];
  const hand = `printf '%s\\n' "$DB_PASSWORD" "in the middle: $DB_PASSWORD!"; cat "$SITEWRIGHT_SECRETS/password_file" >&2; [ "$(cat "$SITEWRIGHT_SECRETS/password_file")" = "$DB_PASSWORD" ] && [ -n "$DB_PASSWORD" ]`;
  const once = { timeout: 600, retries: 0, interval: 0 };
  await ask('POST', `/clusters/${env.cluster}/deployment_graphs/custom`, {
    tasks: [
      {
        id: 'first',
        type: 'shell',
        version: '2.1.0',
        role: ['controller'],
        secrets: uses,
        parameters: {
          cmd: `${count(first, 'first')}; while [ -e ${at('hold')} ]; do sleep 0.05; done; ${hand}`,
          ...once,
        },
      },
      {
        id: 'place',
        type: 'upload_file',
        version: '2.1.0',
        role: ['compute'],
        'cross-depends': [{ name: 'first', role: 'controller' }],
        parameters: { path: at('placed'), data: { secret: 'db/password' }, permissions: '0600', ...once },
      },
      {
        id: 'last',
        type: 'shell',
        version: '2.1.0',
        role: ['compute'],
        requires: ['place'],
        parameters: { cmd: `${count(second, 'last')}; echo done`, ...once },
      },
    ],
  });
  const id = await run();
  transaction = id;
  const all = { [`first@${first}`]: 'ready', [`place@${second}`]: 'ready', [`last@${second}`]: 'ready' };
  expect(await statuses(id)).toEqual(all);
  expect([counted(first, 'first'), counted(second, 'last')]).toEqual([1, 1]);
  expect(readFileSync(at('placed'), 'utf8')).toBe(CANARY);
  expect(statSync(at('placed')).mode & 0o777).toBe(0o600);
  // Each order was signed once.
  expect(await alarms()).toEqual([]);

  // Every possible request.
  const { items } = await ask('GET', '/runs');
  for (const { id: one } of items)
    for (const part of ['', '/status', '/report', '/tree'])
      await ask('GET', `/runs/${one}${part}`).catch(() => undefined);
  const log = await ask('GET', `/runs/${id}/nodes/${first}/tasks/first/log`);
  expect(log).toContain('in the middle: [secret]!');
  const errors = await ask('GET', `/runs/${id}/nodes/${first}/tasks/first/log?stream=stderr`).catch(() => '');
  answers.push(JSON.stringify(errors));
  for (const path of ['', '/plan', '/deployment_info', '/settings', '/deployment_history/'])
    await ask('GET', `/transactions/${id}${path}`).catch(() => undefined);
  await ask('GET', `/clusters/${env.cluster}/deployment_graphs/`);
  const known = await histories();
  expect(known.decoded).toContain(REASON);
  expect(known.raw).not.toContain(REASON);
  // As in docs/how-to/operating.md.
  mkdirSync(at('backup'));
  const database = new DatabaseSync(at('store.db'), { readOnly: true });
  await backup(database, at('backup/store.db'));
  database.close();
  expect(readFileSync(at('backup/store.db')).includes('db/password')).toBe(true);
  const meant = [at('secrets/db/password'), at('placed')];
  const files = filesBelow(folder).filter((path) => !meant.includes(path));
  for (const part of ['store.db', 'backup/store.db', 'task-logs/', 'agents/', 'gateway/', 'node-'])
    expect(
      files.some((path) => path.slice(folder.length + 1).startsWith(part)),
      part,
    ).toBe(true);
  const forms = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, -4), Buffer.from(CANARY).toString('hex')];
  for (const form of forms) {
    expect(files.filter((path) => readFileSync(path).includes(form))).toEqual([]);
    for (const [name, text] of Object.entries({ ...known, answers: answers.join('\n'), logs: logLines.join('\n') }))
      expect(text.includes(form), name).toBe(false);
  }
  // The tests search the right place: values that are not secret are found there.
  expect(files.filter((path) => readFileSync(path).includes('in the middle')).length).toBeGreaterThan(0);
});

it('one trace leads from the request through the workflow to the tasks of the agents', async () => {
  const { temporalRunId } = await store.transactions.get(transaction);
  const ofRun = () =>
    collector.spans().filter(({ attributes }) => attributes.some(({ value }) => value.stringValue === temporalRunId));
  const tasks = () => ofRun().filter(({ name, service }) => name === 'run_task' && service === 'sitewright-agent');
  const workflow = () => ofRun().find(({ name }) => name === 'execute_graph');
  const request = () => collector.spans().find(({ spanId }) => spanId === workflow()?.parentSpanId);
  // Processes send their spans every few seconds.
  await expect.poll(() => [tasks().length, request() !== undefined]).toEqual([3, true]);
  expect(request()).toMatchObject({ service: 'sitewright-api', name: 'POST /api/v1/graphs/execute/' });
  expect(new Set(ofRun().map(({ traceId }) => traceId))).toEqual(new Set([request()!.traceId]));
  for (const { parentSpanId } of tasks()) expect(parentSpanId).toBe(workflow()!.spanId);
  // As docs/how-to/monitor.md shows it.
  const [, shown = ''] = /```text\n(sitewright-api[\s\S]*?)```/.exec(readFileSync(metricsPage, 'utf8')) ?? [];
  await expect
    .poll(() => new Set(traceTree(collector.spans(), request()!)))
    .toEqual(new Set(shown.trimEnd().split('\n')));
  // Traces are no way around the secret.
  expect(JSON.stringify(collector.received)).not.toContain(CANARY);
});

/** A span and those below it, a line each. */
function traceTree(spans: ReturnType<TraceCollector['spans']>, top: Span & { readonly service: string }): string[] {
  const lines = (span: typeof top, depth: number): string[] => [
    `${'  '.repeat(depth)}${span.service}  ${span.name}`,
    ...spans.filter(({ parentSpanId }) => parentSpanId === span.spanId).flatMap((child) => lines(child, depth + 1)),
  ];
  return lines(top, 0);
}

/** An attacker's own worker, with the namespace's credential and the key of payloads. */
async function intruderOn(taskQueue: string): Promise<Worker> {
  const { codePath } = await bundleTestWorkflows('test/rig/workflows/counted-tasks.ts');
  return Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowBundle: { codePath },
    ...encryptionOf(settings),
  });
}

it('the credential of the namespace alone commands no agent, and its use raises an alarm', async () => {
  const [first, second] = env.nodes.map(String) as [string, string];
  const { name, planHash } = await graphOf(transaction);
  const taskQueue = `intruder-${process.pid}`;
  const intruder = await intruderOn(taskQueue);
  let tries = 0;
  const common = (node: string): CountedTasks => ({
    run: name,
    nodes: [{ node, queue: nodeQueue(site, node) }],
    tasks: ['last'],
    heartbeatMs: 5_000,
    scheduleToStartMs: 60_000,
    ...(planHash === null ? {} : { plan: planHash }),
  });
  const order = async (node: string, more: Partial<CountedTasks>) => {
    const input: CountedTasks = { ...common(node), ...more };
    const workflowId = `intruder-${process.pid}-${++tries}`;
    return Object.values(await client.workflow.execute(countedTasks, { taskQueue, workflowId, args: [input] }))[0];
  };
  const refused = { outcome: 'refused' };
  await intruder.runUntil(async () => {
    // A task that is in no plan; another node's; a real one again, a later attempt, or as in another plan.
    expect(await order(first, { run: '999', tasks: ['forged'] })).toMatchObject(refused);
    expect(await order(first, { tasks: ['last'] })).toMatchObject(refused);
    expect(await order(second, { generation: 2 })).toMatchObject(refused);
    // Finished tasks are reported again, not run again.
    expect(await order(second, {})).toMatchObject({ outcome: 'success' });
    expect(await order(second, { generation: 3 })).toMatchObject(refused);
    // The same while a run is open.
    writeFileSync(at('hold'), '');
    const running = run();
    await eventually(() => counted(first, 'first') === 2);
    const open = { run: (await graphOf(latest)).name };
    expect(await order(second, { ...open, plan: 'other' })).toMatchObject(refused);
    expect(await order(second, { ...open, type: 'puppet' })).toMatchObject(refused);
    // A task under half of its run's name, which no journal knows; one whose turn has not come.
    const half = open.run.split('.')[0]!;
    expect(await order(second, { ...open, run: half })).toMatchObject(refused);
    const early = client.workflow.start(countedTasks, {
      taskQueue,
      workflowId: `intruder-${process.pid}-early`,
      args: [{ ...common(second), ...open }],
    });
    await eventually(async () => (await alarms()).includes(`node/${site}/${second} not-started`));
    await (await early).terminate();
    expect(counted(second, 'last')).toBe(1);
    rmSync(at('hold'));
    expect(new Set(Object.values(await statuses(await running)))).toEqual(new Set(['ready']));
  });
  expect([counted(first, 'first'), counted(second, 'last')]).toEqual([2, 2]);
  const kinds = [`${first} no-order`, `${second} no-order`, `${second} other-task`, `${second} not-started`];
  expect(new Set(await alarms())).toEqual(new Set(kinds.map((kind) => `node/${site}/${kind}`)));
});

it('a node with a revoked certificate gets no more orders; a redeployed one does, and its former certificate is invalid', async () => {
  const [first, second] = env.nodes.map(String) as [string, string];
  const at1 = new Date().toISOString();
  expect(await store.nodeIdentities.revoke({ site, node: first, at: at1, reason: 'stolen' })).toBe(1);
  const refused = await statuses(await run());
  expect(refused[`first@${first}`]).toBe('error');
  expect(counted(first, 'first')).toBe(2);
  expect(await alarms()).toContain(`node/${site}/${first} revoked-certificate`);

  await agents.get(first)!.stop();
  await enrol(first, `node-${first}-again`);
  await agents.get(second)!.stop();
  await enrol(second, `node-${second}-again`);
  const certificates = await store.nodeIdentities.listCertificates(site, second);
  expect(certificates.map(({ revokedAt, reason }) => [revokedAt !== null, reason])).toEqual([
    [false, null],
    [true, 'the node was enrolled again'],
  ]);
  expect(new Set(Object.values(await statuses(await run())))).toEqual(new Set(['ready']));
  expect([counted(first, 'first'), counted(second, 'last')]).toEqual([3, 3]);
});

it('a task that only Temporal cancels continues; a task that an operator cancels ends, and names the operator', async () => {
  const first = String(env.nodes[0]);
  const logs = new TaskLogs({ folder: settings.task_logs.folder });
  /** A run whose first task waits; returns the name of the graph for agents, and the request for the run. */
  const held = async () => {
    const before = counted(first, 'first');
    writeFileSync(at('hold'), '');
    const running = run();
    await eventually(() => counted(first, 'first') === before + 1);
    const { workflowId, temporalRunId } = await store.transactions.get(latest);
    const { name } = await graphOf(latest);
    const result = () => logs.result({ run: name, task: 'first', node: first, generation: 1 });
    return { running, workflowId: workflowId!, runId: temporalRunId!, result };
  };

  const stolen = await held();
  await client.workflow.getHandle(stolen.workflowId).cancel();
  await eventually(async () => (await alarms()).includes(`node/${site}/${first} cancel-not-ordered`));
  rmSync(at('hold'));
  await stolen.running;
  expect(stolen.result()).toMatchObject({ outcome: 'success', exitCode: 0 });

  const ordered = await held();
  await ask('POST', `/runs/${ordered.runId}/cancel`, { reason: 'wrong release' });
  await ordered.running;
  rmSync(at('hold'));
  expect(ordered.result()).toMatchObject({
    outcome: 'cancelled',
    failure: { kind: 'cancelled', reason: 'wrong release', by: 'nina' },
  });
});

it('an agent is drained by an operator, once, and not with the credential of the namespace alone', async () => {
  const second = String(env.nodes[1]);
  const taskQueue = `drainer-${process.pid}`;
  const intruder = await intruderOn(taskQueue);
  const asked = (id: string) =>
    client.workflow.execute('askControl', {
      taskQueue,
      workflowId: `drainer-${process.pid}-${id}`,
      args: ['drain', controlQueue(nodeQueue(site, second)), second],
    });
  await intruder.runUntil(async () => {
    await expect(asked('first')).rejects.toThrow();
    expect(await alarms()).toContain(`node/${site}/${second} drain-not-ordered`);
    expect(await drainAgent(settings, { site, node: second, by: 'nina', reason: 'an upgrade' })).toEqual({
      ok: true,
      unfinished: [],
    });
    await agents.get(second)!.done;
    await enrol(second, `node-${second}-upgraded`);
    // The order was for the process that has ended.
    await expect(asked('again')).rejects.toThrow();
  });
  expect(new Set(Object.values(await statuses(await run())))).toEqual(new Set(['ready']));
});
