import type { FormFields } from '../connection.ts';
import { asFlag, asList, asNumber, asObject, asText, asTexts, type JsonObject } from '../lenient.ts';

/** Interfaces and disks of a machine as MAAS has them now. */
export interface Hardware {
  readonly systemId: string;
  readonly status: number;
  readonly tags: readonly string[];
  readonly isUefi: boolean;
  /** Of the interface that it boots from, lower case; empty when MAAS names none. */
  readonly bootMac: string;
  /** As its firmware reports them; `Unknown` is MAAS' word before a commissioning. */
  readonly vendor: string;
  readonly product: string;
  /** The deployed system, such as `ubuntu`. */
  readonly osystem: string;
  readonly interfaces: readonly Interface[];
  /** Ids of the links whose gateways are the machine's default gateways. */
  readonly gatewayLinks: readonly number[];
  readonly disks: readonly Disk[];
  readonly bootDisk: number | undefined;
  /** A machine in MAAS' answers has only the ids of its groups. */
  readonly hasGroups: boolean;
  /** Empty where they were not read. */
  readonly groups: readonly VolumeGroup[];
  /** RAIDs and caches: no document describes them, and they hold disks. Each as its path and name. */
  readonly composites: readonly { readonly path: string; readonly name: string }[];
}

export interface Interface {
  readonly id: number;
  readonly name: string;
  /** `physical`, `bond`, `vlan`, `bridge`. */
  readonly type: string;
  readonly macAddress: string;
  readonly vlanId: number | undefined;
  /** Tag of its VLAN. */
  readonly vid: number | undefined;
  readonly mtu: number | undefined;
  readonly parents: readonly string[];
  readonly tags: readonly string[];
  readonly params: JsonObject;
  readonly links: readonly InterfaceLink[];
  /** Addresses that DHCP gave, by subnet. */
  readonly discovered: ReadonlyMap<number | undefined, string>;
}

export interface InterfaceLink {
  readonly id: number;
  /** Lower case: `auto`, `dhcp`, `static`, `link_up`. */
  readonly mode: string;
  readonly subnetId: number | undefined;
  readonly subnet: Subnet | undefined;
  readonly ipAddress: string;
}

export interface Filesystem {
  readonly fstype: string;
  readonly label: string;
  readonly uuid: string;
  /** Empty when it is not mounted; `none` for swap. */
  readonly mountPoint: string;
  readonly mountOptions: string;
}

/** A device with a filesystem: a disk, a partition, a logical volume. */
interface BlockDevice {
  readonly id: number;
  readonly size: number;
  readonly filesystem: Filesystem | undefined;
}

export interface Partition extends BlockDevice {
  readonly bootable: boolean;
  readonly uuid: string;
}

export interface Disk extends BlockDevice {
  readonly name: string;
  readonly partitions: readonly Partition[];
}

export interface Volume extends BlockDevice {
  /** Without the name of its group. */
  readonly name: string;
  readonly uuid: string;
}

export interface VolumeGroup extends Omit<Volume, 'filesystem'> {
  /** Ids of its physical volumes. */
  readonly disks: readonly number[];
  readonly partitions: readonly number[];
  readonly volumes: readonly Volume[];
}

/** A range of addresses in a subnet. */
export interface AddressRange {
  /** `dynamic`, `reserved`. */
  readonly type: string;
  readonly start: string;
  readonly end: string;
  readonly subnet: number;
}

/** An address of a subnet that MAAS has given away or found in use. */
export interface UsedAddress {
  readonly ip: string;
  /** The machine that has it; absent for one that a user has reserved. */
  readonly systemId: string | undefined;
  /** For people: `node02`, `the MAAS user admin`. */
  readonly by: string;
  /** Found at a commissioning. */
  readonly isDiscovered: boolean;
}

export interface Vlan {
  readonly id: number;
  readonly vid: number;
  readonly fabric: string;
}

/** A subnet with its VLAN. */
export interface Subnet extends Omit<Vlan, 'id'> {
  readonly id: number;
  readonly name: string;
  readonly cidr: string;
  readonly gateway: string;
  readonly space: string;
  readonly vlanId: number;
}

