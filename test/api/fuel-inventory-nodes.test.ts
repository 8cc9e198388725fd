import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FuelRig, fuelRig, newton } from './fuel-inventory-rig.ts';

let rig: FuelRig;
let cluster: number;
let other: number;
let next = 0;

const mac = () => `52:54:00:00:01:${(++next).toString(16).padStart(2, '0')}`;
const register = (more: object = {}) => rig.made('/nodes/', { mac: mac(), ...more });
const node = async (id: number) => (await rig.fuel('GET', `/nodes/${id}/`)).body;
const assign = (id: number, roles: readonly string[], to = cluster) =>
  rig.fuel('POST', `/clusters/${to}/assignment/`, [{ id, roles }]);

beforeAll(async () => {
  rig = await fuelRig();
  const release_id = await rig.made('/releases/', newton);
  cluster = await rig.made('/clusters/', { name: 'one', release_id });
  other = await rig.made('/clusters/', { name: 'two', release_id });
});
afterAll(() => rig.close());

describe('the inventory', () => {
  it('accepts a machine by its MAC, and shows the fields that fuel2 prints', async () => {
    const id = await rig.made('/nodes/', {
      mac: '52-54-00-12-34-AB',
      ip: '10.20.0.3',
      meta: { numa_topology: { numa_nodes: [] } },
    });
    expect(await node(id)).toMatchObject({
      id,
      name: 'Untitled (34ab)',
      hostname: `node-${id}`,
      fqdn: `node-${id}`,
      mac: '52:54:00:12:34:ab',
      ip: '10.20.0.3',
      status: 'discover',
      online: true,
      cluster: null,
      roles: [],
      pending_roles: [],
      pending_addition: false,
      pending_deletion: false,
      labels: {},
      meta: { numa_topology: { numa_nodes: [] } },
      error_type: null,
      progress: 0,
      group_id: null,
      kernel_params: null,
      os_platform: null,
      platform_name: null,
      manufacturer: null,
    });
  });

  it.each([
    ['nothing', {}, ['body.mac']],
    [
      'odd fields',
      { mac: 'x', hostname: '-a', ip: '1.2.3', status: 'asleep', labels: { a: 1 }, color: 1 },
      ['body.color', 'body.hostname', 'body.ip', 'body.labels.a', 'body.mac', 'body.status'],
    ],
    ['an unknown site', { name: 'n', site: 'nosuch' }, ['body.site']],
    ['a cluster at once', { name: 'n', cluster: 1, pending_roles: ['compute'] }, ['body.cluster']],
    ['a label too long', { name: 'n', labels: { ['k'.repeat(101)]: 'v' } }, [expect.stringMatching(/^body\.labels/)]],
  ])('refuses %s, with all problems', async (_name, body, paths) => {
    const refusal = await rig.refused('POST', '/nodes/', body);
    expect(refusal.status).toBe(400);
    expect([...refusal.paths].sort()).toEqual(paths);
  });

  it('refuses a second node with the same MAC or host name', async () => {
    const id = await rig.made('/nodes/', { mac: '52:54:00:00:00:aa', hostname: 'web' });
    expect(await rig.refused('POST', '/nodes/', { mac: '52:54:00:00:00:AA' })).toMatchObject({
      status: 409,
      message: expect.stringContaining(`it is node ${id}`),
    });
    expect(await rig.refused('POST', '/nodes/', { mac: mac(), hostname: 'web' })).toMatchObject({ status: 409 });
    const second = await register();
    expect(await rig.refused('PUT', `/nodes/${second}`, { hostname: 'web' })).toMatchObject({
      message: expect.stringContaining("Duplicate hostname 'web'"),
    });
  });

  it('is listed by cluster, roles, status, ids', async () => {
    const [a, b, c] = [await register(), await register({ status: 'ready' }), await register({ online: false })];
    await assign(a, ['cinder']);
    const ids = async (query: string) =>
      (await rig.fuel('GET', `/nodes/?${query}`)).body.map((one: { id: number }) => one.id);
    expect(await ids(`cluster_id=${cluster}`)).toEqual([a]);
    expect(await ids(`ids=${a},${b},${c}&cluster_id=`)).toEqual([b, c]);
    expect(await ids(`ids=${a},${b},${c}&roles=cinder`)).toEqual([a]);
    expect(await ids(`ids=${a},${b},${c}&status=ready,error`)).toEqual([b]);
    expect(await ids(`ids=${a},${b},${c}&online=0`)).toEqual([c]);
    expect(await ids('cluster_id=999')).toEqual([]);
    expect((await rig.refused('GET', '/nodes/?cluster_id=x')).paths).toEqual(['query.cluster_id']);
    expect((await rig.refused('GET', '/nodes/?ids=x')).paths).toEqual(['query.ids']);
    expect((await rig.refused('GET', '/nodes/?clusterid=1')).status).toBe(400);
    await rig.fuel('POST', `/clusters/${cluster}/unassignment/`, [{ id: a }]);
  });

  it('accepts names, host names and labels as fuel2 sends them; shown fields may be sent back', async () => {
    const id = await register();
    expect((await rig.fuel('PUT', `/nodes/${id}/`, { hostname: 'db-1', name: 'Datenbank ä' })).body).toMatchObject({
      hostname: 'db-1',
      name: 'Datenbank ä',
    });
    expect((await rig.fuel('PUT', `/nodes/${id}/`, { labels: { rack: 'r1', ssd: null } })).body.labels).toEqual({
      rack: 'r1',
      ssd: null,
    });
    expect((await rig.fuel('PUT', `/nodes/${id}/`, { labels: {} })).body.labels).toEqual({});
    const shown = await node(id);
    expect((await rig.fuel('PUT', `/nodes/${id}/`, shown)).body).toEqual(shown);
    expect(await rig.refused('PUT', `/nodes/${id}/`, { id: 999, uuid: 'x', fqdn: 'y', tags: ['z'] })).toMatchObject({
      status: 400,
      paths: ['body.id', 'body.uuid', 'body.fqdn', 'body.tags'],
    });
    expect(await rig.refused('PUT', '/nodes/999/', { name: 'x' })).toMatchObject({
      status: 404,
      message: 'Node not found',
    });
    expect((await rig.refused('PUT', `/nodes/${id}/`, { hostname: 'a b' })).paths).toEqual(['body.hostname']);
  });

  it('keeps the host name of a node with a system', async () => {
    const id = await register({ hostname: 'fixed', status: 'ready' });
    expect(await rig.refused('PUT', `/nodes/${id}`, { hostname: 'new' })).toMatchObject({
      status: 400,
      paths: ['body.hostname'],
    });
    expect((await rig.fuel('PUT', `/nodes/${id}`, { name: 'new' })).status).toBe(200);
  });

  it('changes several nodes, all or none', async () => {
    const [a, b] = [await register(), await register()];
    expect(
      (
        await rig.fuel('PUT', '/nodes/', [
          { id: a, name: 'A' },
          { id: b, name: 'B' },
        ])
      ).body,
    ).toMatchObject([{ name: 'A' }, { name: 'B' }]);
    const bad = [
      { id: a, name: 'A2' },
      { id: 999, name: 'x' },
      { id: a, name: 'A3' },
    ];
    expect((await rig.refused('PUT', '/nodes/', bad)).paths).toEqual(['body[1].id', 'body[2].id']);
    expect(
      (
        await rig.refused('PUT', '/nodes/', [
          { id: a, name: 'A2' },
          { id: b, pending_roles: ['x'] },
        ])
      ).paths,
    ).toEqual(['body[1].pending_roles']);
    expect((await node(a)).name).toBe('A');
    expect((await rig.refused('PUT', '/nodes/', [])).status).toBe(400);
  });

  it('deletes all named nodes or none, and deployed ones only when forced', async () => {
    const [a, b, c] = [await register(), await register(), await register({ status: 'ready' })];
    await assign(c, ['cinder']);
    await rig.store.nodes.update(c, { pendingAddition: false, status: 'ready' });
    expect(await rig.refused('DELETE', `/nodes/?ids=${a},999`)).toMatchObject({
      status: 404,
      message: 'Nodes not found: 999',
    });
    expect(await rig.refused('DELETE', `/nodes/?ids=${a},${c}`)).toMatchObject({ status: 409 });
    expect((await node(a)).id).toBe(a);
    expect((await rig.fuel('DELETE', `/nodes/?ids=${a},${b}`)).status).toBe(204);
    expect((await rig.fuel('DELETE', `/nodes/${c}?force=1`)).status).toBe(204);
    for (const id of [a, b, c])
      expect(await rig.refused('GET', `/nodes/${id}`)).toMatchObject({ status: 404, message: 'Node not found' });
    expect(await rig.refused('DELETE', `/nodes/${a}`)).toMatchObject({ status: 404, message: 'Node not found' });
    expect((await rig.refused('DELETE', '/nodes/')).paths).toEqual(['query.ids']);
    expect((await rig.refused('DELETE', '/nodes/?ids=a')).message).toBe('Comma-separated numbers list expected');
  });

  it('keeps settings, interfaces and disks of a node, and also the discovered ones', async () => {
    const id = await register({ meta: { interfaces: [{ name: 'eth0' }], disks: [{ name: 'sda' }] } });
    const path = `/nodes/${id}`;
    expect((await rig.fuel('GET', `${path}/attributes/`)).body).toEqual({});
    await rig.fuel('PUT', `${path}/attributes/`, { hugepages: { nova: { value: 1 } }, cpu: { a: 1 } });
    await rig.fuel('PATCH', `${path}/attributes/`, { cpu: { b: 2 } });
    expect((await rig.fuel('GET', `${path}/attributes/`)).body).toEqual({
      hugepages: { nova: { value: 1 } },
      cpu: { a: 1, b: 2 },
    });
    for (const [part, found] of [
      ['interfaces', 'default_assignment'],
      ['disks', 'defaults'],
    ] as const) {
      const before = (await rig.fuel('GET', `${path}/${part}/`)).body;
      expect(before).toHaveLength(1);
      expect((await rig.fuel('PUT', `${path}/${part}/`, [{ name: 'own' }])).body).toEqual([{ name: 'own' }]);
      expect((await rig.fuel('GET', `${path}/${part}/`)).body).toEqual([{ name: 'own' }]);
      expect((await rig.fuel('GET', `${path}/${part}/${found}`)).body).toEqual(before);
      expect((await rig.refused('PUT', `${path}/${part}/`, {})).message).toContain('must be a list');
      expect((await rig.refused('GET', `/nodes/999/${part}/`)).status).toBe(404);
    }
  });
});

