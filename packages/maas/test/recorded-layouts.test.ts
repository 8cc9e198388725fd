import { describe, expect, it } from 'vitest';
import { readLayoutScenario } from '../../maas-simulator/test/layout-recording.ts';
import { StepCount } from '../src/layout/apply-layout.ts';
import { type Hardware, parseHardware, parseSubnet, parseVlans } from '../src/layout/hardware.ts';
import type { PortLayout, StorageLayout } from '../src/layout/machine-layout.ts';
import { nextNetworkChange } from '../src/layout/network-changes.ts';
import { nextStorageChange } from '../src/layout/storage-changes.ts';
import { targetInterfaces } from '../src/layout/target-interfaces.ts';
import { targetStorage } from '../src/layout/target-storage.ts';

// The other side is a real MAAS 3.6.5: data/ORIGIN.md.

type Json = Readonly<Record<string, unknown>>;

const recorded = (name: string) => readLayoutScenario(name).steps;

/** The answer of a recorded step. */
const answer = (name: string, step: number): Json => recorded(name)[step]!.response?.json;
const list = (name: string, step: number): readonly Json[] => answer(name, step) as unknown as readonly Json[];

const commissioned = answer('n1-commissioned', 0);
const networks = {
  subnets: list('n1-commissioned', 8).map(parseSubnet),
  vlans: list('n1-commissioned', 6).flatMap(parseVlans),
};

/** The machine as commissioned, with interfaces as later answers show them. */
function reading(...nics: readonly Json[]): Hardware {
  const kept = (commissioned.interface_set as readonly Json[]).filter(
    ({ name }) => !nics.some((nic) => nic.name === name),
  );
  return parseHardware({ ...commissioned, interface_set: [...kept, ...nics] }, []);
}

const DATA = 5003;

const port = (name: string, devices: readonly string[], more: Partial<PortLayout>): PortLayout => ({
  name,
  devices: devices.map((device) => ({ name: device })),
  networks: [],
  ...more,
});

function changeOf(hardware: Hardware, ...ports: readonly PortLayout[]) {
  const problems: string[] = [];
  const physical = hardware.interfaces.filter(({ type }) => type === 'physical');
  const target = targetInterfaces(
    ports,
    networks,
    physical,
    ({ name }) => name,
    (problem) => problems.push(problem),
  );
  expect(problems).toEqual([]);
  return nextNetworkChange(hardware, target);
}

const BOND = { bond_mode: 'active-backup' };
const bond0 = port('bond0', ['eno2', 'eno3'], { bond: BOND, networks: [{ network: 'oam', cidr: '10.23.21.0/24' }] });
const pxe = port('pxe', ['eno1'], { networks: [{ network: 'pxe', cidr: '10.77.0.0/24' }] });

