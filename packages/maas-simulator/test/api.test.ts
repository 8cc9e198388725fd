import { MachineStatus as S } from '@sitewright/maas/status';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { simulatorKeys } from '../src/index.ts';
import { authorization, SimulatedMaas } from './simulated-maas.ts';

/** Requests of a client that no recording has; the rules were measured on MAAS 3.6.5 (docs/explain/design.md#machines). */
let maas: SimulatedMaas;
beforeAll(async () => {
  maas = await SimulatedMaas.start();
});
beforeEach(async () => {
  await maas.control('POST', 'reset');
});
afterAll(() => maas.close());

const names = (list: readonly { hostname: string }[]): string[] => list.map(({ hostname }) => hostname);

describe('who asks', () => {
  const url = () => `${maas.simulator.url}/api/2.0/machines/`;
  const ask = (members: Readonly<Record<string, string | undefined>>) =>
    maas.send('GET', url(), { Authorization: authorization(simulatorKeys.admin, maas.clock.now(), members) });

  it('five minutes of clock lag are taken, one second more is not', async () => {
    const now = Math.floor(maas.clock.now() / 1000);
    expect((await ask({ oauth_timestamp: String(now - 300) })).status).toBe(200);
    expect((await ask({ oauth_timestamp: String(now - 301) })).text).toContain('Expired timestamp');
  });

  it('a nonce used by one user is free for another', async () => {
    expect((await ask({ oauth_nonce: 'same' })).status).toBe(200);
    const other = authorization(simulatorKeys.operator, maas.clock.now(), { oauth_nonce: 'same' });
    expect((await maas.send('GET', url(), { Authorization: other })).status).toBe(200);
    expect((await ask({ oauth_nonce: 'same' })).status).toBe(401);
  });

  it.each(['oauth_consumer_key', 'oauth_token', 'oauth_signature_method', 'oauth_nonce', 'oauth_timestamp'])(
    'a request without %s is unauthenticated',
    async (member) => {
      const reply = await ask({ [member]: undefined });
      expect([reply.status, reply.text]).toEqual([400, 'Unrecognised signature: method=GET op=None']);
    },
  );

  it('the version and whether a MAC is known are open to all', async () => {
    const base = `${maas.simulator.url}/api/2.0`;
    expect((await maas.send('GET', `${base}/version/`, {})).json.version).toBe('3.6.5');
    const mac = encodeURIComponent('52:54:00:00:00:01');
    expect((await maas.send('GET', `${base}/machines/?op=is_registered&mac_address=${mac}`, {})).json).toBe(false);
  });
});

describe('lists', () => {
  beforeEach(async () => {
    await maas.control('POST', 'seed', {
      machines: [
        { hostname: 'a', tags: ['x', 'y'], zone: 'z1' },
        { hostname: 'b', tags: ['x'], zone: 'z2', status: 6, owner: 'operator' },
        { hostname: 'c', pool: 'p1', status: 6 },
      ],
    });
  });

  it.each([
    ['hostname=a&hostname=c&hostname=nosuch', ['a', 'c']],
    ['tags=x&tags=y', ['a']],
    ['tags=x,y', ['a']],
    ['zone=z1&zone=z2', ['a', 'b']],
    ['not_in_zone=z1', ['b', 'c']],
    ['pool=p1', ['c']],
    ['status=deployed&status=ready', ['a', 'b', 'c']],
    ['status=deployed&owner=operator', ['b']],
    ['domain=maas', ['a', 'b', 'c']],
    ['hostname=a&zone=z2', []],
    ['hostname=', ['a', 'b', 'c']],
    ['cpu_count=9', []],
  ])('%s', async (filter, expected) => {
    expect(names((await maas.api('GET', `machines/?${filter}`)).json)).toEqual(expected);
  });

  it('several ids in one request, an unknown one left out', async () => {
    const { json: all } = await maas.api('GET', 'machines/');
    const [a, , c] = all.map(({ system_id }: { system_id: string }) => system_id);
    expect(names((await maas.api('GET', `machines/?id=${a}&id=${c}&id=zzzzzz`)).json)).toEqual(['a', 'c']);
  });

  it.each(['tags', 'pool', 'zone', 'domain', 'not_tags', 'not_in_zone'])('an unknown %s is an error', async (name) => {
    const reply = await maas.api('GET', `machines/?${name}=none`);
    expect([reply.status, Object.keys(reply.json)]).toEqual([400, [name]]);
  });

  it('a list shows a change immediately', async () => {
    const { json } = await maas.api('GET', 'machines/?hostname=a');
    await maas.api('PUT', `machines/${json[0].system_id}/`, { zone: 'z2' });
    expect((await maas.api('GET', 'machines/?hostname=a')).json[0].zone.name).toBe('z2');
    await maas.api('PUT', 'zones/z2/', { description: 'moved' });
    expect((await maas.api('GET', 'machines/?hostname=a')).json[0].zone.description).toBe('moved');
  });

  it('another user sees free machines and their own', async () => {
    expect(names((await maas.operator('GET', 'machines/')).json)).toEqual(['a', 'b']);
  });
});

