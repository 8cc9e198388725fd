import { describe, expect, it } from 'vitest';
import { sizeInBytes } from '../../../src/core/machine-layout.js';
import { loadSite } from '../../../src/documents/index.js';
import { CONFIGURATION, document, files, node, profile } from './site-files.js';

const LINKS =
  document('drydock/NetworkLink/v1', 'plain', '{allowed_networks: [pxe, oam]}') +
  document(
    'drydock/NetworkLink/v1',
    'trunk',
    '{bonding: {mode: active-backup}, trunking: {mode: 802.1q, default_network: pxe}}',
  ) +
  document('drydock/Network/v1', 'pxe', '{cidr: 10.0.0.0/24, mtu: 1500}') +
  document('drydock/Network/v1', 'oam', '{cidr: 10.0.1.0/24, vlan: 21}') +
  document('drydock/Network/v1', 'bare', "{vlan: '30'}");

const ROOT = '{name: root, size: 10g, filesystem: {mountpoint: /}}';

/** Problems of a node, as `code: message` with the line. */
const problemsOf = (data: string, ...others: string[]) =>
  loadSite(files(CONFIGURATION, LINKS, ...others, node('n1', data)))
    .diagnostics.filter(({ code }) => code.startsWith('node.') || code.startsWith('document.'))
    .map(({ code, message, path }) => `${code} at ${path}: ${message}`);

const layoutOf = (data: string, ...others: string[]) =>
  loadSite(files(CONFIGURATION, LINKS, ...others, node('n1', data))).site?.nodes[0]?.layout;

