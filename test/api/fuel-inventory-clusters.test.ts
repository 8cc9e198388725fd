import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FuelRig, fuelRig, newton, recorded } from './fuel-inventory-rig.ts';

let rig: FuelRig;
let release: number;
beforeAll(async () => {
  rig = await fuelRig();
});
afterAll(() => rig.close());

/** As `fuel2 env create` sends it. */
const created = (name: string, release_id = release) => ({
  nodes: [],
  tasks: [],
  name,
  release_id,
  net_segment_type: 'vlan',
});

it('a cluster is refused while there is no release, with the next step', async () => {
  expect(await rig.refused('POST', '/clusters/', created('first', 1))).toMatchObject({
    status: 409,
    // fuel2 prints the message only: it must name the next step.
    message: expect.stringContaining('sitewright package install'),
  });
  release = await rig.made('/releases/', newton);
});

it('a cluster is created, shown, listed, renamed and deleted', async () => {
  const id = await rig.made('/clusters/', created('prod'));
  const shown = (await rig.fuel('GET', `/clusters/${id}/`)).body;
  expect(shown).toEqual({
    id,
    name: 'prod',
    status: 'new',
    release_id: release,
    fuel_version: '10.0',
    mode: 'ha_compact',
    net_provider: 'neutron',
    site: null,
    is_customized: false,
    is_locked: false,
    changes: [],
    components: [],
    tags: [],
    extensions: [],
    ui_settings: {},
  });
  expect((await rig.fuel('GET', '/clusters/')).body).toEqual([shown]);
  expect((await rig.fuel('PUT', `/clusters/${id}/`, { name: 'prod2' })).body).toEqual({ ...shown, name: 'prod2' });
  expect((await rig.fuel('PUT', `/clusters/${id}/`, { ...shown, ui_settings: { view: 'compact' } })).body).toEqual({
    ...shown,
    ui_settings: { view: 'compact' },
  });
  expect(
    await rig.refused('PUT', `/clusters/${id}/`, { status: 'operational', is_locked: true, nosuch: 1 }),
  ).toMatchObject({
    status: 400,
    paths: ['body.nosuch'],
  });
  expect(await rig.refused('PUT', `/clusters/${id}/`, { status: 'operational', is_locked: true })).toMatchObject({
    status: 400,
    paths: ['body.status', 'body.is_locked'],
  });
  expect((await rig.fuel('DELETE', `/clusters/${id}/`)).status).toBe(204);
  const { response, status } = recorded('GET', '/clusters/999/deployment_graphs/', 404);
  expect(await rig.refused('GET', `/clusters/${id}/`)).toMatchObject({ status, message: response.message });
});

it.each([
  ['no release', { name: 'x' }, 400, 'Release ID is required'],
  ['another release', { name: 'x', release_id: 999 }, 400, 'Invalid release ID'],
  ['two releases', { name: 'x', release_id: 1, release: 2 }, 400, 'release and release_id name different releases'],
  ['an empty name', { name: '  ', release_id: 1 }, 400, 'name is empty'],
  ['an unknown site', { name: 'x', release_id: 1, site: 'nosuch' }, 400, "there is no site 'nosuch'"],
  ['an unknown node', { name: 'x', release_id: 1, nodes: [999] }, 400, 'there is no node 999'],
  [
    'an odd segmentation',
    { name: 'x', release_id: 1, net_segment_type: 'wire' },
    400,
    'net_segment_type must be vlan or gre or tun',
  ],
  ['a body that is a list', [], 400, 'the body must be an object'],
])('%s is refused', async (_name, body, status, message) => {
  expect(await rig.refused('POST', '/clusters/', body)).toMatchObject({
    status,
    message: expect.stringContaining(message),
  });
});

