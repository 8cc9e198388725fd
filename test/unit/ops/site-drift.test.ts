import type { MachineState } from '@sitewright/maas';
import { machineState, parseHardware, parseMachine } from '@sitewright/maas';
import { expect, it } from 'vitest';
import { driftText } from '../../../src/cli/views/site-difference.ts';
import { siteDrift } from '../../../src/ops/site-drift.ts';

const answerOf = (id: string, more: object = {}) => ({
  ...{ system_id: id, hostname: `host-${id}`, status: 6, owner: 'us', osystem: 'ubuntu', distro_series: 'jammy' },
  ...{ zone: { name: 'default' }, pool: { name: 'default' }, tag_names: ['b', 'a'], hwe_kernel: 'ga-22.04' },
  workload_annotations: { sitewright_site: 'dc1', sitewright_node: `n-${id}`, sitewright_run: 'r1' },
  ...{ locked: false, domain: { name: 'lab' }, power_type: 'ipmi', cpu_count: 4, memory: 8192 },
  physicalblockdevice_set: [
    {
      ...{ id: 1, name: 'sda', size: 1000 },
      partitions: [
        {
          ...{ id: 2, size: 900 },
          filesystem: { fstype: 'ext4', label: 'root', mount_point: '/', mount_options: 'noatime' },
        },
      ],
    },
  ],
  interface_set: [
    {
      ...{
        id: 1,
        name: 'eth0',
        type: 'physical',
        mac_address: '52:54:00:aa:00:01',
        vlan: { id: 1, vid: 10 },
      },
      links: [
        { id: 1, mode: 'dhcp', ip_address: '10.0.0.7', subnet: { id: 1, name: 'lan', cidr: '10.0.0.0/24' } },
        { id: 2, mode: 'static', ip_address: '10.1.0.5', subnet: { id: 2, name: 'san', cidr: '10.1.0.0/24' } },
      ],
    },
  ],
  ...more,
});
const whole = (answer: object) => ({ machine: parseMachine(answer)!, hardware: parseHardware(answer as never, []) });
const record = (id: string) => ({
  ...{ site: 'dc1', node: `n-${id}`, systemId: id, runId: 'r1', revision: 3, at: '2026-01-01T00:00:00.000Z' },
  state: machineState(whole(answerOf(id))),
});

const FANS = { reason: 'fans', since: '2026-05-03T09:00:00.000Z', by: 'nina' };

function driftOfSite(
  recorded: readonly string[],
  machines: readonly object[],
  nodes: readonly string[] = [],
  inventory: readonly object[] = [],
) {
  const asked: (readonly string[])[] = [];
  const layouts = {
    machines: async (ids: readonly string[]) => {
      asked.push(ids);
      return machines.map(whole);
    },
  };
  const store = {
    sites: { get: async () => ({ lastGoodRevision: nodes.length === 0 ? null : 3 }) },
    deployedMachines: { list: async () => recorded.map(record) },
    nodes: { list: async () => inventory },
    nodeMaintenance: { list: async () => [{ site: 'dc1', node: 'n-b', ...FANS, lockedMachine: null }] },
  };
  const sites = { documents: async () => ({ site: { nodes: nodes.map((name) => ({ name })) } }) };
  const maas = () => ({ client: { layouts } });
  return siteDrift({ store, maas } as never, sites as never, 'dc1').then((drift) => ({ ...drift, asked }));
}

