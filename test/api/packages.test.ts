import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { planCluster } from '../../src/clusters/plan-cluster.ts';
import { readClusterSources, readGraphLayers } from '../../src/clusters/read-sources.ts';
import { clusterStates } from '../../src/clusters/state/cluster-state.ts';
import { readManifest } from '../../src/core/sources/folder-manifest.ts';
import { createOperations } from '../../src/ops/index.ts';
import { withPackageSources } from '../../src/ops/packages/package-sources.ts';
import {
  checkPackage,
  type PackageTree,
  packageTree,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from '../../src/packages/index.ts';
import { openStore } from '../../src/store/index.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';

let rig: ApiRig;
let scratch: string;

beforeAll(async () => {
  rig = await apiAlone();
  scratch = await mkdtemp(join(tmpdir(), 'sitewright-packages-'));
});
afterAll(async () => {
  await rig.close();
  await rm(scratch, { recursive: true, force: true });
});

let built = 0;
async function archiveOf(tree: PackageTree): Promise<Buffer> {
  const folder = join(scratch, `p${built++}`);
  await writePackageFolder(tree, folder);
  const read = await readPackageFolder(folder);
  const { tree: data } = checkPackage(read);
  const { name, version } = data as { name: string; version: string };
  return readFile((await writePackageArchive(read, name, version, join(folder, '..', `built${built}`))).path);
}

interface Made {
  readonly name?: string;
  readonly version?: string;
  readonly releaseVersion?: string;
  readonly roles?: object;
  readonly graphs?: readonly object[];
  /** Further keys of the release. */
  readonly parts?: object;
}

const releasePackage = ({
  name = 'small',
  version = '1.0.0',
  releaseVersion = 'mitaka-1.0',
  roles,
  graphs,
  parts = {},
}: Made = {}) =>
  packageTree(name, [
    [
      'metadata.yaml',
      JSON.stringify({
        name,
        title: `Title of ${name}`,
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
            version: releaseVersion,
            ...parts,
            roles: roles ?? { compute: { name: 'Compute', description: 'd', tags: ['compute', 'nova'] } },
            tags: { compute: { has_primary: false }, nova: { has_primary: true } },
            graphs: graphs ?? [
              {
                type: 'default',
                tasks: [
                  {
                    id: 'hello',
                    type: 'shell',
                    version: '2.1.0',
                    roles: ['compute'],
                    parameters: { cmd: 'true', timeout: 1 },
                  },
                ],
              },
              { type: 'custom', tasks: [] },
            ],
          },
        ],
      }),
    ],
  ]);

const pluginPackage = (name: string, more: object = {}, files: [string, string][] = []) =>
  packageTree(name, [
    [
      'metadata.yaml',
      JSON.stringify({
        name,
        title: `Title of ${name}`,
        version: '1.0.0',
        package_version: '5.0.0',
        description: 'd',
        licenses: ['l'],
        authors: ['a'],
        homepage: 'https://example.org',
        groups: [],
        releases: [
          { os: 'ubuntu', version: 'mitaka-1.0', deployment_scripts_path: 'scripts', repository_path: 'scripts' },
        ],
        ...more,
      }),
    ],
    ['scripts/README.md', 'none'],
    ...files,
  ]);

const gzip = { 'content-type': 'application/gzip' };
const install = (archive: Buffer, query = '') => rig.ask('POST', `/api/v1/packages${query}`, archive as never, gzip);

