import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { createOperations, type TagExtension, tagExtensionsOf } from '../../src/ops/index.ts';
import { packageTree, writePackageFolder } from '../../src/packages/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { spec } from '../unit/specification/spec.ts';
import { type ApiRig, apiOf } from './api-rig.ts';

let rig: ApiRig;
let store: Store;
let folder: string;
let extensions: readonly TagExtension[] = [];
let release: number;
let cluster: number;
let nodes: number[];
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sitewright-tags-'));
  store = await openStore(join(folder, 'store.db'));
  const temporal = { client: {}, connection: {}, namespace: 'n', taskQueue: 'q', address: '127.0.0.1:1' } as never;
  const maas = () => {
    throw new Error('there is no MAAS here');
  };
  rig = await apiOf(createOperations({ store, temporal, maas, tagExtensions: async () => extensions }), store, () =>
    store.close(),
  );
});
afterAll(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  extensions = [];
  count += 1;
  const made = await rig.ask('POST', '/api/v1/releases', {
    name: `r${count}`,
    version: 'newton-10.0',
    operating_system: 'ubuntu',
    roles_metadata: {
      controller: {
        name: 'Controller',
        description: 'd',
        tags: ['controller', 'mysql', 'keystone'],
        conflicts: ['compute'],
      },
      compute: { name: 'Compute', description: 'd' },
    },
    tags_metadata: {
      controller: { has_primary: true },
      mysql: { has_primary: true },
      keystone: { has_primary: false },
    },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  release = made.body.id;
  cluster = (await rig.ask('POST', '/api/v1/clusters', { name: `c${count}`, release_id: release })).body.id;
  nodes = [];
  for (let at = 0; at < 3; at++) {
    const mac = `52:54:00:00:${String(count).padStart(2, '0')}:0${at}`;
    nodes.push((await rig.ask('POST', '/api/v1/nodes', { mac, name: `n${count}-${at}` })).body.id);
  }
});

const assign = (roles: Record<number, string[]>) =>
  rig.ask(
    'POST',
    `/api/v1/clusters/${cluster}/assignment`,
    Object.entries(roles).map(([at, own]) => ({ id: nodes[Number(at)], roles: own })),
  );
const tagsOf = async (at: number): Promise<string[]> =>
  (await rig.ask('GET', `/api/v1/nodes/${nodes[at]}/tags`)).body.map(({ tag }: { tag: string }) => tag).sort();
const swift = { name: 'swift', meta: { has_primary: true } };

describe('tags of releases and clusters', () => {
  it('can be created, listed, shown, changed and deleted', async () => {
    const at = `/api/v1/clusters/${cluster}/tags/`;
    expect(await rig.ask('POST', at, swift)).toMatchObject({ status: 201, body: swift });
    expect(await rig.ask('POST', at, swift)).toMatchObject({
      status: 409,
      body: { detail: `Tag with name 'swift' already exists for cluster ${cluster}` },
    });
    expect(await rig.ask('GET', `${at}swift/`)).toMatchObject({ status: 200, body: swift });
    const changed = { name: 'swift', meta: { has_primary: false, note: 'kept' } };
    expect(await rig.ask('PUT', `${at}swift/`, changed)).toMatchObject({ status: 200, body: changed });
    const names = (await rig.ask('GET', at)).body.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['compute', 'controller', 'keystone', 'mysql', 'swift']);
    expect((await rig.ask('DELETE', `${at}swift/`)).status).toBe(204);
    expect(await rig.ask('DELETE', `${at}swift/`)).toMatchObject({
      status: 404,
      body: { detail: `Tag 'swift' is not found for the cluster ${cluster}` },
    });
  });

  it('every tag that the list of a cluster shows can be read there; one of a release is changed at the release', async () => {
    await rig.ask('POST', `/api/v1/releases/${release}/tags/`, swift);
    const listed = await rig.ask('GET', `/api/v1/clusters/${cluster}/tags/`);
    expect(listed.body).toContainEqual(swift);
    // The role compute implies a tag of its name, which no metadata of tags names.
    const all = (await rig.ask('GET', `/api/v1/clusters/${cluster}/tags/`)).body as { name: string }[];
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['compute', 'swift']));
    for (const tag of all)
      expect((await rig.ask('GET', `/api/v1/clusters/${cluster}/tags/${tag.name}/`)).body).toEqual(tag);
    const changed = await rig.ask('PUT', `/api/v1/clusters/${cluster}/tags/swift/`, swift);
    expect(changed).toMatchObject({
      status: 404,
      body: { detail: `Tag 'swift' is not found for the cluster ${cluster}` },
    });
    expect(changed.body.hint).toContain(`release ${release}`);
  });

  it.each([
    [{ name: 'nometa' }],
    [{ meta: { has_primary: true } }],
    [{ name: 'bad name!', meta: { has_primary: true } }],
    [{ name: 'x', meta: {} }],
    [{ name: 'x', meta: { has_primary: 'yes' } }],
    [{ name: 'x', meta: null }],
    [[]],
  ])('%j is refused with 400', async (body) => {
    const refused = await rig.ask('POST', `/api/v1/clusters/${cluster}/tags/`, body);
    expect(refused.status).toBe(400);
    expect(refused.body.errors.length).toBeGreaterThan(0);
  });

  it('a rename, and any change of a built-in tag, is refused', async () => {
    await rig.ask('POST', `/api/v1/clusters/${cluster}/tags/`, swift);
    const renamed = await rig.ask('PUT', `/api/v1/clusters/${cluster}/tags/swift/`, { ...swift, name: 'other' });
    expect(renamed.status).toBe(400);
    const names = (await rig.ask('GET', `/api/v1/clusters/${cluster}/tags/`)).body.map(
      ({ name }: { name: string }) => name,
    );
    expect(names).not.toContain('other');
    const builtIn = await rig.ask('DELETE', `/api/v1/releases/${release}/tags/controller/`);
    expect(builtIn.status).toBe(409);
    expect(builtIn.body.detail).toContain('controller');
    expect(
      (await rig.ask('PUT', `/api/v1/releases/${release}/tags/mysql/`, { name: 'mysql', meta: { has_primary: false } }))
        .status,
    ).toBe(409);
    expect((await rig.ask('GET', '/api/v1/clusters/999/tags/')).body.detail).toBe('Cluster not found');
    expect((await rig.ask('POST', '/api/v1/releases/999/tags/', swift)).status).toBe(404);
  });
});

