// `npm run upgrade:test [-- --from COMMIT]`: a rolling upgrade with two builds of this repository. Runs of a site and of a graph
// that the previous build started end well while half of the workers and agents are new, and the other way round; then the
// last of the previous build is drained. Prints each step with its time: two-builds.txt is a transcript.
import { execFile, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../../src/platform/free-port.ts';
import { startDevServer } from '../../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../../src/platform/temporal/find-server.ts';
import { exampleHosts } from '../rig/living-site.ts';
import { previousBuild } from './previous-build.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { from: { type: 'string' } } });
const startedAt = performance.now();
const LIMIT_MS = 180_000;
/** Ends its processes when this process ends, however that happens. */
const WATCHDOG = join(root, 'src/platform/processes/run-with-parent.ts');

const say = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);

function assert(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
  say(`  ok: ${what}`);
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + LIMIT_MS; !(await isTrue().catch(() => false)); await delay(300))
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
}

const old = await previousBuild(root, values.from);
await run(process.execPath, [join(root, 'scripts/build.ts')]);
const head = (await run('git', ['rev-parse', '--short', 'HEAD'], { cwd: root })).stdout.trim();
say(`old: ${old.commit.slice(0, 8)} (${old.name}); new: ${head}`);

const folder = await mkdtemp(join(tmpdir(), 'sitewright-upgrade-'));
const at = (name: string): string => join(folder, name);
const found = await findTemporalBinary();
if (found.status === 'missing') throw new Error(explainMissing(found));
const temporal = await startDevServer({ binary: found.path, logFile: at('temporal.log'), uiPort: 'none' });
const machines = exampleHosts.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' }));
const held = { commission_ms: 20, deploy_ms: 3_600_000, erase_ms: 20, release_ms: 20 };
const maas = await simulateMaas({ port: 0, seed: { machines }, auto: held });
const port = await freePort();
const env = {
  ...process.env,
  NO_COLOR: '1',
  USER: 'ann',
  SITEWRIGHT_TEMPORAL_ADDRESS: temporal.address,
  SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`,
  SITEWRIGHT_MAAS_URL: maas.url,
  SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
  SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.2',
  SITEWRIGHT_MAAS_POLL_MAX_SECONDS: '1',
  SITEWRIGHT_DEPLOY_HEARTBEAT_SECONDS: '5',
  SITEWRIGHT_API_PORT: String(port),
  SITEWRIGHT_API: `http://127.0.0.1:${port}`,
  SITEWRIGHT_LOG_LEVEL: 'info',
  SITEWRIGHT_TASK_LOGS_FOLDER: at('task-logs'),
  SITEWRIGHT_AGENT_STATE_DIR: at('master'),
};

type Build = 'old' | 'new';
const folderOf = { old: old.folder, new: root } as const;
const processes = new Map<string, { readonly stop: () => Promise<void> }>();

/** Starts a process of a build; its name identifies which. */
function start(build: Build, name: string, ...args: string[]): void {
  const log = openSync(at(`${build}-${name}.log`), 'a');
  const command = [WATCHDOG, '5000', process.execPath, join(folderOf[build], 'bin/sitewright'), ...args];
  const child = spawn(process.execPath, command, { cwd: folder, env, stdio: ['pipe', 'ignore', log] });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  say(`start ${name} of the ${build} build`);
  processes.set(`${build} ${name}`, {
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  });
}

async function stop(build: Build, name: string): Promise<void> {
  say(`stop ${name} of the ${build} build`);
  await processes.get(`${build} ${name}`)?.stop();
  processes.delete(`${build} ${name}`);
}

/** The command line of a build. */
async function sitewright(build: Build, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(folderOf[build], 'bin/sitewright'), ...args], {
    cwd: folder,
    env,
  });
  return stdout;
}

/** A command that is shown. */
async function shown(...args: string[]): Promise<string> {
  say(`$ sitewright ${args.join(' ')}`);
  const text = await sitewright('new', ...args);
  for (const line of text.trimEnd().split('\n')) say(`  ${line}`);
  return text;
}

const control = (path: string, body: object = {}): Promise<Response> =>
  fetch(`${maas.controlUrl}/${path}`, { method: 'POST', body: JSON.stringify(body) });

/** Machines that deploy, and wait for `control` to finish them. */
async function deploying(): Promise<string[]> {
  const rows = await sitewright('new', 'node', 'status', 'stl1', '-f', 'csv', '-c', 'node', '-c', 'status');
  return rows.split('\r\n').flatMap((row) => (row.endsWith(',Deploying') ? [row.split(',')[0] ?? ''] : []));
}

const logHas = async (build: Build, name: string, text: string): Promise<boolean> =>
  (await readFile(at(`${build}-${name}.log`), 'utf8')).includes(text);

const isApiUp = (): Promise<boolean> => fetch(`${env.SITEWRIGHT_API}/api/v1/version`).then(({ ok }) => ok);

const agent = (build: Build, node: string): void =>
  start(build, `agent-${node}`, ...['agent', 'run', '--site', 'cluster-1', '--node', node, '--state-dir', at(node)]);

/** Two tasks on each node, the second of which waits for a file. */
const graph = (word: string) => `
- {id: first, type: shell, version: 2.1.0, tags: '*', parameters: {cmd: 'touch ${at(word)}-began-$(date +%N)'}}
- {id: held, type: shell, version: 2.1.0, tags: '*', requires: [first], parameters: {cmd: 'while [ ! -e ${at(word)} ]; do sleep 0.2; done', timeout: 600}}
- {id: last, type: shell, version: 2.1.0, tags: '*', requires: [held], parameters: {cmd: echo}}
`;

