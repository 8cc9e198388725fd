import { sizeInBytes } from '@sitewright/maas/machine-layout';
import { describe, expect, it } from 'vitest';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, document, files, node, profile } from './site-files.ts';

const LINKS =
  document('drydock/NetworkLink/v1', 'plain', '{allowed_networks: [pxe, oam]}') +
  document(
    'drydock/NetworkLink/v1',
    'trunk',
    '{bonding: {mode: active-backup}, trunking: {mode: 802.1q, default_network: pxe}}',
  ) +
  document('drydock/Network/v1', 'pxe', '{cidr: 10.0.0.0/24, mtu: 1500}') +
  document('drydock/Network/v1', 'oam', "{cidr: 10.0.1.0/24, vlan: '21'}") +
  document('drydock/Network/v1', 'bare', "{vlan: '30'}");

const ROOT = '{name: root, size: 20g, filesystem: {mountpoint: /}}';

/** Problems of a node, as `code: message` with the line. */
const problemsOf = (data: string, ...others: string[]) =>
  loadSite(files(CONFIGURATION, LINKS, ...others, node('n1', data)))
    .diagnostics.filter(({ code }) => code.startsWith('node.') || code.startsWith('document.'))
    .map(({ code, message, path }) => `${code} at ${path}: ${message}`);

const layoutOf = (data: string, ...others: string[]) =>
  loadSite(files(CONFIGURATION, LINKS, ...others, node('n1', data))).site?.nodes[0]?.layout;