describe('changes of roles', () => {
  const roleAt = (owner: string) => `/api/v1/${owner}/roles/controller/`;
  async function retag(owner: string, tags: readonly string[]): Promise<void> {
    const { body } = await rig.ask('GET', roleAt(owner));
    const changed = await rig.ask('PUT', roleAt(owner), { ...body, meta: { ...body.meta, tags } });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  }
  const changes = async () => (await rig.ask('GET', `/api/v1/clusters/${cluster}/tag_changes`)).body;
  const planned = async (): Promise<Record<string, readonly string[]>> => {
    await rig.ask('POST', `/api/v1/clusters/${cluster}/deployment_graphs/tagged`, {
      tasks: ['mysql', 'swift'].map((tag) => ({
        id: `on-${tag}`,
        type: 'shell',
        version: '2.1.0',
        tags: [tag, `primary-${tag}`],
        parameters: { cmd: 'true' },
      })),
    });
    await rig.ask('PUT', `/api/v1/nodes/${nodes[0]}`, { status: 'ready', pending_addition: false });
    const plan = await rig.ask('GET', `/api/v1/clusters/${cluster}/plan?graph_type=tagged&nodes=${nodes[0]}`);
    expect(plan.status, JSON.stringify(plan.body)).toBe(200);
    const { nodes: shown } = plan.body as { nodes: { node: string; runs: { task: string }[] }[] };
    return Object.fromEntries(shown.map((one) => [one.node, one.runs.map(({ task }) => task)]));
  };

  it('reach the nodes of clusters: shown as pending, used by the next plan, applied on request', async () => {
    await assign({ 0: ['controller'], 1: ['compute'] });
    await rig.ask('POST', `/api/v1/releases/${release}/tags`, swift);
    expect(await changes()).toEqual([]);
    await retag(`releases/${release}`, ['controller', 'keystone', 'swift']);
    const pending = [{ node_id: nodes[0], role: 'controller', given: ['swift'], lost: ['mysql'] }];
    expect(await changes()).toEqual(pending);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'mysql']);
    const { findings } = (await rig.ask('GET', `/api/v1/clusters/${cluster}/checks`)).body;
    expect(findings.filter(({ code }: { code: string }) => code === 'check.tags-pending')).toMatchObject([
      { role: 'controller', tags: ['swift'], nodes: [nodes[0]] },
      { role: 'controller', tags: ['mysql'], nodes: [nodes[0]] },
    ]);
    expect(await planned()).toEqual({ [nodes[0]!]: ['on-swift'] });
    expect(await rig.ask('POST', `/api/v1/clusters/${cluster}/tag_changes`)).toMatchObject({ body: pending });
    expect(await changes()).toEqual([]);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'swift']);
    expect(await planned()).toEqual({ [nodes[0]!]: ['on-swift'] });
  });

  it('do not restore tags that a user removed, nor remove tags that a user assigned', async () => {
    await assign({ 0: ['controller'] });
    await rig.ask('DELETE', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['keystone'] });
    await rig.ask('POST', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['mysql', 'mysql:1'] });
    await rig.ask('POST', `/api/v1/releases/${release}/tags`, { ...swift, role: 'controller' });
    await retag(`releases/${release}`, ['controller', 'keystone', 'swift']);
    await rig.ask('POST', `/api/v1/clusters/${cluster}/tag_changes`);
    expect(await tagsOf(0)).toEqual(['controller', 'mysql', 'mysql:1', 'swift']);
  });

  it('can be made for one cluster, and undone', async () => {
    await assign({ 0: ['controller'] });
    await retag(`clusters/${cluster}`, ['controller', 'keystone']);
    expect((await rig.ask('GET', roleAt(`releases/${release}`))).body.meta.tags).toContain('mysql');
    expect((await rig.ask('GET', roleAt(`clusters/${cluster}`))).body.meta.tags).toEqual(['controller', 'keystone']);
    expect(await changes()).toMatchObject([{ lost: ['mysql'] }]);
    await rig.ask('POST', `/api/v1/clusters/${cluster}/tag_changes`);
    expect((await rig.ask('DELETE', roleAt(`clusters/${cluster}`))).status).toBe(204);
    expect(await changes()).toMatchObject([{ given: ['mysql'], lost: [] }]);
    expect((await rig.ask('DELETE', roleAt(`clusters/${cluster}`))).status).toBe(409);
  });

  it('are pending only for existing nodes: a node that joins later gets the current tags of the role', async () => {
    await assign({ 0: ['controller'] });
    await retag(`releases/${release}`, ['controller']);
    await assign({ 1: ['controller'] });
    expect((await changes()).map((one: { node_id: number }) => one.node_id)).toEqual([nodes[0]]);
  });
});