it('names of clusters are unique; an undeployable release makes no cluster', async () => {
  const id = await rig.made('/clusters/', created('twice'));
  const taken = {
    status: 409,
    message: 'Environment with this name already exists',
    hint: expect.stringContaining(`${id}`),
  };
  expect(await rig.refused('POST', '/clusters/', created('twice'))).toMatchObject(taken);
  const other = await rig.made('/clusters/', created('other'));
  expect(await rig.refused('PUT', `/clusters/${other}/`, { name: 'twice' })).toMatchObject(taken);
  const off = await rig.made('/releases/', { ...newton, name: 'Off', state: 'unavailable' });
  expect(await rig.refused('POST', '/clusters/', created('off', off))).toMatchObject({
    status: 400,
    message: `Release with ID '${off}' is not deployable.`,
    hint: expect.stringContaining(newton.name),
  });
});

it('a cluster can be created with nodes, free ones only', async () => {
  const node = await rig.made('/nodes/', { mac: '52:54:00:aa:00:01' });
  const id = await rig.made('/clusters/', { ...created('with-nodes'), nodes: [node] });
  expect((await rig.fuel('GET', `/nodes/?cluster_id=${id}`)).body).toMatchObject([
    { id: node, cluster: id, pending_addition: true },
  ]);
  expect((await rig.fuel('GET', `/clusters/${id}`)).body.changes).toEqual([
    { name: 'pending_addition', node_id: node },
  ]);
  expect(await rig.refused('POST', '/clusters/', { ...created('greedy'), nodes: [node] })).toMatchObject({
    status: 400,
    message: expect.stringMatching(new RegExp(`^node ${node} \\(.+\\) is in cluster ${id} \\(with-nodes\\)$`)),
  });
  expect((await rig.fuel('DELETE', `/clusters/${id}`)).status).toBe(204);
  expect((await rig.fuel('GET', `/nodes/${node}`)).body).toMatchObject({
    cluster: null,
    pending_addition: false,
    roles: [],
  });
});

