import {
  deployMachine,
  HostnameLookup,
  MaasClient,
  type MachineContext,
  MachineWatcher,
  releaseMachine,
  syncNetworks,
} from '@sitewright/maas';
import type { MachineLayout, NetworkSettings } from '@sitewright/maas/machine-layout';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, document, files, node, profile } from '../documents/site-files.ts';

const GB = 1_000_000_000;

let simulator: Simulator;
let context: MachineContext;
let systemId: string;

beforeEach(async () => {
  simulator = await simulateMaas({ port: 0 });
  await control('auto', { deploy_ms: 5, release_ms: 5 });
  const seeded = await control('seed', {
    networks: [
      { cidr: '10.23.20.0/24', fabric: 11, gateway: '10.23.20.1', space: 'pxe' },
      { cidr: '10.23.21.0/24', fabric: 12, vid: 21, gateway: '10.23.21.1', space: 'oam' },
      { cidr: '10.23.22.0/24', fabric: 12, vid: 22, space: 'storage' },
      { cidr: '10.23.29.0/24', fabric: 12, space: 'spare' },
    ],
    machines: [
      {
        hostname: 'n1',
        interfaces: [{ name: 'eth0', discovered: '10.23.20.101/24' }, { name: 'eth1' }, { name: 'eth2' }],
        disks: [
          { name: 'sda', size: 100 * GB },
          { name: 'sdb', size: 200 * GB },
          { name: 'sdc', size: 300 * GB },
        ],
      },
    ],
  });
  [systemId] = seeded;
  const client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin, changeTimeoutMs: 5_000 });
  context = {
    client,
    watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
    lookup: new HostnameLookup(client, { gatherMs: 1 }),
    patience: { retryDelaysMs: [1, 1, 1], settleMs: 1, markerGraceMs: 1 },
  };
});
afterEach(async () => {
  await context.client.close();
  await simulator.close();
});