describe('packages', () => {
  it('clusters, and nothing else, are refused while there is no release, with the next step', async () => {
    const refused = await rig.ask('POST', '/api/v1/clusters', { name: 'c', release_id: 1 });
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toMatch(/^There are no releases available\./);
    expect(refused.body.hint).toMatch(/package install/);
    expect((await rig.ask('GET', '/api/v1/releases')).body).toEqual([]);
    expect((await rig.ask('GET', '/api/v1/nodes')).status).toBe(200);
    expect((await rig.ask('GET', '/api/v1/packages')).body).toEqual([]);
    expect((await rig.ask('POST', '/api/v1/sites', { name: 'without-software' })).status).toBe(201);
  });

  it('an archive becomes a release with roles, tags and graphs; installed again, it changes nothing', async () => {
    const archive = await archiveOf(releasePackage());
    const first = await install(archive);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    expect(first.body).toMatchObject({
      name: 'small',
      version: '1.0.0',
      kind: 'release',
      created: true,
      replaced: null,
    });
    const [release] = first.body.releases;
    expect(release).toMatchObject({ name: 'small', version: 'mitaka-1.0' });
    const tags = await rig.ask('GET', `/api/v1/releases/${release.id}/tags`);
    expect(tags.body).toEqual([
      { name: 'compute', meta: { has_primary: false } },
      { name: 'nova', meta: { has_primary: true } },
    ]);
    const graph = await rig.ask('GET', `/api/v1/releases/${release.id}/deployment_graphs/default`);
    expect(graph.body.tasks.map(({ id }: { id: string }) => id)).toEqual(['hello']);
    const again = await install(archive);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({
      id: first.body.id,
      created: false,
      releases: first.body.releases,
      plugins: first.body.plugins,
    });
    const stored = await rig.api.inject({ method: 'GET', url: `/api/v1/packages/${first.body.id}/archive` });
    expect(stored.rawPayload.equals(archive)).toBe(true);
  });

  it('a newer version updates in place; an older one needs force; another series is installed in addition', async () => {
    const { body: before } = await rig.ask('GET', '/api/v1/packages');
    const newer = await install(
      await archiveOf(releasePackage({ version: '1.0.1', graphs: [{ type: 'default', tasks: [] }] })),
    );
    expect(newer.status).toBe(200);
    expect(newer.body).toMatchObject({ version: '1.0.1', replaced: '1.0.0' });
    expect(newer.body.releases[0].id).toBe(before[0].releases[0].id);
    expect(newer.body.plugins[0].id).toBe(before[0].plugins[0].id);
    const types = await rig.ask('GET', `/api/v1/releases/${newer.body.releases[0].id}/deployment_graphs`);
    expect(types.body.map((one: { relations: { type: string }[] }) => one.relations[0]!.type)).toEqual(['default']);
    expect((await rig.ask('GET', '/api/v1/packages')).body).toHaveLength(1);
    const older = await archiveOf(releasePackage());
    const refused = await install(older);
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toBe('Nothing to do: Title of small, version 1.0.0, does not update installed plugin.');
    expect((await install(older, '?force=1')).body).toMatchObject({ version: '1.0.0', replaced: '1.0.1' });
    const beside = await install(await archiveOf(releasePackage({ version: '2.0.0', releaseVersion: 'mitaka-2.0' })));
    expect(beside.status).toBe(201);
    expect((await rig.ask('GET', '/api/v1/packages')).body).toHaveLength(2);
    expect((await rig.ask('DELETE', `/api/v1/packages/${beside.body.id}`)).status).toBe(204);
  });

  it('a package whose release comes from another one is refused and leaves nothing', async () => {
    const thief = releasePackage({ name: 'thief' });
    const files = new Map(
      [...thief.files].map(([path, { content }]) => [
        path,
        new TextDecoder().decode(content).replace('"release_name":"thief"', '"release_name":"small"'),
      ]),
    );
    const refused = await install(await archiveOf(packageTree('thief', files)));
    expect(refused.status).toBe(409);
    expect(refused.body.hint).toContain('package small 1.0.0');
    expect((await rig.ask('GET', '/api/v1/packages')).body).toHaveLength(1);
    expect((await rig.ask('GET', '/api/v1/plugins')).body).toHaveLength(1);
  });

  it('a failure halfway leaves the old state', async () => {
    const before = await rig.ask('GET', '/api/v1/packages');
    const roles = await rig.ask('GET', `/api/v1/releases/${before.body[0].releases[0].id}/roles`);
    const { id: cluster } = (
      await rig.ask('POST', '/api/v1/clusters', { name: 'half', release_id: before.body[0].releases[0].id })
    ).body;
    const { id: node } = (await rig.ask('POST', '/api/v1/nodes', { mac: '52:54:00:00:00:01', name: 'n1' })).body;
    expect(
      (await rig.ask('POST', `/api/v1/clusters/${cluster}/assignment`, [{ id: node, roles: ['compute'] }])).status,
    ).toBe(200);
    const without = await archiveOf(
      releasePackage({ version: '1.0.2', roles: { storage: { name: 'S', description: 'd' } } }),
    );
    const refused = await install(without);
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toMatch(
      new RegExp(`^Can't delete role compute that is assigned to node ${node} \\(.+\\)\\.$`),
    );
    expect((await rig.ask('GET', '/api/v1/packages')).body).toEqual(before.body);
    expect((await rig.ask('GET', `/api/v1/releases/${before.body[0].releases[0].id}/roles`)).body).toEqual(roles.body);
    const removal = await rig.ask('DELETE', `/api/v1/packages/${before.body[0].id}`);
    expect(removal.status).toBe(409);
    expect(removal.body.detail).toContain('half');
    await rig.ask('DELETE', `/api/v1/clusters/${cluster}`);
    expect((await rig.ask('DELETE', `/api/v1/packages/${before.body[0].id}`)).status).toBe(204);
    expect((await rig.ask('GET', '/api/v1/releases')).body).toEqual([]);
  });

  it('an empty file of tasks is a graph without tasks', async () => {
    const metadata = new TextDecoder().decode(
      releasePackage({ name: 'idle', graphs: [{ type: 'deletion', tasks_path: 'deletion.yaml' }] }).files.get(
        'metadata.yaml',
      )!.content,
    );
    const tree = packageTree('idle', [
      ['metadata.yaml', metadata],
      ['deletion.yaml', '# nothing to do\n'],
    ]);
    const made = await install(await archiveOf(tree));
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const graph = `/api/v1/releases/${made.body.releases[0].id}/deployment_graphs/deletion`;
    expect((await rig.ask('GET', graph)).body.tasks).toEqual([]);
    expect((await rig.ask('DELETE', `/api/v1/packages/${made.body.id}`)).status).toBe(204);
  });

  it('graphs that cannot be planned are refused with their places', async () => {
    const bad = releasePackage({
      name: 'bad',
      graphs: [
        { type: 'default', tasks: [{ id: 'a', type: 'shell', version: '2.1.0', condition: { yaql_exp: '$.(' } }] },
      ],
    });
    const refused = await install(await archiveOf(bad));
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0]).toMatchObject({
      file: 'metadata.yaml',
      line: expect.any(Number),
      path: expect.stringMatching(/^releases\[0\]\.graphs\[0\]\.tasks\[0\]/),
    });
  });

  it.each([
    ['no gzip', Buffer.from('hello'), 'archive.format'],
    ['a damaged one', gzipSync(Buffer.from('hello')).subarray(0, 20), 'archive.damaged'],
    ['no tar', gzipSync(Buffer.from('hello'.repeat(200))), 'archive.damaged'],
    ['a bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024)), 'archive.bomb'],
  ])('%s is refused', async (_what, archive, code) => {
    const refused = await install(archive);
    expect(refused.status).toBe(400);
    expect(refused.body.errors[0].code).toBe(code);
  });

  it('archives have limits of size and of concurrent transfers; further ones get 503 and can be retried', async () => {
    const limited = await apiAlone({ archives: { maxBytes: 100, atOnce: 1 } });
    const url = `${await limited.api.listen({ port: 0, host: '127.0.0.1' })}/api/v1/packages`;
    const post = (body: Buffer) => fetch(url, { method: 'POST', headers: gzip, body: new Uint8Array(body) });
    expect((await post(Buffer.alloc(101))).status).toBe(413);
    const slow = httpRequest(url, {
      method: 'POST',
      headers: { ...gzip, 'content-length': '100', expect: '100-continue' },
    });
    slow.on('error', () => undefined);
    slow.flushHeaders();
    await once(slow, 'continue');
    slow.write('x');
    const busy = await vi.waitUntil(async () => {
      const answer = await post(Buffer.alloc(10));
      return answer.status === 503 ? answer : undefined;
    });
    expect(busy.headers.get('retry-after')).toBe('5');
    expect(await busy.json()).toMatchObject({
      code: 'busy',
      hint: expect.stringContaining('packages.archives_at_once'),
    });
    expect((await fetch(`${url}/1/archive`)).status).toBe(503);
    slow.destroy();
    await vi.waitUntil(async () => (await post(Buffer.alloc(10))).status === 400);
    await limited.close();
  });

  it('a file that is not an archive is refused', async () => {
    expect((await rig.ask('POST', '/api/v1/packages', Buffer.alloc(0) as never, gzip)).status).toBe(400);
    expect((await rig.ask('POST', '/api/v1/packages', { a: 1 })).status).toBe(400);
    expect((await rig.ask('POST', '/api/v1/packages')).status).toBe(400);
    expect((await rig.ask('POST', '/api/v1/packages', 'x', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await rig.ask('GET', '/api/v1/packages/99')).status).toBe(404);
    expect((await rig.ask('DELETE', '/api/v1/packages/99')).status).toBe(404);
  });

  it("plugins are synchronised on request of Fuel's clients", async () => {
    const made = await install(await archiveOf(pluginPackage('plug')));
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(made.body).toMatchObject({ kind: 'extension', releases: [] });
    const { id } = made.body.plugins[0];
    const listed = await rig.ask('GET', '/api/v1/plugins');
    expect(listed.body[0].releases[0]).toMatchObject({ os: 'ubuntu', version: 'mitaka-1.0' });
    await rig.ask('PUT', `/api/v1/plugins/${id}`, { name: 'plug', title: 'Changed by hand' });
    const synced = await rig.ask('POST', '/api/v1/plugins/sync/', { ids: [id] });
    expect(synced.status).toBe(200);
    expect(synced.body).toEqual({});
    expect((await rig.ask('GET', `/api/v1/plugins/${id}`)).body.title).toBe('Title of plug');
    expect((await rig.ask('POST', '/api/v1/plugins/sync/')).status).toBe(200);
    expect(
      (await rig.ask('POST', '/api/v1/plugins/sync/', 'null', { 'content-type': 'application/json' })).status,
    ).toBe(200);
    expect((await rig.ask('POST', '/api/v1/plugins/sync/', { ids: [99] })).status).toBe(404);
  });
});

