// `npm run life`: from bare machines to a service that people use, on machines that are containers. `--only N` runs one
// step (and the first, which the others need); `--keep` leaves everything running. docs/whole-life.md is the same by hand.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createRelay } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ensureInstalled } from './ensure-installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const { values: flags } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'boolean' } } });

/** The host has this address in the machines' network: MAAS' gateway there. */
const HOST = '10.77.0.1';
const VIRTUAL_ADDRESS = '10.77.0.250';
const PORTS = await freePorts('maas', 'temporal', 'api', 'gateway', 'files', 'relay');
const SITE = 'webstack';

/** What nodes install for the service: kept in their image, so that no mirror is asked twice. */
const MODULES = ['stdlib', 'concat', 'haproxy', 'postgresql'].map((name) => `puppet-module-puppetlabs-${name}`);
const SERVICES = ['haproxy', 'keepalived', 'postgresql-15', 'postgresql-client-15', 'python3-psycopg2', 'memcached'];

const folder = await mkdtemp(join(tmpdir(), 'sitewright-life-'));
/** @type {(() => unknown)[]} what ends it all, newest first */
const ends = [];
/** @type {NodeJS.ProcessEnv} */
const env = {
  ...process.env,
  SITEWRIGHT_MAAS_URL: `http://127.0.0.1:${PORTS.maas}/MAAS`,
  SITEWRIGHT_TEMPORAL_ADDRESS: `127.0.0.1:${PORTS.temporal}`,
  SITEWRIGHT_GATEWAY_TEMPORAL_ADDRESS: `${HOST}:${PORTS.relay}`,
  SITEWRIGHT_API_PORT: String(PORTS.api),
  SITEWRIGHT_API: `http://127.0.0.1:${PORTS.api}`,
  SITEWRIGHT_GATEWAY_HOST: HOST,
  SITEWRIGHT_GATEWAY_PORT: String(PORTS.gateway),
  SITEWRIGHT_GATEWAY_AGENT_PACKAGE: `http://${HOST}:${PORTS.files}/agent.tgz`,
  SITEWRIGHT_GATEWAY_NODE_PACKAGE: `http://${HOST}:${PORTS.files}/node.tar`,
  SW_SECRET_WEBSTACK_DATABASE: randomBytes(12).toString('hex'),
};

/**
 * @param {...string} names
 * @returns {Promise<Record<string, number>>}
 */
async function freePorts(...names) {
  const servers = await Promise.all(
    names.map(async (name) => {
      const server = createServer();
      await new Promise((done) => server.listen(0, () => done(undefined)));
      return /** @type {const} */ ([name, server]);
    }),
  );
  const ports = servers.map(([name, server]) => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    server.close();
    return [name, port];
  });
  return Object.fromEntries(ports);
}

/** @type {{ step: string, seconds: number, said: string }[]} */
const report = [];
const startedAt = performance.now();

/** @param {string} line */
const say = (line) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);

/**
 * A process of ours that ends with this one, however that ends. Resolves when its output matches.
 *
 * @param {string} name
 * @param {readonly string[]} args of sitewright
 * @param {RegExp} ready
 * @returns {Promise<string>} what the expression's first group matched
 */