describe('interfaces and disks of documents', () => {
  it('are none unless they are described', () => {
    expect(layoutOf('{interfaces: {}, storage: {}, addressing: [{network: pxe, address: 10.0.0.5}]}')).toBeUndefined();
  });

  it('that Drydock applies and nothing here does have a warning each, with where they belong', () => {
    const found = problemsOf(
      '{host_profile: kernel, platform: {kernel_params: {}}}',
      profile('kernel', '{platform: {kernel_params: {hugepages: 8}}}'),
      document('drydock/NetworkLink/v1', 'slow', '{linkspeed: auto}'),
      document(
        'drydock/Network/v1',
        'routed',
        '{cidr: 10.0.9.0/24, ranges: [], dns: {servers: 10.0.9.1}, routes: [{subnet: 10.0.0.0/8, gateway: 10.0.9.1}]}',
      ),
    );
    expect(found).toEqual([
      "document.no-effect at data.platform.kernel_params: kernel_params of 'kernel' has no effect: MAAS takes kernel parameters from its tags",
      "document.no-effect at data.linkspeed: linkspeed of 'slow' has no effect: MAAS does not set the speed of links",
      "document.no-effect at data.dns: dns of 'routed' has no effect: MAAS has the network already",
      "document.no-effect at data.routes: routes of 'routed' has no effect: MAAS has the network already",
    ]);
  });

  it('a bond with an untagged and a tagged network, and a network without an address', () => {
    const data =
      '{primary_network: pxe, interfaces: {bond0: {device_link: trunk, slaves: [a, b], networks: [pxe, oam]}}, addressing: [{network: pxe, address: 10.0.0.5}]}';
    expect(layoutOf(data)).toEqual({
      ports: [
        {
          name: 'bond0',
          devices: [{ name: 'a' }, { name: 'b' }],
          bond: { bond_mode: 'active-backup', bond_miimon: 100, bond_updelay: 200, bond_downdelay: 200 },
          networks: [
            { network: 'pxe', cidr: '10.0.0.0/24', mtu: 1500, address: '10.0.0.5', isPrimary: true },
            { network: 'oam', cidr: '10.0.1.0/24', vlan: 21 },
          ],
        },
      ],
    });
  });

  it('are merged with those of profiles by name; ! and null remove', () => {
    const base = profile(
      'base',
      `{interfaces: {e0: {device_link: plain, slaves: [a], networks: [pxe]}, e1: {device_link: plain, slaves: [b], networks: [oam]}},
        storage: {physical_devices: {sda: {partitions: [${ROOT}, {name: data, size: 5g}]}, sdb: {partitions: []}}}}`,
    );
    const data = `{host_profile: base, addressing: [{network: pxe, address: dhcp}],
      interfaces: {e0: {slaves: ['!a', c]}, e1: null},
      storage: {physical_devices: {sda: {partitions: [{name: data, size: 20%}, {name: '!none'}]}, '!sdb': {}}}}`;
    expect(layoutOf(data, base)).toMatchObject({
      ports: [{ name: 'e0', devices: [{ name: 'c' }], networks: [{ network: 'pxe', address: 'dhcp' }] }],
      storage: {
        disks: [
          {
            device: { name: 'sda' },
            partitions: [
              { name: 'root', size: '10g', filesystem: { fstype: 'ext4', mountPoint: '/' } },
              { name: 'data', size: '20%' },
            ],
          },
        ],
      },
    });
  });

  it('all that MAAS cannot configure is reported at once, in its place', () => {
    const data = `{hardware_profile: dell, primary_network: none, addressing: [
        {network: pxe, address: 10.0.9.9}, {network: oam, address: there}, {network: attic, address: 10.9.9.9}],
      interfaces: {
        e0: {device_link: plain, slaves: [a, b], networks: [pxe, oam], sriov: {vf_count: 2}},
        e1: {device_link: gone, slaves: [c]},
        e2: {device_link: trunk, slaves: [], networks: [bare]},
        e3: {slaves: [a], networks: [lost]},
        e4: {device_link: plain, slaves: [d], networks: [bare]}},
      storage: {
        physical_devices: {
          sda: {labels: {bootdrive: 'true'}, volume_group: vg, partitions: [{name: p, size: '>1g'}, {name: q, size: '>2g', volume_group: lost}, {name: r}]},
          sdb: {partitions: [{name: b, bootable: true, size: 1g, filesystem: {mountpoint: /x}}, {name: c, size: 1g, filesystem: {mountpoint: /x}}]}},
        volume_groups: {vg: {logical_volumes: [{name: l}]}, unused: {}}}}`;
    const box = document('drydock/HardwareProfile/v1', 'box', '{}');
    expect(problemsOf(data, box)).toMatchInlineSnapshot(`
      [
        "node.bad-address at data: no interface is on the primary network 'none'",
        "node.unknown-hardware-profile at data.hardware_profile: there is no hardware profile 'dell'",
        "node.bad-address at data.addressing[0].address: 10.0.9.9 is not in the network 'pxe' (10.0.0.0/24)",
        "node.bad-address at data.addressing[1].address: 'there' is not an IP address",
        "node.bad-address at data.addressing[2].network: no interface of 'n1' is on the network 'attic': its address is not used",
        "node.bad-interface at data.interfaces.e0.slaves: an interface without a bond has one device, 'e0' has 2",
        "node.bad-interface at data.interfaces.e0.networks: 'e0' has 2 networks, but its link has no VLANs",
        "node.bad-interface at data.interfaces.e0.networks: 'e0' has several networks without a tag",
        "node.bad-interface at data.interfaces.e0.sriov: MAAS does not configure SR-IOV",
        "node.unknown-link at data.interfaces.e1.device_link: there is no link 'gone'",
        "node.bad-interface at data.interfaces.e2.slaves: a bond (active-backup) has at least one device, 'e2' has 0",
        "node.bad-interface at data.interfaces.e2.networks: no network of 'e2' has a cidr",
        "node.bad-interface at data.interfaces.e3: the interface 'e3' has no device_link",
        "node.bad-interface at data.interfaces.e3.slaves: the device 'a' belongs to 'e0', too",
        "node.bad-interface at data.interfaces.e4.networks: the network 'bare' is on 'e2', too",
        "node.bad-interface at data.interfaces.e4.networks: the link 'plain' does not carry the network 'bare'",
        "node.bad-interface at data.interfaces.e4.networks: no network of 'e4' has a cidr",
        "node.bad-storage at data.storage.physical_devices.sda: no partition or volume is mounted at /",
        "node.bad-storage at data.storage.physical_devices.sda.volume_group: 'sda' has partitions and a volume group",
        "node.bad-storage at data.storage.physical_devices.sda.partitions: 'r' has no size",
        "node.bad-storage at data.storage.physical_devices.sda.partitions: 'p' and 'q' take all that is left",
        "node.bad-storage at data.storage.physical_devices.sda.partitions: there is no volume group 'lost'",
        "node.bad-storage at data.storage.physical_devices.sdb: a second disk is the boot disk",
        "node.bad-storage at data.storage.physical_devices.sdb.partitions: 'b' is mounted at /x, too",
        "node.bad-storage at data.storage.volume_groups.vg.logical_volumes: 'l' has no size",
        "node.bad-storage at data.storage.volume_groups.unused: no disk or partition belongs to the volume group 'unused'",
      ]
    `);
  });

  it('wrong words of documents: sizes, filesystems, bonds, tags', () => {
    const found = (data: string) => problemsOf(data).map((text) => text.split(': ')[0]);
    const disk = (partition: string) => found(`{storage: {physical_devices: {sda: {partitions: [${partition}]}}}}`);
    expect(disk('{name: a, size: big}')).toEqual([
      'document.wrong-value at data.storage.physical_devices.sda.partitions[0].size',
    ]);
    expect(disk('{name: a, size: 1g, filesystem: {fstype: ext3}}')).toEqual([
      'document.wrong-value at data.storage.physical_devices.sda.partitions[0].filesystem.fstype',
    ]);
    const link = document('drydock/NetworkLink/v1', 'l', '{bonding: {mode: sideways}, mtu: 100}');
    const network = document('drydock/Network/v1', 'n', "{cidr: 10.0.0.0/99, vlan: '5000'}");
    expect(problemsOf('{}', link, network).map((text) => text.split(': ')[0])).toEqual([
      'document.wrong-value at data.bonding.mode',
      'document.wrong-value at data.mtu',
      'document.wrong-value at data.cidr',
      'document.wrong-value at data.vlan',
    ]);
  });

  it('a profile’s problem is reported once, an address of two nodes for the second', () => {
    const base = profile('base', '{interfaces: {e0: {device_link: gone, slaves: [a], networks: []}}}');
    const two = node('n0', '{host_profile: base}');
    expect(problemsOf('{host_profile: base}', base, two).filter((text) => text.includes("'gone'"))).toHaveLength(1);
    const same =
      '{interfaces: {e0: {device_link: plain, slaves: [a], networks: [pxe]}}, addressing: [{network: pxe, address: 10.0.0.5}]}';
    expect(problemsOf(same, node('n0', same))).toEqual([
      "node.bad-address at data.addressing[0].address: 10.0.0.5 is the address of 'n0', too",
    ]);
  });

  it.each([
    ['10g', 10e9],
    ['>10GB', 10e9],
    ['512mib', 512 * 1024 ** 2],
    ['2Ti', 2 * 1024 ** 4],
    ['25%', 250],
  ])('the size %s', (size, bytes) => {
    expect(sizeInBytes(size, 1000)).toBe(bytes);
  });
});