describe('machines', () => {
  it('a rename is found by the new name and frees the old', async () => {
    const id = await maas.machine({ hostname: 'old' });
    expect((await maas.api('PUT', `machines/${id}/`, { hostname: 'new' })).json.fqdn).toBe('new.maas');
    expect((await maas.api('GET', 'machines/?hostname=old')).json).toEqual([]);
    expect(names((await maas.api('GET', 'machines/?hostname=new')).json)).toEqual(['new']);
    await maas.machine({ hostname: 'old' });
    expect((await maas.api('PUT', `machines/${id}/`, { hostname: 'old' })).status).toBe(400);
  });

  it('a deleted machine frees its name and its MAC', async () => {
    const body = {
      architecture: 'amd64/generic',
      mac_addresses: '52:54:00:00:00:07',
      hostname: 'x',
      commission: 'false',
    };
    const first = await maas.api('POST', 'machines/', body);
    expect((await maas.api('POST', 'machines/', body)).status).toBe(400);
    expect((await maas.api('DELETE', `machines/${first.json.system_id}/`)).status).toBe(204);
    const again = await maas.api('POST', 'machines/', body);
    expect(again.status).toBe(200);
    expect(again.json.system_id).not.toBe(first.json.system_id);
  });

  it('power parameters change one by one', async () => {
    const id = await maas.machine({ power_type: 'ipmi' });
    await maas.api('PUT', `machines/${id}/`, { power_parameters_power_user: 'root' });
    const { json } = await maas.api('GET', `machines/${id}/?op=power_parameters`);
    expect(json).toMatchObject({ power_user: 'root', power_pass: 'made-up', power_address: '10.200.0.1' });
    expect((await maas.api('GET', 'machines/?op=power_parameters')).json).toEqual({ [id]: json });
  });

  it('annotations need an owner, keep other keys, and go at release', async () => {
    const id = await maas.machine();
    expect((await maas.api('POST', `machines/${id}/?op=set_workload_annotations`, { run: '1' })).status).toBe(409);
    await maas.api('POST', 'machines/?op=allocate', { system_id: id });
    await maas.api('POST', `machines/${id}/?op=set_workload_annotations`, { run: '1', site: 'a' });
    const { json } = await maas.api('POST', `machines/${id}/?op=set_workload_annotations`, { run: '' });
    expect([json.owner_data, json.workload_annotations]).toEqual([{ site: 'a' }, { site: 'a' }]);
    await maas.api('POST', `machines/${id}/?op=release`);
    expect((await maas.api('GET', `machines/${id}/`)).json.owner_data).toEqual({});
  });

  it("an administrator may release another user's machine but neither annotate nor break it", async () => {
    const id = await maas.machine({ status: S.Deployed, owner: 'operator' });
    const annotated = await maas.api('POST', `machines/${id}/?op=set_workload_annotations`, { run: '1' });
    expect([annotated.status, annotated.text]).toEqual([
      409,
      "Cannot set workload annotation: it hasn't been acquired.",
    ]);
    expect((await maas.api('POST', `machines/${id}/?op=mark_broken`)).status).toBe(403);
    expect((await maas.api('POST', `machines/${id}/?op=release`)).json.status).toBe(S.Ready);
  });

  it('a Ready machine that another user holds is not deployed', async () => {
    const id = await maas.machine({ owner: 'operator' });
    const reply = await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
    expect([reply.status, reply.text]).toEqual([409, "Can't allocate a machine belonging to another user."]);
  });

  it('allocation meets its constraints and sets the agent name', async () => {
    await maas.control('POST', 'seed', { machines: [{ hostname: 'a' }, { hostname: 'b', tags: ['ssd'] }] });
    const reply = await maas.api('POST', 'machines/?op=allocate', { tags: 'ssd', mem: '1024', agent_name: 'run-1' });
    expect(reply.json).toMatchObject({ hostname: 'b', status: S.Allocated, owner: 'admin', constraints_by_type: {} });
    expect(names((await maas.api('GET', 'machines/?agent_name=run-1')).json)).toEqual(['b']);
    expect(names((await maas.api('GET', 'machines/?op=list_allocated')).json)).toEqual(['b']);
    expect((await maas.operator('GET', 'machines/?op=list_allocated')).json).toEqual([]);
  });

  it('bulk release is all or nothing, and names the released machines', async () => {
    const { json: ids } = await maas.control('POST', 'seed', {
      machines: [
        { hostname: 'a', status: 6 },
        { hostname: 'b', status: 4 },
        { hostname: 'c', status: 1 },
      ],
    });
    const refused = await maas.api('POST', 'machines/?op=release', { machines: ids });
    expect([refused.status, refused.text]).toEqual([
      409,
      `Machine(s) cannot be released in their current state: ${ids[2]} ('Commissioning').`,
    ]);
    expect(await maas.moves()).toEqual([]);
    // A bulk release does not accept erasing.
    const some = { machines: ids.slice(0, 2), erase: 'true' };
    expect((await maas.api('POST', 'machines/?op=release', some)).json).toEqual([ids[0]]);
    expect(await maas.status(ids[0])).toBe(S.Ready);
    expect((await maas.api('POST', 'machines/?op=release', { machines: ['zzzzzz'] })).status).toBe(400);
  });

  it('another user may not do what an owner may', async () => {
    const id = await maas.machine({ status: S.Deployed, owner: 'admin' });
    for (const op of ['release', 'deploy', 'abort', 'lock', 'power_off', 'set_workload_annotations']) {
      const reply = await maas.operator('POST', `machines/${id}/?op=${op}`);
      expect([op, reply.status, reply.text]).toEqual([op, 403, '']);
    }
    expect((await maas.operator('GET', 'maas/?op=get_config&name=node_timeout')).status).toBe(403);
  });

  it('multipart parts in base64 are read, as drydock sends them', async () => {
    const id = await maas.machine();
    const part = Buffer.from(id).toString('base64');
    const body = `--B\r\nContent-Disposition: form-data; name="system_id"\r\nContent-Transfer-Encoding: base64\r\n\r\n${part}\r\n--B--\r\n`;
    const headers = {
      Authorization: authorization(simulatorKeys.admin, maas.clock.now()),
      'Content-Type': 'multipart/form-data; boundary=B',
    };
    const reply = await maas.send('POST', `${maas.simulator.url}/api/2.0/machines/?op=allocate`, headers, body);
    expect(reply.json).toMatchObject({ system_id: id, status: S.Allocated });
  });

  it('deploy ignores a JSON body', async () => {
    const id = await maas.machine();
    const headers = {
      Authorization: authorization(simulatorKeys.admin, maas.clock.now()),
      'Content-Type': 'application/json',
    };
    const url = `${maas.simulator.url}/api/2.0/machines/${id}/?op=deploy`;
    expect((await maas.send('POST', url, headers, '{"distro_series":"jammy"}')).json.distro_series).toBe('noble');
  });
});

