import { MachineStatus as S } from '@sitewright/maas/status';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newKeys, simulateMaas, simulatorKeys } from '../src/index.ts';
import { authorization, SimulatedMaas } from './simulated-maas.ts';

let maas: SimulatedMaas;
beforeAll(async () => {
  maas = await SimulatedMaas.start();
});
beforeEach(async () => {
  await maas.control('POST', 'reset');
});
afterAll(() => maas.close());

describe('seed', () => {
  it('makes a fleet, spread over zones and pools, ready to be deployed', async () => {
    const { json: ids } = await maas.control('POST', 'seed', {
      count: 500,
      prefix: 'n',
      tags: ['compute'],
      zones: ['az1', 'az2'],
      pools: ['site-a'],
      power_type: 'ipmi',
    });
    expect(new Set(ids).size).toBe(500);
    const { json: machines } = await maas.api('GET', 'machines/?hostname=n001&hostname=n002&hostname=n500');
    // biome-ignore lint/suspicious/noExplicitAny: answers of a foreign API
    const facts = machines.map((m: any) => [m.hostname, m.zone.name, m.pool.name, m.tag_names, m.status, m.power_type]);
    expect(facts).toEqual([
      ['n001', 'az1', 'site-a', ['compute'], S.Ready, 'ipmi'],
      ['n002', 'az2', 'site-a', ['compute'], S.Ready, 'ipmi'],
      ['n500', 'az2', 'site-a', ['compute'], S.Ready, 'ipmi'],
    ]);
    for (const id of [ids[0], ids[499]]) {
      expect((await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' })).status).toBe(200);
    }
  });

  it('makes single machines as they are described', async () => {
    const id = await maas.machine({
      hostname: 'ctl01',
      mac: '52:54:00:12:34:56',
      zone: 'az9',
      pool: 'p9',
      tags: ['b', 'a'],
      status: 'deployed',
      owner: 'operator',
      owner_data: { run: '7' },
      osystem: 'ubuntu',
      distro_series: 'jammy',
      power_type: 'ipmi',
      power_state: 'error',
      locked: true,
    });
    expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({
      hostname: 'ctl01',
      status: S.Deployed,
      owner: 'operator',
      owner_data: { run: '7' },
      distro_series: 'jammy',
      hwe_kernel: 'ga-22.04',
      power_state: 'error',
      locked: true,
      tag_names: ['a', 'b'],
      ip_addresses: ['10.76.0.2'],
    });
  });

  it('names every problem and makes nothing', async () => {
    await maas.machine({ hostname: 'taken', mac: '52:54:00:00:00:09' });
    const reply = await maas.control('POST', 'seed', {
      count: 1,
      machines: [
        { hostname: 'taken' },
        { hostname: 'bad name' },
        { hostname: 'x', status: 99 },
        { hostname: 'y', mac: 'zz' },
        { hostname: 'z', mac: '52:54:00:00:00:09' },
      ],
    });
    expect(reply.status).toBe(400);
    expect(reply.json.problems).toHaveLength(5);
    expect((await maas.api('GET', 'machines/')).json).toHaveLength(1);
  });

  it('offers the images that a site needs', async () => {
    await maas.control('POST', 'images', [
      { name: 'ubuntu/focal', version: '20.04', kernels: ['ga-20.04', 'hwe-20.04'] },
    ]);
    const id = await maas.machine();
    const reply = await maas.api('POST', `machines/${id}/?op=deploy`, {
      distro_series: '20.04',
      hwe_kernel: 'hwe-20.04',
    });
    expect(reply.json).toMatchObject({ distro_series: 'focal', hwe_kernel: 'hwe-20.04' });
    const { json: images } = await maas.api('GET', 'boot-resources/');
    expect(images.map((image: { name: string }) => image.name)).toEqual([
      'ubuntu/jammy',
      'ubuntu/noble',
      'ubuntu/focal',
    ]);
  });
});

describe('auto', () => {
  const deploy = (id: string) => maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });

  it('ends a phase at its time and not before', async () => {
    await maas.control('POST', 'auto', { deploy_ms: 300 });
    const id = await maas.machine();
    await deploy(id);
    maas.clock.advance(299);
    expect(await maas.status(id)).toBe(S.Deploying);
    maas.clock.advance(1);
    expect(await maas.status(id)).toBe(S.Deployed);
  });

  it('takes up machines that are in a phase already', async () => {
    const id = await maas.machine();
    await deploy(id);
    await maas.control('POST', 'auto', { deploy_ms: 50 });
    maas.clock.advance(50);
    expect(await maas.status(id)).toBe(S.Deployed);
  });

  it('fails the machines named, every time', async () => {
    await maas.control('POST', 'auto', { deploy_ms: 10, release_ms: 10, fail: { deploy: ['m1'] } });
    const id = await maas.machine();
    for (let i = 0; i < 2; i++) {
      await deploy(id);
      maas.clock.advance(10);
      expect(await maas.status(id)).toBe(S.FailedDeployment);
      await maas.api('POST', `machines/${id}/?op=release`);
    }
    const { json } = await maas.api('GET', 'events/?op=query&level=ERROR');
    expect(json.events).toMatchObject([
      { type: 'Marking node failed', description: 'Failed by the simulator' },
      { type: 'Marking node failed' },
    ]);
  });

  it('fails a counted machine so often and no more', async () => {
    await maas.control('POST', 'auto', {
      deploy_ms: 10,
      fail_times: { deploy: { m1: 1 } },
      fail_comment: 'curtin died',
    });
    const id = await maas.machine();
    await deploy(id);
    maas.clock.advance(10);
    expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({
      status: S.FailedDeployment,
      error_description: 'curtin died',
    });
    const { json: results } = await maas.api('GET', `nodes/${id}/results/current-installation/?include_output=true`);
    expect(Buffer.from(results.results[0].output, 'base64').toString()).toContain('curtin died');
    await maas.api('POST', `machines/${id}/?op=release`);
    await deploy(id);
    maas.clock.advance(10);
    expect(await maas.status(id)).toBe(S.Deployed);
  });

  it.each([
    ['commission', S.New, S.FailedCommissioning],
    ['erase', S.Deployed, S.FailedDiskErasing],
    ['release', S.Deployed, S.FailedReleasing],
  ] as const)('fails %s too', async (phase, from, failed) => {
    await maas.control('POST', 'auto', { [`${phase}_ms`]: 10, fail: { [phase]: ['m1'] } });
    const id = await maas.machine({ status: from, power_type: 'ipmi' });
    const op = phase === 'commission' ? 'commission' : 'release';
    await maas.api(
      'POST',
      `machines/${id}/?op=${op}`,
      phase === 'erase' ? { erase: 'true' } : { testing_scripts: 'none' },
    );
    maas.clock.advance(10);
    expect(await maas.status(id)).toBe(failed);
  });

  it('swings by the jitter asked for, and by no more', async () => {
    await maas.control('POST', 'auto', { deploy_ms: 1000, jitter: 0.5 });
    const { json: ids } = await maas.control('POST', 'seed', { count: 40 });
    for (const id of ids) await deploy(id);
    const deployed = async (): Promise<number> => (await maas.api('GET', 'machines/?status=deployed')).json.length;
    maas.clock.advance(499);
    expect(await deployed()).toBe(0);
    maas.clock.advance(501);
    const half = await deployed();
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(40);
    maas.clock.advance(501);
    expect(await deployed()).toBe(40);
  });

  it('an abort stops the timer', async () => {
    await maas.control('POST', 'auto', { deploy_ms: 10 });
    const id = await maas.machine();
    await deploy(id);
    await maas.api('POST', `machines/${id}/?op=abort`);
    expect(maas.clock.waiting).toBe(0);
    maas.clock.advance(20);
    expect(await maas.status(id)).toBe(S.Allocated);
  });

  it('keeps settings that a later body omits; null turns a phase off', async () => {
    await maas.control('POST', 'auto', { deploy_ms: 10, erase_ms: 5 });
    expect((await maas.control('POST', 'auto', { erase_ms: null })).json).toMatchObject({ deploy_ms: 10 });
    expect((await maas.control('GET', 'auto')).json).not.toHaveProperty('erase_ms');
  });

  it('names every problem of a body', async () => {
    const reply = await maas.control('POST', 'auto', {
      deploy_ms: -1,
      jitter: 2,
      fail: { dance: ['x'], deploy: 'n1' },
      fail_times: { deploy: { n1: 'often' } },
    });
    expect(reply.status).toBe(400);
    expect(reply.json.problems).toHaveLength(5);
  });
});