describe('settings', () => {
  let id: number;
  beforeAll(async () => {
    id = await rig.made('/clusters/', created('settings'));
  });
  const read = async () => (await rig.fuel('GET', `/clusters/${id}/attributes`)).body;

  it('come from the release, and each cluster gets its own generated secrets', async () => {
    const { editable, ...more } = await read();
    expect(more).toEqual({});
    expect(editable.common).toEqual(newton.attributes_metadata.editable.common);
    expect(editable.operator_user.password.value).toMatch(/^[A-Za-z0-9]{24}$/);
    expect(editable.storage.fsid.value).toMatch(/^[0-9a-f-]{36}$/);
    const { attributes } = await rig.store.clusters.get(id);
    expect(attributes.generated).toMatchObject({
      mysql: { root_password: expect.stringMatching(/^[A-Za-z0-9]{24}$/) },
      cinder: { fixed_key: expect.stringMatching(/^[0-9a-f]{64}$/) },
      base_syslog: { syslog_port: '514' },
    });
    const second = await rig.made('/clusters/', created('settings2'));
    const others = (await rig.fuel('GET', `/clusters/${second}/attributes`)).body.editable;
    expect(others.operator_user.password.value).not.toBe(editable.operator_user.password.value);
  });

  it('can be downloaded and uploaded as by fuel2; PATCH changes only the given ones', async () => {
    const settings = await read();
    settings.editable.common.debug.value = true;
    settings.editable.mine = { own: { value: 7 } };
    expect(await rig.fuel('PUT', `/clusters/${id}/attributes?force=1`, settings)).toMatchObject({
      status: 200,
      body: settings,
    });
    expect(await read()).toEqual(settings);
    await rig.fuel('PATCH', `/clusters/${id}/attributes`, { editable: { common: { debug: { value: false } } } });
    settings.editable.common.debug.value = false;
    expect(await read()).toEqual(settings);
    const { editable } = (await rig.fuel('GET', `/clusters/${id}/attributes/defaults`)).body;
    expect(editable.mine).toBeUndefined();
    expect(editable.common).toEqual(newton.attributes_metadata.editable.common);
    expect((await rig.fuel('PUT', `/clusters/${id}/attributes/defaults`, {})).body.editable.mine).toBeUndefined();
  });

  it('that nothing reads are refused with what was meant; what changed is in the audit, without secrets', async () => {
    const path = `/clusters/${id}/attributes`;
    const before = await read();
    const wrong = { common: { debgu: { value: true } }, storge: { fsid: { value: 'x' }, speed: { value: 1 } } };
    for (const method of ['PUT', 'PATCH'] as const) {
      const refused = await rig.refused(method, path, { editable: wrong });
      expect(refused).toMatchObject({
        status: 400,
        paths: ['body.editable.common.debgu', 'body.editable.storge.fsid', 'body.editable.storge.speed'],
        hint: expect.stringContaining("Did you mean 'common.debug'?"),
      });
      // A file that only nodes read may read it: then one types this.
      expect(refused.hint).toContain(`sitewright cluster settings ${id} --set common.debgu=VALUE --force`);
      expect(refused.message).toContain('files that tasks run on nodes, such as Puppet manifests, are not searched');
    }
    expect(await read()).toEqual(before);
    // A task that reads it makes it a setting of the cluster.
    const task = { id: 'speedy', type: 'shell', version: '2.1.0', role: ['compute'] };
    const cmd = { yaql_exp: 'str($.storge.speed)' };
    const graph = { tasks: [{ ...task, parameters: { cmd } }] };
    await rig.fuel('PUT', `/clusters/${id}/deployment_graphs/default`, graph);
    const editable = {
      common: { debug: { value: before.editable.common.debug.value !== true } },
      operator_user: { password: { value: 'hunter2' } },
      storge: { speed: { value: 1 } },
    };
    expect((await rig.fuel('PATCH', path, { editable })).status).toBe(200);
    const { items } = await rig.store.audit.list({ action: 'cluster.settings', target: `cluster/${id}`, limit: 1 });
    expect(items[0]!.details).toEqual({
      changes: [
        {
          setting: 'common.debug',
          before: before.editable.common.debug.value,
          after: editable.common.debug.value,
        },
        { setting: 'operator_user.password', before: '[secret]', after: '[secret]' },
        { setting: 'storge.speed', before: null, after: 1 },
      ],
    });
    expect(JSON.stringify(items)).not.toContain('hunter2');
    await rig.fuel('PUT', `${path}?force=1`, before);
  });

  it('that only a manifest reads need no force: its conditions, restrictions written as keys, and YAQL', async () => {
    const readers = {
      ...newton,
      version: 'readers-10.0',
      roles_metadata: {
        compute: {
          name: 'Compute',
          restrictions: [{ 'settings:restricted.keyed.value == true': 'not with it' }],
          limits: { condition: 'settings:limits.conditional.value == true', max: 1 },
        },
      },
      tags_metadata: { compute: { has_primary: false, condition: { yaql_exp: '$.templated.tag' } } },
      volumes_metadata: { volumes: [{ size: { yaql_exp: '$.volume.size' }, label: 'free text about speed' }] },
    };
    const cluster = await rig.made('/clusters/', created('readers', await rig.made('/releases/', readers)));
    const path = `/clusters/${cluster}/attributes`;
    const editable = {
      restricted: { keyed: { value: true } },
      limits: { conditional: { value: true } },
      templated: { tag: { value: 1 } },
      volume: { size: { value: 1 } },
    };
    expect(await rig.fuel('PATCH', path, { editable })).toMatchObject({ status: 200 });
    // The text of a label, and the name of a key, read nothing.
    const refused = await rig.refused('PATCH', path, {
      editable: { other: { speed: { value: 1 }, label: { value: 1 } } },
    });
    expect(refused.paths).toEqual(['body.editable.other.speed', 'body.editable.other.label']);
  });

  it('with invalid values are refused, all of them named, and nothing is stored', async () => {
    const before = await read();
    const bad = {
      editable: {
        common: { debug: { type: 'checkbox', value: 'yes' }, libvirt_type: { value: 'xen' } },
        repo_setup: { repos: { value: [{ name: 'no uri' }] } },
        storage: 5,
      },
    };
    expect(await rig.refused('PUT', `/clusters/${id}/attributes`, bad)).toMatchObject({
      status: 400,
      paths: [
        'body.editable.common.debug.value',
        'body.editable.common.libvirt_type.value',
        'body.editable.repo_setup.repos.value',
        'body.editable.storage',
      ],
    });
    expect((await rig.refused('PUT', `/clusters/${id}/attributes`, { editable: [] })).message).toContain(
      'must be an object',
    );
    expect((await rig.refused('PUT', `/clusters/${id}/attributes`, { generated: {} })).message).toContain(
      'It is not allowed to update generated attributes',
    );
    expect((await rig.refused('PUT', `/clusters/${id}/attributes`, { edible: {} })).paths).toEqual(['body.edible']);
    expect(await read()).toEqual(before);
  });

  it('have a group for each compatible plugin, which enables it', async () => {
    const plugin = await rig.store.plugins.create({
      name: 'lma',
      version: '1.0.0',
      title: 'LMA',
      packageVersion: '5.0.0',
      metadata: {
        releases: [{ os: 'ubuntu', version: 'newton-10.0', mode: ['ha'] }],
        attributes_metadata: { attributes: { address: { type: 'text', label: 'Address', value: '' } } },
        roles_metadata: { collector: { name: 'Collector', description: 'Collects.' } },
      },
    });
    const foreign = await rig.store.plugins.create({
      name: 'other',
      version: '1.0.0',
      packageVersion: '5.0.0',
      metadata: { releases: [{ os: 'centos', version: 'newton-10.0' }] },
    });
    const own = await rig.made('/clusters/', created('plugged'));
    const settings = (await rig.fuel('GET', `/clusters/${own}/attributes`)).body;
    expect(settings.editable.other).toBeUndefined();
    expect(settings.editable.lma).toMatchObject({
      address: { value: '' },
      metadata: { enabled: false, plugin_id: plugin.id, class: 'plugin' },
    });
    settings.editable.lma.metadata.enabled = true;
    settings.editable.lma.address.value = 'lma.example';
    const written = (await rig.fuel('PUT', `/clusters/${own}/attributes`, settings)).body;
    expect(written.editable.lma).toMatchObject({ address: { value: 'lma.example' }, metadata: { enabled: true } });
    expect(await rig.store.plugins.ofCluster(own, { enabled: true })).toMatchObject([{ plugin: { id: plugin.id } }]);
    const roles = (await rig.fuel('GET', `/clusters/${own}/roles`)).body.map((role: { name: string }) => role.name);
    expect(roles).toContain('collector');
    expect((await rig.fuel('GET', '/plugins/')).body).toMatchObject([
      { id: plugin.id, name: 'lma', releases: [{ os: 'ubuntu', version: 'newton-10.0' }] },
      { id: foreign.id, name: 'other' },
    ]);
    expect(await rig.refused('DELETE', `/plugins/${plugin.id}`)).toMatchObject({
      status: 400,
      message: "Can't delete plugin which is enabled for some environment.",
      hint: expect.stringContaining('plugged'),
    });
    expect(await rig.refused('PUT', `/plugins/${plugin.id}`, { name: 'new' })).toMatchObject({
      status: 400,
      message: "Plugin can't be renamed. Trying to change name of the plugin lma to new",
    });
    expect((await rig.fuel('PUT', `/plugins/${plugin.id}`, { title: 'Logs' })).body).toMatchObject({
      title: 'Logs',
      roles_metadata: {},
    });
    expect((await rig.fuel('DELETE', `/plugins/${foreign.id}`)).status).toBe(204);
    expect(await rig.refused('GET', `/plugins/${foreign.id}`)).toMatchObject({
      status: 404,
      message: 'Plugin not found',
    });
  });

  it('include VMware settings only if the release has any', async () => {
    expect(await rig.refused('GET', `/clusters/${id}/vmware_attributes`)).toMatchObject({ status: 400 });
    const esx = await rig.made('/releases/', {
      ...newton,
      name: 'ESX',
      vmware_attributes_metadata: { editable: { value: { zones: [] } } },
    });
    const own = await rig.made('/clusters/', created('esx', esx));
    expect((await rig.fuel('GET', `/clusters/${own}/vmware_attributes`)).body).toEqual({
      editable: { value: { zones: [] } },
    });
    await rig.fuel('PUT', `/clusters/${own}/vmware_attributes`, { editable: { value: { zones: ['z'] } } });
    expect((await rig.fuel('GET', `/clusters/${own}/vmware_attributes`)).body).toEqual({
      editable: { value: { zones: ['z'] } },
    });
  });
});

