import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MachineStatus } from '@sitewright/maas';
import type { Effect } from '@sitewright/maas-simulator';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../src/platform/free-port.ts';
import { endUp, isUp, spawnUp } from '../rig/running-up.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/*
 * The life of a release package on the machines of a site, by the commands that a user types: made, built, installed, deployed,
 * a machine removed and another added, all removed. The packages are the unchanged output of `package create`, and the
 * example of the specification. Agents run on this machine; MAAS is the simulator, whose effects show the fate of machines.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
/** Agents put the scripts of packages where they belong on nodes. */
const PLUGINS = '/etc/fuel/plugins';
const mayWrite = process.getuid?.() === 0;

let rig: TemporalRig;
let folder: string;
let env: NodeJS.ProcessEnv;
let system: ChildProcess | undefined;
let maas = '';
const shells: ChildProcess[] = [];
const onNodes: string[] = [];

beforeAll(async () => {
  if (!mayWrite) return;
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: root });
  rig = await temporalRig({ namespace: 'own' });
  folder = mkdtempSync(join(tmpdir(), 'sitewright-life-'));
  symlinkSync(join(root, 'bin'), join(folder, 'bin'));
  const port = await freePort();
  env = {
    ...process.env,
    NO_COLOR: '1',
    SITEWRIGHT_TEMPORAL_ADDRESS: rig.address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: rig.namespace,
    SITEWRIGHT_API_PORT: String(port),
    SITEWRIGHT_API: `http://127.0.0.1:${port}`,
    SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'master'),
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  };
  await shell('sitewright init site mysite');
  system = spawnUp('bin/sitewright', folder, env, ['--simulate-maas', '--maas-seed', 'mysite']);
  const printed = (text: Buffer) => {
    maas ||= /MAAS\s+(http:\/\/[^\s/]+)/.exec(String(text))?.[1] ?? '';
  };
  system.stdout!.on('data', printed);
  system.stderr!.on('data', printed);
  await isUp(system);
  await shell('sitewright site create mysite; sitewright site commit mysite mysite');
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
  for (const name of onNodes) rmSync(join(PLUGINS, name), { recursive: true, force: true });
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs commands until the first failure, and returns their output. Their background processes keep running. */
async function shell(block: string): Promise<string> {
  const child = spawn('bash', ['-ec', block], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  shells.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      said += text;
    });
  const [code] = await once(child, 'close');
  expect(code, `${block}\n${said}`).toBe(0);
  return said;
}

const json = async (command: string) => JSON.parse(await shell(`sitewright ${command} -f json 2>/dev/null`));

/** The changes of machines in MAAS since the last call: `host: status -> status`. */
let seen = 0;
async function effects(): Promise<readonly Effect[]> {
  const answer = (await (await fetch(`${maas}/_control/effects`)).json()) as { effects?: Effect[] } | Effect[];
  const all = Array.isArray(answer) ? answer : (answer.effects ?? []);
  const news = all.slice(seen);
  seen = all.length;
  return news;
}

/** The machines that MAAS changed since the last call, with their last status. */
async function changed(): Promise<Record<string, number | null>> {
  return Object.fromEntries((await effects()).map(({ hostname, to }) => [hostname, to]));
}

/** The tasks that ran in the last run, by node. */
async function ran(run: number): Promise<readonly string[]> {
  const rows: { task_name: string; node_id: string; status: string }[] = await json(`history show ${run}`);
  return rows.filter(({ status }) => status === 'success').map((row) => `${row.task_name}@${row.node_id}`);
}

/** "Deploy changes" to success; the run's number. */
async function deploy(cluster: string): Promise<number> {
  const said = await shell(`sitewright cluster deploy ${cluster} --wait`);
  expect(said).toMatch(/: success\n*$/);
  return Number(/started run (\d+)/.exec(said)![1]);
}