it('the folder of packages: new ones are installed, changed ones updated, bad ones reported while the others continue', async () => {
  const home = await mkdtemp(join(scratch, 'home-'));
  const store = await openStore(join(home, 'store.db'));
  const never = () => {
    throw new Error('not asked for here');
  };
  const { packages, inventory } = createOperations({
    store,
    temporal: { client: {} } as never,
    maas: never,
    packagesFolder: join(home, 'packages'),
  });
  try {
    await expect(packages.sync(undefined, 'me')).rejects.toThrow(/package folder cannot be read/);
    await writePackageFolder(releasePackage({ name: 'lies-there' }), join(home, 'packages', 'a'));
    const [first] = await packages.sync(undefined, 'me');
    expect(first).toMatchObject({ package: { name: 'lies-there' }, releases: [{ name: 'lies-there' }] });
    await rm(join(home, 'packages', 'a'), { recursive: true });
    await writePackageFolder(
      releasePackage({ name: 'lies-there', roles: { storage: { name: 'S', description: 'd' } } }),
      join(home, 'packages', 'a'),
    );
    await writePackageFolder(packageTree('b', [['metadata.yaml', 'name: b']]), join(home, 'packages', 'b'));
    const failed = await packages
      .sync(undefined, 'me')
      .catch((error: { problem: { errors: { file: string }[] } }) => error.problem);
    expect(failed).toMatchObject({ code: 'invalid', errors: [{ file: 'b/metadata.yaml' }] });
    const [release] = await inventory.releases.list();
    expect(release).toMatchObject({ id: first!.releases[0]!.id, rolesMetadata: { storage: { name: 'S' } } });
    expect(release!.rolesMetadata).not.toHaveProperty('compute');
  } finally {
    await store.close();
  }
});