describe('rack events', () => {
  it('one that means nothing in the state changes nothing', async () => {
    const id = await maas.machine();
    for (const event of [
      'commissioned',
      'deployed',
      'failed',
      'erased',
      'released',
      'rescued',
      'unrescued',
      'tested',
    ]) {
      const reply = await maas.control('POST', `${id}/${event}`);
      expect([reply.status, reply.json.status]).toEqual([200, S.Ready]);
    }
    expect(await maas.moves()).toEqual([]);
  });

  it('the power ends a release, and shows', async () => {
    const id = await maas.machine({ status: S.Deployed, power_type: 'ipmi' });
    expect((await maas.api('POST', `machines/${id}/?op=release`)).json.status).toBe(S.Releasing);
    await maas.control('POST', `${id}/error`);
    expect((await maas.api('GET', `machines/${id}/?op=query_power_state`)).json).toEqual({ state: 'error' });
    expect(await maas.status(id)).toBe(S.Releasing);
    expect((await maas.control('POST', 'm1/off')).json.status).toBe(S.Ready);
  });

  it('an unknown machine, event or control is reported as unknown', async () => {
    const id = await maas.machine();
    expect((await maas.control('POST', 'nosuch/deployed')).status).toBe(404);
    expect((await maas.control('POST', `${id}/exploded`)).json.error).toContain('commissioned');
    expect((await maas.control('GET', 'nothing')).status).toBe(404);
    expect((await maas.send('POST', `${maas.simulator.controlUrl}/seed`, {}, '{')).status).toBe(400);
  });
});