describe('tags of nodes', () => {
  it('a role adds its tags and its name; each can be removed and assigned', async () => {
    expect((await assign({ 0: ['controller'], 1: ['compute'] })).status).toBe(200);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'mysql']);
    expect(await tagsOf(1)).toEqual(['compute']);
    expect((await rig.ask('DELETE', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['mysql', 'controller'] })).status).toBe(
      200,
    );
    expect((await rig.ask('POST', `/api/v1/nodes/${nodes[1]}/tags`, { tags: ['mysql', 'mysql:1'] })).status).toBe(200);
    expect([await tagsOf(0), await tagsOf(1)]).toEqual([['keystone'], ['compute', 'mysql', 'mysql:1']]);
    const checks = await rig.ask('GET', `/api/v1/clusters/${cluster}/checks`);
    expect(checks.body).toMatchObject({ ok: true, findings: [] });
  });

  it('another node can become primary for a tag; a tag without a primary, or a node without the tag, is refused', async () => {
    await assign({ 0: ['controller'], 1: ['controller'], 2: ['compute'] });
    const primary = async (at: number, tags: readonly string[]) => {
      const { status, body } = await rig.ask('POST', `/api/v1/nodes/${nodes[at]}/tags`, { tags });
      return [status, body.errors?.map(({ message }: { message: string }) => message)];
    };
    const primaries = async () => (await store.clusters.get(cluster)).primaries;
    expect((await primary(1, ['primary-mysql']))[0]).toBe(200);
    expect(await primaries()).toEqual({ mysql: nodes[1] });
    expect([await tagsOf(0), await tagsOf(1)]).toEqual(Array(2).fill(['controller', 'keystone', 'mysql']));
    expect(await primary(2, ['primary-mysql'])).toEqual([
      400,
      [expect.stringMatching(new RegExp(`^node ${nodes[2]} \\(.+\\) does not have the tag 'mysql'$`))],
    ]);
    expect(await primary(1, ['primary-keystone'])).toEqual([400, ["no node is primary for 'keystone'"]]);
    const many = await rig.ask('POST', '/api/v1/tags/assign', { nodes: nodes.slice(0, 2), tags: ['primary-mysql'] });
    expect(many.status).toBe(400);
    expect(await primaries()).toEqual({ mysql: nodes[1] });
    expect((await primary(2, ['mysql', 'primary-mysql']))[0]).toBe(200);
    expect(await primaries()).toEqual({ mysql: nodes[2] });
  });

  it('deleting a user-made tag removes it from nodes; a tag of a role cannot be deleted', async () => {
    await assign({ 0: ['controller'] });
    await rig.ask('POST', `/api/v1/clusters/${cluster}/tags/`, swift);
    await rig.ask('POST', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['swift', 'swift:2'] });
    expect((await rig.ask('DELETE', `/api/v1/clusters/${cluster}/tags/swift/`)).status).toBe(204);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'mysql']);
    const held = await rig.ask(
      'POST',
      `/api/v1/tags/?cluster_id=${cluster}&tag_name='swift'&role='controller'&meta={"has_primary":false}`,
    );
    expect(held.status, JSON.stringify(held.body)).toBe(201);
    const refused = await rig.ask('DELETE', `/api/v1/tags/?cluster_id=${cluster}&tag_name='swift'`);
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toContain('role controller');
  });

  it("the specification's form with quotes and brackets is accepted", async () => {
    await assign({ 0: ['controller'], 1: ['compute'] });
    const meta = encodeURIComponent('{"has_primary": true}');
    expect((await rig.ask('POST', `/api/v1/tags/?release_id=${release}&tag_name='swift'&meta=${meta}`)).status).toBe(
      201,
    );
    const given = await rig.ask(
      'POST',
      `/api/v1/tags/?node_id=${nodes[1]}&tags=['swift', 'mysql']`.replace(/ /g, '%20'),
    );
    expect(given.status, JSON.stringify(given.body)).toBe(200);
    expect(await tagsOf(1)).toEqual(['compute', 'mysql', 'swift']);
    const listed = await rig.ask('GET', `/api/v1/tags/?cluster_id=${cluster}`);
    expect(listed.body.find(({ name }: { name: string }) => name === 'swift')).toMatchObject({
      owner: { kind: 'release', id: release },
      read_only: false,
    });
    expect(
      (await rig.ask('PUT', `/api/v1/tags/?release_id=${release}&tag_name=swift&meta={"has_primary":false}`)).body.meta
        .has_primary,
    ).toBe(false);
    expect((await rig.ask('DELETE', `/api/v1/tags/?release_id=${release}&tag_name=swift`)).status).toBe(204);
    for (const query of [
      '',
      'cluster_id=1&release_id=1',
      `cluster_id=${cluster}&tag_name=x`,
      `cluster_id=${cluster}&tag_name=x&meta={`,
      `cluster_id=${cluster}&meta={}`,
      'node_id=x&tags=a',
      `node_id=${nodes[0]}`,
    ]) {
      expect((await rig.ask('POST', `/api/v1/tags/?${query}`)).status, query).toBe(400);
    }
  });

  it("the specification's requests work literally: cluster, release, node and plugin show the tags", async () => {
    await assign({ 0: ['controller'] });
    for (const name of ['neutron', 'swift'])
      await rig.ask('DELETE', `/api/v1/tags/?cluster_id=${cluster}&tag_name=${name}`);
    const neutron = `tag_name='neutron'&meta=${encodeURIComponent('{"has_primary":false}')}`;
    expect((await rig.ask('POST', `/api/v1/tags/?cluster_id=${cluster}&${neutron}`)).status).toBe(201);
    const requests = [...spec('tag-requests.txt').matchAll(/\$\{API_URL\}(\S.*)/g)].map(([, path]) =>
      path!
        .replace('cluster_id=1', `cluster_id=${cluster}`)
        .replace('release_id=1', `release_id=${release}`)
        .replace('${node_id}', String(nodes[0]))
        .replace('${tag_metadata}', encodeURIComponent('{"has_primary": true}'))
        .replaceAll(' ', '%20'),
    );
    expect(requests).toHaveLength(3);
    for (const path of requests) {
      const { status, body } = await rig.ask('POST', `/api/v1/tags${path}`);
      expect([path, status < 300], JSON.stringify(body)).toEqual([path, true]);
    }
    const names = async (path: string) =>
      (await rig.ask('GET', path)).body.map(({ name }: { name: string }) => name).sort();
    expect(await names(`/api/v1/clusters/${cluster}/tags`)).toEqual(expect.arrayContaining(['neutron', 'swift']));
    expect((await rig.ask('GET', `/api/v1/clusters/${cluster}`)).body.tags).toEqual(['neutron', 'swift']);
    expect(await names(`/api/v1/releases/${release}/tags`)).toContain('swift');
    expect((await rig.ask('GET', `/api/v1/nodes/${nodes[0]}`)).body.tags).toEqual(
      expect.arrayContaining(['controller', 'mysql', 'neutron']),
    );
    const plugin = await store.plugins.create({ name: `shows${count}`, version: '1.0.0', packageVersion: '5.0.0' });
    const tag = { name: 'broker', readOnly: true, hasPrimary: true, metadata: { has_primary: true } };
    await store.tags.replaceReadOnly({ kind: 'plugin', id: plugin.id }, [tag]);
    expect((await rig.ask('GET', `/api/v1/plugins/${plugin.id}`)).body.tags_metadata).toEqual({
      broker: { has_primary: true },
    });
  });

  it("the specification's examples work literally: a tag for a role of the same name, which need not exist", async () => {
    const tag = `tag_name='swift'&role='swift'&meta={"has_primary":false}`;
    for (const owner of [`cluster_id=${cluster}`, `release_id=${release}`]) {
      expect(await rig.ask('POST', `/api/v1/tags/?${owner}&${tag}`), owner).toMatchObject({
        status: 201,
        body: { name: 'swift', meta: { has_primary: false }, read_only: false },
      });
      const unknown = await rig.ask(
        'POST',
        `/api/v1/tags/?${owner}&tag_name=new&role='swfit'&meta={"has_primary":false}`,
      );
      expect(unknown.status, owner).toBe(400);
      expect((await rig.ask('DELETE', `/api/v1/tags/?${owner}&tag_name='swift'`)).status).toBe(204);
    }
  });

  it('unknown tags and nodes are refused, all or none', async () => {
    await assign({ 0: ['controller'] });
    const unknown = await rig.ask('POST', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['swift', 'nosuch'] });
    expect(unknown.status).toBe(400);
    expect(unknown.body.errors).toHaveLength(2);
    expect((await rig.ask('POST', `/api/v1/nodes/${nodes[2]}/tags`, { tags: ['mysql'] })).status).toBe(400);
    expect((await rig.ask('POST', '/api/v1/nodes/999/tags', { tags: ['mysql'] })).status).toBe(404);
    expect((await rig.ask('POST', '/api/v1/tags/assign', { nodes: [nodes[0], 999], tags: ['mysql'] })).status).toBe(
      404,
    );
    expect((await rig.ask('DELETE', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['compute'] })).status).toBe(400);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'mysql']);
  });

  it('a change of roles adds and removes the tags of roles, and nothing else', async () => {
    await assign({ 0: ['controller'] });
    await rig.ask('DELETE', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['mysql'] });
    await rig.ask('POST', `/api/v1/nodes/${nodes[0]}/tags`, { tags: ['keystone:3'] });
    const changed = await rig.ask('PUT', `/api/v1/nodes/${nodes[0]}`, { pending_roles: ['compute'] });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(await tagsOf(0)).toEqual(['compute', 'keystone:3']);
  });
});