/** One call that changes interfaces or disks. */
export interface LayoutChange {
  readonly method: 'post' | 'put' | 'delete';
  /** Below `nodes/ID/`. */
  readonly path: string;
  readonly op?: string;
  readonly form?: FormFields;
  /** Description for people: `create bond bond0`. */
  readonly text: string;
  /** It removes something, so that the same text may be valid again for another object of the kind. */
  readonly removes?: true;
  /** For people: the desired state, and the one in MAAS before. */
  readonly wanted: string;
  readonly found: string;
  /** MAAS refuses it for a machine that is allocated. */
  readonly onlyWhenReady?: true;
}

/** A part of a machine that MAAS answers alone, in a tenth of the time of the whole machine. */
type HardwarePart = 'interfaces' | 'disks' | 'groups';

/** What a change can have altered; undefined: what only the whole machine shows. */
export function alteredBy(
  { method, path, op }: LayoutChange,
  { groups }: Pick<Hardware, 'groups'>,
): readonly HardwarePart[] | undefined {
  const [folder, id] = path.split('/');
  switch (folder) {
    case 'interfaces':
      return op === 'set_default_gateway' ? undefined : ['interfaces'];
    case 'blockdevices': {
      const isVolume = groups.some(({ volumes }) => volumes.some((volume) => String(volume.id) === id));
      return op === 'set_boot_disk' ? undefined : [isVolume ? 'groups' : 'disks'];
    }
    case 'volume-group':
      return method === 'delete' ? ['disks', 'groups'] : ['groups'];
    case 'volume-groups':
      // MAAS makes a partition of a boot disk.
      return ['disks', 'groups'];
    default:
      return undefined;
  }
}

/** After a change whose answer shows all that it altered: the links of an interface, or one partition. */
export function withAnswer(
  { method, path, op = '' }: LayoutChange,
  answer: unknown,
  before: Hardware,
): Hardware | undefined {
  const shown = asObject(answer);
  const [folder, id, part] = path.split('/');
  if (method !== 'post' || asNumber(shown.id) === undefined) return undefined;
  if (folder === 'interfaces' && ['link_subnet', 'unlink_subnet'].includes(op)) {
    const nic = parseInterface(shown);
    return { ...before, interfaces: before.interfaces.map((each) => (each.id === nic.id ? nic : each)) };
  }
  if (folder === 'blockdevices' && (part === 'partition' || part === 'partitions')) {
    const made = parsePartition(shown);
    const disks = before.disks.map((disk) => {
      if (String(disk.id) !== id) return disk;
      const others = disk.partitions.filter((each) => each.id !== made.id);
      return { ...disk, partitions: [...others, made].sort((a, b) => a.id - b.id) };
    });
    return { ...before, disks };
  }
  return undefined;
}

/** @param groups answer of `volume-groups/` */
export function parseHardware(machine: JsonObject, groups: readonly unknown[]): Hardware {
  const gateways = asObject(machine.default_gateways);
  const firmware = asObject(machine.hardware_info);
  const composites = (key: string, folder: string) =>
    asList(machine[key]).map((item) => {
      const { id, name } = asObject(item);
      return { path: `${folder}/${asText(id)}/`, name: asText(name) || `${folder} ${asText(id)}` };
    });
  return {
    systemId: asText(machine.system_id),
    status: asNumber(machine.status) ?? -1,
    tags: asTexts(machine.tag_names),
    isUefi: asText(machine.bios_boot_method) === 'uefi',
    bootMac: asText(asObject(machine.boot_interface).mac_address).toLowerCase(),
    vendor: asText(firmware.system_vendor),
    product: asText(firmware.system_product),
    osystem: asText(machine.osystem),
    interfaces: asList(machine.interface_set).map(parseInterface),
    gatewayLinks: [gateways.ipv4, gateways.ipv6].flatMap((gateway) => asNumber(asObject(gateway).link_id) ?? []),
    disks: parseDisks(asList(machine.physicalblockdevice_set)),
    bootDisk: asNumber(asObject(machine.boot_disk).id),
    hasGroups: asList(machine.volume_groups).length > 0,
    groups: groups.map(parseGroup),
    // A cache uses its cache set, so that it goes first.
    composites: [
      ...composites('bcaches', 'bcache'),
      ...composites('cache_sets', 'bcache-cache-set'),
      ...composites('raids', 'raid'),
    ],
  };
}

/** The disks among block devices; the others are volumes, RAIDs and caches. */
export const parseDisks = (devices: readonly unknown[]): readonly Disk[] =>
  devices
    .map(asObject)
    .filter(({ type }) => type !== 'virtual')
    .map((disk) => ({
      ...parseBlockDevice(disk),
      name: asText(disk.name),
      partitions: asList(disk.partitions)
        .map(parsePartition)
        .sort((a, b) => a.id - b.id),
    }));