describe('networks and disks', () => {
  it('a bond, a bridge and a link of each kind', async () => {
    const id = await maas.machine();
    const nics = `nodes/${id}/interfaces/`;
    const second = await maas.api('POST', `${nics}?op=create_physical`, {
      mac_address: '52:54:00:00:01:01',
      name: 'eth1',
    });
    const { json: all } = await maas.api('GET', nics);
    await maas.api('PUT', `${nics}eth1/`, { vlan: String(all[0].vlan.id) });
    const bond = await maas.api('POST', `${nics}?op=create_bond`, {
      name: 'bond0',
      parents: all.map((nic: { id: number }) => String(nic.id)),
    });
    expect(bond.json).toMatchObject({ type: 'bond', parents: ['eth0', 'eth1'] });
    expect((await maas.api('GET', `${nics}${second.json.id}/`)).json.children).toEqual(['bond0']);
    const path = `${nics}${bond.json.id}/`;
    await maas.api('POST', `${path}?op=link_subnet`, { mode: 'STATIC', subnet: 'prov', ip_address: '10.76.0.50' });
    expect((await maas.api('POST', `${path}?op=link_subnet`, { mode: 'SIDEWAYS' })).json).toHaveProperty('mode');
    expect((await maas.api('GET', `machines/${id}/`)).json.ip_addresses).toEqual(['10.76.0.50']);
    expect((await maas.api('POST', `${path}?op=disconnect`)).json.links).toEqual([]);
    expect((await maas.api('DELETE', path)).status).toBe(204);
  });

  it('a deployed machine keeps its network as it is', async () => {
    const id = await maas.machine({ status: S.Deployed });
    const { json } = await maas.api('GET', `nodes/${id}/interfaces/`);
    const reply = await maas.api('POST', `nodes/${id}/interfaces/${json[0].id}/?op=disconnect`);
    expect(reply.status).toBe(409);
  });

  it('no root filesystem, no deployment', async () => {
    const id = await maas.machine();
    await maas.api('POST', `machines/${id}/?op=set_storage_layout`, { storage_layout: 'blank' });
    const reply = await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
    expect([reply.status, Object.keys(reply.json)]).toEqual([400, ['storage']]);
  });
});