it('drift is read by one request to MAAS for all machines', async () => {
  const { nodes, asked } = await driftOfSite(
    ['a', 'b', 'c'],
    // Another address from DHCP or order of tags does not count; another static address does.
    [
      JSON.parse(JSON.stringify(answerOf('a', { tag_names: ['a', 'b'] })).replace('10.0.0.7', '10.0.0.8')),
      JSON.parse(JSON.stringify(answerOf('b')).replace('10.1.0.5', '10.1.0.6')),
    ],
    ['n-a', 'n-d'],
  );
  expect(asked).toEqual([['a', 'b', 'c']]);
  expect(nodes.map(({ node, state }) => [node, state])).toEqual([
    ['n-a', 'same'],
    ['n-b', 'drifted'],
    ['n-c', 'missing'],
    ['n-d', 'unrecorded'],
  ]);
  expect(nodes[1]).toMatchObject({
    ...{ system_id: 'b', run: 'r1', revision: 3, deployed_at: '2026-01-01T00:00:00.000Z' },
    differences: [
      {
        what: 'interface eth0',
        deployed: expect.stringContaining('static 10.1.0.5 10.1.0.0/24'),
        now: expect.stringContaining('static 10.1.0.6 10.1.0.0/24'),
      },
    ],
  });
});

it('drift says of a node in maintenance that people work on it, since when and who says so', async () => {
  const changed = JSON.parse(JSON.stringify(answerOf('b')).replace('10.1.0.5', '10.1.0.6'));
  const drift = await driftOfSite(['a', 'b'], [answerOf('a'), changed]);
  expect(drift.nodes.map(({ maintenance }) => maintenance)).toEqual([undefined, FANS]);
  const text = driftText(drift);
  expect(text).toContain(
    '~ n-b, deployed 2026-01-01 00:00 UTC with revision 3\n  in maintenance since 2026-05-03 09:00 UTC (nina: fans)\n  interface eth0:',
  );
  expect(text).toContain('2 nodes: 1 as deployed, 1 changed, 0 missing; 1 of these in maintenance\n');
});

it('drift counts what does not serve by name and reason, not as deployed, before the first deployment and after', async () => {
  const inventory = [
    { name: 'n-a', site: 'dc1', status: 'provisioned', errorMsg: null },
    { name: 'n-f', site: 'dc1', status: 'error', errorMsg: 'Run 3 did not deploy it: no power' },
    { name: 'n-b', site: 'dc1', status: 'discover', errorMsg: 'Run 3 released its machine' },
    { name: 'n-n', site: 'dc1', status: 'discover', errorMsg: null },
  ];
  const drift = await driftOfSite(['a'], [answerOf('a')], ['n-a', 'n-f', 'n-n'], inventory);
  expect(drift.nodes.map(({ node, state, reason }) => [node, state, reason])).toEqual([
    ['n-a', 'same', undefined],
    ['n-b', 'bare', 'Run 3 released its machine'],
    ['n-f', 'failed', 'Run 3 did not deploy it: no power'],
    ['n-n', 'never_deployed', undefined],
  ]);
  expect(driftText(drift)).toContain(
    '4 nodes: 1 as deployed, 0 changed, 0 missing; 1 failed: n-f; 1 bare: n-b; 1 never deployed: n-n\n',
  );
  const never = await driftOfSite([], [], [], inventory.slice(3));
  expect(never.nodes.map(({ state }) => state)).toEqual(['never_deployed']);
  expect(driftText(never)).toContain('1 never deployed: n-n');
});

it('drift needs no request to MAAS if nothing was deployed', async () => {
  expect(await driftOfSite([], [])).toMatchObject({ nodes: [], asked: [] });
});

it('the record of a deployment has the properties that MAAS keeps, in words', () => {
  const state: MachineState = {
    ...{ status: 'Deployed', hostname: 'host-a', owner: 'us', system: 'ubuntu/jammy', kernel: 'ga-22.04' },
    ...{ zone: 'default', pool: 'default', deployment: 'r1', tags: ['a', 'b'], disks: { sda: '1000 bytes' } },
    interfaces: {
      eth0: 'physical 52:54:00:aa:00:01, VLAN 10, dhcp 10.0.0.0/24, static 10.1.0.5 10.1.0.0/24',
    },
    ...{ lock: '', domain: 'lab', powerType: 'ipmi', processors: '4', memory: '8192 MiB' },
    storage: { 'partition sda-part1': '900 bytes, ext4 named root at / with noatime' },
  };
  expect(record('a').state).toEqual(state);
});
