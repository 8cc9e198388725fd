import { isIP } from 'node:net';
import { SIZE_PATTERN } from '@sitewright/maas/machine-layout';
import { z } from 'zod';

const name = z.string().min(1);
const names = z.array(name);
/** MAAS takes no other version. */
const uuid = z
  .string()
  .regex(
    /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?4[0-9a-fA-F]{3}-?[89abAB][0-9a-fA-F]{3}-?[0-9a-fA-F]{12}$/,
    'must be a UUID of version 4, as uuidgen makes it',
  );
const size = z
  .string()
  .regex(SIZE_PATTERN, 'must be a size such as 10g, 512mib, 20% or >30g')
  .describe('Size: 10g, 512mib, 20%, or >30g for at least 30 GB and what is left.');
const labels = z.record(z.string(), z.unknown()).describe('Labels; MAAS does not receive them.').optional();

/** Filesystems that MAAS can create; see its form. */
const FILESYSTEMS = ['ext2', 'ext4', 'xfs', 'btrfs', 'fat32', 'vfat', 'swap'] as const;

export type Filesystem = (typeof FILESYSTEMS)[number];

const filesystem = z.strictObject({
  fstype: z.enum(FILESYSTEMS).describe('Default: ext4.').optional(),
  mountpoint: z
    .string()
    .regex(/^(?:\/.*|none)$/, 'must be a path such as /var')
    .describe('Where it is mounted. Without it, the device stays raw, unless it is swap.')
    .optional(),
  mount_options: z.string().min(1).describe('Default: defaults.').optional(),
  fs_uuid: uuid.optional(),
  fs_label: z.string().min(1).optional(),
});

const partition = z.strictObject({
  name,
  size: size.optional(),
  bootable: z.boolean().optional(),
  part_uuid: uuid.optional(),
  volume_group: name.describe('Volume group this partition belongs to.').optional(),
  labels,
  filesystem: filesystem.optional(),
});

const physicalDevice = z.strictObject({
  labels: labels.describe('bootdrive: true makes it the boot disk.'),
  volume_group: name.describe('Volume group the whole disk belongs to, instead of partitions.').optional(),
  partitions: z.array(partition).optional(),
});

const logicalVolume = z.strictObject({
  name,
  size: size.optional(),
  lv_uuid: uuid.optional(),
  filesystem: filesystem.optional(),
});

const volumeGroup = z.strictObject({
  vg_uuid: uuid.optional(),
  logical_volumes: z.array(logicalVolume).optional(),
});

/** Keys of other tools are allowed beside these, as for Drydock. */
const hostInterface = z.looseObject({
  device_link: name.describe('NetworkLink at this interface.').optional(),
  slaves: names.describe('Its devices: names in MAAS or aliases of the hardware profile.').optional(),
  networks: names.describe('Networks on this interface.').optional(),
  labels,
  sriov: z.unknown().optional(),
  ovs_dpdk: z.unknown().optional(),
  pci_whitelist: z.unknown().optional(),
});

/** `interfaces` and `storage` of nodes and host profiles. `null` removes an inherited value. */
export const layoutKeys = {
  hardware_profile: name.describe('Hardware profile with the aliases of devices.').optional(),
  primary_network: name.describe('Network whose gateway is the default gateway of the node.').optional(),
  interfaces: z
    .record(z.string(), hostInterface)
    .describe('Interfaces, configured in MAAS before the deployment.')
    .optional(),
  storage: z
    .strictObject({
      physical_devices: z.record(z.string(), physicalDevice.nullable()).optional(),
      volume_groups: z.record(z.string(), volumeGroup.nullable()).optional(),
    })
    .describe('Partitions and volumes, configured in MAAS before the deployment.')
    .optional(),
};

export type HostInterface = z.infer<typeof hostInterface>;
export type PhysicalDevice = z.infer<typeof physicalDevice>;
export type VolumeGroup = z.infer<typeof volumeGroup>;
export type Partition = z.infer<typeof partition>;

const mtu = z.int().min(1280).max(65_536);
const milliseconds = z.int().nonnegative();
const ofDrydock = z.unknown().optional();
const address = z.string().refine((text) => isIP(text) > 0, 'must be an IP address');
const subnet = z.string().refine((text) => isCidr(text), 'must be a network such as 10.23.21.0/24');