describe('extensions', () => {
  const example = fileURLToPath(new URL('../../examples/tag-extension/spread-mysql.mjs', import.meta.url));

  it('the example distributes instances, also next to existing ones', async () => {
    extensions = await tagExtensionsOf(example)();
    expect((await assign({ 0: ['controller'], 1: ['controller'] })).status).toBe(200);
    expect(await tagsOf(0)).toEqual(['controller', 'keystone', 'mysql', 'mysql:1']);
    expect(await tagsOf(1)).toEqual(['controller', 'keystone', 'mysql', 'mysql:2']);
    expect((await assign({ 2: ['controller'] })).status).toBe(200);
    expect(await tagsOf(2)).toContain('mysql:1');
    const { body } = await rig.ask('GET', `/api/v1/nodes/${nodes[2]}/tags`);
    expect(body).toContainEqual({ node_id: nodes[2], tag: 'mysql:1', source: 'extension', role: 'controller' });
  });

  it('decide on the tags of changed roles, too: shown as pending, in plans and when they are applied', async () => {
    extensions = await tagExtensionsOf(example)();
    await assign({ 0: ['compute'], 1: ['compute'] });
    expect(await tagsOf(0)).toEqual(['compute']);
    await rig.ask('POST', '/api/v1/tags/assign', { nodes: [nodes[0]], tags: ['mysql:1'] });
    const at = `/api/v1/clusters/${cluster}/roles/compute/`;
    const { body } = await rig.ask('GET', at);
    await rig.ask('PUT', at, { ...body, meta: { ...body.meta, tags: ['compute', 'mysql'] } });
    const changes = `/api/v1/clusters/${cluster}/tag_changes`;
    const pending = await rig.ask('GET', changes);
    expect(pending.body).toMatchObject([{ given: ['mysql', 'mysql:1'] }, { given: ['mysql', 'mysql:2'] }]);
    // The data of the nodes for tasks is the same everywhere.
    const facts = await rig.ask('GET', `/api/v1/clusters/${cluster}/orchestrator/deployment/defaults/?split=1`);
    expect(facts.body.find(({ uid }: { uid: string }) => uid === `${nodes[1]}`).tags).toContain('mysql:2');
    expect((await rig.ask('POST', changes)).body).toEqual(pending.body);
    expect((await rig.ask('GET', changes)).body).toEqual([]);
    expect(await tagsOf(1)).toEqual(['compute', 'mysql', 'mysql:2']);
    extensions = [{ name: 'picky', assignTags: () => Promise.reject(new Error('no room')) }];
    await rig.ask('PUT', at, { ...body, meta: { ...body.meta, tags: ['compute', 'mysql', 'keystone'] } });
    expect(await rig.ask('GET', changes)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("'picky'") },
    });
  });

  it('can assign the instances of the specification, also of unknown tags', async () => {
    // docs/explain/design.md#spec-3 verbatim, except for the ids.
    const answer = load(
      ['- node_id: 1', '  node_roles: [controller]', '  tags: [cluster:2, mysql:1]', '- node_id: 2']
        .concat(['  node_roles: [controller]', '  tags: [cluster:1, mysql:2]'])
        .join('\n')
        .replace('node_id: 1', `node_id: ${nodes[0]}`)
        .replace('node_id: 2', `node_id: ${nodes[1]}`),
    );
    extensions = [{ name: 'spec', assignTags: () => answer as never }];
    expect((await assign({ 0: ['controller'], 1: ['controller'] })).status).toBe(200);
    expect([await tagsOf(0), await tagsOf(1)]).toEqual([
      ['cluster:2', 'mysql:1'],
      ['cluster:1', 'mysql:2'],
    ]);
  });

  it.each<[string, TagExtension['assignTags'], RegExp]>([
    ['throws', () => Promise.reject(new Error('no room')), /'picky'.*no room/],
    ['answers nonsense', () => 7 as never, /not a list/],
    ['answers for another node', () => [{ node_id: 999_999, tags: [] }], /999999/],
    [
      'gives a tag there is not',
      ({ nodes: [one] }) => [{ node_id: one!.node_id, tags: ['nosuch'] }],
      /'nosuch', but the cluster has no such tag/,
    ],
    ['gives a malformed name', ({ nodes: [one] }) => [{ node_id: one!.node_id, tags: ['a b'] }], /does not match/],
    [
      'changes what it was asked',
      ({ nodes: [one] }) => [(one as unknown as { tags: string[] }).tags.push('x')] as never,
      /object is not extensible/,
    ],
  ])(
    'an extension that %s refuses the assignment by name, and nothing is changed',
    async (_what, assignTags, message) => {
      extensions = [{ name: 'picky', assignTags }];
      const refused = await assign({ 0: ['controller'] });
      expect(refused.status).toBe(400);
      expect(refused.body.detail).toMatch(message);
      expect(refused.body.detail).toContain("'picky'");
      expect((await rig.ask('GET', `/api/v1/nodes/${nodes[0]}`)).body.cluster).toBeNull();
    },
  );

  it('an unusable module is named in the error', async () => {
    await expect(tagExtensionsOf(join(folder, 'nowhere.mjs'))()).rejects.toThrow(/nowhere\.mjs/);
  });
});