it('an expression that cannot be parsed is a warning in a plugin that Fuel accepted, and an error in a plan with its task', async () => {
  const task = { version: '2.1.0', type: 'shell', parameters: { cmd: 'true', timeout: 9 } };
  const tasks = [
    { ...task, id: 'broken', role: ['storage'], condition: { yaql_exp: '$.a and' } },
    { ...task, id: 'good', role: ['compute'] },
  ];
  const files: [string, string][] = [
    ['deployment_tasks.yaml', JSON.stringify(tasks)],
    ['environment_config.yaml', 'attributes: {}'],
  ];
  const old = (version: string) =>
    pluginPackage(
      `old${version[0]}`,
      { package_version: version, fuel_version: ['9.1'], is_hotpluggable: false, ...single },
      files,
    );
  const single = {
    releases: [
      {
        os: 'ubuntu',
        version: 'mitaka-9.9',
        mode: ['ha'],
        deployment_scripts_path: 'scripts/',
        repository_path: 'scripts',
      },
    ],
  };
  const refused = await install(await archiveOf(old('5.0.0')));
  expect([refused.status, refused.body.errors[0].code]).toEqual([400, 'package.bad-yaql']);
  const { status, body } = await install(await archiveOf(old('4.0.0')));
  expect(status, JSON.stringify(body)).toBe(201);
  expect(body.warnings.map(({ code, file, line }: Record<string, unknown>) => `${code} ${file}:${line}`)).toContain(
    'package.bad-yaql deployment_tasks.yaml:1',
  );
  const roles = { storage: { name: 'S', description: 'd' }, compute: { name: 'C', description: 'd' } };
  const release = releasePackage({ name: 'nine', releaseVersion: 'mitaka-9.9', roles });
  const { id: releaseId } = (await install(await archiveOf(release))).body.releases[0];
  const { id } = (await rig.ask('POST', '/api/v1/clusters', { name: 'nine', release_id: releaseId })).body;
  const node = (await rig.ask('POST', '/api/v1/nodes', { mac: '52:54:00:00:03:0a', status: 'provisioned' })).body;
  await rig.ask('POST', `/api/v1/clusters/${id}/assignment`, [{ id: node.id, roles: ['storage'] }]);
  const enabled = { editable: { old4: { metadata: { enabled: true } } } };
  expect((await rig.ask('PATCH', `/api/v1/clusters/${id}/attributes`, enabled)).status).toBe(200);
  const plan = await rig.ask('GET', `/api/v1/clusters/${id}/serialized_tasks`);
  expect(plan.status).toBe(400);
  expect(plan.body.errors).toMatchObject([{ code: 'graph.bad-yaql', path: 'plugins.old4.tasks[0].condition' }]);
});

it('attributes of nodes, interfaces and bonds come from release and plugins, and reach tasks', async () => {
  const setting = (value: unknown) => ({ label: 'l', type: 'text', value });
  const parts = {
    node_attributes: { hugepages: { nova: setting('2M') } },
    nic_attributes: { mtu: { value: setting('1500') } },
    bond_attributes: { mode: { value: setting('lacp') } },
  };
  const { id: release } = (await install(await archiveOf(releasePackage({ name: 'wired', parts })))).body.releases[0];
  const files: [string, string][] = [
    ['nic_config.yaml', JSON.stringify({ offload: setting('on') })],
    ['node_config.yaml', JSON.stringify({ tuning: { cpu: setting('fast') } })],
  ];
  expect((await install(await archiveOf(pluginPackage('tuner', {}, files)))).status).toBe(201);
  const { id: cluster } = (await rig.ask('POST', '/api/v1/clusters', { name: 'wired', release_id: release })).body;
  const { id } = (await rig.ask('POST', '/api/v1/nodes', { mac: '52:54:00:00:03:01', status: 'provisioned' })).body;
  await rig.ask('POST', `/api/v1/clusters/${cluster}/assignment`, [{ id, roles: ['compute'] }]);
  const editable = { tuner: { metadata: { enabled: true } } };
  expect((await rig.ask('PATCH', `/api/v1/clusters/${cluster}/attributes`, { editable })).status).toBe(200);

  const at = `/api/v1/nodes/${id}`;
  const { body: attributes } = await rig.ask('GET', `${at}/attributes`);
  expect(attributes).toMatchObject({ hugepages: { nova: { value: '2M' } }, tuning: { cpu: { value: 'fast' } } });
  expect((await rig.ask('PUT', `${at}/attributes`, attributes)).body).toEqual(attributes);
  const interfaces = [
    { name: 'eth0', type: 'ether', attributes: { mtu: { value: { value: '9000' } } } },
    { name: 'bond0', type: 'bond' },
  ];
  const set = await rig.ask('PUT', `${at}/interfaces`, interfaces);
  expect(set.status, JSON.stringify(set.body)).toBe(200);
  expect(set.body).toMatchObject([
    { attributes: { mtu: { value: { label: 'l', value: '9000' } }, tuner: { offload: { value: 'on' } } } },
    { attributes: { mode: { value: { value: 'lacp' } } } },
  ]);
  expect(await rig.ask('PUT', `${at}/interfaces`, set.body)).toMatchObject({ status: 200, body: set.body });
  expect((await rig.ask('PUT', `${at}/disks`, [{ id: 'sda', size: 7 }])).status).toBe(200);
  const cmd = {
    yaql_exp:
      'concat($.hugepages.nova, $.tuning.cpu, $.interfaces.first().attributes.mtu.value.value, str($.disks.first().size))',
  };
  const tasks = [{ id: 'seen', type: 'shell', version: '2.1.0', tags: ['compute'], parameters: { cmd } }];
  await rig.ask('POST', `/api/v1/clusters/${cluster}/deployment_graphs/seen`, { tasks });
  const plan = await rig.ask('GET', `/api/v1/clusters/${cluster}/serialized_tasks?graph_type=seen&nodes=${id}`);
  expect(plan.status, JSON.stringify(plan.body).slice(0, 500)).toBe(200);
  expect(plan.body.tasks_graph[id].at(-1)).toMatchObject({ id: 'seen', parameters: { cmd: '2Mfast90007' } });
});