/** Bonding modes by the words of Drydock and of Linux, with MAAS' word for each. */
export const BOND_MODES: Readonly<Record<string, string>> = {
  '802.3ad': '802.3ad',
  'active-backup': 'active-backup',
  'balanced-rr': 'balance-rr',
  'balance-rr': 'balance-rr',
  'balance-xor': 'balance-xor',
  'balance-tlb': 'balance-tlb',
  'balance-alb': 'balance-alb',
  broadcast: 'broadcast',
};

/** `data` of drydock/NetworkLink/v1. */
export const networkLinkSchema = z.strictObject({
  bonding: z
    .strictObject({
      mode: z.enum(['disabled', ...Object.keys(BOND_MODES)]).describe('Default: disabled.'),
      hash: z.enum(['layer2', 'layer2+3', 'layer3+4', 'encap2+3', 'encap3+4']).optional(),
      peer_rate: z.enum(['fast', 'slow']).optional(),
      mon_rate: milliseconds.optional(),
      up_delay: milliseconds.optional(),
      down_delay: milliseconds.optional(),
    })
    .optional(),
  mtu: mtu.optional(),
  trunking: z
    .strictObject({
      mode: z.enum(['disabled', '802.1q']).describe('Default: disabled.'),
      default_network: name.describe('Network without a tag.').optional(),
    })
    .optional(),
  allowed_networks: names.describe('Networks on this link.').optional(),
  linkspeed: ofDrydock,
  labels,
});

/** `data` of drydock/Network/v1. MAAS has the subnet already; it is found by `cidr`. */
export const networkSchema = z.strictObject({
  cidr: subnet.optional(),
  vlan: z
    .string()
    .refine((tag) => /^\d+$/.test(tag) && Number(tag) <= 4094, 'must be 0 to 4094')
    .describe('VLAN tag, as text; 0 for none.')
    .optional(),
  mtu: mtu.optional(),
  ranges: z
    .array(z.strictObject({ type: z.string(), start: address, end: address }))
    .describe('Address ranges, made in MAAS.')
    .optional(),
  dns: z
    .strictObject({ domain: ofDrydock, servers: z.string().describe('Addresses, with commas between.').optional() })
    .optional(),
  dhcp_relay: ofDrydock,
  routes: z
    .array(
      z.strictObject({
        subnet: subnet.describe('Destination; 0.0.0.0/0 for the gateway of the subnet.').optional(),
        routedomain: name.describe('All other networks of this domain, instead of subnet.').optional(),
        gateway: address,
        metric: z.int().nonnegative().optional(),
      }),
    )
    .describe('Routes, made in MAAS.')
    .optional(),
  routedomain: name.describe('Domain that routes of other networks lead to.').optional(),
  labels,
});

/** `data` of drydock/HardwareProfile/v1. */
export const hardwareProfileSchema = z.strictObject({
  device_aliases: z
    .record(
      z.string(),
      z.looseObject({
        address: z.string().min(1).describe('Address on its bus: 0000:00:03.0, 2:0.0.0.'),
        bus_type: z.string().min(1).describe('pci, scsi, …'),
      }),
    )
    .optional(),
  vendor: ofDrydock,
  generation: ofDrydock,
  hw_version: ofDrydock,
  bios_version: ofDrydock,
  boot_mode: z.enum(['bios', 'uefi']).optional(),
  bootstrap_protocol: ofDrydock,
  pxe_interface: ofDrydock,
  cpu_sets: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe('For kernel options.')
    .optional(),
  hugepages: z
    .record(z.string(), z.looseObject({ size: z.union([z.string(), z.number()]), count: z.number() }))
    .describe('For kernel options.')
    .optional(),
});

export type NetworkLinkData = z.infer<typeof networkLinkSchema>;
export type NetworkData = z.infer<typeof networkSchema>;
export type HardwareProfileData = z.infer<typeof hardwareProfileSchema>;

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...more] = text.split('/');
  const version = isIP(address);
  return version > 0 && more.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