async function control(path: string, body: unknown) {
  const answer = await fetch(`${simulator.controlUrl}/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text);
}

const networks = [
  document('drydock/NetworkLink/v1', 'pxe', '{bonding: {mode: disabled}, allowed_networks: [pxe]}'),
  document(
    'drydock/NetworkLink/v1',
    'data',
    '{bonding: {mode: 802.3ad, hash: layer2+3}, mtu: 9000, trunking: {mode: 802.1q}, allowed_networks: [oam, storage]}',
  ),
  document('drydock/Network/v1', 'pxe', '{cidr: 10.23.20.0/24}'),
  document('drydock/Network/v1', 'oam', "{cidr: 10.23.21.0/24, vlan: '21', mtu: 1500}"),
  document('drydock/Network/v1', 'storage', "{cidr: 10.23.22.0/24, vlan: '22', mtu: 9000}"),
  document(
    'drydock/HardwareProfile/v1',
    'box',
    "{device_aliases: {nic1: {address: '0000:00:03.0', bus_type: pci}, boot: {address: '1:0.0.0', bus_type: scsi}}}",
  ),
  profile(
    'base',
    `{
      hardware_profile: box,
      primary_network: oam,
      interfaces: {
        pxe: {device_link: pxe, slaves: [nic1], networks: [pxe]},
        bond0: {device_link: data, slaves: [eth1, eth2], networks: [oam, storage]}
      },
      storage: {
        physical_devices: {
          boot: {labels: {bootdrive: 'true'}, partitions: [
            {name: root, size: 30g, bootable: true, filesystem: {mountpoint: /, fstype: ext4}},
            {name: swap, size: 4gib, filesystem: {fstype: swap}},
            {name: var, size: '>10g', filesystem: {mountpoint: /var, fstype: xfs, mount_options: noatime}}]},
          sdb: {partitions: [{name: pv, size: 100%, volume_group: log_vg}]},
          sdc: {volume_group: log_vg}
        },
        volume_groups: {log_vg: {logical_volumes: [
          {name: log_lv, size: 50%, filesystem: {mountpoint: /var/log, fstype: xfs}},
          {name: raw_lv, size: 500m}]}}
      }
    }`,
  ),
];

/** The layout of a node, as a stored site has it. */
function layoutOf(nodeData: string, ...others: string[]): MachineLayout | undefined {
  const { site, diagnostics } = loadSite(files(CONFIGURATION, ...networks, ...others, node('n1', nodeData)));
  if (!site) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return site.nodes[0]?.layout;
}

const ADDRESSES = '[{network: pxe, address: dhcp}, {network: oam, address: 10.23.21.15}]';
const NODE = `{host_profile: base, addressing: ${ADDRESSES}}`;

type Deployed = Awaited<ReturnType<typeof deployMachine>>;

const deploy = (layout: MachineLayout | undefined, run = 'r1'): Promise<Deployed> =>
  deployMachine(context, { systemId, site: 'dc1', node: 'n1', run, distroSeries: 'jammy', layout });

const failed = (outcome: Deployed) => (outcome.ok ? undefined : outcome.failure);

async function requestsSent(): Promise<readonly { readonly method: string; readonly url: string }[]> {
  return JSON.parse(await (await fetch(`${simulator.controlUrl}/requests`)).text());
}

async function changesSent(): Promise<number> {
  return (await requestsSent()).filter(({ method, url }) => method !== 'GET' && url.includes('/nodes/')).length;
}

const hardware = () => context.client.layouts.hardware(systemId);

async function shape() {
  const { interfaces, disks, groups, bootDisk, gatewayLinks } = await hardware();
  const links = interfaces.flatMap((nic) => nic.links);
  return {
    interfaces: interfaces.map((nic) =>
      [
        nic.name,
        nic.type,
        nic.parents.join('+'),
        nic.mtu,
        nic.links.flatMap(({ mode, ipAddress }) => (mode === 'link_up' ? [] : `${mode} ${ipAddress}`.trim())).join(' '),
      ].join(' '),
    ),
    gateway: links.filter(({ id }) => gatewayLinks.includes(id)).map(({ ipAddress }) => ipAddress),
    boot: disks.find(({ id }) => id === bootDisk)?.name,
    disks: disks.map(
      ({ name, partitions }) =>
        `${name}: ${partitions
          .map((part) => `${Math.round(part.size / GB)}g ${part.filesystem?.fstype} ${part.filesystem?.mountPoint}`)
          .join(', ')}`,
    ),
    groups: groups.map(
      (group) =>
        `${group.name} of ${group.disks.length}+${group.partitions.length}: ${group.volumes
          .map((volume) => `${volume.name} ${Math.round(volume.size / GB)}g ${volume.filesystem?.mountPoint ?? 'raw'}`)
          .join(', ')}`,
    ),
  };
}

const CONFIGURED = {
  interfaces: [
    'eth0 physical  1500 dhcp 10.23.20.101',
    'eth1 physical  9000 ',
    'eth2 physical  9000 ',
    'bond0 bond eth1+eth2 9000 ',
    'bond0.21 vlan bond0 1500 static 10.23.21.15',
    'bond0.22 vlan bond0 9000 ',
  ],
  gateway: ['10.23.21.15'],
  boot: 'sda',
  disks: ['sda: 30g ext4 /, 4g swap none, 66g xfs /var', 'sdb: 200g lvm-pv ', 'sdc: '],
  groups: ['log_vg of 1+1: log_lv 250g /var/log, raw_lv 0g raw'],
};

describe('interfaces and disks of a site reach MAAS', () => {
  it('a bond with VLANs, static and DHCP addresses, the default gateway, partitions and volumes, before the deployment', async () => {
    const outcome = await deploy(layoutOf(NODE));
    expect(outcome).toMatchObject({ ok: true, actions: ['configure', 'allocate', 'annotate', 'deploy'] });
    expect(await shape()).toEqual(CONFIGURED);
    const bond = (await hardware()).interfaces.find(({ name }) => name === 'bond0');
    expect(bond?.params).toMatchObject({
      bond_mode: '802.3ad',
      bond_xmit_hash_policy: 'layer2+3',
      bond_lacp_rate: 'fast',
      bond_miimon: 100,
    });
  });

  it('is read whole before the first change and after the last, and in parts at most once for each change', async () => {
    await deploy(layoutOf(NODE));
    const sent = await requestsSent();
    const isChange = ({ method, url }: (typeof sent)[number]) => method !== 'GET' && url.includes('/nodes/');
    const last = sent.findLastIndex(isChange);
    const reads = (path: string, from: number, to: number) =>
      sent.slice(from, to).filter(({ method, url }) => method === 'GET' && url.includes(path)).length;
    expect(sent.filter(isChange).length).toBeGreaterThan(20);
    expect(reads(`/machines/${systemId}/`, 0, last)).toBe(1);
    expect(reads(`/machines/${systemId}/`, last, sent.length)).toBeLessThanOrEqual(2);
    expect(reads('/nodes/', 0, sent.length)).toBeLessThan(sent.filter(isChange).length);
  });

  it('again after a release nothing is changed, since MAAS keeps both', async () => {
    await deploy(layoutOf(NODE));
    await releaseMachine(context, { systemId, site: 'dc1' });
    const before = await changesSent();
    expect(await deploy(layoutOf(NODE), 'r2')).toMatchObject({ ok: true, actions: ['allocate', 'annotate', 'deploy'] });
    expect(await changesSent()).toBe(before);
  });

  it('with other documents, only differences are changed', async () => {
    await deploy(layoutOf(NODE));
    await releaseMachine(context, { systemId, site: 'dc1' });
    const changed = `{host_profile: base, addressing: [{network: pxe, address: dhcp}, {network: oam, address: 10.23.21.16}],
      interfaces: {bond0: {networks: ['!storage']}},
      storage: {physical_devices: {boot: {partitions: [{name: swap, size: 8gib}]}}, volume_groups: {log_vg: {logical_volumes: [{name: '!raw_lv'}]}}}}`;
    const rootOf = async () => (await hardware()).disks.find(({ name }) => name === 'sda')?.partitions[0]?.id;
    const root = await rootOf();
    expect(await deploy(layoutOf(changed), 'r2')).toMatchObject({ ok: true });
    expect(await rootOf()).toBe(root);
    expect(await shape()).toEqual({
      ...CONFIGURED,
      interfaces: [...CONFIGURED.interfaces.slice(0, 4), 'bond0.21 vlan bond0 1500 static 10.23.21.16'],
      gateway: ['10.23.21.16'],
      disks: ['sda: 30g ext4 /, 9g swap none, 61g xfs /var', ...CONFIGURED.disks.slice(1)],
      groups: ['log_vg of 1+1: log_lv 250g /var/log'],
    });
  });

  it.each(['drop_before', 'drop_after', '503', '504_after', 'garbled'])(
    'calls that end in %s are continued, and nothing is there twice',
    async (kind) => {
      const faults = [
        'create_bond',
        'create_vlan',
        'link_subnet',
        'partitions/',
        'volume-groups/',
        'op=format',
        'op=mount',
      ];
      await control(
        'faults',
        faults.map((match) => ({ match: `POST .*${match}`, kind, times: 1 })),
      );
      let outcome = await deploy(layoutOf(NODE)).catch((error: Error) => error);
      // More failures in a row than one attempt takes: the next one continues.
      for (let attempt = 0; attempt < 5 && !('ok' in outcome && outcome.ok); attempt++) {
        outcome = await deploy(layoutOf(NODE)).catch((error: Error) => error);
      }
      expect(outcome).toMatchObject({ ok: true });
      expect(await shape()).toEqual(CONFIGURED);
    },
  );

  it('anything missing in the machine or MAAS is reported together, before any change', async () => {
    const lacking = `{host_profile: base, addressing: ${ADDRESSES},
      interfaces: {bond0: {slaves: [eth9]}},
      storage: {physical_devices: {sdz: {partitions: [{name: data, size: 1g}]}, boot: {partitions: [{name: root, size: 90g}]}}}}`;
    const spare = document('drydock/Network/v1', 'spare', '{cidr: 10.23.30.0/24}');
    const layout = layoutOf(lacking.replace('bond0: {', 'bond0: {networks: [storage], '), spare);
    const ports = layout!.ports!.map((port) =>
      port.name === 'pxe'
        ? { ...port, networks: [{ network: 'spare', cidr: '10.23.30.0/24', address: 'dhcp' }] }
        : port,
    );
    const before = await changesSent();
    const failure = failed(await deploy({ ...layout, ports }));
    expect(failure).toMatchObject({ kind: 'layout-refused' });
    expect(failure?.kind === 'layout-refused' ? failure.problems : []).toEqual([
      'MAAS has no subnet 10.23.30.0/24 (network spare): add it there, or correct the Network document',
      'bond0: the machine has no interface eth9 (it has eth0, eth1, eth2)',
      expect.stringMatching(/^disk sda has \d+ bytes, \d+ too few for the documents' layout$/),
      'storage: the machine has no disk sdz (it has sda, sdb, sdc)',
    ]);
    expect(failure?.hint).toMatch(/this step changed nothing|correct the documents/);
    expect(await changesSent()).toBe(before);
  });

  it('a VLAN that MAAS has with another tag, and an alias without a device', async () => {
    const other = document('drydock/Network/v1', 'oam', "{cidr: 10.23.21.0/24, vlan: '99'}").replace(
      'name: oam',
      'name: oam\n  replacement: true',
    );
    const box = document(
      'drydock/HardwareProfile/v1',
      'box',
      "{device_aliases: {nic1: {address: '0000:00:1f.0', bus_type: pci}, boot: {address: '1:0.0.0', bus_type: scsi}}}",
    ).replace('name: box', 'name: box\n  replacement: true');
    expect(failed(await deploy(layoutOf(NODE, other, box)))?.message).toMatch(
      /pxe: the machine has no interface nic1 at pci@0000:00:1f\.0 .*MAAS has 10\.23\.21\.0\/24 \(network oam\) on VLAN 21, not on 99/s,
    );
  });

  it('kernel options are set at a tag of the machine, and removed again', async () => {
    const tagOf = async () => {
      const { tags } = await context.client.machines.read(systemId);
      const [name] = tags.filter((tag) => tag.startsWith('sitewright-kernel-'));
      return name === undefined ? undefined : (await context.client.inventory.findTag(name))?.kernelOptions;
    };
    const again = async (layout: MachineLayout | undefined, run: string) => {
      await releaseMachine(context, { systemId, site: 'dc1' });
      return deploy(layout, run);
    };
    const options = "{platform: {kernel_params: {intel_iommu: 'on', quiet: true}}}";
    expect(await deploy(layoutOf(options))).toMatchObject({
      ok: true,
      actions: ['configure', 'allocate', 'annotate', 'deploy'],
    });
    expect(await tagOf()).toBe('intel_iommu=on quiet');
    expect(await again(layoutOf(options), 'r2')).toMatchObject({
      ok: true,
      actions: ['configure', 'allocate', 'annotate', 'deploy'],
    });
    expect(failed(await deploy(layoutOf('{platform: {kernel_params: {quiet: true}}}'), 'r3'))).toMatchObject({
      kind: 'other-layout',
    });
    expect(await again(layoutOf('{platform: {kernel_params: {quiet: true}}}'), 'r4')).toMatchObject({ ok: true });
    expect(await tagOf()).toBe('quiet');
    expect(await again(undefined, 'r5')).toMatchObject({ ok: true, actions: ['allocate', 'annotate', 'deploy'] });
    expect(await tagOf()).toBeUndefined();
  });

  it.each(['drop_before', 'drop_after', '503', '504_after'])(
    'kernel options whose calls end in %s are set',
    async (kind) => {
      await control(
        'faults',
        ['POST .*tags/$', 'update_nodes'].map((match) => ({ match, kind, times: 1 })),
      );
      const layout = layoutOf('{platform: {kernel_params: {quiet: true}}}');
      let outcome = await deploy(layout).catch((error: Error) => error);
      for (let attempt = 0; attempt < 3 && !('ok' in outcome && outcome.ok); attempt++)
        outcome = await deploy(layout).catch((error: Error) => error);
      expect(outcome).toMatchObject({ ok: true });
      expect((await context.client.inventory.findTag(`sitewright-kernel-${systemId}`))?.kernelOptions).toBe('quiet');
    },
  );

  it('a machine that starts by UEFI needs its partition', async () => {
    const seeded = await control('seed', { machines: [{ hostname: 'u1', uefi: true }] });
    [systemId] = seeded;
    const only =
      '{storage: {physical_devices: {sda: {partitions: [{name: root, size: ">1g", filesystem: {mountpoint: /}}]}}}}';
    expect(failed(await deploy(layoutOf(only)))?.message).toContain('no partition at /boot/efi');
    const both =
      '{storage: {physical_devices: {sda: {partitions: [{name: efi, size: 512m, filesystem: {mountpoint: /boot/efi, fstype: fat32}}, {name: root, size: ">1g", filesystem: {mountpoint: /}}]}}}}';
    expect(await deploy(layoutOf(both))).toMatchObject({ ok: true });
  });

  it('a deployed machine is not deployed again for other disks: redeploy it', async () => {
    await deploy(layoutOf(NODE));
    expect(await deploy(layoutOf(NODE), 'r2')).toMatchObject({ ok: true, actions: [] });
    const moved = layoutOf(NODE.replace('10.23.21.15', '10.23.21.99'));
    expect(failed(await deploy(moved, 'r3'))).toMatchObject({
      kind: 'other-layout',
      hint: expect.stringContaining('redeploy'),
    });
  });

  it('a machine deployed without a layout is kept, with a warning', async () => {
    await deploy(undefined);
    const outcome = await deploy(layoutOf(NODE), 'r2');
    expect([outcome.ok, outcome.warnings.map(({ code }) => code)]).toEqual([true, ['layout-unknown']]);
  });

  it('an allocated machine gets its network, but MAAS keeps its disks: it is to be released', async () => {
    const { machines } = context.client;
    await machines.allocate(systemId, { agentName: 'sitewright:dc1' });
    expect(failed(await deploy(layoutOf(NODE)))).toMatchObject({
      kind: 'layout-refused',
      hint: expect.stringContaining('release it in MAAS'),
    });
    const { storage: _disks, ...network } = layoutOf(NODE)!;
    expect(await deploy(network)).toMatchObject({ ok: true });
    expect((await shape()).interfaces).toEqual(CONFIGURED.interfaces);
  });

  it('a user who is not an administrator is refused, with MAAS’ reason', async () => {
    const client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.operator });
    context = { ...context, client, watcher: new MachineWatcher(client), lookup: new HostnameLookup(client) };
    expect(failed(await deploy(layoutOf(NODE)))).toMatchObject({ kind: 'refused' });
  });
});

describe('settings of networks reach MAAS', () => {
  const wanted: NetworkSettings = {
    network: 'storage',
    cidr: '10.23.22.0/24',
    gateway: '10.23.22.1',
    routes: [{ destination: '10.23.21.0/24', gateway: '10.23.22.1', metric: 5 }],
    dnsServers: ['10.23.22.2', '10.23.22.3'],
    ranges: [
      { type: 'dynamic', start: '10.23.22.50', end: '10.23.22.99' },
      { type: 'reserved', start: '10.23.22.1', end: '10.23.22.9' },
    ],
  };
  let acted = 0;
  const sync = (...networks: NetworkSettings[]) =>
    syncNetworks(context.client, networks, async () => {
      acted += 1;
    });
  const settings = async () => {
    const { subnets, routes, ranges } = await context.client.layouts.subnetSettings();
    const subnet = subnets.find(({ cidr }) => cidr === wanted.cidr);
    return {
      gateway: subnet?.gateway,
      dns: subnet?.dnsServers,
      routes: routes.map(({ metric }) => metric),
      ranges: ranges.length,
    };
  };

  it('the gateway, DNS servers, routes and ranges; again nothing is sent', async () => {
    acted = 0;
    expect(await sync(wanted)).toEqual({
      problems: [],
      changes: [
        'set the gateway 10.23.22.1 of 10.23.22.0/24 (network storage)',
        'set the DNS servers 10.23.22.2, 10.23.22.3 of 10.23.22.0/24 (network storage)',
        'set the route from 10.23.22.0/24 to 10.23.21.0/24 through 10.23.22.1, metric 5',
        'make the dynamic range 10.23.22.50 to 10.23.22.99 of 10.23.22.0/24 (network storage)',
        'make the reserved range 10.23.22.1 to 10.23.22.9 of 10.23.22.0/24 (network storage)',
      ],
    });
    const set = { gateway: '10.23.22.1', dns: ['10.23.22.2', '10.23.22.3'], routes: [5], ranges: 2 };
    expect([acted, await settings()]).toEqual([5, set]);
    expect(await sync(wanted)).toEqual({ problems: [], changes: [] });
    const slower = { ...wanted, routes: wanted.routes.map((route) => ({ ...route, metric: 9 })) };
    expect((await sync(slower)).changes).toHaveLength(1);
    expect([acted, await settings()]).toEqual([6, { ...set, routes: [9] }]);
  });

  it('settings that differ, are missing or refused in MAAS are reported, and not changed', async () => {
    await sync(wanted);
    const before = await settings();
    const others = {
      ...wanted,
      gateway: '10.23.22.254',
      dnsServers: ['9.9.9.9'],
      routes: [{ destination: '10.99.0.0/16', gateway: '10.23.22.1', metric: 0 }],
    };
    expect(await sync(others, { ...wanted, network: 'gone', cidr: '10.98.0.0/24' })).toEqual({
      changes: [],
      problems: [
        'the subnet 10.23.22.0/24 (network storage) has the gateway 10.23.22.1 in MAAS, not 10.23.22.254: correct one of them',
        'the subnet 10.23.22.0/24 (network storage) has the DNS servers 10.23.22.2, 10.23.22.3 in MAAS, not 9.9.9.9: correct one of them',
        'MAAS has no subnet 10.99.0.0/16, to which storage has a route: add it there, or correct the Network document',
        'MAAS has no subnet 10.98.0.0/24 (network gone): add it there, or correct the Network document',
      ],
    });
    const overlap = { ...wanted, ranges: [{ type: 'reserved', start: '10.23.22.90', end: '10.23.22.120' } as const] };
    expect((await sync(overlap)).problems).toEqual([
      expect.stringMatching(/^MAAS refuses to make the reserved range 10\.23\.22\.90 .*conflicts/),
    ]);
    expect(await settings()).toEqual(before);
  });
});