it('each attribute of the recorded release reaches its nodes, interfaces and bonds, by default and when it is set', async () => {
  const example = fileURLToPath(new URL('../../examples/fuel-release', import.meta.url));
  const { tree } = checkPackage(await readPackageFolder(example));
  const [recorded] = (tree as { releases: Record<'node_attributes' | 'nic_attributes' | 'bond_attributes', Groups>[] })
    .releases;
  const { node_attributes: ofNode, nic_attributes: ofNic, bond_attributes: ofBond } = recorded!;
  const parts = { node_attributes: ofNode, nic_attributes: ofNic, bond_attributes: ofBond };
  const { id: release } = (await install(await archiveOf(releasePackage({ name: 'whole', parts })))).body.releases[0];
  const { id: cluster } = (await rig.ask('POST', '/api/v1/clusters', { name: 'whole', release_id: release })).body;
  const { id } = (await rig.ask('POST', '/api/v1/nodes', { mac: '52:54:00:00:03:09', status: 'provisioned' })).body;
  await rig.ask('POST', `/api/v1/clusters/${cluster}/assignment`, [{ id, roles: ['compute'] }]);
  const seen = async () => (await rig.ask('GET', `/api/v1/clusters/${cluster}/states`)).body.now.facts.nodes[id];
  const bare = [
    { name: 'eth0', type: 'ether' },
    { name: 'bond0', type: 'bond' },
  ];
  expect((await rig.ask('PUT', `/api/v1/nodes/${id}/interfaces`, bare)).status).toBe(200);
  const given = await seen();
  expect(valuesIn(given.attributes)).toEqual(valuesIn(ofNode));
  expect(given.interfaces.map((one: { attributes: Groups }) => valuesIn(one.attributes))).toEqual([
    valuesIn(ofNic),
    valuesIn(ofBond),
  ]);
  expect(valuesIn(ofNic).size + valuesIn(ofBond).size + valuesIn(ofNode).size).toBeGreaterThan(15);

  await rig.ask('PUT', `/api/v1/nodes/${id}/attributes`, otherThan(ofNode));
  const own = [
    { ...bare[0], attributes: otherThan(ofNic) },
    { ...bare[1], attributes: otherThan(ofBond) },
  ];
  await rig.ask('PUT', `/api/v1/nodes/${id}/interfaces`, own);
  const set = await seen();
  const all = [set.attributes, ...set.interfaces.map((one: { attributes: Groups }) => one.attributes)];
  expect(all.flatMap((groups) => [...valuesIn(groups).values()]).filter((value) => value !== 'set')).toEqual([]);
});

type Groups = Record<string, Record<string, unknown>>;

const isSetting = (one: unknown): one is { value: unknown } =>
  typeof one === 'object' && one !== null && 'value' in one;

/** The values of attributes, by `group.name`. */
const valuesIn = (groups: Groups): Map<string, unknown> =>
  new Map(
    Object.entries(groups).flatMap(([group, settings]) =>
      (isSetting(settings) && !isSetting(settings.value)
        ? [['', settings] as const]
        : Object.entries(settings)
      ).flatMap(([name, one]) => (isSetting(one) ? [[`${group}.${name}`, one.value] as const] : [])),
    ),
  );

const otherThan = (groups: Groups): Groups =>
  Object.fromEntries(
    Object.entries(groups).map(([group, settings]) => [
      group,
      isSetting(settings) && !isSetting(settings.value)
        ? { ...settings, value: 'set' }
        : Object.fromEntries(
            Object.entries(settings).map(([name, one]) => [name, isSetting(one) ? { ...one, value: 'set' } : one]),
          ),
    ]),
  );

