import {
  deployMachine,
  HostnameLookup,
  MaasClient,
  type MachineContext,
  MachineWatcher,
  prepareMachine,
  resolveMachine,
  syncNetworks,
} from '@sitewright/maas';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterEach, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { seedOfSite } from '../../../worker/parts/site-seed.ts';
import { BOX, CONFIGURATION, document, files, node, profile } from '../documents/site-files.ts';

const DOCUMENTS = files(
  CONFIGURATION,
  document('drydock/NetworkLink/v1', 'pxe', '{bonding: {mode: disabled}, allowed_networks: [pxe]}'),
  document(
    'drydock/NetworkLink/v1',
    'data',
    '{bonding: {mode: 802.3ad}, mtu: 9000, trunking: {mode: 802.1q}, allowed_networks: [oam, storage, bare]}',
  ),
  document(
    'drydock/Network/v1',
    'pxe',
    '{cidr: 10.76.0.0/22, routes: [{subnet: 10.99.0.0/16, gateway: 10.76.0.1, metric: 10}]}',
  ),
  document('drydock/Network/v1', 'oam', "{cidr: 10.23.21.0/24, vlan: '21', mtu: 9000}"),
  document('drydock/Network/v1', 'storage', "{cidr: 10.23.22.0/24, vlan: '22'}"),
  document('drydock/Network/v1', 'bare', "{vlan: '23'}"),
  BOX,
  profile(
    'base',
    `{hardware_profile: box, primary_network: oam, platform: {image: focal, kernel: hwe-20.04},
      interfaces: {
        pxe: {device_link: pxe, slaves: [pxe0], networks: [pxe]},
        bond0: {device_link: data, slaves: [left, right], networks: [oam, storage, bare]}},
      storage: {physical_devices: {
        boot: {labels: {bootdrive: 'true'}, partitions: [
          {name: root, size: 30g, bootable: true, filesystem: {mountpoint: /, fstype: ext4}},
          {name: pv, size: '>800g', volume_group: data}]},
        nvme0n1: {volume_group: fast}},
        volume_groups: {
          data: {logical_volumes: [{name: d, size: 50%, filesystem: {mountpoint: /d, fstype: xfs}}]},
          fast: {logical_volumes: [{name: f, size: 900g, filesystem: {mountpoint: /f, fstype: xfs}}]}}}}`,
  ),
  node(
    'n1.lab.example',
    "{host_profile: base, metadata: {boot_mac: '52:54:00:00:00:01'}, addressing: [{network: pxe, address: dhcp}, {network: oam, address: 10.23.21.11}]}",
  ),
  node(
    'n2',
    '{host_profile: base, addressing: [{network: pxe, address: 10.76.1.12}, {network: oam, address: 10.23.21.12}]}',
  ),
);

let simulator: Simulator | undefined;
let context: MachineContext | undefined;
afterEach(async () => {
  await context?.client.close();
  await simulator?.close();
});

it.each(['3.6', '3.8'] as const)('a region seeded with documents deploys them, as MAAS %s', async (version) => {
  const { site, diagnostics } = loadSite(DOCUMENTS);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { nodes, networks } = site!;
  const auto = { commission_ms: 5, deploy_ms: 5 };
  simulator = await simulateMaas({ port: 0, version, seed: seedOfSite(site!), auto });
  const client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin });
  context = {
    client,
    watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
    lookup: new HostnameLookup(client, { gatherMs: 1 }),
  };
  expect(await syncNetworks(client, networks, async () => undefined)).toMatchObject({ problems: [] });
  for (const { name, hostname, domain, boot_mac: bootMac, layout, distro_series, hwe_kernel } of nodes) {
    const found = await resolveMachine(context, { hostname, domain, bootMac });
    if (!found.ok) throw new Error(found.failure.message);
    expect(found.warnings).toEqual([]);
    const { systemId } = found.machine;
    const request = { systemId, site: 'dc1', node: name, layout };
    expect(await prepareMachine(context, request)).toMatchObject({ ok: true, actions: ['commission'] });
    const deployed = await deployMachine(context, {
      ...request,
      run: 'r1',
      distroSeries: distro_series!,
      hweKernel: hwe_kernel!,
    });
    expect(deployed).toMatchObject({ ok: true, machine: { distroSeries: 'focal' } });
    const { interfaces, disks, groups } = await client.layouts.hardware(systemId);
    expect(interfaces.filter(({ type }) => type === 'bond').map((nic) => nic.parents)).toEqual([['eno2', 'eno3']]);
    expect(interfaces.filter(({ type }) => type === 'vlan').map(({ vid }) => vid)).toEqual([21, 22, 23]);
    expect(disks.map((disk) => disk.name)).toEqual(['nvme0n1', 'sda']);
    expect(groups.map((group) => group.name).sort()).toEqual(['data', 'fast']);
  }
});