describe('interfaces as a commissioning leaves them', () => {
  it('a boot NIC that is to be up without an address loses its AUTO link, and keeps the link that MAAS then adds', () => {
    expect(changeOf(reading(), pxe)).toMatchObject({ op: 'unlink_subnet', form: { id: 4 } });
    for (const step of [1, 2]) expect(changeOf(reading(answer('n2-unlink', step)), pxe)).toBeUndefined();
  });

  it('a fixed address takes the place of the link that MAAS added', () => {
    const fixed = port('pxe', ['eno1'], {
      networks: [{ network: 'pxe', cidr: '10.77.0.0/24', address: '10.77.0.30' }],
    });
    expect(changeOf(reading(answer('n2-unlink', 1)), fixed)).toMatchObject({
      op: 'link_subnet',
      form: { mode: 'STATIC', ip_address: '10.77.0.30' },
    });
  });

  it('a NIC that was moved has no link: it is linked, so that it is up', () => {
    const data = port('data', ['eno2'], { networks: [{ network: 'oam', cidr: '10.23.21.0/24' }] });
    expect(changeOf(reading(), data)).toMatchObject({ method: 'put', path: 'interfaces/3/', form: { vlan: DATA } });
    expect(changeOf(reading(answer('n2-unlink', 8)), data)).toMatchObject({ form: { mode: 'LINK_UP' } });
    expect(changeOf(reading(answer('n2-unlink', 17)), data)).toBeUndefined();
  });

  it('interfaces that no document names keep their links', () => {
    expect(changeOf(reading())).toBeUndefined();
    expect(changeOf(reading(answer('n2-unlink', 17)), port('data', ['eno2'], { networks: [] }))).toBeUndefined();
  });

  it('parents are put on the VLAN of their bond before it is made', () => {
    const moved = [answer('n5-bond', 2), answer('n5-bond', 4)];
    expect(changeOf(reading(), bond0)).toMatchObject({ path: 'interfaces/3/', form: { vlan: DATA } });
    expect(changeOf(reading(moved[0]!), bond0)).toMatchObject({ path: 'interfaces/4/', form: { vlan: DATA } });
    expect(changeOf(reading(...moved), bond0)).toMatchObject({
      op: 'create_bond',
      form: { parents: ['3', '4'], vlan: DATA },
    });
  });

  it('a bond without networks gets parents of one VLAN, too', () => {
    const bare = port('bond0', ['eno2', 'eno3'], { bond: BOND });
    expect(changeOf(reading(), bare)).toMatchObject({ path: 'interfaces/4/', form: { vlan: 5007 } });
  });

  it('a bond with the name of a device is refused', () => {
    const problems: string[] = [];
    const { interfaces } = reading();
    const named = { ...bond0, name: 'eno2' };
    targetInterfaces(
      [named],
      networks,
      interfaces,
      ({ name }) => name,
      (problem) => problems.push(problem),
    );
    expect(problems).toEqual(['the bond eno2 would have the name of a device of the machine: name it otherwise']);
  });

  it('addresses and networks are compared as values', () => {
    const bond = answer('n5-bond', 24);
    const parents = [answer('n5-bond', 19), { ...answer('n5-bond', 19), id: 4, name: 'eno3' }];
    const v6 = port('bond0', ['eno2', 'eno3'], {
      bond: { bond_mode: '802.3ad' },
      networks: [{ network: 'oam6', cidr: 'FD00:23:21:0::/64', address: 'FD00:0023:21::0:51' }],
    });
    // The additional IPv4 address is not wanted, and the IPv6 address is not linked again.
    expect(changeOf(reading(bond, ...parents), v6)).toMatchObject({ op: 'unlink_subnet', form: { id: 11 } });
  });
});