it('disks and interfaces of a machine of MAAS cannot be set in the inventory, where they would have no effect', async () => {
  await rig.ask('POST', '/api/v1/sites', { name: 'machines' });
  const node = { name: 'machine', site: 'machines', mac: '52:54:00:00:03:02' };
  const { id } = (await rig.ask('POST', '/api/v1/nodes', node)).body;
  for (const part of ['disks', 'interfaces']) {
    const refused = await rig.ask('PUT', `/api/v1/nodes/${id}/${part}`, []);
    expect(refused).toMatchObject({
      status: 409,
      body: { hint: expect.stringContaining('documents of site machines') },
    });
  }
});

it('the base release is installed once, and only in an empty system', async () => {
  const home = await mkdtemp(join(scratch, 'fresh-'));
  const operations = async (file: string) => {
    const store = await openStore(join(home, file));
    const maas = () => {
      throw new Error('not asked for here');
    };
    return { store, ...createOperations({ store, temporal: { client: {} } as never, maas }) };
  };
  const fresh = await operations('fresh.db');
  const other = await operations('other.db');
  try {
    for (const _start of [1, 2]) await fresh.packages.installBase();
    const [base, ...more] = await fresh.packages.list();
    expect([base?.package.name, more]).toEqual(['base', []]);
    await fresh.packages.remove(base!.package.id, 'me');
    await fresh.packages.installBase();
    expect(await fresh.packages.list()).toEqual([]);
    await other.store.releases.create({ name: 'own', version: '1' });
    await other.packages.installBase();
    expect(await other.packages.list()).toEqual([]);
  } finally {
    await Promise.all([fresh.store.close(), other.store.close()]);
  }
});