describe('networks', () => {
  let id: number;
  beforeAll(async () => {
    id = await rig.made('/clusters/', created('networks'));
  });

  it('start from the release and the request, and are replaced part by part', async () => {
    const path = `/clusters/${id}/network_configuration/neutron`;
    const { body } = await rig.fuel('GET', path);
    expect(body).toMatchObject({
      networking_parameters: { net_l23_provider: 'ovs', segmentation_type: 'vlan' },
      networks: [{ name: 'public', cidr: '172.16.0.0/24', ip_ranges: [['172.16.0.2', '172.16.0.126']] }],
    });
    const networks = [{ name: 'public', cidr: '10.0.0.0/8' }];
    expect((await rig.fuel('PUT', path, { networks })).body).toEqual({ ...body, networks });
    expect((await rig.fuel('GET', path)).body).toEqual({ ...body, networks });
    expect((await rig.refused('PUT', path, { networks: {}, networking_parameters: 1 })).paths).toEqual([
      'body.networks',
      'body.networking_parameters',
    ]);
    expect((await rig.refused('PUT', path, [])).message).toContain('must be an object');
    expect(await rig.refused('GET', `/clusters/${id}/network_configuration/nova_network`)).toMatchObject({
      status: 400,
    });
    expect(await rig.refused('GET', `/clusters/${id}/network_configuration/wire`)).toMatchObject({
      status: 400,
      paths: ['path.provider'],
    });
  });

  it('can have a template, which is uploaded, shown and deleted', async () => {
    const path = `/clusters/${id}/network_configuration/template`;
    expect(await rig.refused('GET', path)).toMatchObject({ status: 404 });
    await rig.fuel('PUT', path, { adv_net_template: {} });
    expect((await rig.fuel('GET', path)).body).toEqual({ adv_net_template: {} });
    expect((await rig.fuel('DELETE', path)).status).toBe(204);
    expect(await rig.refused('GET', path)).toMatchObject({ status: 404 });
  });
});