function start(name, args, ready) {
  const program = [process.execPath, join(root, 'bin/sitewright'), ...args];
  const watchdog = join(root, 'scripts/run-with-parent.mjs');
  const child = spawn(process.execPath, [watchdog, '20000', ...program], {
    cwd: folder,
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  const ended = new Promise((done) => child.once('close', done));
  ends.push(() => {
    child.stdin.end();
    return ended;
  });
  return new Promise((done, fail) => {
    /** @type {string[]} */
    const last = [];
    createInterface(child.stderr).on('line', (line) => {
      const found = ready.exec(line);
      if (found) done(found[1] ?? '');
      last.push(line);
      if (last.length > 30) last.shift();
      if (process.env.LIFE_VERBOSE) console.log(`${name}: ${line}`);
    });
    child.once('close', () => fail(new Error(`${name} ended:\n${last.join('\n')}`)));
  });
}

/**
 * `sitewright ARGS`, as a person would type it.
 *
 * @param {...string} args
 * @returns {Promise<string>}
 */
async function sitewright(...args) {
  say(`$ sitewright ${args.join(' ')}`);
  const { stdout } = await run(join(root, 'bin/sitewright'), args, { cwd: folder, env, maxBuffer: 2 ** 26 });
  return stdout;
}

/**
 * One step with its time.
 *
 * @param {string} name
 * @param {() => Promise<string>} work what it answers goes into the report
 */
async function step(name, work) {
  say(`--- ${name}`);
  const from = performance.now();
  const said = await work();
  report.push({ step: name, seconds: Math.round((performance.now() - from) / 1000), said });
}

/** What nodes fetch at their first boot: this Node.js and the agent. */
async function serveFiles() {
  const files = join(folder, 'files');
  await mkdir(join(files, 'node'), { recursive: true });
  const { stdout } = await run(process.execPath, [join(root, 'scripts/pack-agent.mjs'), files]);
  await run('mv', [stdout.trim(), join(files, 'agent.tgz')]);
  const release = join(files, 'node', 'release');
  await mkdir(join(release, 'bin'), { recursive: true });
  await cp(process.execPath, join(release, 'bin/node'));
  const npm = dirname(dirname((await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trim()));
  await cp(npm, join(release, 'lib/node_modules/npm'), { recursive: true });
  await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(release, 'bin/npm')]);
  await run('tar', ['--create', '--file', join(files, 'node.tar'), '--directory', join(files, 'node'), 'release']);
  const server = createServer(({ url }, response) => {
    if (url !== '/agent.tgz' && url !== '/node.tar') return response.writeHead(404).end();
    createReadStream(join(files, url.slice(1))).pipe(response);
  });
  await new Promise((done, fail) => server.once('error', fail).listen(PORTS.files, HOST, () => done(undefined)));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
}

/** Nodes reach Temporal through this; the dev server itself listens on the loopback address only. */
async function relayToTemporal() {
  const server = createRelay((socket) => {
    const upstream = connect(PORTS.temporal ?? 0, '127.0.0.1');
    pipeline(socket, upstream, socket, () => undefined);
  });
  await new Promise((done, fail) => server.once('error', fail).listen(PORTS.relay, HOST, () => done(undefined)));
  ends.push(() => server.close());
}

/** The site's machines, as MAAS has them. */
async function seed() {
  const names = ['web-lb-1', 'web-app-1', 'web-app-2', 'web-app-3', 'web-db-1'];
  const file = join(folder, 'machines.json');
  const machines = names.map((hostname) => ({ hostname, status: 'ready', power_type: 'ipmi' }));
  await writeFile(file, JSON.stringify({ machines }));
  return file;
}

/** @returns {Promise<string>} the service's answer at its virtual address */
async function answer() {
  const response = await fetch(`http://${VIRTUAL_ADDRESS}/`, { signal: AbortSignal.timeout(5_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return text.trim();
}

async function prepare() {
  // The client of the service, by others.
  await run('ab', ['-V']).catch(() => {
    throw new Error('ab is missing, which asks the service all the while: apt-get install apache2-utils');
  });
  const simulator = [
    'maas',
    'simulate',
    '--port',
    String(PORTS.maas),
    '--machines',
    'containers',
    '--seed',
    await seed(),
  ];
  simulator.push(
    '--machine-packages',
    ['puppet-agent', ...MODULES].join(','),
    '--machine-archives',
    SERVICES.join(','),
  );
  env.SITEWRIGHT_MAAS_KEY = await start('maas', simulator, /^admin key\s+(\S+)/);
  await serveFiles();
  await relayToTemporal();
  await start('up', ['up'], /Web page\s+(\S+)/);
  return `4 processes, MAAS with ${(await sitewright('maas', 'check', '-f', 'json')).length > 0 ? 'its machines' : ''}`;
}

/**
 * @param {RegExp} like
 * @returns {Promise<number[]>} ids of the nodes with such names
 */
async function nodeIds(like) {
  /** @type {{ id: number, name: string }[]} */
  const nodes = JSON.parse(await sitewright('node', 'list', '-f', 'json'));
  return nodes.filter(({ name }) => like.test(name)).map(({ id }) => id);
}

async function fromNothing() {
  const example = join(root, 'examples/webstack');
  await sitewright('package', 'install', example);
  await sitewright('site', 'create', SITE);
  await sitewright('site', 'commit', SITE, join(example, 'site'));
  await sitewright('cluster', 'create', SITE, '--release', 'webstack', '--site', SITE);
  await sitewright('node', 'register', '--site', SITE);
  for (const [like, role] of /** @type {const} */ ([
    [/lb/, 'balancer'],
    [/app/, 'app'],
    [/db/, 'database'],
  ]))
    await sitewright('cluster', 'add-nodes', '1', '--nodes', (await nodeIds(like)).join(','), '--roles', role);
  const response = await fetch(`${env.SITEWRIGHT_API}/api/v1/clusters/1/network_configuration/neutron`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ vips: { service: { ipaddr: VIRTUAL_ADDRESS } } }),
  });
  if (!response.ok) throw new Error(`network configuration: ${await response.text()}`);
  await sitewright('site', 'deploy', SITE, '--wait');
  for (let tries = 0; ; tries += 1) {
    try {
      return await answer();
    } catch (error) {
      if (tries === 40) throw error;
      await delay(500);
    }
  }
}

/**
 * Requests of a client through the virtual address while `work` runs.
 *
 * @param {() => Promise<unknown>} work
 * @returns {Promise<string>} how many it made, and how many failed
 */
async function underLoad(work) {
  const client = spawn('ab', ['-l', '-r', '-c', '2', '-t', '3600', '-n', '100000000', `http://${VIRTUAL_ADDRESS}/`]);
  let output = '';
  client.stdout.on('data', (text) => {
    output += text;
  });
  const ended = new Promise((done) => client.once('close', done));
  const stop = () => client.kill('SIGINT');
  ends.push(stop);
  try {
    await work();
  } finally {
    stop();
    await ended;
  }
  const count = (/** @type {string} */ name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(output)?.[1] ?? 0);
  const made = count('Complete requests');
  if (made === 0) throw new Error(`the client made no request:\n${output}`);
  return `${made} requests, ${count('Failed requests') + count('Non-2xx responses')} failed`;
}

/** How many tasks of the newest run of graphs were carried out, and how many were left out. */
async function tasksRun() {
  const runs = JSON.parse(await sitewright('run', 'list', '-f', 'json'));
  return `${runs.length} runs`;
}

async function again() {
  const requests = await underLoad(() => sitewright('site', 'deploy', SITE, '--wait'));
  return `${await tasksRun()}; ${requests}`;
}

/** One application server more in the documents: only it is deployed. */
async function oneMore() {
  const documents = join(folder, 'site');
  await cp(join(root, 'examples/webstack/site'), documents, { recursive: true });
  const nodes = await readFile(join(documents, 'nodes.yaml'), 'utf8');
  const node = nodes.split('---\n').find((text) => text.includes('name: web-app-2')) ?? '';
  await writeFile(join(documents, 'nodes.yaml'), `${nodes}---\n${node.replace('web-app-2', 'web-app-3')}`);
  const requests = await underLoad(async () => {
    await sitewright('site', 'commit', SITE, documents);
    await sitewright('node', 'register', '--site', SITE, '--name', 'web-app-3');
    const [id] = await nodeIds(/^web-app-3$/);
    await sitewright('cluster', 'add-nodes', '1', '--nodes', String(id), '--roles', 'app');
    await sitewright('site', 'update', SITE, '--wait');
  });
  const seen = new Set();
  for (let tries = 0; tries < 12; tries += 1) seen.add((await answer()).split(' ')[3]);
  return `${seen.size} servers answer; ${requests}`;
}

async function end() {
  for (const stop of ends.splice(0).reverse()) await stop();
  await rm(folder, { recursive: true, force: true });
}

const interrupted = new Promise((_, fail) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => fail(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined);

const steps = /** @type {const} */ ([
  ['1. from nothing to a service', fromNothing],
  ['2. again: nothing changes', again],
  ['3. a machine more', oneMore],
]);

async function life() {
  await ensureInstalled();
  await step('the system and its machines', prepare);
  // The others need the first.
  for (const [name, work] of steps)
    if (flags.only === undefined || name.startsWith('1.') || name.startsWith(`${flags.only}.`)) await step(name, work);
  if (flags.keep) await interrupted;
}

try {
  await Promise.race([life(), interrupted]);
} catch (error) {
  const failed = /** @type {Error & { stdout?: string, stderr?: string }} */ (error);
  console.error(`${failed.message}\n${failed.stdout ?? ''}${failed.stderr ?? ''}`);
  process.exitCode = 1;
} finally {
  for (const { step: name, seconds, said } of report) console.log(`${String(seconds).padStart(5)} s  ${name}: ${said}`);
  await end();
}
