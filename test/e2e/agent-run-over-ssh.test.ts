import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { type RunningApi, startApi } from '../../worker/api.ts';
import { type Orchestrator, startOrchestrator } from '../../worker/orchestrator.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { eventually } from '../rig/agent-site.ts';
import { SshdRig, sshdMissing } from '../rig/sshd.ts';
import { createNamespace, PATIENCE } from '../rig/temporal.ts';

const missing = sshdMissing();
if (missing !== undefined) console.warn(`skipped: a graph over ssh, because ${missing}`);

const BUILD = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/sitewright', import.meta.url));

/** `sitewright agent run --ssh` as an operator starts it: graphs of a cluster on machines without our software. */
describe.skipIf(missing !== undefined)('a graph on machines without agents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-over-ssh-'));
  const at = (name: string) => join(folder, name);
  const namespace = `over-ssh-${process.pid}`;
  const environmentOf = {
    SITEWRIGHT_TEMPORAL_ADDRESS: inject('temporalAddress'),
    SITEWRIGHT_TEMPORAL_NAMESPACE: namespace,
    SITEWRIGHT_TEMPORAL_TASK_QUEUE: namespace,
    SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`,
    SITEWRIGHT_TASK_LOGS_FOLDER: at('task-logs'),
    SITEWRIGHT_AGENT_STATE_DIR: at('agents'),
    SITEWRIGHT_SECRETS_DIRECTORY: at('secrets'),
    SITEWRIGHT_API_PORT: '0',
  };
  const transports = new Map<string, ChildProcess>();
  let rig: SshdRig;
  let store: Store;
  let env: Environment;
  let connection: Connection;
  let worker: Orchestrator;
  let api: RunningApi;

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [BUILD]);
    rig = await SshdRig.open();
    const loaded = loadSettings({ cwd: folder, env: environmentOf });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const { settings } = loaded;
    connection = await Connection.connect({ address: settings.temporal.address, interceptors: [repeatCalls()] });
    await createNamespace(connection, namespace);
    store = await openStore(settings.store.url);
    await store.migrate();
    env = await environment(store);
    const log = createLogger({ level: 'silent', format: 'json' }, 'over-ssh');
    [worker, api] = await Promise.all([
      startOrchestrator(settings, log),
      startApi(settings, log, { patience: PATIENCE }),
    ]);
    writeFileSync(at('policy.yaml'), `shell: allow\npath_roots: [${folder}]\n`);
    for (const node of env.nodes.map(String)) await begin(node);
  });

  afterAll(async () => {
    for (const transport of transports.values()) transport.kill('SIGKILL');
    await api?.stop();
    await worker?.stop();
    await store?.close();
    await connection?.close();
    rig?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(node: string): Promise<void> {
    const { user, host, port, identityFile, knownHostsFile } = rig.target;
    const words = ['agent', 'run', '--site', `cluster-${env.cluster}`, '--node', node, '--ssh', `${user}@${host}`];
    const way = ['--port', String(port), '--identity-file', identityFile!, '--known-hosts', knownHostsFile!];
    const transport = spawn(process.execPath, [BIN, ...words, ...way, '--policy', at('policy.yaml')], {
      cwd: folder,
      env: { ...process.env, ...environmentOf, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    transports.set(node, transport);
    let said = '';
    transport.stdout.on('data', (text: Buffer) => (said += text.toString()));
    transport.stderr.on('data', (text: Buffer) => (said += text.toString()));
    await eventually(() => {
      if (transport.exitCode !== null) throw new Error(said);
      return said.includes(`over ssh to ${host}`);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function ask(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await fetch(`${api.url}/api/v1${path}`, {
      method,
      headers: { 'x-sitewright-user': 'nina', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  }

  async function start(tasks: readonly object[]): Promise<number> {
    await ask('DELETE', `/clusters/${env.cluster}/deployment_graphs/custom`).catch(() => undefined);
    await ask('POST', `/clusters/${env.cluster}/deployment_graphs/custom`, { tasks });
    const { id } = await ask('POST', '/graphs/execute/', { cluster: env.cluster, graphs: [{ type: 'custom' }] });
    return id;
  }
  async function ended(id: number): Promise<Record<string, string>> {
    await eventually(async () => {
      const { status } = await ask('GET', `/transactions/${id}`);
      return status !== 'pending' && status !== 'running';
    });
    const rows: { task_name: string; node_id: string; status: string }[] = await ask(
      'GET',
      `/transactions/${id}/deployment_history/`,
    );
    return Object.fromEntries(rows.map((row) => [`${row.task_name}@${row.node_id}`, row.status]));
  }
  const task = (id: string, type: string, role: string, parameters: object, more: object = {}) => ({
    id,
    type,
    version: '2.1.0',
    role: [role],
    parameters: { timeout: 600, retries: 0, interval: 0, ...parameters },
    ...more,
  });

  it('runs in order, each task once, also when the process that delivers it is killed', async () => {
    const [first, second] = env.nodes.map(String) as [string, string];
    const id = await start([
      task('held', 'shell', 'controller', {
        cmd: `echo x >>${at('count')}; echo before; until [ -e ${at('go')} ]; do sleep 0.05; done; echo after`,
      }),
      task(
        'place',
        'upload_file',
        'compute',
        { path: at('placed'), data: 'by ssh\n', permissions: '0640' },
        {
          'cross-depends': [{ name: 'held', role: 'controller' }],
        },
      ),
      task('says', 'shell', 'compute', { cmd: `cat ${at('placed')}` }, { requires: ['place'] }),
    ]);
    await eventually(() => existsSync(at('count')));
    transports.get(first)!.kill('SIGKILL');
    await begin(first);
    writeFileSync(at('go'), '');
    expect(await ended(id)).toEqual({
      [`held@${first}`]: 'ready',
      [`place@${second}`]: 'ready',
      [`says@${second}`]: 'ready',
    });
    expect(readFileSync(at('count'), 'utf8')).toBe('x\n');
    expect([readFileSync(at('placed'), 'utf8'), statSync(at('placed')).mode & 0o777]).toEqual(['by ssh\n', 0o640]);
    expect(await ask('GET', `/runs/${id}/nodes/${first}/tasks/held/log`)).toContain('before\nafter\n');
    expect(await ask('GET', `/runs/${id}/nodes/${second}/tasks/says/log`)).toContain('by ssh\n');
  });

  it('is cancelled by an operator, and nothing of it keeps running on the node', async () => {
    const stray = `86561.${process.pid}`;
    const sleepers = () =>
      execFileSync('sh', ['-c', 'grep -alF "$0" /proc/[0-9]*/cmdline 2>/dev/null; true', stray])
        .toString()
        .split('\n')
        .filter((path) => path !== '' && existsSync(path) && readFileSync(path, 'utf8').startsWith('sleep\0'));
    const id = await start([task('endless', 'shell', 'controller', { cmd: `sleep ${stray} & sleep ${stray}` })]);
    await eventually(() => sleepers().length === 2);
    const { items } = await ask('GET', '/runs?open=true');
    await ask('POST', `/runs/${items[0].id}/cancel`, { reason: 'enough' });
    const statuses = await ended(id);
    expect(Object.values(statuses)).not.toContain('ready');
    expect(sleepers()).toEqual([]);
  });
});
