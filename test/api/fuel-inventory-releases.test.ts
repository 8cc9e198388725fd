import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FuelRig, fuelRig, newton, recorded } from './fuel-inventory-rig.ts';

let rig: FuelRig;
beforeAll(async () => {
  rig = await fuelRig();
});
afterAll(() => rig.close());

it('a starting client learns that no login is needed', async () => {
  const { status, body } = await rig.fuel('GET', '/version');
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { auth_required: false, feature_groups: ['advanced'], api: '1.0' },
  });
});

it('a release is created, shown, listed, changed and deleted; paths may end with a slash or not', async () => {
  expect((await rig.fuel('GET', '/releases/')).body).toEqual([]);
  const id = await rig.made('/releases/', newton);
  const shown = await rig.fuel('GET', `/releases/${id}/`);
  expect(shown).toMatchObject({
    status: 200,
    body: {
      id,
      name: newton.name,
      version: 'newton-10.0',
      operating_system: 'Ubuntu',
      state: 'available',
      is_deployable: true,
      roles: ['controller', 'compute', 'cinder', 'base-os'],
      tags_metadata: newton.tags_metadata,
      modes: ['ha_compact'],
    },
  });
  expect((await rig.fuel('GET', `/releases/${id}`)).body).toEqual(shown.body);
  expect((await rig.fuel('GET', '/releases/')).body).toEqual([shown.body]);
  expect(await rig.fuel('PUT', `/releases/${id}/`, { state: 'unavailable' })).toMatchObject({
    status: 200,
    body: { state: 'unavailable', is_deployable: false, roles: shown.body.roles, modes: ['ha_compact'] },
  });
  // The answer of GET may be sent back.
  expect(
    (await rig.fuel('PUT', `/releases/${id}/`, { ...shown.body, is_deployable: false, state: 'unavailable' })).status,
  ).toBe(200);
  expect(await rig.fuel('DELETE', `/releases/${id}/`)).toMatchObject({ status: 204, body: '' });
  expect(await rig.refused('GET', `/releases/${id}/`)).toMatchObject({ status: 404, message: 'Release not found' });
  const { items } = await rig.store.audit.list({ actor: 'nina' });
  expect(items.map(({ action, target }) => `${action} ${target}`)).toEqual([
    `release.delete release/${id}`,
    `release.update release/${id}`,
    `release.update release/${id}`,
    `release.create release/${id}`,
  ]);
});

