import { readFileSync } from 'node:fs';
import {
  deployMachine,
  HostnameLookup,
  MaasClient,
  type MachineContext,
  MachineWatcher,
  prepareMachine,
  releaseMachine,
} from '@sitewright/maas';
import type { MachineLayout } from '@sitewright/maas/machine-layout';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { busAddresses } from '../../../packages/maas/src/layout/bus-addresses.ts';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, document, files, node } from '../documents/site-files.ts';

// The simulator answers the recordings of a MAAS 3.6.5 (packages/maas-simulator/test/layouts.test.ts). Its machines are as a
// commissioning leaves them: the boot NIC has an address found and an AUTO link, each other one a fabric of its own.

let simulator: Simulator;
let context: MachineContext;

beforeAll(async () => {
  simulator = await simulateMaas({ port: 0 });
  await control('auto', { deploy_ms: 2, release_ms: 2, commission_ms: 2 });
  await control('seed', {
    networks: [
      { cidr: '10.77.0.0/24', name: 'pxe', fabric: 10, gateway: '10.77.0.1' },
      { cidr: '10.23.21.0/24', name: 'oam', fabric: 11, gateway: '10.23.21.1' },
      { cidr: 'fd00:23:21::/64', name: 'oam6', fabric: 11, gateway: 'fd00:23:21::1' },
      { cidr: '10.23.22.0/24', name: 'storage', fabric: 11, vid: 22 },
      { cidr: '10.23.23.0/24', name: 'tenant', fabric: 11, vid: 23, gateway: '10.23.23.1' },
    ],
  });
  const client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin, changeTimeoutMs: 5_000 });
  context = {
    client,
    watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
    lookup: new HostnameLookup(client, { gatherMs: 1 }),
    patience: { retryDelaysMs: [1, 1, 1], settleMs: 1, markerGraceMs: 1 },
  };
});
afterAll(async () => {
  await context.client.close();
  await simulator.close();
});