const client = new Client({ connection: await Connection.connect({ address: temporal.address }) });

/** The build of the worker that finished a workflow. */
async function finishedBy(workflowId: string): Promise<string> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const { versioningOverride, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  return (versioningOverride?.pinned?.version ?? deploymentVersion)?.buildId ?? 'a worker without a version';
}

interface Pair {
  readonly site: string;
  readonly graph: string;
  readonly word: string;
}

/** Starts a run of the site that waits for a machine, and one of the graph that waits for a file. */
async function begin(build: Build, word: string, ...site: string[]): Promise<Pair> {
  await control('auto', held);
  await writeFile(at(`${word}.yaml`), graph(word));
  await sitewright(build, 'graph', 'upload', '--env', '1', '--type', word, '--file', at(`${word}.yaml`));
  const run = JSON.parse(await sitewright(build, 'site', ...site, '-f', 'json')) as { id: string };
  await sitewright(build, 'graph', 'execute', '--env', '1', '--type', word);
  const workflows = client.workflow.list({ query: "WorkflowType = 'execute_graph' AND ExecutionStatus = 'Running'" });
  let execution: string | undefined;
  await until('the run of the graph', async () => {
    for await (const { workflowId } of workflows) execution = workflowId;
    return execution !== undefined;
  });
  say(`started: ${site[0]} of ${site[1]} and graph ${word}, with the ${build} command line`);
  await until('a machine that deploys', async () => (await deploying()).length > 0);
  await until('tasks that wait', async () => /2 of 6 tasks/.test(await sitewright(build, 'run', 'status', execution!)));
  return { site: run.id, graph: execution!, word };
}

/** Lets a pair of runs end, and checks that they ended well. */
async function end({ site, graph, word }: Pair): Promise<void> {
  await writeFile(at(word), '');
  await control('auto', { ...held, deploy_ms: 20 });
  for (const host of await deploying()) await control(`${host}/deployed`);
  const isDone = async (): Promise<boolean> =>
    JSON.parse(await sitewright('new', 'run', 'show', site, '-f', 'json')).outcome !== null;
  await until('the end of the run of the site', isDone);
  const ended = JSON.parse(await sitewright('new', 'run', 'show', site, '-f', 'json')) as Record<string, string>;
  assert(
    ended.outcome === 'success',
    `${ended.workflow_id} ended as success, by ${await finishedBy(ended.workflow_id!)}`,
  );
  const result = (await client.workflow.getHandle(graph).result()) as { outcome: string };
  assert(result.outcome === 'success', `${graph} ended as success, by ${await finishedBy(graph)}`);
}

try {
  start('old', 'api', 'api');
  await until('the API', isApiUp);
  start('old', 'worker', 'worker');
  await until('the worker', () => logHas('old', 'worker', 'worker is polling'));
  await sitewright('old', 'site', 'create', 'stl1');
  await sitewright('old', 'site', 'commit', 'stl1', join(root, 'examples/stl1'));
  await sitewright('old', 'package', 'install', join(root, 'examples/first-release'));
  await sitewright('old', 'cluster', 'create', 'lab', '--release', 'first-release');
  await sitewright('old', 'node', 'register', '--name', 'node-1', 'node-2', '--provisioned');
  await sitewright('old', 'cluster', 'add-nodes', '1', '--nodes', '1', '--roles', 'all-in-one');
  await sitewright('old', 'cluster', 'add-nodes', '1', '--nodes', '2', '--roles', 'web');
  for (const node of ['1', '2']) agent('old', node);

  say('--- runs started on the old build; half of the workers and agents become new');
  const first = await begin('old', 'alpha', 'deploy', 'stl1');
  start('new', 'worker', 'worker');
  await until('the new worker', () => logHas('new', 'worker', 'worker is polling'));
  await stop('old', 'agent-2');
  agent('new', '2');
  await end(first);

  say('--- runs started on the new build, half of the workers and agents are old');
  await stop('old', 'api');
  start('new', 'api', 'api');
  await until('the API', isApiUp);
  const second = await begin('new', 'beta', 'redeploy', 'stl1', exampleHosts[0]!, '--yes');
  await shown('worker', 'versions');
  await end(second);

  say('--- a step back, and forward again for good');
  const versions = JSON.parse(await sitewright('new', 'worker', 'versions', '-f', 'json')) as { version: string }[];
  const [newest, earlier] = versions.map(({ version }) => version);
  if (newest !== undefined && earlier !== undefined) {
    await shown('worker', 'drain', newest);
    const third = await begin('new', 'gamma', 'redeploy', 'stl1', exampleHosts[1]!, '--yes');
    await shown('worker', 'drain', earlier, '--move');
    await stop('old', 'worker');
    await end(third);
    await shown('worker', 'versions');
  } else {
    say('the old build has no versions, or the same workflows: there is nothing to step back to');
    await stop('old', 'worker');
  }
  await stop('old', 'agent-1');
  agent('new', '1');
  await end(await begin('new', 'delta', 'redeploy', 'stl1', exampleHosts[2]!, '--yes'));
  say('nothing of the old build runs any more; all runs ended well');
} catch (error) {
  say(String(error));
  for (const name of ['old-worker', 'new-worker', 'old-api', 'new-api'])
    console.error(`--- ${name}\n${(await readFile(at(`${name}.log`), 'utf8').catch(() => '')).slice(-4_000)}`);
  process.exitCode = 1;
} finally {
  await Promise.all([...processes.values()].map((one) => one.stop()));
  await client.connection.close();
  await maas.close();
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
}