async function life(name: string, version: string, tasks: { provision: string; everywhere: string }): Promise<void> {
  const cluster = `${name}-lab`;
  onNodes.push(`${name}-${version.split('.').slice(0, 2).join('.')}`);
  await shell(`
    sitewright package check ${name}
    sitewright package build ${name} -o dist
    sitewright package install dist/${name}-${version}.tar.gz
    sitewright site deploy mysite --wait
    sitewright cluster create ${cluster} --release ${name} --site mysite
    sitewright node register --site mysite
    sitewright cluster add-nodes ${cluster} --node control01 --roles controller
    sitewright cluster add-nodes ${cluster} --node worker01,worker02 --roles compute
    sitewright agent run --cluster ${cluster} > agents-${name}.log 2>&1 & echo $! > agents.pid
  `);
  const ids = Object.fromEntries(
    ((await json('node list')) as { id: number; name: string }[]).map((one) => [one.name, one.id]),
  );
  const on = (task: string, ...hosts: string[]) => hosts.map((host) => `${task}@${ids[host]}`);
  await changed();

  const first = await ran(await deploy(cluster));
  expect(first).toEqual(expect.arrayContaining(on(tasks.everywhere, 'control01', 'worker01', 'worker02')));
  expect(await changed()).toEqual({});

  // The machine that is removed is erased and leaves; no other is touched.
  await shell(`sitewright cluster remove-nodes ${cluster} --node worker02`);
  await deploy(cluster);
  expect(await changed()).toEqual({ worker02: MachineStatus.Ready });
  const [removed] = (await json('node list')).filter((one: { name: string }) => one.name === 'worker02');
  expect(removed).toMatchObject({ cluster: null, status: 'discover' });

  // It comes back as a new node: provisioning is for it alone, then it is deployed like the others.
  await shell(`
    sitewright cluster add-nodes ${cluster} --node worker02 --roles compute
    kill $(cat agents.pid)
    sitewright agent run --cluster ${cluster} > agents-${name}.log 2>&1 & echo $! > agents.pid
  `);
  const again = await ran(await deploy(cluster));
  expect(again.filter((task) => task.startsWith(`${tasks.provision}@`))).toEqual(on(tasks.provision, 'worker02'));
  expect(again).toEqual(expect.arrayContaining(on(tasks.everywhere, 'worker02')));
  expect(await changed()).toEqual({});

  // A graph of deletion reaches no machine that stays, however it is requested.
  for (const nodes of ['', '--node control01 worker01']) {
    await shell(`sitewright graph execute --cluster ${cluster} --type deletion ${nodes} --wait || true`);
    expect(await changed()).toEqual({});
  }

  await shell(`sitewright cluster remove-nodes ${cluster} --node control01,worker01,worker02`);
  await deploy(cluster);
  expect(await changed()).toEqual({ control01: MachineStatus.Ready, worker01: MachineStatus.Ready });
  await shell(`
    kill $(cat agents.pid)
    sitewright cluster delete ${cluster} --yes
    sitewright package remove ${name}==${version}
  `);
}

it.skipIf(!mayWrite)('the package from `package create` is deployed, changed and removed unedited', async () => {
  await shell('sitewright package create my-release');
  await life('my-release', '1.0.0', { provision: 'provision', everywhere: 'netconfig' });
  expect(existsSync(join(PLUGINS, 'my-release-1.0', 'netconfig.sh'))).toBe(true);
});

