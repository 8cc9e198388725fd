import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { issueTicket } from '../../src/gateway/index.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { CLIENT, type OpenIdProviderRig, openIdProviderRig } from './openid-provider.ts';
import { type TemporalRig, temporalRig } from './temporal.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(root, 'bin/sitewright');

/** Found only in the secret's own file and on the node that may have it. */
export const CANARY = `canary-${process.pid}-b81d55e0`;

export interface Answer {
  /** 0: the connection was refused or cut off. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** An installation whose parts are processes, as its attackers see it: addresses, files, and programs of the system. */
export interface AttackedSystem {
  readonly folder: string;
  at(name: string): string;
  /** Over TLS, with tokens and a provider. */
  readonly api: string;
  readonly gateway: string;
  readonly provider: OpenIdProviderRig;
  readonly env: NodeJS.ProcessEnv;
  readonly environment: Environment;
  readonly site: string;
  readonly temporal: TemporalRig;
  readonly store: Store;
  readonly pids: Readonly<Record<'api' | 'gateway' | 'worker', number>>;
  /** The first token, as its command prints it. */
  readonly admin: string;
  /** The output of a process so far. */
  log(name: string): string;
  /** Starts another process of ours; it ends with the system. */
  start(name: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
  /** One of our commands, to its end. */
  command(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ code: number; output: string }>;
  stop(): Promise<void>;
}

/** `curl`, which accepts any certificate unless it is given an authority. */
export async function curl(url: string, ...args: readonly string[]): Promise<Answer> {
  const known = args.includes('--cacert') ? [] : ['-k'];
  const all = ['-s', '-i', '--max-time', '60', '--http1.1', '--path-as-is', ...known, ...args, url];
  const { stdout } = await promisify(execFile)('curl', all, { encoding: 'latin1', maxBuffer: 64e6 }).catch(
    ({ stdout }: { stdout: string }) => ({ stdout: stdout.startsWith('HTTP/') ? stdout : '' }),
  );
  const text = stdout.startsWith('HTTP/1.1 100 ') ? stdout.slice(stdout.indexOf('\r\n\r\n') + 4) : stdout;
  const end = text.indexOf('\r\n\r\n');
  const body = Buffer.from(end < 0 ? '' : text.slice(end + 4), 'latin1').toString('utf8');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), head: text.slice(0, Math.max(end, 0)), body };
}

