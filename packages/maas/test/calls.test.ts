import { describe, expect, it } from 'vitest';
import { readLayoutScenario } from '../../maas-simulator/test/layout-recording.ts';
import { MaasClient } from '../src/client.ts';
import { HostnameLookup } from '../src/hostname-lookup.ts';
import { resolveMachine } from '../src/resolve-machine.ts';
import { type HttpAnswer, type HttpRequest, TransportError } from '../src/transport.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { testKey } from './rig/maas-process.ts';

type Answer = { status?: number; body: unknown } | 'lost-before' | 'lost-after';
type Handler = (request: { method: string; path: string; query: URLSearchParams; form: URLSearchParams }) => Answer;

/** A client whose every request goes to `handle`; `sent` holds them as `METHOD path?query body`. */
function clientOf(handle: Handler) {
  const sent: string[] = [];
  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const target = request.url.replace(/^.*\/api\/2\.0\//, '');
    sent.push(`${request.method} ${target} ${request.body ?? ''}`.trim());
    const [path = '', query = ''] = target.split('?');
    const answer = handle({
      method: request.method,
      path,
      query: new URLSearchParams(query),
      form: new URLSearchParams(request.body ?? ''),
    });
    if (answer === 'lost-before' || answer === 'lost-after') throw new TransportError('lost', 'ECONNRESET');
    const { status = 200, body } = answer;
    return { status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
  const client = new MaasClient({
    url: 'http://maas.test/MAAS',
    apiKey: testKey,
    transport: { send, close: () => Promise.resolve() },
  });
  return { client, sent, lookup: new HostnameLookup(client, { clock: new LeapingClock() }) };
}

const host = (system_id: string, hostname: string, domain = 'maas', mac = '') => ({
  system_id,
  hostname,
  fqdn: `${hostname}.${domain}`,
  domain: { name: domain },
  status: 4,
  owner: null,
  interface_set: mac === '' ? [] : [{ mac_address: mac }],
});

describe('lists', () => {
  it('(8) filters: "or" by repeated keys, "and" between names', async () => {
    const { client, sent } = clientOf(() => ({ body: [] }));
    const filter = {
      hostnames: ['a', 'b'],
      tags: ['t'],
      zones: ['z'],
      pools: ['p'],
      statuses: ['ready'],
      notTags: ['x'],
    };
    expect(await client.machines.list(filter)).toEqual([]);
    expect(sent).toEqual(['GET machines/?hostname=a&hostname=b&zone=z&pool=p&tags=t&not_tags=x&status=ready']);
  });

  it('(8) an unknown zone is a typed failure, an unknown name an empty list, no names no request', async () => {
    const { client, sent } = clientOf(({ query }) =>
      query.has('zone') ? { status: 400, body: { zone: ['No such zone(s): none.'] } } : { body: [] },
    );
    await expect(client.machines.list({ zones: ['none'] })).rejects.toMatchObject({
      failure: { kind: 'invalid', fields: { zone: ['No such zone(s): none.'] } },
    });
    expect(await client.machines.list({ hostnames: ['none'] })).toEqual([]);
    expect(await client.machines.list({ systemIds: [] })).toEqual([]);
    expect(sent).toHaveLength(2);
  });

  it('(31) 500 machines by id: five requests of 100, each machine once', async () => {
    const { client, sent } = clientOf(({ query }) => ({ body: query.getAll('id').map((id) => host(id, `h-${id}`)) }));
    const ids = Array.from({ length: 500 }, (_, i) => `m${i}`);
    const machines = await client.machines.list({ systemIds: [...ids, 'm0', 'm1'] });
    expect(machines.map((m) => m.systemId).sort()).toEqual([...ids].sort());
    expect(sent).toHaveLength(5);
    for (const line of sent) expect(line.match(/id=/g)).toHaveLength(100);
  });

  it('(31) only needed parts of a big machine object are kept', async () => {
    const ballast = {
      physicalblockdevice_set: Array.from({ length: 200 }, (_, i) => ({ name: `sd${i}`, model: 'x'.repeat(200) })),
    };
    const { client } = clientOf(() => ({ body: [{ ...host('abc123', 'n1'), ...ballast }] }));
    const [machine] = await client.machines.list();
    expect(JSON.stringify(machine).length).toBeLessThan(1500);
  });
});

it('an abort waits behind no deployment, a list behind no single reading', async () => {
  const machine = { ...host('abc123', 'a'), status: 9 };
  const { client, sent } = clientOf(({ path }) => ({ body: path === 'machines/' ? [machine] : machine }));
  const ids = Array.from({ length: 12 }, (_unused, at) => `id${at + 10}aa`);
  const orders = ids.map((id) => client.machines.deploy(id));
  await Promise.all([...orders, client.machines.abort('abc123')]);
  expect(sent.findIndex((line) => line.includes('op=abort'))).toBe(6);
  sent.length = 0;
  const readings = ids.map((id) => client.machines.read(id));
  const aimed = client.machines.read('abc123', undefined, { urgent: true });
  await Promise.all([...readings, client.machines.list({ systemIds: ['abc123'] }), aimed]);
  expect(sent.slice(6, 8).sort()).toEqual(['GET machines/?id=abc123', 'GET machines/abc123/']);
});

describe('resolve', () => {
  const site = [
    host('aaaaaa', 'n1', 'east'),
    host('bbbbbb', 'n1', 'west'),
    host('cccccc', 'n2', 'east', '52:54:00:aa:00:01'),
  ];
  const user = { username: 'oper' };
  const answering: Handler = ({ path, query }) => {
    if (path === 'users/') return { body: user };
    const names = query.getAll('hostname');
    const macs = query.getAll('mac_address');
    return {
      body: site.filter((m) => names.includes(m.hostname) || macs.includes(m.interface_set[0]?.mac_address ?? '-')),
    };
  };

  it('(9) one hostname in two domains is refused, with both named', async () => {
    const resolution = await resolveMachine(clientOf(answering), { hostname: 'n1' });
    expect(resolution).toMatchObject({
      ok: false,
      failure: { kind: 'ambiguous-hostname', candidates: ['n1.east (aaaaaa)', 'n1.west (bbbbbb)'] },
    });
  });

  it.each([
    [{ hostname: 'n1', domain: 'west' }, 'bbbbbb'],
    [{ hostname: 'n1.east' }, 'aaaaaa'],
    [{ hostname: 'N1.West' }, 'bbbbbb'],
    [{ hostname: 'n2' }, 'cccccc'],
    [{ hostname: 'n2', bootMac: '52-54-00-AA-00-01' }, 'cccccc'],
  ])('(9) %j is one machine', async (request, systemId) => {
    const resolution = await resolveMachine(clientOf(answering), request);
    expect(resolution).toMatchObject({ ok: true, machine: { systemId }, warnings: [] });
  });

  it('an unknown name with a known boot MAC is found by the MAC, and the other name is reported', async () => {
    const resolution = await resolveMachine(clientOf(answering), { hostname: 'n9', bootMac: '52:54:00:AA:00:01' });
    expect(resolution).toMatchObject({
      ok: true,
      machine: { systemId: 'cccccc' },
      warnings: [{ code: 'hostname-differs' }],
    });
  });

  // The other side: a MAAS 3.6.5, m1-machine of its recording, with the marker of a site in addition to its owner data.
  it('a machine that was renamed is found by its id, as long as it has the marker of the node', async () => {
    const { steps } = readLayoutScenario('m1-machine');
    const renamed = steps[11]?.response?.json as { system_id: string; owner_data: object };
    const byOldName = (steps[12]?.response?.json ?? ['not recorded']) as readonly object[];
    const marker = { sitewright_site: 'dc1', sitewright_node: 'node01', sitewright_run: 'r1' };
    const resolve = (owner_data: object, others: object[] = []) =>
      resolveMachine(
        clientOf(({ path }) => {
          if (path === 'users/') return { body: user };
          if (path === 'machines/') return { body: [...byOldName, ...others] };
          return { body: { ...renamed, owner_data } };
        }),
        { hostname: 'node01', known: { systemId: renamed.system_id, site: 'dc1', node: 'node01' } },
      );
    expect(await resolve(marker)).toMatchObject({
      ok: true,
      machine: { systemId: renamed.system_id, hostname: 'renamed' },
      warnings: [{ code: 'hostname-differs' }],
    });
    for (const other of [
      renamed.owner_data,
      { ...marker, sitewright_site: 'dc2' },
      { ...marker, sitewright_node: 'n2' },
    ])
      expect(await resolve(other)).toMatchObject({ ok: false, failure: { kind: 'unknown-machine' } });
    expect(await resolve(marker, [host('dddddd', 'node01')])).toMatchObject({
      ok: false,
      failure: { kind: 'ambiguous-hostname' },
    });
  });

  it('to a user who may not edit all machines, a machine may be there and invisible', async () => {
    const asOper: Handler = (request) =>
      request.query.get('op') === 'power_parameters' ? { status: 403, body: '' } : answering(request);
    const missing = await resolveMachine(clientOf(asOper), { hostname: 'n7' });
    expect(!missing.ok && missing.failure.message).toBe(
      'MAAS has no machine named n7 (oper may not edit all machines in MAAS, and so cannot see those of other users)',
    );
    expect(!missing.ok && missing.failure.hint).toMatch(/^use the key of a user who may edit machines/);
    const absent = await resolveMachine(clientOf(answering), { hostname: 'n7' });
    expect(!absent.ok && absent.failure.hint).toMatch(/^enlist it/);
    expect(!absent.ok && absent.failure.message).toBe('MAAS has no machine named n7');
  });

  it('another MAC than in the documents is a warning, a missing machine a failure', async () => {
    expect(await resolveMachine(clientOf(answering), { hostname: 'n2', bootMac: '52:54:00:ff:ff:ff' })).toMatchObject({
      ok: true,
      warnings: [{ code: 'mac-differs' }],
    });
    expect(await resolveMachine(clientOf(answering), { hostname: 'n9', bootMac: '52:54:00:ff:ff:ff' })).toMatchObject({
      ok: false,
      failure: { kind: 'unknown-machine', hostname: 'n9' },
    });
    expect(await resolveMachine(clientOf(answering), { hostname: 'n9', bootMac: 'rubbish' })).toMatchObject({
      ok: false,
    });
  });

  it('(31) 250 concurrent look-ups are three requests', async () => {
    const world = clientOf(({ query }) => ({ body: query.getAll('hostname').map((name) => host(`id-${name}`, name)) }));
    const names = Array.from({ length: 250 }, (_, i) => `n${i}`);
    const found = await Promise.all(names.map((hostname) => resolveMachine(world, { hostname })));
    expect(found.map((r) => r.ok && r.machine.systemId)).toEqual(names.map((name) => `id-${name}`));
    expect(world.sent).toHaveLength(3);
  });

  it('a look-up that fails fails for all who asked; one that is aborted ends alone', async () => {
    const world = clientOf(() => ({ status: 503, body: 'away' }));
    const abort = new AbortController();
    const aborted = resolveMachine(world, { hostname: 'a' }, abort.signal);
    const others = [resolveMachine(world, { hostname: 'b' }), resolveMachine(world, { hostname: 'c' })];
    abort.abort(new Error('stop'));
    await expect(aborted).rejects.toThrow('stop');
    for (const other of others) await expect(other).rejects.toMatchObject({ failure: { kind: 'unavailable' } });
    expect(world.sent).toEqual(['GET machines/?hostname=b&hostname=c']);
  });
});

describe('tags, pools, zones', () => {
  it('(11) counts are compared; unknown ids are found out; the same again gives the same', async () => {
    const known = new Set(['aaaaaa', 'bbbbbb']);
    const world = clientOf(({ method, query, form }) =>
      method === 'GET'
        ? {
            body: query
              .getAll('id')
              .filter((id) => known.has(id))
              .map((id) => host(id, id)),
          }
        : { body: { added: form.getAll('add').filter((id) => known.has(id)).length, removed: 0 } },
    );
    const all = { add: ['aaaaaa', 'bbbbbb', 'aaaaaa'] };
    expect(await world.client.inventory.changeTag('compute', all)).toEqual({ added: 2, removed: 0, unknown: [] });
    expect(await world.client.inventory.changeTag('compute', all)).toEqual({ added: 2, removed: 0, unknown: [] });
    expect(world.sent).toEqual(Array(2).fill('POST tags/compute/?op=update_nodes add=aaaaaa&add=bbbbbb'));
    expect(await world.client.inventory.changeTag('compute', { add: ['aaaaaa', 'zzzzzz'] })).toEqual({
      added: 1,
      removed: 0,
      unknown: ['zzzzzz'],
    });
    expect(await world.client.inventory.changeTag('compute', {})).toEqual({ added: 0, removed: 0, unknown: [] });
  });

  it('(11, 12) made when missing, found when there, also when someone else was quicker or the answer was lost', async () => {
    const tags: string[] = [];
    let trouble: 'race' | 'lost-after' | undefined;
    const world = clientOf(({ method, path, form }) => {
      const name = path.split('/')[1] ?? '';
      if (method === 'GET' && name !== '') {
        return tags.includes(name) ? { body: { name } } : { status: 404, body: 'No Tag matches the given query.' };
      }
      const wanted = form.get('name') ?? '';
      tags.push(wanted);
      if (trouble === 'race') return { status: 400, body: { name: ['Tag with this Name already exists.'] } };
      if (trouble === 'lost-after') return 'lost-after';
      return { body: { name: wanted } };
    });
    for (const [name, kind] of [
      ['t1', undefined],
      ['t2', 'race'],
      ['t3', 'lost-after'],
    ] as const) {
      trouble = kind;
      expect(await world.client.inventory.ensureTag(name)).toMatchObject({ name });
      trouble = undefined;
      expect(await world.client.inventory.ensureTag(name)).toMatchObject({ name });
    }
    expect(tags).toEqual(['t1', 't2', 't3']);
  });

  it('(12) a name MAAS refuses stays refused; a pool is addressed by id', async () => {
    const world = clientOf(({ method, path }) => {
      if (path === 'tags/has%20space/') return { status: 404, body: 'No Tag matches the given query.' };
      if (method === 'POST') return { status: 400, body: { name: ['Enter a valid value.'] } };
      return { body: { id: 7, name: 'site-a' } };
    });
    await expect(world.client.inventory.ensureTag('has space')).rejects.toMatchObject({ failure: { kind: 'invalid' } });
    expect(await world.client.inventory.pool(7)).toMatchObject({ id: 7, name: 'site-a' });
    expect(world.sent.at(-1)).toBe('GET resourcepool/7/');
  });
});

describe('single calls with a trap', () => {
  it('(26) power_on is never sent to an Allocated machine', async () => {
    let status = 10;
    const world = clientOf(() => ({ body: { ...host('abc123', 'n1'), status } }));
    await expect(world.client.machines.powerOn('abc123')).rejects.toThrow(/Allocated/);
    expect(world.sent).toEqual(['GET machines/abc123/']);
    status = 6;
    await world.client.machines.powerOn('abc123');
    expect(world.sent.at(-1)).toBe('POST machines/abc123/?op=power_on');
  });

  it('power_off may answer null (manual power); a query gives one of four words', async () => {
    const world = clientOf(({ method }) => ({ body: method === 'GET' ? { state: 'weird' } : 'null' }));
    await world.client.machines.powerOff('abc123', { stopMode: 'soft' });
    expect(world.sent).toEqual(['POST machines/abc123/?op=power_off stop_mode=soft']);
    expect(await world.client.machines.queryPower('abc123')).toBe('unknown');
  });

  it('annotations fall back to the older name of the call', async () => {
    const world = clientOf(({ query }) =>
      query.get('op') === 'set_owner_data'
        ? { body: host('abc123', 'n1') }
        : { status: 400, body: 'Unrecognised signature: method=POST op=set_workload_annotations' },
    );
    await world.client.machines.annotate('abc123', { a: '1' });
    expect(world.sent.at(-1)).toBe('POST machines/abc123/?op=set_owner_data a=1');
  });

  it('events are limited to the maximum of MAAS; script results are those of the latest set, decoded', async () => {
    const world = clientOf(({ path }) =>
      path === 'events/'
        ? { body: { events: [{ id: 3, node: 'abc123', level: 'ERROR', type: 'T', description: 'D' }] } }
        : {
            body: [
              {
                id: 5,
                results: [
                  { name: 'new', status: 3, exit_status: 1, output: Buffer.from('no IPMI\n').toString('base64') },
                ],
              },
              { id: 2, results: [{ name: 'old', status: 2 }] },
            ],
          },
    );
    expect(await world.client.diagnostics.events({ limit: 5000, after: 2 })).toMatchObject([
      { id: 3, description: 'D' },
    ]);
    expect(world.sent[0]).toBe('GET events/?op=query&limit=1000&after=2');
    const results = await world.client.diagnostics.scriptResults('abc123', 'commissioning', { includeOutput: true });
    expect(results).toMatchObject([{ name: 'new', exitStatus: 1, output: 'no IPMI\n' }]);
  });
});