it.skipIf(!mayWrite)(
  'the plugin from `package create --extension` is enabled, run, disabled and removed unedited',
  async () => {
    // It extends `mitaka-10.0`, as the example of the specification is.
    exampleRelease();
    onNodes.push('ExampleRelease-10.0', 'my-plugin-1.0');
    await shell(`
    sitewright package create --extension my-plugin
    sitewright package check my-plugin
    sitewright package build my-plugin -o dist
    sitewright package install ExampleRelease
    sitewright package install dist/my-plugin-1.0.0.tar.gz
    sitewright site deploy mysite --wait
    sitewright cluster create extended --release ExampleRelease --site mysite
    sitewright plugin enable my-plugin --cluster extended
    sitewright node register --site mysite
    sitewright cluster add-nodes extended --node control01 --roles controller
    sitewright cluster add-nodes extended --node worker01 --roles my-plugin
    sitewright agent run --cluster extended > agents-extended.log 2>&1 & echo $! > agents.pid
  `);
    const ids = Object.fromEntries(
      ((await json('node list')) as { id: number; name: string }[]).map((one) => [one.name, one.id]),
    );
    await changed();
    const tasks = await ran(await deploy('extended'));
    // Its task is on the node with its role, after its scripts were put there, and on no other.
    expect(tasks).toContain(`my-plugin-install@${ids.worker01}`);
    expect(tasks.filter((task) => task.startsWith('my-plugin-install@'))).toHaveLength(1);
    expect(tasks).toContain(`deploy@${ids.control01}`);
    expect(existsSync(join(PLUGINS, 'my-plugin-1.0', 'install.sh'))).toBe(true);
    expect(await changed()).toEqual({});

    await shell('sitewright cluster remove-nodes extended --node control01,worker01');
    await deploy('extended');
    expect(await changed()).toEqual({ control01: MachineStatus.Ready, worker01: MachineStatus.Ready });
    await shell(`
    kill $(cat agents.pid)
    sitewright plugin disable my-plugin --cluster extended
    sitewright cluster delete extended --yes
    sitewright package remove my-plugin==1.0.0
    sitewright package remove ExampleRelease==10.0.0
  `);
  },
);

it.skipIf(!mayWrite)('a machine removed from a cluster of the release `base` is erased and leaves', async () => {
  await shell(`
    sitewright site deploy mysite --wait
    sitewright cluster create plain --release base --site mysite
    sitewright node register --site mysite
    sitewright cluster add-nodes plain --node worker03 --roles base-os
    sitewright cluster remove-nodes plain --node worker03
  `);
  await changed();
  await deploy('plain');
  expect(await changed()).toEqual({ worker03: MachineStatus.Ready });
  const [removed] = (await json('node list')).filter((one: { name: string }) => one.name === 'worker03');
  expect(removed).toMatchObject({ cluster: null, status: 'discover' });
  await shell('sitewright cluster delete plain --yes');
});

/** Writes the release of the specification's example: its `metadata.yaml` verbatim, and the files that it names. */
function exampleRelease(): void {
  const shellTask = (id: string, cmd = `echo ${id}`) => [
    { id, type: 'shell', version: '2.1.0', tags: '*', parameters: { cmd, timeout: 60 } },
  ];
  const graphs = {
    deployment: shellTask('deploy', 'sh /etc/fuel/plugins/ExampleRelease-10.0/deploy.sh'),
    provisioning: shellTask('provision'),
    deletion: [{ id: 'erase', type: 'erase_node', version: '2.1.0', tags: '*' }],
    network_verification: shellTask('verify'),
  };
  const roles = Object.fromEntries(
    ['controller', 'compute'].map((name) => [name, { name, description: name, tags: [name] }]),
  );
  const files: Record<string, string> = {
    // Files that the example omits, and the example, verbatim.
    'metadata.yaml': `title: Example\nlicenses: [Apache License Version 2.0]\nauthors: [Somebody]\nhomepage: https://example.org\ngroups: []\ndescription: An example\n${readFileSync(new URL('../data/specification/release-metadata.yaml', import.meta.url), 'utf8')}`,
    '_base.yaml': '{}',
    'metadata/networks.yaml': '{}',
    'metadata/volumes.yaml': '{volumes: [], volumes_roles_mapping: {}}',
    'metadata/roles.yaml': JSON.stringify(roles),
    'metadata/network_roles.yaml': '[]',
    'metadata/components.yaml': '[]',
    ...Object.fromEntries(
      ['attributes', 'vmware', 'node', 'nic', 'bond'].map((part) => [`attributes/${part}.yaml`, '{}']),
    ),
    ...Object.fromEntries(
      Object.entries(graphs).map(([type, tasks]) => [`graphs/${type}_graph.yaml`, JSON.stringify(tasks)]),
    ),
    'deployment_scripts/deploy.sh': 'echo deploying\n',
    'repositories/README': 'Nothing yet.\n',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'ExampleRelease', name === 'metadata.yaml' ? name : join('ubuntu-10.0.0', name));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

it.skipIf(!mayWrite)('the release of the specification is deployed, changed and removed', async () => {
  exampleRelease();
  await life('ExampleRelease', '10.0.0', { provision: 'provision', everywhere: 'deploy' });
});