it('tag commands list, assign, download, update and delete, also tags of packages', async () => {
  const url = await rig.api.listen({ host: '127.0.0.1', port: 0 });
  const run = async (...args: string[]) => {
    let [out, err] = ['', ''];
    const terminal = {
      env: { NO_COLOR: '1' },
      cwd: folder,
      color: false,
      interactive: false,
      interrupted: () => new AbortController().signal,
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
      outAll: async (text: string) => void (out += text),
      ask: async () => '',
      now: () => Date.now(),
      sleep: async () => {},
    };
    const code = await runCli(['--api', url, ...args], terminal);
    return { code, out, err };
  };
  await assign({ 0: ['controller'], 1: ['compute'] });
  const id = String(cluster);
  expect(await run('tag', 'create', '-e', id, '--name', 'swift', '--primary')).toMatchObject({ code: 0 });
  expect((await run('tag', 'assign', '-n', String(nodes[1]), '--tag', 'swift,mysql:1')).out).toContain('swift');
  const table = (await run('tag', 'list', '-e', id)).out;
  expect(table).toMatch(new RegExp(`swift +true +cluster ${id} +false +${nodes[1]}`));
  expect(table).toMatch(/mysql:1 +false +instance/);
  const download = await run('tag', 'download', '-e', id, '--name', 'swift', '-f', 'json', '-d', folder);
  expect(download.out).toContain(`Description data of tag 'swift' within clusters id ${id} was stored in`);
  expect(JSON.parse(await readFile(join(folder, `clusters_${id}`, 'swift.json'), 'utf8'))).toEqual(swift);
  expect((await run('tag', 'update', '-e', id, '--name', 'swift', '-f', 'json', '-d', folder)).out).toMatch(
    /was updated from .*swift\.json/,
  );
  expect((await run('tag', 'unassign', '-n', String(nodes[1]), '--tag', 'swift')).code).toBe(0);
  expect((await run('tag', 'delete', '-e', id, '--name', 'swift')).out).toBe(
    `Tag 'swift' was deleted from clusters with id ${id}\n`,
  );
  expect((await run('tag', 'delete', '-e', id, '--name', 'swift')).code).toBe(3);
  expect(await run('tag', 'create', '-e', id, '--name', 'swift', '--role', 'controller')).toMatchObject({ code: 0 });
  expect((await run('tag', 'pending', '-e', id)).out).toMatch(new RegExp(`${nodes[0]} +controller +swift`));
  expect((await run('cluster', 'check', id)).out).toContain('check.tags-pending');
  expect((await run('tag', 'apply', '-e', id)).out).toContain('swift');
  expect((await run('tag', 'list', '-e', id)).out).toMatch(
    new RegExp(`swift +false +cluster ${id} +false +${nodes[0]}`),
  );
  expect((await run('tag', 'pending', '-e', id, '-f', 'json')).out.trim()).toBe('[]');
  expect((await run('tag', 'list')).code).toBe(2);
  expect((await run('role', 'list', '-r', String(release))).out).toMatch(/controller +controller, mysql, keystone/);
  expect((await run('role', 'download', '-r', String(release), '--name', 'compute', '-d', folder)).out).toContain(
    `releases_${release}`,
  );

  const plugin = packageTree('plug', [
    [
      'metadata.yaml',
      JSON.stringify({
        ...{ name: 'plug', title: 'Plug', version: '1.2.0', package_version: '5.0.0', description: 'd', homepage: 'h' },
        ...{ licenses: [], authors: [], groups: [], releases: [{ os: 'ubuntu', version: 'newton-10.0' }] },
        tags_metadata: { broker: { has_primary: true } },
      }),
    ],
    ['node_roles.yaml', 'kafka: {name: Kafka, description: d, tags: [broker, kafka]}'],
  ]);
  await writePackageFolder(plugin, join(folder, 'plug'));
  expect((await run('plugin', 'enable', 'plug', '-e', id)).code).toBe(3);
  expect((await run('package', 'install', join(folder, 'plug'))).code).toBe(0);
  expect((await run('role', 'list', '-e', id)).out).not.toContain('kafka');
  expect((await run('plugin', 'list')).out).toMatch(/plug +1\.2\.0 +5\.0\.0 +ubuntu newton-10\.0 +broker, kafka/);
  const listed: { id: number; name: string; tags_metadata: object }[] = JSON.parse(
    (await run('plugin', 'list', '-f', 'json')).out,
  );
  const brings = listed.find(({ name }) => name === 'plug')!;
  expect(brings.tags_metadata).toEqual({ broker: { has_primary: true }, kafka: { has_primary: false } });
  expect((await run('plugin', 'show', String(brings.id))).out).toContain('broker');
  const own = await run('tag', 'list', '-p', String(brings.id));
  expect(own.out, own.err).toMatch(new RegExp(`broker +true +plugin ${brings.id} `));
  expect((await run('tag', 'list', '-p', String(brings.id), '-e', id)).code).toBe(2);
  expect(await run('plugin', 'enable', 'plug', '-e', id)).toMatchObject({
    code: 0,
    out: `plug 1.2.0 is enabled in cluster ${id}\n`,
  });
  expect((await run('role', 'list', '-e', id)).out).toContain('kafka');
  const unknown = await run('plugin', 'enable', 'plug==9.9.9', '-e', id);
  expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining('Plugins that fit: plug==1.2.0.')]);
  expect((await run('plugin', 'disable', 'plug==1.2.0', '-e', id)).out).toContain('is disabled');
  expect((await run('package', 'remove', 'plug')).code).toBe(0);

  const example = fileURLToPath(new URL('../../examples/fuel-release', import.meta.url));
  const installed = await run('package', 'install', example);
  expect(installed.out, installed.err).toMatch(
    /^fuel-newton 10\.0\.0: installed\n {2}release \d+: fuel-newton newton-10\.0\n/,
  );
  expect((await run('package', 'list')).out).toMatch(/fuel-newton +10\.0\.0 +release/);
  expect((await run('package', 'sync')).out).toContain('fuel-newton');
  expect((await run('package', 'show', 'fuel-newton==10.0.0')).code).toBe(0);
  expect((await run('package', 'remove', 'fuel-newton')).out).toBe('fuel-newton 10.0.0: removed\n');
  expect((await run('package', 'remove', 'fuel-newton')).code).toBe(3);
  expect((await run('package', 'install', join(folder, 'nowhere'))).code).toBe(3);
});