export async function attackedSystem(): Promise<AttackedSystem> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.ts')]);
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-attacked-'));
  const at = (name: string) => join(folder, name);
  const [apiPort, gatewayPort] = [await freePort(), await freePort()];
  const api = `https://127.0.0.1:${apiPort}`;
  const gateway = `https://127.0.0.1:${gatewayPort}`;
  const temporal = await temporalRig({ namespace: 'own' });
  const provider = await openIdProviderRig(`${api}/auth/callback`);
  const certificate = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=api', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...certificate, ...name, '-keyout', at('api.key'), '-out', at('api.pem')], {
    stdio: 'ignore',
  });
  mkdirSync(at('secrets/db'), { recursive: true, mode: 0o700 });
  mkdirSync(at('sources'));
  writeFileSync(at('secrets/db/password'), CANARY, { mode: 0o600 });
  writeFileSync(at('openid.secret'), CLIENT.secret, { mode: 0o600 });
  writeFileSync(at('host-file'), 'of the gateway’s machine');
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: temporal.address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: temporal.namespace,
    SITEWRIGHT_TEMPORAL_TASK_QUEUE: temporal.taskQueue,
    SITEWRIGHT_STORE_URL: `sqlite:${at('store/store.db')}`,
    SITEWRIGHT_SECRETS_DIRECTORY: at('secrets'),
    SITEWRIGHT_GIT_HOSTS: 'git.example.org',
    SITEWRIGHT_TASK_LOGS_FOLDER: at('task-logs'),
    SITEWRIGHT_AGENT_STATE_DIR: at('agents'),
    SITEWRIGHT_GATEWAY_DATA_DIR: at('gateway'),
    SITEWRIGHT_LOG_LEVEL: 'debug',
  };
  const ofApi = {
    SITEWRIGHT_API_PORT: String(apiPort),
    SITEWRIGHT_API_TLS_CERT_FILE: at('api.pem'),
    SITEWRIGHT_API_TLS_KEY_FILE: at('api.key'),
    SITEWRIGHT_PACKAGES_UNPACKED_MEGABYTES: '32',
    SITEWRIGHT_ACCESS_TOKENS: 'on',
    SITEWRIGHT_ACCESS_APPROVAL_BY_ANOTHER: 'on',
    SITEWRIGHT_ACCESS_OPENID_ISSUER: provider.issuer,
    SITEWRIGHT_ACCESS_OPENID_CLIENT_ID: CLIENT.id,
    SITEWRIGHT_ACCESS_OPENID_CLIENT_SECRET_FILE: at('openid.secret'),
    SITEWRIGHT_ACCESS_OPENID_PAGE_URL: api,
    SITEWRIGHT_ACCESS_OPENID_SCOPES: 'openid email groups',
    SITEWRIGHT_ACCESS_OPENID_VIEWERS: 'staff',
    SITEWRIGHT_ACCESS_OPENID_ADMINS: 'site-admins',
  };
  const ofGateway = {
    SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
    SITEWRIGHT_GATEWAY_PORT: String(gatewayPort),
    SITEWRIGHT_GATEWAY_SOURCE_ROOTS: at('sources'),
  };
  const store = await openStore(env.SITEWRIGHT_STORE_URL!);
  await store.migrate();
  const made = await environment(store);
  const site = `cluster-${made.cluster}`;
  const processes = new Map<string, ChildProcess>();
  const start: AttackedSystem['start'] = (name, args, more = {}) => {
    const log = openSync(at(`${name}.log`), 'a');
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', log, log],
    });
    processes.set(name, child);
    return child;
  };
  const command: AttackedSystem['command'] = (args, more = {}) =>
    promisify(execFile)(process.execPath, [BIN, ...args], { cwd: folder, env: { ...env, ...more } }).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        output: stdout + stderr,
      }),
    );
  const log = (name: string): string => readFileSync(at(`${name}.log`), 'utf8');
  const bootstrapped = command(['token', 'bootstrap', '--name', 'root']);
  for (const node of made.nodes.map(String)) {
    mkdirSync(at(`node-${node}`), { mode: 0o700 });
    const office = {
      dataDir: at('gateway'),
      gatewayUrl: gateway,
      identities: store.nodeIdentities,
      tokenHours: 1,
    };
    const ticket = await issueTicket(office, site, node);
    writeFileSync(at(`node-${node}/ticket.json`), JSON.stringify(ticket), { mode: 0o600 });
    writeFileSync(at(`ticket-of-${node}.json`), JSON.stringify(ticket), { mode: 0o600 });
  }
  writeFileSync(at(`node-${made.nodes[0]}/policy.yaml`), `path_roots: [${at('allowed')}]\n`, { mode: 0o600 });
  const servers = {
    api: start('api', ['api'], ofApi),
    gateway: start('gateway', ['gateway'], ofGateway),
    worker: start('worker', ['worker'], { SITEWRIGHT_ACCESS_APPROVAL_BY_ANOTHER: 'on' }),
  };
  for (const node of made.nodes) start(`agent-${node}`, ['agent', 'serve', '--folder', at(`node-${node}`)]);
  while ((await curl(`${api}/health/live`)).status !== 200)
    if (servers.api.exitCode !== null) throw new Error(`the API ended:\n${log('api')}`);
  const [admin = ''] = /swt_\S+/.exec((await bootstrapped).output) ?? [];
  return {
    folder,
    at,
    api,
    gateway,
    provider,
    env,
    environment: made,
    site,
    temporal,
    store,
    pids: { api: servers.api.pid!, gateway: servers.gateway.pid!, worker: servers.worker.pid! },
    admin,
    log,
    start,
    command,
    async stop() {
      const ended = [...processes.values()].map(
        (child) =>
          new Promise<void>((gone) => {
            if (child.exitCode !== null || child.signalCode !== null) return gone();
            child.once('exit', () => gone());
            child.kill('SIGKILL');
          }),
      );
      await Promise.all(ended);
      await store.close();
      await provider.close();
      await temporal.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
