import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { packageTree, writePackageFolder } from '../../src/packages/index.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { lookAgain } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';

let rig: TemporalRig;
let system: LivingCluster;
let folder: string;
let node: number;

const api = '/api/v1';

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  system = await livingCluster(rig, { offlineWaitSeconds: 60 });
  await system.store.migrate();
  folder = await mkdtemp(join(tmpdir(), 'sitewright-versions-'));
});
afterAll(async () => {
  await system.close();
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

interface Version {
  readonly version: string;
  readonly release: string;
  readonly tasks: readonly string[];
  readonly roles?: object;
  readonly settings: object;
}

/** The folder of a package with one release. */
async function packageOf({ version, release, tasks, settings, roles }: Version): Promise<string> {
  const name = 'web';
  const metadata = {
    name,
    title: name,
    version,
    package_version: '5.0.0',
    description: 'd',
    licenses: ['l'],
    authors: ['a'],
    homepage: 'https://example.org',
    groups: [],
    releases: [
      {
        is_release: true,
        release_name: name,
        description: 'd',
        operating_system: 'ubuntu',
        version: release,
        roles: roles ?? { web: { name: 'Web', description: 'd' } },
        attributes: { editable: { web: { metadata: { label: 'Web', weight: 1 }, ...settings } } },
        graphs: [
          {
            type: 'default',
            tasks: tasks.map((id) => ({
              id,
              type: 'shell',
              version: '2.1.0',
              roles: ['web'],
              parameters: { cmd: `echo ${version}`, timeout: 10 },
            })),
          },
        ],
      },
    ],
  };
  const path = join(folder, `web-${version}`);
  await writePackageFolder(packageTree(name, [['metadata.yaml', JSON.stringify(metadata)]]), path);
  return path;
}

async function sitewright(...words: string[]) {
  const terminal = recordingTerminal();
  terminal.onSleep = () => lookAgain();
  const code = await runCli(['--api', `http://127.0.0.1:${system.port}`, ...words], terminal);
  return { code, ...terminal.said };
}

const text = (label: string, value: string) => ({ type: 'text', label, value });
const settingsOf = async () => (await system.ask('GET', `${api}/clusters/1/attributes`)).body.editable.web;
const versions = async () => (await system.ask('GET', `${api}/clusters/1/versions`)).body;

it('a new version of a package stands beside the old one, and nodes show what they were deployed with', async () => {
  const [old, now] = [
    await packageOf({
      version: '1.0.0',
      release: 'jammy-1.0',
      tasks: ['install', 'check'],
      settings: { port: text('Port', '80'), mode: text('Mode', 'plain'), cache: text('Cache', 'none') },
    }),
    await packageOf({
      version: '1.0.1',
      release: 'jammy-1.0.1',
      tasks: ['install', 'restart'],
      settings: { port: text('Port', '8080'), mode: text('Mode', 'fancy'), tls: text('TLS', 'on') },
    }),
  ];
  expect(await sitewright('package', 'install', old)).toMatchObject({ code: 0 });
  expect(await sitewright('package', 'install', now, '--beside')).toMatchObject({
    code: 0,
    out: expect.stringContaining('web 1.0.1: installed\n'),
  });
  expect((await sitewright('package', 'list', '-c', 'version')).out).toMatch(/1\.0\.0\n1\.0\.1/);
  expect(await sitewright('cluster', 'create', 'lab', '--release', 'web==jammy-1.0')).toMatchObject({ code: 0 });
  await sitewright('cluster', 'settings', 'lab', '--set', 'web.mode=special', 'web.cache=redis');
  const made = await system.ask('POST', `${api}/nodes`, { name: 'n1', status: 'provisioned', online: true });
  node = made.body.id;
  await sitewright('cluster', 'add-nodes', 'lab', '--node', 'n1', '--roles', 'web');
  await system.store.nodes.update(node, { status: 'ready', pendingAddition: false });
  expect(await versions()).toMatchObject({ nodes: [{ name: 'n1', deployed: null, behind: ['never'] }] });

  await system.serveNodes('cluster-1', [String(node)]);
  expect(await sitewright('cluster', 'deploy', 'lab', '--wait')).toMatchObject({ code: 0 });
  expect(await versions()).toMatchObject({
    release: { name: 'web', version: 'jammy-1.0', package: { name: 'web', version: '1.0.0' } },
    settings: 2,
    others: [{ version: 'jammy-1.0.1' }],
    nodes: [{ name: 'n1', behind: [], deployed: { release: { version: 'jammy-1.0' }, settings: 2 } }],
  });
  expect((await sitewright('node', 'list', '--versions')).out).toMatch(/n1 .*up to date .*web jammy-1.0/);
});

it('a cluster moves to it by a command with a plan, made as it was shown or not at all', async () => {
  const planned = await sitewright('cluster', 'move', 'lab', '--release', 'web==jammy-1.0.1', '--dry-run');
  const plan = `${planned.err}${planned.out}`;
  for (const line of [
    'release web jammy-1.0 (package web 1.0.0) -> web jammy-1.0.1 (package web 1.0.1)',
    // A default that nobody chose follows the version; a chosen value stays; what only the old one has goes.
    'web.port: "80" -> "8080"',
    'web.cache: "redis" -> none',
    'web.tls: none -> "on"',
    '+ restart',
    '- check',
    '~ install',
  ])
    expect(plan).toContain(line);
  expect(plan).not.toContain('web.mode');
  expect(await versions()).toMatchObject({ release: { version: 'jammy-1.0' } });

  const { digest } = (await system.ask('GET', `${api}/clusters/1/move?release=web==jammy-1.0.1`)).body;
  await sitewright('cluster', 'settings', 'lab', '--set', 'web.mode=quick');
  const late = await system.ask('POST', `${api}/clusters/1/move`, { release: 'web==jammy-1.0.1', digest });
  expect(late).toMatchObject({ status: 409, body: { code: 'conflict' } });
  await sitewright('cluster', 'settings', 'lab', '--set', 'web.mode=special');

  expect(await sitewright('cluster', 'move', 'lab', '--release', 'web==jammy-1.0.1', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/sitewright --api \S+ cluster deploy 1$/m),
  });
  expect(await settingsOf()).toMatchObject({
    port: { value: '8080' },
    mode: { value: 'special' },
    tls: { value: 'on' },
  });
  expect(Object.keys(await settingsOf())).not.toContain('cache');
  expect(await versions()).toMatchObject({
    release: { version: 'jammy-1.0.1' },
    nodes: [{ deployed: { release: { version: 'jammy-1.0' } }, behind: ['release', 'settings'] }],
  });
  expect((await sitewright('node', 'show', 'n1')).out).toMatch(/another release, earlier settings/);
  const { items } = (await system.ask('GET', `${api}/audit?target=cluster/1&action=cluster.move`)).body;
  expect(items).toMatchObject([{ details: { parts: [{ kind: 'release' }] } }]);
  expect(await sitewright('cluster', 'deploy', 'lab', '--wait')).toMatchObject({ code: 0 });
  expect(await versions()).toMatchObject({
    nodes: [{ behind: [], deployed: { release: { version: 'jammy-1.0.1' } } }],
  });
});

it('and back again, with the values that only the old version has', async () => {
  expect(await sitewright('cluster', 'move', 'lab', '--back', '--yes')).toMatchObject({ code: 0 });
  expect(await settingsOf()).toMatchObject({
    port: { value: '80' },
    mode: { value: 'special' },
    cache: { value: 'redis' },
  });
  expect(Object.keys(await settingsOf())).not.toContain('tls');
  expect(await versions()).toMatchObject({
    release: { version: 'jammy-1.0' },
    nodes: [{ behind: ['release', 'settings'] }],
  });
  // Back from there is forth again.
  expect(await sitewright('cluster', 'move', 'lab', '--back', '--yes')).toMatchObject({ code: 0 });
  expect(await versions()).toMatchObject({ release: { version: 'jammy-1.0.1' } });
});

it('a version without a role that nodes have is refused, with the node and the next step; so is one that is there', async () => {
  const path = await packageOf({
    version: '2.0.0',
    release: 'jammy-2.0',
    tasks: [],
    roles: { proxy: { name: 'Proxy', description: 'd' } },
    settings: {},
  });
  await sitewright('package', 'install', path);
  for (const how of ['--yes', '--dry-run'])
    expect(await sitewright('cluster', 'move', 'lab', '--release', 'web==jammy-2.0', how)).toMatchObject({
      code: 4,
      err: expect.stringMatching(/release .*jammy-2\.0.*node n1 has the role web/s),
    });
  expect(await sitewright('cluster', 'move', 'lab', '--release', 'web==jammy-1.0.1', '--yes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('cluster lab has these versions already'),
  });
  expect(await sitewright('cluster', 'move', 'lab')).toMatchObject({ code: 2 });
  expect(await versions()).toMatchObject({ release: { version: 'jammy-1.0.1' } });
});

it('a changed task that no run has carried out is named, with its reason, until one does: by one command, just that', async () => {
  const graph = async (cmd: string) => {
    const condition = { yaql_exp: 'changed($.cluster.name)' };
    const task = (id: string, more: object) => ({
      ...{ id, type: 'shell', version: '2.1.0', roles: ['web'], condition },
      parameters: { timeout: 10, ...more },
    });
    const body = { tasks: [task('steady', { cmd: 'true' }), task('changing', { cmd })] };
    const at = `${api}/clusters/1/deployment_graphs/careful/`;
    const { status } = await system.ask('GET', at);
    const answer = await system.ask(status === 404 ? 'POST' : 'PUT', at, body);
    expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status);
  };
  const execute = (...more: string[]) =>
    sitewright('graph', 'execute', '--cluster', 'lab', '--type', 'careful', '--wait', ...more);
  const state = async () => (await versions()).nodes[0];
  await graph('echo one');
  expect(await execute()).toMatchObject({ code: 0 });
  expect(await state()).toMatchObject({ missed: [] });
  expect((await state()).behind).not.toContain('tasks');

  await graph('echo two');
  expect((await sitewright('graph', 'plan', '--cluster', 'lab', '--type', 'careful', '-f', 'json')).out).toContain(
    '"missed": true',
  );
  expect(await execute()).toMatchObject({ code: 0 });
  const [nothing] = (await system.ask('GET', `${api}/runs?limit=1`)).body.items;
  expect((await sitewright('run', 'report', String(nothing.number))).out).toMatch(/changing .*--missed/);
  expect(await state()).toMatchObject({
    missed: [{ task: 'changing', graph: 'careful', why: expect.stringContaining('changed($.cluster.name)') }],
    behind: expect.arrayContaining(['tasks']),
  });
  for (const words of [
    ['cluster', 'versions', 'lab'],
    ['node', 'show', 'n1'],
  ])
    expect((await sitewright(...words)).out).toMatch(/changing/);

  expect(await execute('--missed')).toMatchObject({ code: 0 });
  const [run] = (await system.ask('GET', `${api}/runs?limit=1`)).body.items;
  expect(run.id).not.toBe(nothing.id);
  const { body: tasks } = await system.ask('GET', `${api}/runs/${run.id}/tasks`);
  expect(
    tasks.items.filter((one: { status: string }) => one.status === 'success').map((one: { task: string }) => one.task),
  ).toEqual(['changing']);
  expect(await state()).toMatchObject({ missed: [] });
  expect((await state()).behind).not.toContain('tasks');
});