export function parseInterface(value: unknown): Interface {
  const o = asObject(value);
  return {
    id: idOf(o),
    name: asText(o.name),
    type: asText(o.type),
    macAddress: asText(o.mac_address).toLowerCase(),
    vlanId: asNumber(asObject(o.vlan).id),
    vid: asNumber(asObject(o.vlan).vid),
    mtu: asNumber(o.effective_mtu),
    parents: asTexts(o.parents),
    tags: asTexts(o.tags),
    params: asObject(o.params),
    discovered: new Map(
      asList(o.discovered).map((item) => {
        const { subnet, ip_address: address } = asObject(item);
        return [asNumber(asObject(subnet).id), asText(address)];
      }),
    ),
    links: asList(o.links).map((item) => {
      const link = asObject(item);
      return {
        id: idOf(link),
        mode: asText(link.mode).toLowerCase(),
        subnetId: asNumber(asObject(link.subnet).id),
        subnet: link.subnet ? parseSubnet(link.subnet) : undefined,
        ipAddress: asText(link.ip_address),
      };
    }),
  };
}

export function parseSubnet(value: unknown): Subnet {
  const o = asObject(value);
  const vlan = asObject(o.vlan);
  return {
    id: idOf(o),
    name: asText(o.name),
    cidr: asText(o.cidr),
    gateway: asText(o.gateway_ip),
    space: asText(o.space),
    vlanId: idOf(vlan),
    vid: asNumber(vlan.vid) ?? 0,
    fabric: asText(vlan.fabric),
  };
}

export function parseRange(value: unknown): AddressRange {
  const { type, start_ip: start, end_ip: end, subnet } = asObject(value);
  return { type: asText(type), start: asText(start), end: asText(end), subnet: idOf(asObject(subnet)) };
}

/** MAAS' number of addresses that it found at a commissioning. */
const DISCOVERED = 6;

export function parseUsedAddress(value: unknown): UsedAddress {
  const { ip, alloc_type: type, node_summary: node, user } = asObject(value);
  const { system_id: systemId, hostname } = asObject(node);
  return {
    ip: asText(ip),
    systemId: asText(systemId) || undefined,
    by: asText(hostname) || (asText(user) === '' ? 'something else' : `the MAAS user ${asText(user)}`),
    isDiscovered: asNumber(type) === DISCOVERED,
  };
}

export const parseVlans = (fabric: unknown): readonly Vlan[] =>
  asList(asObject(fabric).vlans).map((item) => {
    const vlan = asObject(item);
    return { id: idOf(vlan), vid: asNumber(vlan.vid) ?? 0, fabric: asText(vlan.fabric) };
  });

const idOf = (value: JsonObject): number => asNumber(value.id) ?? -1;

const parseBlockDevice = (o: JsonObject): BlockDevice => ({
  id: idOf(o),
  size: asNumber(o.size) ?? 0,
  filesystem: parseFilesystem(o.filesystem),
});

function parsePartition(value: unknown): Partition {
  const o = asObject(value);
  return {
    ...parseBlockDevice(o),
    bootable: asFlag(o.bootable),
    uuid: asText(o.uuid),
  };
}

function parseFilesystem(value: unknown): Filesystem | undefined {
  const o = asObject(value);
  if (asText(o.fstype) === '') return undefined;
  return {
    fstype: asText(o.fstype),
    label: asText(o.label),
    uuid: asText(o.uuid),
    mountPoint: asText(o.mount_point),
    mountOptions: asText(o.mount_options),
  };
}

export function parseGroup(value: unknown): VolumeGroup {
  const o = asObject(value);
  const name = asText(o.name);
  const devices = asList(o.devices).map(asObject);
  const ids = (type: string) => devices.filter((device) => (device.type === 'partition') === (type === 'p')).map(idOf);
  return {
    id: idOf(o),
    name,
    uuid: asText(o.uuid),
    size: asNumber(o.size) ?? 0,
    disks: ids('b'),
    partitions: ids('p'),
    volumes: asList(o.logical_volumes)
      .map((item) => {
        const volume = asObject(item);
        const full = asText(volume.name);
        return {
          ...parseBlockDevice(volume),
          name: full.startsWith(`${name}-`) ? full.slice(name.length + 1) : full,
          uuid: asText(volume.uuid),
        };
      })
      .sort((a, b) => a.id - b.id),
  };
}