describe('assignment', () => {
  it('gives a node pending roles and their tags; removing the node removes them', async () => {
    const id = await register();
    expect(await assign(id, ['controller', 'cinder'])).toMatchObject({ status: 200, body: {} });
    expect(await node(id)).toMatchObject({
      cluster,
      roles: [],
      pending_roles: ['controller', 'cinder'],
      pending_addition: true,
      tags: ['cinder', 'controller', 'database'],
    });
    expect((await rig.fuel('POST', `/clusters/${cluster}/unassignment/`, [{ id }])).status).toBe(200);
    expect(await node(id)).toMatchObject({ cluster: null, pending_roles: [], pending_addition: false, tags: [] });
  });

  it('marks a deployed node for removal instead of removing it', async () => {
    const id = await register();
    await assign(id, ['cinder']);
    await rig.store.nodes.update(id, { status: 'ready', roles: ['cinder'], pendingRoles: [], pendingAddition: false });
    await rig.fuel('POST', `/clusters/${cluster}/unassignment/`, [{ id }]);
    expect(await node(id)).toMatchObject({ cluster, roles: ['cinder'], pending_deletion: true });
    expect((await rig.fuel('GET', `/clusters/${cluster}`)).body.changes).toContainEqual({
      name: 'pending_deletion',
      node_id: id,
    });
    // Adding it again takes the removal back, with all else as it was.
    expect((await assign(id, ['cinder'])).status).toBe(200);
    expect(await node(id)).toMatchObject({
      ...{ cluster, roles: ['cinder'], pending_roles: [], tags: ['cinder'] },
      ...{ status: 'ready', pending_addition: false, pending_deletion: false },
    });
    await rig.fuel('DELETE', `/nodes/${id}?force=1`);
  });

  it('reports all its problems, and changes nothing', async () => {
    const [free, foreign] = [await register(), await register()];
    await assign(foreign, ['cinder'], other);
    const wrong = [
      { id: 999, roles: ['cinder'] },
      { id: foreign, roles: ['cinder'] },
      { id: free, roles: ['compte', 'nosuch'] },
    ];
    const refusal = await rig.refused('POST', `/clusters/${cluster}/assignment/`, wrong);
    expect(refusal).toMatchObject({ status: 400, paths: ['body[0].id', 'body[1].id', 'body[2].roles'] });
    // People know nodes and clusters by their names.
    expect(refusal.message).toMatch(new RegExp(`node ${foreign} \\(.+\\) is in cluster ${other} \\(.+\\) already`));
    expect(refusal.message).toMatch(
      new RegExp(`compte, nosuch are not valid roles for node ${free} \\(.+\\) in cluster ${cluster} \\(.+\\)`),
    );
    expect(await node(free)).toMatchObject({ cluster: null });

    const pairs: [string[], string][] = [
      [['compute', 'controller'], "Role 'controller' in conflict with role 'compute'."],
      [['cinder', 'base-os'], "Role 'base-os' in conflict with role 'cinder'."],
      [['cinder', 'cinder'], 'cinder is repeated'],
    ];
    for (const [roles, message] of pairs)
      expect(await rig.refused('POST', `/clusters/${cluster}/assignment/`, [{ id: free, roles }])).toMatchObject({
        status: 400,
        message,
      });
    const twice = [free, free].map((id) => ({ id, roles: ['cinder'] }));
    expect((await rig.refused('POST', `/clusters/${cluster}/assignment/`, twice)).message).toContain('is repeated');
    expect(await rig.refused('POST', '/clusters/999/assignment/', [{ id: free, roles: ['cinder'] }])).toMatchObject({
      status: 404,
      message: 'Cluster not found',
    });
    expect((await rig.refused('POST', `/clusters/${cluster}/assignment/`, [{ id: free }])).paths).toEqual([
      'body[0].roles',
    ]);
    expect((await rig.refused('POST', `/clusters/${cluster}/assignment/`, {})).status).toBe(400);
    expect(
      (await rig.refused('POST', `/clusters/${cluster}/unassignment/`, [{ id: free }, { id: 999 }, { id: foreign }]))
        .paths,
    ).toEqual(['body[0].id', 'body[1].id', 'body[2].id']);
  });

  it('adds roles to a node of the cluster, if they go with those it has', async () => {
    const id = await register();
    await assign(id, ['compute']);
    expect(
      (await rig.refused('POST', `/clusters/${cluster}/assignment/`, [{ id, roles: ['controller'] }])).message,
    ).toBe("Role 'controller' in conflict with role 'compute'.");
    await assign(id, ['cinder']);
    expect(await node(id)).toMatchObject({ pending_roles: ['compute', 'cinder'], tags: ['cinder', 'compute'] });
  });

  it('works by PUT on nodes, too, by the same rules', async () => {
    const id = await register();
    expect(
      (await rig.fuel('PUT', `/nodes/${id}`, { cluster_id: cluster, pending_roles: ['cinder'] })).body,
    ).toMatchObject({
      cluster,
      pending_roles: ['cinder'],
      pending_addition: true,
      tags: ['cinder'],
    });
    expect((await rig.fuel('PUT', `/nodes/${id}`, { pending_roles: ['compute'] })).body).toMatchObject({
      pending_roles: ['compute'],
      tags: ['compute'],
    });
    expect((await rig.refused('PUT', `/nodes/${id}`, { pending_roles: ['nosuch'] })).message).toContain(
      'is not a valid role',
    );
    expect((await rig.refused('PUT', `/nodes/${id}`, { pending_roles: ['compute', 'controller'] })).message).toContain(
      'in conflict with',
    );
    expect((await rig.refused('PUT', `/nodes/${id}`, { cluster: other })).message).toContain('already');
    expect((await rig.refused('PUT', `/nodes/${id}`, { cluster: 1, cluster_id: 2 })).message).toContain(
      'different environments',
    );
    expect((await rig.fuel('PUT', `/nodes/${id}`, { cluster: null })).body).toMatchObject({
      cluster: null,
      pending_roles: [],
      tags: [],
    });
    expect((await rig.refused('PUT', `/nodes/${id}`, { pending_roles: ['cinder'] })).message).toContain(
      'without an environment',
    );
    expect((await rig.refused('PUT', `/nodes/${id}`, { cluster: 999 })).message).toContain('Cluster not found');
  });

  it('is refused during a run of the cluster', async () => {
    const [inside, outside] = [await register(), await register()];
    await assign(inside, ['cinder']);
    const run = { workflowId: `execute_graph:${cluster}`, runId: 'r1', executionId: 'r1' };
    await rig.store.claims.claim({ cluster }, run);
    expect((await rig.fuel('GET', `/clusters/${cluster}`)).body.is_locked).toBe(true);
    const requests: [Parameters<FuelRig['refused']>[0], string, unknown?][] = [
      ['POST', `/clusters/${cluster}/assignment/`, [{ id: outside, roles: ['cinder'] }]],
      ['POST', `/clusters/${cluster}/unassignment/`, [{ id: inside }]],
      ['PUT', `/nodes/${inside}`, { pending_roles: ['compute'] }],
      ['PUT', `/nodes/${inside}`, { cluster: null }],
      ['PUT', `/nodes/${outside}`, { cluster, pending_roles: ['compute'] }],
      ['DELETE', `/nodes/${inside}?force=1`],
      ['DELETE', `/clusters/${cluster}`],
    ];
    for (const [method, path, body] of requests)
      expect(await rig.refused(method, path, body), path).toMatchObject({ status: 409 });
    expect((await rig.fuel('PUT', `/nodes/${inside}`, { name: 'still' })).status).toBe(200);
    expect(await node(inside)).toMatchObject({ cluster, pending_roles: ['cinder'] });
    await rig.store.claims.release({ cluster }, run);
    expect((await rig.fuel('PUT', `/nodes/${inside}`, { cluster: null })).status).toBe(200);
  });
});