describe('disks', () => {
  const whole = (name: string): StorageLayout => ({
    disks: [{ device: { name }, partitions: [{ name: 'data', size: '100%' }] }],
    groups: [],
  });

  it.each(['s3-sizes-40g', 's3-sizes-3t', 's3-sizes-4k', 's3-sizes-uefi'])(
    '%s: all of a disk is the size that MAAS has',
    (file) => {
      const isUefi = file.endsWith('uefi');
      const disks = recorded(file)
        .map(({ response }) => response?.json)
        .filter((disk) => disk.used_for === 'Unused' && disk.type === 'physical' && disk.partition_table_type === null);
      expect(disks.length).toBeGreaterThan(3);
      for (const disk of disks) {
        const machine = {
          ...(isUefi && { bios_boot_method: 'uefi' }),
          physicalblockdevice_set: [disk],
        };
        const { disks: found } = targetStorage(
          whole(String(disk.name)),
          parseHardware(machine, []),
          ({ name }) => name,
          () => {},
        );
        expect([disk.size, found[0]?.parts[0]?.size]).toEqual([disk.size, disk.available_size]);
      }
    },
  );

  const lvm: StorageLayout = {
    disks: [{ device: { name: 'sda' }, group: 'sys', isBoot: true, partitions: [] }],
    groups: [{ name: 'sys', volumes: [] }],
  };
  const boot = (disk: Json, ...groups: readonly Json[]): Hardware =>
    parseHardware(
      { boot_disk: { id: 1 }, physicalblockdevice_set: [disk], volume_groups: groups.map(({ id }) => ({ id })) },
      groups,
    );
  const next = (hardware: Hardware, layout: StorageLayout) => {
    const problems: string[] = [];
    const target = targetStorage(
      layout,
      hardware,
      ({ name }) => name,
      (problem) => problems.push(problem),
    );
    const change = nextStorageChange(hardware, target, (problem) => problems.push(problem));
    return { change, problems };
  };

  it('a group over the boot disk is the partition that MAAS makes', () => {
    const made = boot(answer('s5-lvm', 15), answer('s5-lvm', 14));
    expect(next(made, lvm).change).toBeUndefined();
    // Without its group the partition stays, and is in the way of a new one.
    expect(next(boot(answer('s5-lvm', 38)), lvm).change).toMatchObject({ method: 'delete' });
  });

  it('a volume too large for its group is reported before the group is made', () => {
    const asCommissioned = boot((commissioned.physicalblockdevice_set as readonly Json[])[0]!);
    const filled = (size: string): StorageLayout => ({
      ...lvm,
      groups: [{ name: 'sys', volumes: [{ name: 'v', size }] }],
    });
    // The group that MAAS made has 42937090048 bytes.
    expect(next(asCommissioned, filled('40948mib')).problems).toEqual([]);
    expect(next(asCommissioned, filled('40952mib')).problems).toEqual([
      "volume group sys has 42937090048 bytes, 4194304 too few for the documents' layout",
    ]);
  });

  it('a volume can take exactly the size of its group', () => {
    const layout: StorageLayout = {
      disks: [{ device: { name: 'sdb' }, group: 'vg0', partitions: [] }],
      groups: [
        {
          name: 'vg0',
          volumes: [
            { name: 'data', size: '95364mib' },
            { name: 'rest2', size: '>1g' },
          ],
        },
      ],
    };
    const group = answer('s5-lvm', 22);
    const disk = { ...answer('s5-lvm', 8), partitions: [] };
    const hardware = parseHardware({ physicalblockdevice_set: [disk], volume_groups: [{ id: 2 }] }, [group]);
    expect(next(hardware, layout).change).toMatchObject({
      op: 'create_logical_volume',
      form: { name: 'rest2', size: 299997593600 },
    });
  });

  it('disks that no document describes keep their partitions, but not the mount point of another', () => {
    const root: StorageLayout = {
      disks: [
        {
          device: { name: 'sdb' },
          partitions: [{ name: 'r', size: '20g', filesystem: { fstype: 'ext4', mountPoint: '/' } }],
        },
      ],
      groups: [],
    };
    const hardware = parseHardware(commissioned, []);
    expect(next(hardware, root).change).toMatchObject({
      op: 'unmount',
      path: 'blockdevices/1/partition/1',
      text: 'unmount partition 1 of sda',
    });
  });
});

describe('a change without progress', () => {
  it('is sent twice, and not again', () => {
    const hardware = reading();
    const unlink = changeOf(hardware, pxe)!;
    const create = changeOf(reading(answer('n5-bond', 2), answer('n5-bond', 4)), bond0)!;
    const steps = new StepCount();
    expect([1, 2, 3].map(() => steps.mayTake(unlink, hardware))).toEqual([true, true, false]);
    expect([1, 2, 3].map(() => steps.mayTake(create, hardware))).toEqual([true, true, false]);
    // Of two links of a kind, the second is another one.
    expect(steps.mayTake(unlink, reading(answer('n3-link', 0)))).toBe(true);
    expect(create).toMatchObject({
      wanted: 'the bond bond0 of eno2 and eno3 on VLAN 5003',
      found: expect.stringContaining('no bond0'),
    });
  });
});