describe('events', () => {
  it('are paged and followed by id', async () => {
    const id = await maas.machine();
    await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
    await maas.control('POST', `${id}/failed`, { comment: 'no disk' });
    const types = async (query: string): Promise<string[]> =>
      (await maas.api('GET', `events/?op=query&${query}`)).json.events.map(({ type }: { type: string }) => type);
    expect(await types(`id=${id}`)).toEqual(['Marking node failed', 'Deploying', 'Commissioning']);
    expect(await types('level=ERROR')).toEqual(['Marking node failed']);
    expect(await types('level=DEBUG&hostname=m1')).toContain('User starting deployment');
    const { json: newest } = await maas.api('GET', 'events/?op=query&limit=1');
    expect(await types(`before=${newest.events[0].id}&limit=1`)).toEqual(['Deploying']);
    expect(await types(`after=${newest.events[0].id}`)).toEqual([]);
    await maas.api('POST', `machines/${id}/?op=release`);
    expect(await types(`after=${newest.events[0].id}`)).toEqual(['Released', 'Releasing']);
    expect(newest.next_uri).toContain(`after=${newest.events[0].id}`);
    expect(await types('zone=elsewhere')).toEqual([]);
  });
});

describe('settings', () => {
  it('are read with their type and changed by an administrator', async () => {
    expect((await maas.api('GET', 'maas/?op=get_config&name=node_timeout')).json).toBe(30);
    expect((await maas.api('POST', 'maas/?op=set_config', { name: 'node_timeout', value: 'soon' })).status).toBe(400);
    expect((await maas.operator('POST', 'maas/?op=set_config', { name: 'node_timeout', value: '5' })).status).toBe(403);
    await maas.api('POST', 'maas/?op=set_config', { name: 'enable_disk_erasing_on_release', value: 'true' });
    const id = await maas.machine({ status: S.Deployed });
    expect((await maas.api('POST', `machines/${id}/?op=release`)).json.status).toBe(S.DiskErasing);
  });
});

it.each([
  ['PATCH', 'machines/', 405],
  ['DELETE', 'machines/', 405],
  ['PUT', 'version/', 405],
  ['GET', 'machines/?op=toString', 400],
  ['POST', 'machines/zzzzzz/?op=deploy', 404],
  ['GET', 'nodes/zzzzzz/results/', 404],
  ['GET', 'machines/%E0%A4%A/', 404],
  ['GET', 'machines/?toString=1', 400],
  ['GET', 'machines/?cpu_count=many', 400],
  ['GET', 'events/?op=query&limit=-1', 400],
  ['GET', 'constructor/', 404],
  ['GET', 'zones/none/', 404],
  ['GET', 'resourcepool/99/', 404],
  ['DELETE', 'resourcepool/0/', 400],
  ['DELETE', 'zones/default/', 400],
] as const)('%s %s is %i', async (method, path, status) => {
  expect((await maas.api(method, path)).status).toBe(status);
});