describe('facts', () => {
  let id: number;
  let node: number;
  beforeAll(async () => {
    id = await rig.made('/clusters/', created('facts'));
    node = await rig.made('/nodes/', { mac: '52:54:00:bb:00:01', name: 'node01', ip: '10.20.0.4' });
    await rig.fuel('POST', `/clusters/${id}/assignment/`, [{ id: node, roles: ['compute'] }]);
  });
  const path = () => `/clusters/${id}/orchestrator/deployment/`;

  it('are computed from stored data, with common data separate or merged into each node', async () => {
    const apart = (await rig.fuel('GET', `${path()}defaults/?split=1&nodes=${node}`)).body;
    expect(apart.map((one: { uid: string }) => one.uid)).toEqual([`${node}`, 'common']);
    expect(apart[0]).toMatchObject({ uid: `${node}`, ip: '10.20.0.4', user_node_name: 'node01', roles: ['compute'] });
    expect(apart[1]).toMatchObject({ openstack_version: 'newton-10.0', cluster: { id, name: 'facts' }, debug: false });
    const merged = (await rig.fuel('GET', `${path()}defaults/?split=0&nodes=${node}`)).body;
    expect(merged).toMatchObject([{ uid: `${node}`, debug: false, ip: '10.20.0.4' }]);
  });

  it('that are uploaded replace computed ones until they are deleted', async () => {
    expect((await rig.fuel('GET', `${path()}?split=1`)).body).toEqual([]);
    const facts = [
      { uid: `${node}`, extra: 1 },
      { uid: 'common', debug: true },
    ];
    expect((await rig.fuel('PUT', path(), facts)).body).toEqual(facts);
    expect((await rig.fuel('GET', `${path()}?split=1`)).body).toEqual(facts);
    expect((await rig.fuel('GET', path())).body).toEqual([{ uid: `${node}`, extra: 1, debug: true }]);
    expect((await rig.fuel('GET', `/clusters/${id}`)).body.is_customized).toBe(true);
    // Defaults remain the computed values.
    expect((await rig.fuel('GET', `${path()}defaults/?split=1`)).body.at(-1).debug).toBe(false);
    expect((await rig.fuel('DELETE', path())).status).toBe(204);
    expect((await rig.fuel('GET', path())).body).toEqual([]);
    expect((await rig.fuel('GET', `/clusters/${id}`)).body.is_customized).toBe(false);
  });

  it('of some nodes can be replaced without changing those of others', async () => {
    await rig.fuel('PUT', path(), [
      { uid: `${node}`, extra: 1, old: true },
      { uid: 'master', a: 1 },
      { uid: 'common', debug: true },
    ]);
    expect((await rig.fuel('PATCH', path(), [{ uid: `${node}`, extra: 2 }])).status).toBe(204);
    const all = [
      { uid: `${node}`, extra: 2 },
      { uid: 'master', a: 1 },
      { uid: 'common', debug: true },
    ];
    expect((await rig.fuel('GET', `${path()}?split=1`)).body).toEqual(all);
    expect((await rig.fuel('PATCH', path(), [{ uid: 'common', debug: false }])).status).toBe(204);
    expect((await rig.fuel('GET', `${path()}?split=1`)).body).toEqual([
      ...all.slice(0, 2),
      { uid: 'common', debug: false },
    ]);
    expect(await rig.refused('PATCH', path(), [{ uid: '999' }])).toMatchObject({ status: 400, paths: ['body[0].uid'] });
    await rig.fuel('DELETE', path());
  });

  it('of other nodes, or of no node, are refused', async () => {
    expect(await rig.refused('PUT', path(), [{ uid: '999' }, { extra: 1 }])).toMatchObject({
      status: 400,
      paths: ['body[1].uid', 'body[0].uid'],
    });
    expect((await rig.refused('PUT', path(), {})).message).toContain('must be a list');
    expect((await rig.refused('PUT', path(), [])).status).toBe(400);
    expect(await rig.refused('GET', `${path()}?nodes=999`)).toMatchObject({
      status: 400,
      message: expect.stringMatching(new RegExp(`^node 999 is not in cluster ${id} \\(.+\\)$`)),
    });
    expect((await rig.refused('GET', `${path()}?nodes=x`)).message).toBe('Comma-separated numbers list expected');
    expect((await rig.refused('GET', '/clusters/999/orchestrator/deployment/')).message).toBe('Cluster not found');
  });

  it('of provisioning can be uploaded, too', async () => {
    const own = `/clusters/${id}/orchestrator/provisioning/`;
    expect((await rig.fuel('GET', own)).body).toEqual({});
    expect((await rig.fuel('GET', `${own}defaults/`)).body).toMatchObject({
      engine: { provider: 'maas' },
      nodes: [{ uid: `${node}` }],
    });
    const facts = { engine: { url: 'x' }, nodes: [{ uid: `${node}`, profile: 'p' }] };
    expect((await rig.fuel('PUT', own, facts)).body).toEqual(facts);
    expect((await rig.fuel('GET', own)).body).toEqual(facts);
    // Tasks see them.
    const { now } = (await rig.fuel('GET', `/clusters/${id}/states`)).body;
    expect(now.facts.nodes[`${node}`].provision).toEqual(facts.nodes[0]);
    expect(await rig.refused('PUT', own, { nodes: [{ uid: '999' }] })).toMatchObject({
      status: 400,
      paths: ['body.nodes[0].uid'],
    });
    expect((await rig.fuel('DELETE', own)).status).toBe(204);
    expect((await rig.fuel('GET', own)).body).toEqual({});
  });
});