describe('interfaces and disks of documents', () => {
  it('are absent unless they are described', () => {
    expect(layoutOf('{interfaces: {}, storage: {}, addressing: [{network: pxe, address: 10.0.0.5}]}')).toBeUndefined();
  });

  it('that MAAS cannot apply are refused, and other such keys of networks warned about, each with where it belongs', () => {
    const { site, diagnostics } = loadSite(
      files(
        CONFIGURATION,
        node(
          'n1',
          '{interfaces: {a: {sriov: {vf_count: 2}, device_link: l, slaves: [a]}}, storage: {raids: {md0: {level: 1}}}}',
        ),
        document('drydock/NetworkLink/v1', 'l', '{linkspeed: 10000full}'),
        document('drydock/NetworkLink/v1', 'usual', '{linkspeed: auto}'),
        document('drydock/Network/v1', 'n', '{dhcp_relay: {upstream_target: 10.0.0.1}, dns: {domain: example.org}}'),
        document('drydock/Network/v1', 'empty', '{dhcp_relay: {}, dns: {}, routes: [], ranges: []}'),
      ),
    );
    expect(site).toBeUndefined();
    expect(
      diagnostics
        .filter((one) => isError(one) || one.code === 'document.no-effect')
        .map(({ severity, code, path, hint, line }) => `${severity} ${code} at ${path}, ${(line ?? 0) > 0}: ${hint}`),
    ).toEqual([
      'error document.unknown-key at data.storage.raids, true: Known keys: physical_devices, volume_groups.',
      'warning document.no-effect at data.linkspeed, true: Set it at the switch.',
      'warning document.no-effect at data.dhcp_relay, true: Set the relay at the VLAN in MAAS.',
      'warning document.no-effect at data.dns.domain, true: Name the nodes with it: node01.DOMAIN.',
    ]);
  });

  it('kernel options are inherited by name, with values of the hardware profile', () => {
    const box = document(
      'drydock/HardwareProfile/v1',
      'box',
      "{cpu_sets: {sriov: '2-10'}, hugepages: {dpdk: {size: 1G, count: 80}}}",
    );
    const base = profile(
      'base',
      `{hardware_profile: box, platform: {kernel_params: {hugepages: 'hardwareprofile:hugepages.dpdk.count',
        hugepagesz: 'hardwareprofile:hugepages.dpdk.size', isolcpus: 'hardwareprofile:cpuset.sriov', quiet: true, nosmt: 'True', amd: x}}}`,
    );
    const own = "{host_profile: base, platform: {kernel_params: {intel_iommu: 'on', '!amd': x, '!nosmt': x}}}";
    expect(layoutOf(own, box, base)).toEqual({
      kernelOptions: 'hugepagesz=1G hugepages=80 isolcpus=2-10 quiet intel_iommu=on',
    });
    expect(layoutOf('{platform: {kernel_params: {}}}')).toBeUndefined();
    expect(
      problemsOf(
        "{platform: {kernel_params: {a: 'b c', 'd e': f, g: 'hardwareprofile:cpuset.sriov', h: 'i\"', j: null}}}",
        box,
      ),
    ).toEqual([expect.stringMatching(/^document\.wrong-type at data\.platform\.kernel_params\.j/)]);
    expect(
      problemsOf("{platform: {kernel_params: {a: 'b c', 'd e': f, g: 'hardwareprofile:cpuset.sriov', h: 'i\"'}}}", box),
    ).toEqual([
      "node.bad-kernel-option at data.platform.kernel_params.a: the kernel option a cannot be 'b c'",
      'node.bad-kernel-option at data.platform.kernel_params["d e"]: \'d e\' cannot be the name of a kernel option',
      'node.bad-kernel-option at data.platform.kernel_params.g: the hardware profile of the node has no cpuset.sriov',
      `node.bad-kernel-option at data.platform.kernel_params.h: the kernel option h cannot be 'i"'`,
    ]);
  });

  it('networks of interfaces have their gateway, routes, DNS servers and ranges', () => {
    const routed = [
      document(
        'drydock/Network/v1',
        'a',
        `{cidr: 10.1.0.0/24, routedomain: storage, dns: {servers: '10.1.0.2,10.1.0.3'},
          ranges: [{type: dhcp, start: 10.1.0.50, end: 10.1.0.99}, {type: reserved, start: 10.1.0.1, end: 10.1.0.9},
            {type: static, start: 10.1.0.100, end: 10.1.0.200}],
          routes: [{subnet: 0.0.0.0/0, gateway: 10.1.0.1}, {subnet: 10.9.0.0/16, gateway: 10.1.0.1, metric: 10},
            {routedomain: storage, gateway: 10.1.0.1}]}`,
      ),
      document('drydock/Network/v1', 'b', '{cidr: 10.2.0.0/24, routedomain: storage}'),
      document(
        'drydock/Network/v1',
        'unused',
        '{cidr: 10.3.0.0/24, routes: [{subnet: 10.9.0.0/16, gateway: 10.3.0.1}]}',
      ),
    ];
    const on =
      '{interfaces: {x: {device_link: free, slaves: [a], networks: [a]}}, addressing: [{network: a, address: dhcp}]}';
    const free = document('drydock/NetworkLink/v1', 'free', '{}');
    const { site } = loadSite(files(CONFIGURATION, ...routed, free, node('n1', on)));
    expect(site?.networks).toEqual([
      {
        network: 'a',
        cidr: '10.1.0.0/24',
        gateway: '10.1.0.1',
        routes: [
          { destination: '10.9.0.0/16', gateway: '10.1.0.1', metric: 10 },
          { destination: '10.2.0.0/24', gateway: '10.1.0.1', metric: 0 },
        ],
        dnsServers: ['10.1.0.2', '10.1.0.3'],
        ranges: [
          { type: 'dynamic', start: '10.1.0.50', end: '10.1.0.99' },
          { type: 'reserved', start: '10.1.0.1', end: '10.1.0.9' },
        ],
      },
    ]);
    const wrong = loadSite(
      files(
        CONFIGURATION,
        document(
          'drydock/Network/v1',
          'w',
          `{cidr: 10.1.0.0/24, dns: {servers: nowhere}, ranges: [{type: dhcp, start: 10.2.0.1, end: 10.1.0.9}],
            routes: [{gateway: 10.1.0.1}, {routedomain: gone, gateway: 10.1.0.1}, {subnet: 0.0.0.0/0, gateway: 10.1.0.1}, {subnet: '0.0.0.0/0', gateway: 10.1.0.2}]}`,
        ),
        document('drydock/Network/v1', 'bare', '{dns: {servers: 10.0.0.1}}'),
      ),
    ).diagnostics.filter(({ code }) => code === 'network.bad-setting');
    expect(wrong.map(({ path, message, line }) => `${path}, ${(line ?? 0) > 0}: ${message}`)).toEqual([
      "data.dns.servers, true: 'nowhere' is not an IP address",
      "data.ranges[0].start, true: 10.2.0.1 is not in the network 'w' (10.1.0.0/24)",
      "data.routes, true: 'w' has several default routes",
      'data.routes[0], true: a route needs a destination',
      "data.routes[1], true: no other network is in 'gone'",
      "data, true: the network 'bare' has no cidr",
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

  it('are merged with those of profiles by name; ! removes', () => {
    const base = profile(
      'base',
      `{interfaces: {e0: {device_link: plain, slaves: [a], networks: [pxe]}, e1: {device_link: plain, slaves: [b], networks: [oam]}},
        storage: {physical_devices: {sda: {partitions: [${ROOT}, {name: data, size: 5g}]}, sdb: {partitions: []}}}}`,
    );
    const data = `{host_profile: base, addressing: [{network: pxe, address: dhcp}],
      interfaces: {e0: {slaves: ['!a', c]}, '!e1': {}},
      storage: {physical_devices: {sda: {partitions: [{name: data, size: 20%}, {name: '!none'}]}, '!sdb': {}}}}`;
    expect(layoutOf(data, base)).toMatchObject({
      ports: [{ name: 'e0', devices: [{ name: 'c' }], networks: [{ network: 'pxe', address: 'dhcp' }] }],
      storage: {
        disks: [
          {
            device: { name: 'sda' },
            partitions: [
              { name: 'root', size: '20g', filesystem: { fstype: 'ext4', mountPoint: '/' } },
              { name: 'data', size: '20%' },
            ],
          },
        ],
      },
    });
  });

  it('that MAAS cannot configure are all reported, each in its place', () => {
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
        "node.unknown-hardware-profile at data.hardware_profile: there is no hardware profile 'dell', which 'n1' has",
        "node.bad-address at data.addressing[0].address: 10.0.9.9 is not in the network 'pxe' (10.0.0.0/24)",
        "node.bad-address at data.addressing[1].address: 'there' is not an IP address",
        "node.unknown-network at data.addressing[2].network: 'n1' has an address in the network 'attic', which is not there",
        "node.bad-interface at data.interfaces.e0.slaves: an interface without a bond has one device, 'e0' has 2",
        "node.bad-interface at data.interfaces.e0.networks: 'e0' has 2 networks, but its link has no VLANs",
        "node.bad-interface at data.interfaces.e0.networks: 'e0' has several networks without a tag",
        "node.bad-interface at data.interfaces.e0.sriov: sriov of 'e0' has no effect: MAAS does not configure it",
        "node.unknown-link at data.interfaces.e1.device_link: there is no link 'gone'",
        "node.bad-interface at data.interfaces.e2.slaves: a bond (active-backup) has at least one device, 'e2' has 0",
        "node.bad-interface at data.interfaces.e2.networks: no network of 'e2' has a cidr",
        "node.bad-interface at data.interfaces.e3: the interface 'e3' has networks and no device_link",
        "node.bad-interface at data.interfaces.e3.slaves: the device 'a' belongs to 'e0', too",
        "node.bad-interface at data.interfaces.e4.networks: the network 'bare' is on 'e2', too",
        "node.bad-interface at data.interfaces.e4.networks: the link 'plain' does not carry the network 'bare'",
        "node.bad-interface at data.interfaces.e4.networks: no network of 'e4' has a cidr",
        "node.bad-storage at data.storage.physical_devices.sda: 'n1' has no partition or volume for the root filesystem (DD1001)",
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

  it('with wrong sizes, filesystems, bonds or tags are refused', () => {
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

  // What MAAS 3.6.5 refuses: n5-bond 5 to 9, s3-partitions 10 to 17, s4-filesystems 14, n3-link 19, n9-networks 53 of its recording.
  describe('that MAAS would refuse are refused here', () => {
    const bond = (name: string, networks = 'pxe', slaves = 'a, b') =>
      problemsOf(
        `{interfaces: {'${name}': {device_link: trunk, slaves: [${slaves}], networks: [${networks}]}}, addressing: [{network: pxe, address: 10.0.0.5}]}`,
      );
    const part = (text: string) =>
      problemsOf(`{storage: {physical_devices: {sda: {partitions: [${ROOT}, {name: p, size: 1g, ${text}}]}}}}`);

    it('names of bonds: 1 to 15 characters, also with the tag of a VLAN, and no name of a device', () => {
      expect(bond('bond-0_a.b:c')).toEqual([]);
      expect(bond('aaaaaaaaaaaaaaa')).toEqual([]);
      for (const name of ['aaaaaaaaaaaaaaaa', 'bond 0', 'bond/0', 'bönd0'])
        expect(bond(name)).toEqual([expect.stringContaining(`MAAS cannot name a bond '${name}'`)]);
      expect(bond('aaaaaaaaaaaaa', 'pxe, oam')).toEqual([
        expect.stringContaining("the VLAN interface of 'oam', aaaaaaaaaaaaa.21, would have more than 15 characters"),
      ]);
      expect(bond('a')).toEqual([
        "node.bad-interface at data.interfaces.a: the bond 'a' has the name of a device of 'a'",
      ]);
    });

    it('UUIDs that are not of version 4', () => {
      const uuids = ['c9a646d3-9c61-11e7-8ebb-525400010000', '11111111-1111-1111-1111-111111111111', 'not-a-uuid'];
      for (const uuid of uuids)
        expect(part(`part_uuid: '${uuid}'`)).toEqual([
          expect.stringMatching(/part_uuid.* must be a UUID of version 4/),
        ]);
      for (const uuid of ['A7C8E1D2-3B4F-4A5C-9D6E-7F8091A2B3C4', 'a7c8e1d23b4f4a5c9d6e7f8091a2b3c5'])
        expect(part(`part_uuid: '${uuid}'`)).toEqual([]);
    });

    it('a filesystem at none that is not swap, and a label that it cannot hold', () => {
      expect(part('filesystem: {fstype: swap, mountpoint: none}')).toEqual([]);
      expect(part('filesystem: {fstype: xfs, mountpoint: none}')).toEqual([
        expect.stringContaining("'p' (xfs) cannot be mounted at none"),
      ]);
      expect(part('filesystem: {fstype: xfs, mountpoint: /x, fs_label: LLLLLLLLLLLLL}')).toEqual([
        expect.stringContaining('has 13 characters'),
      ]);
    });

    it('an address in a range for DHCP, however it is written', () => {
      const six = document(
        'drydock/Network/v1',
        'six',
        "{cidr: 'fd00:1::/64', ranges: [{type: dhcp, start: 'fd00:1::100', end: 'fd00:1::1ff'}]}",
      );
      const free = document('drydock/NetworkLink/v1', 'free', '{}');
      const at = (address: string) =>
        problemsOf(
          `{interfaces: {x: {device_link: free, slaves: [a], networks: [six]}}, addressing: [{network: six, address: '${address}'}]}`,
          six,
          free,
        );
      expect(at('FD00:0001:0::0150')).toEqual([expect.stringContaining('which is for DHCP')]);
      expect(at('fd00:1::200')).toEqual([]);
    });

    it('two volumes of one name, and a range that ends before its start', () => {
      const volumes = '{vg: {logical_volumes: [{name: l, size: 1g}, {name: l, size: 2g}]}}';
      expect(
        problemsOf(
          `{storage: {physical_devices: {sda: {partitions: [${ROOT}, {name: pv, size: 5g, volume_group: vg}]}}, volume_groups: ${volumes}}}`,
        ),
      ).toEqual([expect.stringContaining("two volumes are named 'vg-l'")]);
      const backwards = document(
        'drydock/Network/v1',
        'w',
        '{cidr: 10.1.0.0/24, ranges: [{type: dhcp, start: 10.1.0.20, end: 10.1.0.9}]}',
      );
      const { diagnostics } = loadSite(files(CONFIGURATION, backwards));
      expect(diagnostics.map(({ message }) => message)).toContain('the range ends at 10.1.0.9, before 10.1.0.20');
    });
  });

  it('addresses and networks have one form, and one address is not given twice in two', () => {
    const six = document('drydock/Network/v1', 'six', "{cidr: 'FD00:0001::/64'}");
    const free = document('drydock/NetworkLink/v1', 'free', '{}');
    const of = (address: string) =>
      `{interfaces: {x: {device_link: free, slaves: [a], networks: [six]}}, addressing: [{network: six, address: '${address}'}]}`;
    expect(layoutOf(of('FD00:1:0:0::00AB'), six, free)?.ports?.[0]?.networks).toEqual([
      { network: 'six', cidr: 'fd00:1::/64', address: 'fd00:1::ab' },
    ]);
    expect(problemsOf(of('fd00:1::ab'), six, free, node('n0', of('FD00:1::0AB')))).toEqual([
      expect.stringContaining("is the address of 'n0', too"),
    ]);
  });

  it('the hash of a bond is MAAS’, where the mode distributes by one', () => {
    const bondOf = (bonding: string) => {
      const link = document('drydock/NetworkLink/v1', 'free', `{bonding: ${bonding}}`);
      const data =
        '{interfaces: {bond0: {device_link: free, slaves: [a, b], networks: [pxe]}}, addressing: [{network: pxe, address: dhcp}]}';
      return layoutOf(data, link)?.ports?.[0]?.bond;
    };
    expect(bondOf('{mode: balance-xor, hash: layer2+3}')).toMatchObject({ bond_xmit_hash_policy: 'layer2+3' });
    expect(bondOf('{mode: balance-xor}')).toMatchObject({ bond_xmit_hash_policy: 'layer2' });
    expect(bondOf('{mode: 802.3ad, peer_rate: slow}')).toMatchObject({
      bond_xmit_hash_policy: 'layer3+4',
      bond_lacp_rate: 'slow',
    });
    expect(bondOf('{mode: balanced-rr}')).not.toHaveProperty('bond_xmit_hash_policy');
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