describe('of one release', () => {
  let id: number;
  beforeAll(async () => {
    id = await rig.made('/releases/', { ...newton, name: 'Parts' });
  });

  it('networks, settings and components have separate paths', async () => {
    expect((await rig.fuel('GET', `/releases/${id}/networks`)).body).toEqual(newton.networks_metadata);
    expect((await rig.fuel('PUT', `/releases/${id}/networks`, { neutron: {} })).body).toEqual({ neutron: {} });
    expect((await rig.fuel('GET', `/releases/${id}/networks`)).body).toEqual({ neutron: {} });
    const settings = (await rig.fuel('GET', `/releases/${id}/attributes_metadata`)).body;
    expect(settings).toEqual(newton.attributes_metadata);
    settings.editable.repo_setup.repos.value = [{ name: 'own', uri: 'http://mirror.example/' }];
    await rig.fuel('PUT', `/releases/${id}/attributes_metadata`, settings);
    expect((await rig.fuel('GET', `/releases/${id}/attributes_metadata`)).body).toEqual(settings);
    expect((await rig.fuel('GET', `/releases/${id}/components`)).body).toEqual(newton.components_metadata);
    expect((await rig.refused('PUT', `/releases/${id}/networks`, [1])).message).toContain('must be an object');
  });

  it('its tasks become its default graph; bad ones are refused with their places, and nothing is stored', async () => {
    const tasks = [{ id: 'one', type: 'shell', parameters: { cmd: 'true' }, roles: ['compute'] }];
    const own = await rig.made('/releases/', { ...newton, name: 'With tasks', deployment_tasks: tasks });
    const graph = await rig.store.graphs.find({ kind: 'release', id: own }, 'default');
    expect(graph?.tasks.map((task) => task.id)).toEqual(['one']);
    const bad = { ...newton, name: 'Bad tasks', deployment_tasks: [{ id: 'x', type: 'bogus' }, { type: 'shell' }] };
    const refusal = await rig.refused('POST', '/releases/', bad);
    expect(refusal).toMatchObject({
      status: 400,
      paths: ['body.deployment_tasks[0].type', expect.stringMatching(/^body\.deployment_tasks\[1\]/)],
    });
    expect(await rig.store.releases.find('Bad tasks', 'newton-10.0')).toBeNull();
  });

  it.each([
    ['nothing', {}, ['body.name', 'body.version', 'body.operating_system']],
    [
      'wrong kinds',
      { name: 5, version: '', operating_system: 'Ubuntu', state: 'gone', color: 'red' },
      ['body.name', 'body.version', 'body.state', 'body.color'],
    ],
    [
      'a role with an unknown tag',
      { ...newton, name: 'T', roles_metadata: { a: { name: 'A', tags: ['nosuchtag'] } } },
      ['body.roles_metadata.a.tags'],
    ],
  ])('%s is refused, with all problems', async (_name, body, paths) => {
    const refusal = await rig.refused('POST', '/releases/', body);
    expect(refusal.status).toBe(400);
    expect([...refusal.paths].sort()).toEqual([...paths].sort());
  });

  it('name and version are unique', async () => {
    const message = 'Release with the same name and version already exists';
    expect(await rig.refused('POST', '/releases/', { ...newton, name: 'Parts' })).toMatchObject({
      status: 409,
      message,
    });
    const other = await rig.made('/releases/', { ...newton, name: 'Other' });
    expect(await rig.refused('PUT', `/releases/${other}`, { name: 'Parts' })).toMatchObject({ status: 409, message });
    expect(await rig.refused('PUT', `/releases/${other}`, { id: 77, roles: [] })).toMatchObject({
      status: 400,
      paths: ['body.id', 'body.roles'],
    });
  });

  it('a release with clusters cannot be deleted', async () => {
    const used = await rig.made('/releases/', { ...newton, name: 'Used' });
    await rig.made('/clusters/', { name: 'on-used', release_id: used });
    expect(await rig.refused('DELETE', `/releases/${used}`)).toMatchObject({
      status: 409,
      message: "Can't delete release with clusters assigned",
      hint: expect.stringContaining('on-used'),
    });
  });

  it.each([
    '/releases/999',
    '/releases/999/networks',
    '/releases/999/attributes_metadata',
    '/releases/999/components',
    '/releases/999/roles/',
  ])('%s is not found', async (path) => {
    expect(await rig.refused('GET', path)).toMatchObject({ status: 404, message: 'Release not found' });
  });

  it.each(['/releases/0', '/releases/-1', '/releases/1.5', '/releases/99999999999'])(
    '%s is not an id',
    async (path) => {
      expect(await rig.refused('GET', path)).toMatchObject({ status: 400, paths: ['path.id'] });
    },
  );

  it('a name that none has is not found', async () => {
    const answer = await rig.refused('GET', '/releases/abc');
    expect(answer).toMatchObject({ status: 404, message: "there is no release 'abc'", paths: ['path.id'] });
  });
});