it('no rack: power calls are refused and the machine is as recorded', async () => {
  const id = await maas.machine({ status: S.Deployed, power_type: 'ipmi' });
  await maas.control('POST', 'rack', { up: false });
  const released = await maas.api('POST', `machines/${id}/?op=release`);
  expect([released.status, released.headers.get('retry-after')]).toEqual([503, null]);
  expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({ status: S.Deployed, osystem: '' });
  expect(await maas.moves()).toEqual([]);
});

it.each([
  { origin: 'https://evil.example', 'content-type': 'text/plain' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
])('a page in a browser controls nothing: %j', async (headers) => {
  const rack = `${maas.simulator.controlUrl}/rack`;
  expect((await maas.send('POST', rack, headers, '{"up":false}')).status).toBe(403);
  const id = await maas.machine({ status: S.Ready, power_type: 'ipmi' });
  expect((await maas.api('GET', `machines/${id}/?op=query_power_state`)).status).toBe(200);
  expect((await maas.send('POST', rack, { 'sec-fetch-site': 'none' }, '{"up":true}')).status).toBe(200);
});

it('keys by chance replace those that everyone knows, and differ at each start', async () => {
  const [keys, others] = [newKeys(), newKeys()];
  expect(new Set([...Object.values(keys), ...Object.values(others)]).size).toBe(6);
  const simulator = await simulateMaas({ port: 0, keys });
  const statusWith = async (key: string) => {
    const headers = { authorization: authorization(key, Date.now()) };
    return (await fetch(`${simulator.url}/api/2.0/users/?op=whoami`, { headers })).status;
  };
  expect(await statusWith(keys.admin)).toBe(200);
  for (const key of [simulatorKeys.admin, others.admin]) expect(await statusWith(key)).toBe(401);
  await simulator.close();
});

it('requests are listed with their bodies, without secrets', async () => {
  await maas.api('POST', 'tags/', { name: 'compute' });
  await maas.operator('POST', 'tags/', { name: 'no' });
  const { json, text } = await maas.control('GET', 'requests');
  expect(json).toMatchObject([
    { n: 1, method: 'POST', url: '/MAAS/api/2.0/tags/', body: 'name=compute', user: 'admin', status: 200 },
    { n: 2, user: 'operator', status: 403 },
  ]);
  expect(text).not.toContain('tokensecret');
});

it('reset empties everything and stops all timers', async () => {
  await maas.control('POST', 'auto', { deploy_ms: 10 });
  const id = await maas.machine();
  await maas.api('POST', `machines/${id}/?op=deploy`);
  await maas.control('POST', 'reset');
  expect(maas.clock.waiting).toBe(0);
  for (const list of ['machines/', 'tags/']) expect((await maas.api('GET', list)).json).toEqual([]);
  expect((await maas.control('GET', 'effects')).json).toEqual([]);
});

describe('loopback', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'maas.example.test', '127.0.0.1.example.test'])(
    'listening on %s is refused',
    async (host) => {
      await expect(simulateMaas({ port: 0, host })).rejects.toThrow(`'${host}' is refused`);
    },
  );

  it.each([
    ['evil.example.test', 421],
    ['maas.example.test', 200],
  ])('a request by the name %s is answered with %i', async (name, expected) => {
    const aliased = await simulateMaas({ port: 0, alias: 'maas.example.test' });
    const { request } = await import('node:http');
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${aliased.url}/api/2.0/version/`, { headers: { Host: `${name}:5240` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject).end();
    });
    await aliased.close();
    expect(status).toBe(expected);
  });
});