describe('plugins in a cluster', () => {
  const role = (name: string): [string, string] => ['node_roles.yaml', `${name}: {name: N, description: d}\n`];
  const task = (id: string, version = '2.1.0'): [string, string] => [
    'deployment_tasks.yaml',
    JSON.stringify([{ id, type: 'shell', version, role: ['compute'], parameters: { cmd: 'true', timeout: 1 } }]),
  ];

  it('settings of a plugin are generated, and accepted as they were downloaded; so are those of VMware', async () => {
    const vmware = { editable: { value: { availability_zones: [] } } };
    const host = releasePackage({ name: 'generating', parts: { vmware_attributes: vmware } });
    const { id: release } = (await install(await archiveOf(host))).body.releases[0];
    const secret = { type: 'password', label: 'l', weight: 1, value: { generator: 'password' } };
    const list = {
      type: 'text_list',
      label: 'l',
      weight: 1,
      value: { generator: 'from_settings', generator_arg: 'X' },
    };
    const config: [string, string] = ['environment_config.yaml', JSON.stringify({ attributes: { secret, list } })];
    const made = await install(await archiveOf(pluginPackage('generated', {}, [config])));
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const { id } = (await rig.ask('POST', '/api/v1/clusters', { name: 'generating', release_id: release })).body;
    const { body } = await rig.ask('GET', `/api/v1/clusters/${id}/attributes`);
    expect(body.editable.generated).toMatchObject({
      secret: { value: expect.stringMatching(/^\w{24}$/) },
      list: { value: [] },
    });
    const sent = await rig.ask('PUT', `/api/v1/clusters/${id}/attributes`, body);
    expect(sent.status, JSON.stringify(sent.body)).toBe(200);
    const at = `/api/v1/clusters/${id}/vmware_attributes`;
    expect((await rig.ask('GET', at)).body).toEqual(vmware);
    expect(await rig.ask('PUT', at, vmware)).toMatchObject({ status: 200, body: vmware });
    const now = clusterStates(await readClusterSources(rig.store, id), { states: {}, tasks: [] }).now;
    expect(now.common.vmware_attributes).toEqual(vmware.editable.value);
  });

  it('deliver their files and repositories to the nodes that run their tasks, before those tasks', async () => {
    const roles = Object.fromEntries(['compute', 'storage'].map((name) => [name, { name, description: 'd' }]));
    const { id: release } = (await install(await archiveOf(releasePackage({ name: 'fed', roles })))).body.releases[0];
    const { id: cluster } = (await rig.ask('POST', '/api/v1/clusters', { name: 'fed', release_id: release })).body;
    const nodes: number[] = [];
    for (const [at, role_] of ['compute', 'storage'].entries()) {
      const node = await rig.ask('POST', '/api/v1/nodes', { mac: `52:54:00:00:02:0${at}`, status: 'provisioned' });
      nodes.push(node.body.id);
      const assignment = [{ id: node.body.id, roles: [role_] }];
      expect((await rig.ask('POST', `/api/v1/clusters/${cluster}/assignment`, assignment)).status).toBe(200);
    }
    const releases = [
      { os: 'ubuntu', version: 'mitaka-1.0', deployment_scripts_path: 'scripts/', repository_path: 'repo' },
    ];
    const files: [string, string][] = [['scripts/site.pp', 'node default {}'], ['repo/Packages', ''], task('metrics')];
    expect((await install(await archiveOf(pluginPackage('metrics', { releases }, files)))).status).toBe(201);
    const editable = { metrics: { metadata: { enabled: true } } };
    expect((await rig.ask('PATCH', `/api/v1/clusters/${cluster}/attributes`, { editable })).status).toBe(200);

    const url = `/api/v1/clusters/${cluster}/serialized_tasks?graph_type=default&nodes=${nodes.join()}`;
    const { body, status } = await rig.ask('GET', url);
    expect(status, JSON.stringify(body)).toBe(200);
    type Serialized = { id: string; type: string; parameters: Record<string, string>; requires?: { name: string }[] };
    const graph = body.tasks_graph as Record<string, Serialized[]>;
    expect(graph[nodes[1]!] ?? []).toEqual([]);
    const tasks = new Map(graph[nodes[0]!]!.map((one) => [one.id, one]));
    const requires = (id: string) => (tasks.get(id)!.requires ?? []).map(({ name }) => name);
    expect(requires('metrics').sort()).toEqual([
      'metrics-1.0-files',
      'metrics-1.0-repository',
      'metrics-1.0-repository-files',
    ]);
    expect(requires('hello')).toEqual([]);
    expect(requires('metrics-1.0-repository')).toEqual(['metrics-1.0-repository-files']);
    // A part of the graph has the preparations of its tasks.
    const fed = await readClusterSources(rig.store, cluster);
    const layers = await readGraphLayers(rig.store, fed, 'default');
    const workOf = (start: string) => {
      const planned = planCluster(fed, layers, {
        type: 'default',
        nodes,
        subgraphs: [{ start: [start], end: [start] }],
      });
      if (!planned.ok || !planned.graph) throw new Error(JSON.stringify(planned));
      const { nameOf, names, noWork } = planned.graph;
      return nameOf.flatMap((name, task) => (noWork[task] === 1 ? [] : names[name]!)).sort();
    };
    expect(workOf('metrics')).toEqual([
      'metrics',
      'metrics-1.0-files',
      'metrics-1.0-repository',
      'metrics-1.0-repository-files',
    ]);
    expect(workOf('hello')).toEqual(['hello']);
    const scripts = tasks.get('metrics-1.0-files')!;
    expect(scripts).toMatchObject({
      type: 'package_files',
      parameters: { src: 'package:metrics==1.0.0/scripts', dst: '/etc/fuel/plugins/metrics-1.0/' },
    });

    // The order names the version that agents receive.
    const none = { read: async (path: string) => Promise.reject(new Error(path)) };
    const sources = withPackageSources(none, rig.store.packages);
    const { src = '', digest } = scripts.parameters;
    const list = await sources.read(src);
    expect(createHash('sha256').update(list).digest('hex')).toBe(digest);
    expect(readManifest(Buffer.from(list).toString())!.map(({ path }) => path)).toEqual(['README.md', 'site.pp']);
    expect(Buffer.from(await sources.read(`${src}//site.pp`)).toString()).toBe('node default {}');
    for (const missing of [
      `${src}//none`,
      `${src}//../metadata.yaml`,
      'package:metrics==1.0.0/..//x',
      'package:metrics==9.0.0/scripts',
      'package:x',
    ])
      await expect(sources.read(missing), missing).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('conflicts prevent enabling, with the messages of the reference', async () => {
    const { id: release } = (await install(await archiveOf(releasePackage({ name: 'host' })))).body.releases[0];
    const { id: cluster } = (await rig.ask('POST', '/api/v1/clusters', { name: 'plugged', release_id: release })).body;
    const ids: Record<string, number> = {};
    const plugin = async (name: string, ...files: [string, string][]) => {
      const made = await install(await archiveOf(pluginPackage(name, {}, files)));
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      ids[name] = made.body.plugins[0].id;
    };
    await plugin('first', role('kafka'), task('same'));
    await plugin('second', role('compute'), task('same'));
    await plugin('old', task('ancient', '1.0.0'));
    const enable = (...names: string[]) =>
      rig.ask('PATCH', `/api/v1/clusters/${cluster}/attributes`, {
        editable: Object.fromEntries(names.map((name) => [name, { metadata: { enabled: true } }])),
      });
    const first = await enable('first');
    expect(first.status, JSON.stringify(first.body).slice(0, 500)).toBe(200);
    const second = await enable('second');
    expect(second.status).toBe(400);
    expect(second.body.errors.map(({ message }: { message: string }) => message)).toEqual([
      `Plugin (ID=${ids.second}) is unable to register the following node roles: compute`,
      'Plugin second is overlapping with plugin first by introducing the same deployment task with id same',
    ]);
    const old = await enable('old');
    expect(old.status).toBe(400);
    expect(old.body.detail).toMatch(/^Cannot enable plugin with legacy tasks unless propagate_task_deploy/);
    const packages = (await rig.ask('GET', '/api/v1/packages')).body as { id: number; name: string }[];
    const used = await rig.ask('DELETE', `/api/v1/packages/${packages.find(({ name }) => name === 'first')!.id}`);
    expect(used.status).toBe(409);
    expect(used.body.detail).toContain('plugged');
  });
});

/** Downloads can be uploaded unchanged. */
async function acceptsItsOwnSettings(cluster: number): Promise<void> {
  for (const part of ['attributes', 'network_configuration/neutron']) {
    const at = `/api/v1/clusters/${cluster}/${part}`;
    const { status, body } = await rig.ask('GET', at);
    expect(status, `${part}: ${JSON.stringify(body).slice(0, 300)}`).toBe(200);
    const sent = await rig.ask('PUT', at, body);
    expect(sent.status, `${part}: ${JSON.stringify(sent.body).slice(0, 500)}`).toBe(200);
    expect(sent.body).toEqual(body);
  }
  const { editable } = (await rig.ask('GET', `/api/v1/clusters/${cluster}/attributes`)).body;
  expect(editable.external_dns.dns_list.value).toEqual([]);
  expect(editable.storage.fsid.value).toMatch(/^[0-9a-f-]{36}$/);
}

it('the example release: roles on six nodes, the database on a node of its own by tags', async () => {
  const folder = fileURLToPath(new URL('../../examples/fuel-release', import.meta.url));
  const tree = await readPackageFolder(folder);
  const { path } = await writePackageArchive(tree, 'fuel-newton', '10.0.0', scratch);
  const made = await install(await readFile(path));
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const release = made.body.releases[0].id;
  const cluster = (await rig.ask('POST', '/api/v1/clusters', { name: 'six', release_id: release })).body.id;
  await acceptsItsOwnSettings(cluster);
  const nodes: number[] = [];
  for (let at = 0; at < 7; at++) {
    const node = await rig.ask('POST', '/api/v1/nodes', {
      mac: `52:54:00:00:01:0${at}`,
      name: `six-${at}`,
      status: 'provisioned',
    });
    nodes.push(node.body.id);
  }
  const [one, two, three, four, five, six, database] = nodes as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // Data of networks and hardware that tasks read comes from the recorded cluster; the new node is like a compute.
  const { deployment_info: facts } = JSON.parse(
    await readFile(new URL('../data/fuel/cluster.six.json', import.meta.url), 'utf8'),
  ) as { deployment_info: { common: object; nodes: Record<string, object> } };
  const recorded = Object.keys(facts.nodes)
    .filter((uid) => /^\d+$/.test(uid))
    .sort((x, y) => Number(x) - Number(y));
  const assigned = await rig.ask('POST', `/api/v1/clusters/${cluster}/assignment`, [
    ...[one, two, three].map((id) => ({ id, roles: ['controller'] })),
    ...[four, five].map((id) => ({ id, roles: ['compute'] })),
    { id: six, roles: ['ceph-osd'] },
    { id: database, roles: ['base-os'] },
  ]);
  expect(assigned.status, JSON.stringify(assigned.body)).toBe(200);
  const uploaded = await rig.ask('PUT', `/api/v1/clusters/${cluster}/orchestrator/deployment`, [
    { ...facts.common, uid: 'common' },
    { ...facts.nodes.master, uid: 'master' },
    ...nodes.map((id, at) => ({ ...facts.nodes[recorded[at] ?? recorded[3]!], uid: String(id) })),
  ]);
  expect(uploaded.status, JSON.stringify(uploaded.body).slice(0, 500)).toBe(200);
  const tagsOf = async (id: number) =>
    (await rig.ask('GET', `/api/v1/nodes/${id}/tags`)).body.map(({ tag }: { tag: string }) => tag).sort();
  expect(await tagsOf(one)).toEqual(['controller', 'database', 'keystone', 'neutron', 'rabbitmq']);

  const placed = async () => {
    const plan = await rig.ask(
      'GET',
      `/api/v1/clusters/${cluster}/serialized_tasks?graph_type=default&nodes=${nodes.join()}`,
    );
    expect(plan.status, JSON.stringify(plan.body).slice(0, 1500)).toBe(200);
    const on = (task: string) =>
      Object.entries(plan.body.tasks_graph as Record<string, { id: string }[]>)
        .filter(([, tasks]) => tasks.some(({ id }) => id === task))
        .map(([node]) => Number(node))
        .sort((a, b) => a - b);
    return {
      primary: on('primary-database'),
      other: on('database'),
      keystone: [...on('primary-keystone'), ...on('keystone')],
    };
  };
  expect(await placed()).toEqual({ primary: [one], other: [two, three], keystone: [one, two, three] });

  // Moved from the controllers, in the query form of the specification; onto a separate node, in the plain form.
  const taken = await rig.ask('DELETE', `/api/v1/tags/?node_id=${one},${two},${three}&tags=['database']`);
  expect(taken.status, JSON.stringify(taken.body)).toBe(204);
  const checks = await rig.ask('GET', `/api/v1/clusters/${cluster}/checks`);
  expect(checks.body.findings.find(({ code }: { code: string }) => code === 'check.tags-unassigned').tags).toContain(
    'database',
  );
  expect((await rig.ask('POST', `/api/v1/nodes/${database}/tags`, { tags: ['database'] })).status).toBe(200);
  expect(await tagsOf(database)).toEqual(['base-os', 'database']);
  expect(await placed()).toEqual({ primary: [database], other: [], keystone: [one, two, three] });
});