describe('roles', () => {
  let release: number;
  beforeAll(async () => {
    release = await rig.made('/releases/', { ...newton, name: 'Roles' });
  });
  const swift = {
    name: 'swift',
    meta: { name: 'Swift', description: 'Objects.', group: 'storage', conflicts: ['compute'], tags: ['compute'] },
    volumes_roles_mapping: [{ id: 'os', allocate_size: 'min' }],
  };

  it('a role has the form of Fuel', async () => {
    const { response } = recorded('GET', '/releases/1/roles/compute/', 200);
    expect((await rig.fuel('GET', `/releases/${release}/roles/compute/`)).body).toEqual(response);
  });

  it("an unknown tag is refused with Fuel's message", async () => {
    const { request, response, status } = recorded('PUT', '/releases/1/roles/compute/', 400);
    const refusal = await rig.refused('PUT', `/releases/${release}/roles/compute/`, request);
    expect(refusal).toMatchObject({ status, message: response.message, paths: ['body.meta.tags'] });
  });

  it('a role is created, listed, changed and deleted', async () => {
    expect(await rig.fuel('POST', `/releases/${release}/roles/`, swift)).toMatchObject({ status: 201, body: swift });
    const all = (await rig.fuel('GET', `/releases/${release}/roles/`)).body;
    expect(all.map((role: { name: string }) => role.name)).toEqual([
      'controller',
      'compute',
      'cinder',
      'base-os',
      'swift',
    ]);
    expect(all.at(-1)).toEqual(swift);
    const changed = { ...swift, meta: { ...swift.meta, weight: 5 } };
    expect((await rig.fuel('PUT', `/releases/${release}/roles/swift/`, changed)).body).toEqual(changed);
    expect((await rig.fuel('GET', `/releases/${release}/roles/swift/`)).body).toEqual(changed);
    // The answer of GET may be sent back, also of a role without volumes.
    const bare = (await rig.fuel('GET', `/releases/${release}/roles/cinder/`)).body;
    expect(bare.volumes_roles_mapping).toEqual([]);
    expect((await rig.fuel('PUT', `/releases/${release}/roles/cinder/`, bare)).body).toEqual(bare);
    expect((await rig.fuel('DELETE', `/releases/${release}/roles/swift/`)).status).toBe(204);
    expect(await rig.refused('GET', `/releases/${release}/roles/swift/`)).toMatchObject({
      status: 404,
      message: `Role 'swift' is not found for the release ${release}`,
    });
  });

  it('all problems of a role are reported together', async () => {
    const path = `/releases/${release}/roles/`;
    expect((await rig.refused('POST', path, {})).paths).toEqual([
      'body.name',
      'body.meta',
      'body.volumes_roles_mapping',
    ]);
    const bad = {
      name: 'a b',
      meta: { name: 'X', tags: 'y' },
      volumes_roles_mapping: [{ id: 'os', allocate_size: 'most' }],
    };
    expect([...(await rig.refused('POST', path, bad)).paths].sort()).toEqual([
      'body.meta.description',
      'body.meta.tags',
      'body.name',
      'body.volumes_roles_mapping[0].allocate_size',
    ]);
    expect((await rig.refused('POST', path, { ...swift, volumes_roles_mapping: [] })).paths).toEqual([
      'body.volumes_roles_mapping',
    ]);
    const volumes = [{ id: 'nosuch', allocate_size: 'all' }];
    expect((await rig.refused('POST', path, { ...swift, volumes_roles_mapping: volumes })).message).toContain(
      'Volumes with ids nosuch are not in the list of allowed volumes os, vm',
    );
    expect(await rig.refused('POST', path, { ...swift, name: 'compute' })).toMatchObject({ status: 409 });
    expect(await rig.refused('PUT', `${path}compute/`, swift)).toMatchObject({
      status: 400,
      paths: expect.arrayContaining(['body.name']),
    });
  });

  it('a role that a node has is not deleted; in a cluster, roles of the release are read-only', async () => {
    const cluster = await rig.made('/clusters/', { name: 'with-roles', release_id: release });
    const node = await rig.made('/nodes/', { mac: '52:54:00:00:00:01' });
    await rig.fuel('POST', `/clusters/${cluster}/assignment/`, [{ id: node, roles: ['cinder'] }]);
    expect(await rig.refused('DELETE', `/releases/${release}/roles/cinder/`)).toMatchObject({
      status: 409,
      message: expect.stringMatching(
        new RegExp(`^Can't delete role cinder that is assigned to node ${node} \\(.+\\)\\.$`),
      ),
    });
    expect((await rig.refused('PUT', `/releases/${release}`, { roles_metadata: {} })).message).toContain('cinder');
    const own = { ...swift, name: 'own' };
    expect((await rig.fuel('POST', `/clusters/${cluster}/roles/`, own)).status).toBe(201);
    expect((await rig.fuel('GET', `/clusters/${cluster}/roles/own/`)).body).toEqual(own);
    const names = (await rig.fuel('GET', `/clusters/${cluster}/roles/`)).body.map(
      (role: { name: string }) => role.name,
    );
    expect(names).toEqual(['controller', 'compute', 'cinder', 'base-os', 'own']);
    expect(await rig.refused('DELETE', `/clusters/${cluster}/roles/compute/`)).toMatchObject({ status: 409 });
    expect((await rig.fuel('POST', `/clusters/${cluster}/assignment/`, [{ id: node, roles: ['own'] }])).status).toBe(
      200,
    );
    expect((await rig.fuel('GET', `/nodes/${node}`)).body).toMatchObject({
      pending_roles: ['cinder', 'own'],
      tags: ['cinder', 'compute', 'own'],
    });
  });
});