async function control(path: string, body?: unknown) {
  const answer = await fetch(`${simulator.controlUrl}/${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text);
}

let seeded = 0;

/** A machine as commissioned. */
async function commissioned(uefi: boolean): Promise<string> {
  const n = ++seeded;
  const mac = (index: number) => `52:54:00:0${uefi ? 1 : 0}:${n.toString(16).padStart(2, '0')}:0${index}`;
  const nic = (index: number, discovered: string | null) => ({
    name: `eno${index}`,
    mac: mac(index),
    link_connected: true,
    discovered,
  });
  const [systemId] = await control('seed', {
    machines: [
      {
        hostname: `m${n}`,
        status: 4,
        power_type: 'manual',
        uefi,
        interfaces: [nic(1, `10.77.0.${100 + n}/24`), nic(2, null), nic(3, null)],
        disks: [
          { name: 'sda', size: 42_949_672_960, block_size: 512 },
          { name: 'sdb', size: 400_000_000_000, block_size: 512 },
          { name: 'sdc', size: 42_951_770_112, block_size: 512 },
        ],
      },
    ],
  });
  return systemId;
}

const link = (name: string, data: string) => document('drydock/NetworkLink/v1', name, data);
const network = (name: string, data: string) => document('drydock/Network/v1', name, data);
const NETWORKS = [
  link('plain', '{}'),
  link('trunk', '{trunking: {mode: 802.1q, default_network: oam}}'),
  link('lacp', '{bonding: {mode: 802.3ad, peer_rate: fast}, mtu: 9000}'),
  link('backup', '{bonding: {mode: active-backup}, mtu: 9000, trunking: {mode: 802.1q, default_network: oam}}'),
  link('xor', '{bonding: {mode: balance-xor, hash: layer2+3}, trunking: {mode: 802.1q}}'),
  network('pxe', '{cidr: 10.77.0.0/24}'),
  network('oam', '{cidr: 10.23.21.0/24}'),
  network('oam6', "{cidr: 'FD00:23:21:0::/64'}"),
  network('storage', "{cidr: 10.23.22.0/24, vlan: '22', mtu: 1500}"),
  network('tenant', "{cidr: 10.23.23.0/24, vlan: '23', mtu: 1500}"),
];

function layoutOf(data: string): MachineLayout {
  const { site, diagnostics } = loadSite(files(CONFIGURATION, ...NETWORKS, node('n1', data)));
  const layout = site?.nodes[0]?.layout;
  if (!layout) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return layout;
}

const interfaces = (ports: string, ...addresses: string[]) =>
  `interfaces: {${ports}}, addressing: [${addresses.join(', ')}]`;
const at = (name: string, address: string) => `{network: ${name}, address: '${address}'}`;
const port = (name: string, of: string, slaves: string, networks: string) =>
  `${name}: {device_link: ${of}, slaves: [${slaves}], networks: [${networks}]}`;
const EFI = '{name: efi, size: 512mib, bootable: true, filesystem: {mountpoint: /boot/efi, fstype: fat32}}';
const root = (size: string) => `{name: root, size: '${size}', filesystem: {mountpoint: /, fstype: ext4}}`;
const storage =
  (devices: string, groups = '') =>
  (uefi: boolean) =>
    `storage: {physical_devices: {${devices.replaceAll('EFI, ', uefi ? `${EFI}, ` : '')}}, volume_groups: {${groups}}}`;
const volumes = (text: string) => `{logical_volumes: [${text}]}`;

/** Layouts with the changes that they take on a BIOS and on a UEFI machine. */
const LAYOUTS: readonly (readonly [
  name: string,
  data: (uefi: boolean, ip: number) => string,
  bios: number,
  uefi: number,
])[] = [
  [
    'boot NIC up without an address',
    (_u, ip) =>
      interfaces(
        `${port('a', 'plain', 'eno1', 'pxe')}, ${port('b', 'plain', 'eno2', 'oam')}`,
        at('oam', `10.23.21.${ip}`),
      ),
    3,
    3,
  ],
  ['boot NIC with DHCP', () => interfaces(port('a', 'plain', 'eno1', 'pxe'), at('pxe', 'dhcp')), 2, 2],
  [
    'boot NIC with a fixed address',
    (_u, ip) => interfaces(port('a', 'plain', 'eno1', 'pxe'), at('pxe', `10.77.0.${ip}`)),
    2,
    2,
  ],
  [
    'second NIC with a fixed address and the default gateway',
    (_u, ip) => `primary_network: oam, ${interfaces(port('b', 'plain', 'eno2', 'oam'), at('oam', `10.23.21.${ip}`))}`,
    3,
    3,
  ],
  [
    'IPv6, written in another form',
    (_u, ip) => interfaces(port('b', 'plain', 'eno2', 'oam6'), at('oam6', `FD00:0023:21::0:${ip}`)),
    2,
    2,
  ],
  [
    'VLANs on a NIC',
    (_u, ip) =>
      interfaces(
        port('b', 'trunk', 'eno2', 'oam, storage, tenant'),
        at('oam', 'dhcp'),
        at('storage', `10.23.22.${ip}`),
      ),
    5,
    5,
  ],
  [
    'bond with LACP and jumbo frames',
    (_u, ip) => interfaces(port('bond0', 'lacp', 'eno2, eno3', 'oam'), at('oam', `10.23.21.${ip}`)),
    4,
    4,
  ],
  [
    'bond with VLANs, the documented example',
    (_u, ip) =>
      `primary_network: oam, ${interfaces(port('bond0', 'backup', 'eno2, eno3', 'oam, storage'), at('oam', `10.23.21.${ip}`), at('storage', 'dhcp'))}`,
    7,
    7,
  ],
  [
    'bond balance-xor that carries VLANs only',
    (_u, ip) => interfaces(port('bond1', 'xor', 'eno2, eno3', 'tenant'), at('tenant', `10.23.23.${ip}`)),
    5,
    5,
  ],
  [
    'bond with the boot NIC',
    (_u, ip) => interfaces(port('bond0', 'lacp', 'eno1, eno2', 'pxe'), at('pxe', `10.77.0.${ip}`)),
    3,
    3,
  ],
  ['root of a fixed size', storage(`sda: {labels: {bootdrive: 'true'}, partitions: [EFI, ${root('20g')}]}`), 4, 4],
  [
    'root on all that is left',
    storage(`sda: {partitions: [EFI, {name: swap, size: 4gib, filesystem: {fstype: swap}}, ${root('>1g')}]}`),
    7,
    7,
  ],
  [
    'a whole data disk by 100%',
    storage(
      `sda: {partitions: [EFI, ${root('>1g')}]}, sdb: {partitions: [{name: d, size: '100%', filesystem: {mountpoint: /srv, fstype: xfs}}]}`,
    ),
    3,
    3,
  ],
  [
    'root on another disk',
    storage(
      `sdb: {partitions: [EFI, ${root('50%')}, {name: var, size: '>1g', filesystem: {mountpoint: /var, fstype: xfs}}]}`,
    ),
    7,
    12,
  ],
  [
    'volume group on whole disks',
    storage(
      `sda: {partitions: [EFI, ${root('>1g')}]}, sdb: {volume_group: vg}, sdc: {volume_group: vg}`,
      `vg: ${volumes(`{name: a, size: 100g, filesystem: {mountpoint: /a}}, {name: b, size: '>1g'}`)}`,
    ),
    5,
    5,
  ],
  [
    'volume group on a partition, all of it by 100%',
    storage(
      `sda: {partitions: [EFI, ${root('20g')}, {name: pv, size: '>1g', volume_group: vg}]}`,
      `vg: ${volumes(`{name: log, size: '100%', filesystem: {mountpoint: /var/log, fstype: xfs}}`)}`,
    ),
    9,
    9,
  ],
];

/** On a UEFI machine the boot disk needs a partition to start from. */
const BIOS_ONLY: typeof LAYOUTS = [
  [
    'root on a volume group over the boot disk',
    storage(
      `sda: {labels: {bootdrive: 'true'}, volume_group: sys}`,
      `sys: ${volumes(`{name: root, size: '100%', filesystem: {mountpoint: /}}`)}`,
    ),
    5,
    0,
  ],
];

/** Changes of networks and disks that the machine has been sent so far. */
async function changesOf(systemId: string): Promise<string[]> {
  const sent: { method: string; url: string; body: string }[] = await control('requests');
  return sent
    .filter(({ method, url }) => method !== 'GET' && url.includes(`/nodes/${systemId}/`))
    .map(({ method, url, body }) => `${method} ${url.replace(/^.*\/nodes\/[^/]*\//, '')} ${body ?? ''}`);
}

const cases = [
  ...LAYOUTS.flatMap(([name, data, bios, uefi]) => [
    { name: `${name} (BIOS)`, data, uefi: false, count: bios },
    { name: `${name} (UEFI)`, data, uefi: true, count: uefi },
  ]),
  ...BIOS_ONLY.map(([name, data, count]) => ({ name: `${name} (BIOS)`, data, uefi: false, count })),
];

describe('a machine as a commissioning leaves it is deployed with', () => {
  it.each(cases)('$name: $count changes, and none when it is deployed again', async ({ data, uefi, count }) => {
    const systemId = await commissioned(uefi);
    const layout = layoutOf(`{${data(uefi, seeded + 10)}}`);
    const deploy = (run: string) =>
      deployMachine(context, { systemId, site: 'dc1', node: 'n1', run, distroSeries: 'jammy', layout });
    const before = await context.client.layouts.hardware(systemId);
    const outcome = await deploy('r1');
    expect(outcome.ok ? '' : outcome.failure.message).toBe('');
    const sent = await changesOf(systemId);
    expect(sent, sent.join('\n')).toHaveLength(count);
    const after = await context.client.layouts.hardware(systemId);
    const described = new Set(layout.ports?.flatMap(({ devices }) => devices.map(({ name }) => name)));
    for (const { name, links, vlanId } of before.interfaces.filter((nic) => !described.has(nic.name))) {
      const now = after.interfaces.find((nic) => nic.name === name);
      expect([name, now?.vlanId, now?.links.map(({ mode }) => mode)]).toEqual([
        name,
        vlanId,
        links.map(({ mode }) => mode),
      ]);
    }
    if (!layout.storage) expect(after.disks).toEqual(before.disks);
    expect(await releaseMachine(context, { systemId, site: 'dc1' })).toMatchObject({ ok: true });
    expect(await prepareMachine(context, { systemId, site: 'dc1', layout })).toMatchObject({ ok: true, actions: [] });
    expect(await deploy('r2')).toMatchObject({ ok: true });
    expect(await changesOf(systemId)).toHaveLength(count);
  });
});

it('the example of docs/reference/documents.md is deployed unchanged, except for the bus addresses of devices', async () => {
  const systemId = await commissioned(false);
  const [lshw] = (
    await context.client.diagnostics.scriptResults(systemId, 'commissioning', { includeOutput: true })
  ).filter(({ name }) => name.endsWith('lshw'));
  const buses = new Map([...busAddresses(lshw?.output ?? '')].map(([bus, name]) => [name, bus.replace('pci@', '')]));
  const page = readFileSync(new URL('../../../docs/reference/documents.md', import.meta.url), 'utf8');
  const example = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
    .map(([, text]) => text!)
    .find((text) => text.includes('bond0'))!;
  const text = example.replace('0000:01:00.0', buses.get('eno2')!).replace('0000:01:00.1', buses.get('eno3')!);
  const { site } = loadSite([{ name: 'site.yaml', text }]);
  const layout = site?.nodes[0]?.layout;
  const outcome = await deployMachine(context, { systemId, site: 'dc1', node: 'node01', run: 'r1', layout });
  expect(outcome.ok ? '' : outcome.failure.message).toBe('');
  const { interfaces: made, disks, groups } = await context.client.layouts.hardware(systemId);
  expect(
    made.map(({ name, links }) => `${name} ${links.map(({ mode, ipAddress }) => `${mode} ${ipAddress}`).join()}`),
  ).toEqual([
    expect.stringMatching(/^eno1 auto 10\.77\./),
    'eno2 ',
    'eno3 ',
    'bond0 static 10.23.21.15',
    expect.stringMatching(/^bond0\.22 dhcp/),
  ]);
  expect(disks[0]!.partitions.map(({ filesystem }) => filesystem?.mountPoint)).toEqual(['/', '/var']);
  expect(
    groups.map(({ name, size, volumes: [log] }) => [name, log?.size === size, log?.filesystem?.mountPoint]),
  ).toEqual([['logs', true, '/var/log']]);
});

describe('a layout that MAAS would refuse is refused before any change', () => {
  const taken = '10.23.21.200';
  beforeAll(async () => {
    const { subnets } = await context.client.layouts.networks();
    const oam = subnets.find(({ cidr }) => cidr === '10.23.21.0/24')!.id;
    const form = { type: 'dynamic', start_ip: '10.23.21.240', end_ip: '10.23.21.250', subnet: oam };
    await context.client.layouts.sendToSubnet({ method: 'post', path: 'ipranges/', form, text: '' });
    const systemId = await commissioned(false);
    const layout = layoutOf(`{${interfaces(port('b', 'plain', 'eno2', 'oam'), at('oam', taken))}}`);
    await deployMachine(context, { systemId, site: 'dc1', node: 'n9', run: 'r9', layout });
  });

  const fixed = (address: string) => () => interfaces(port('b', 'plain', 'eno2', 'oam'), at('oam', address));
  const group = (size: string) =>
    storage(
      `sda: {partitions: [EFI, ${root('>1g')}]}, sdb: {volume_group: vg}`,
      `vg: ${volumes(`{name: v, size: '${size}'}`)}`,
    );
  it.each<[string, (uefi: boolean) => string, string]>([
    ['an address in a dynamic range', fixed('10.23.21.245'), '10.23.21.245 is in the dynamic range'],
    ['an address of another machine', fixed(taken), `${taken} is in use by`],
    [
      'an address found at another machine',
      () => interfaces(port('a', 'plain', 'eno1', 'pxe'), at('pxe', '10.77.0.101')),
      '10.77.0.101 is in use by',
    ],
    ['a partition too many', storage(`sda: {partitions: [EFI, ${root('20g')}, {name: x, size: '100%'}]}`), 'too few'],
    [
      'a partition of nothing',
      storage(`sda: {partitions: [EFI, ${root('100%')}, {name: x, size: '>1m'}]}`),
      'disk sda',
    ],
    ['4 MiB more than a group has', group('381468mib'), 'volume group vg has 399993995264 bytes, 4194304 too few'],
    [
      'a device twice',
      () =>
        interfaces(
          `${port('bond0', 'lacp', 'eno2, eno3', 'oam')}, ${port('b', 'plain', 'eno1', 'pxe')}`,
          at('pxe', 'dhcp'),
        ).replace('[eno1]', '[alias]'),
      'no interface alias',
    ],
    [
      'a bond with the name of a device',
      () => interfaces(port('eno1', 'lacp', 'eno2, eno3', 'oam'), at('oam', 'dhcp')),
      'the bond eno1 would have the name of a device',
    ],
  ])('%s', async (_name, data, problem) => {
    for (const uefi of [false, true]) {
      const systemId = await commissioned(uefi);
      const layout = layoutOf(`{${data(uefi)}}`);
      const outcome = await deployMachine(context, { systemId, site: 'dc1', node: 'n1', run: 'r1', layout });
      expect(!outcome.ok && [outcome.failure.kind, outcome.failure.message]).toEqual([
        'layout-refused',
        expect.stringContaining(problem),
      ]);
      expect(await changesOf(systemId)).toEqual([]);
    }
  });
});

// The other side: MAAS keeps the addresses of its own machines, and answers 404 to a link on one that was found (n3-link).
it('a refusal of MAAS halfway lists the changes, and how to undo them', async () => {
  const systemId = await commissioned(false);
  const layout = layoutOf(`{${interfaces(port('b', 'plain', 'eno2', 'oam'), at('oam', '10.23.21.77'))}}`);
  // Someone takes the address after it was checked.
  const { layouts } = context.client;
  const send = layouts.send.bind(layouts);
  layouts.send = async (id, change, signal) => {
    if (change.op === 'link_subnet') await context.client.addresses.reserve('10.23.21.77');
    await send(id, change, signal);
  };
  try {
    const outcome = await deployMachine(context, { systemId, site: 'dc1', node: 'n1', run: 'r1', layout });
    expect(!outcome.ok && outcome.failure).toMatchObject({
      kind: 'layout-refused',
      message: expect.stringContaining('IP address is already in use'),
      changed: [expect.stringContaining('put eno2 on VLAN')],
      hint: expect.stringMatching(/changed so far: put eno2 on VLAN \d+; .*commission it again in MAAS$/),
    });
  } finally {
    layouts.send = send;
  }
});

it('a change without effect is sent twice, and the failure has the desired state and the one in MAAS', async () => {
  const systemId = await commissioned(false);
  const layout = layoutOf(`{${interfaces(port('b', 'plain', 'eno2', 'oam'), at('oam', '10.23.21.78'))}}`);
  const { layouts } = context.client;
  const send = layouts.send.bind(layouts);
  const sent: string[] = [];
  layouts.send = async (id, change, signal) => {
    sent.push(change.op ?? change.method);
    if (change.op !== 'link_subnet') await send(id, change, signal);
  };
  try {
    const outcome = await deployMachine(context, { systemId, site: 'dc1', node: 'n1', run: 'r1', layout });
    expect(sent).toEqual(['put', 'link_subnet', 'link_subnet']);
    expect(!outcome.ok && outcome.failure).toMatchObject({
      kind: 'layout-stuck',
      wanted: 'eno2 with static 10.23.21.78 in 10.23.21.0/24',
      found: expect.stringMatching(/^physical eno2, on VLAN \d+, MTU 1500, no links$/),
      difference: 'link eno2 (static 10.23.21.78 in 10.23.21.0/24)',
    });
  } finally {
    layouts.send = send;
  }
});
