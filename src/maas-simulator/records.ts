import { MachineStatus } from '../maas/status.js';

/** A physical zone, addressed by name. */
export interface Zone {
  id: number;
  name: string;
  description: string;
}

/** A resource pool, addressed by id. */
export interface Pool {
  id: number;
  name: string;
  description: string;
}

export interface Tag {
  name: string;
  definition: string;
  comment: string;
  kernel_opts: string;
}

export interface Vlan {
  id: number;
  vid: number;
  fabric: number;
  name: string;
  mtu: number;
  space: string;
}

export interface Subnet {
  id: number;
  name: string;
  vlan: number;
  cidr: string;
  gateway: string;
  dnsServers?: readonly string[];
}

export interface StaticRoute {
  id: number;
  source: number;
  destination: number;
  gateway: string;
  metric: number;
}

export interface IpRange {
  id: number;
  type: string;
  start: string;
  end: string;
  subnet: number;
  comment: string;
}

/** An address that a user keeps from machines. */
export interface ReservedAddress {
  readonly ip: string;
  readonly subnet: number;
  readonly owner: string;
}

/** An image that can be deployed. `name` as in `ubuntu/jammy`. */
export interface Image {
  id: number;
  name: string;
  /** Version number that MAAS accepts instead of the name, e.g. `22.04`; empty for a custom image. */
  version: string;
  architecture: string;
  kernels: readonly string[];
  type: string;
  lastDeployed: string | null;
}

export interface Link {
  readonly id: number;
  readonly mode: 'auto' | 'dhcp' | 'static' | 'link_up';
  readonly subnet: number | null;
  readonly address: string | null;
}

export interface NetworkInterface {
  readonly id: number;
  readonly name: string;
  readonly type: 'physical' | 'bond' | 'bridge' | 'vlan';
  readonly mac: string;
  readonly vlan: number | null;
  /** Null: that of its VLAN. */
  readonly mtu: number | null;
  /** Options of a bond. */
  readonly params: Readonly<Record<string, string | number>>;
  readonly links: readonly Link[];
  readonly parents: readonly string[];
  readonly tags: readonly string[];
}

export interface Filesystem {
  readonly fstype: string;
  readonly label: string | null;
  readonly uuid: string;
  /** Null when it is not mounted; `none` for swap. */
  readonly mountPoint: string | null;
  readonly mountOptions: string | null;
}

/** What holds a filesystem: a disk, a partition, a logical volume. */
interface BlockDevice {
  readonly id: number;
  readonly size: number;
  readonly filesystem: Filesystem | null;
}

export interface Disk extends BlockDevice {
  readonly name: string;
  readonly blockSize: number;
  readonly model: string;
  readonly serial: string;
  readonly partitions: readonly Partition[];
}

export interface Partition extends BlockDevice {
  readonly uuid: string;
  readonly bootable: boolean;
}

/** A logical volume; MAAS numbers it among the disks. */
export interface Volume extends BlockDevice {
  readonly name: string;
  readonly uuid: string;
}

export interface VolumeGroup extends Pick<Volume, 'id' | 'name' | 'uuid'> {
  /** Ids of its physical volumes. */
  readonly disks: readonly number[];
  readonly partitions: readonly number[];
  readonly volumes: readonly Volume[];
}

export interface ScriptResult {
  readonly id: number;
  readonly name: string;
  readonly status: number;
  readonly exitStatus: number | null;
  readonly output: string;
}

/** One run of commissioning, testing, installation or release scripts. */
export interface ScriptSet {
  readonly id: number;
  readonly type: 'commissioning' | 'installation' | 'testing' | 'release';
  readonly status: number;
  /** Epoch milliseconds. */
  readonly started: number;
  readonly ended: number | null;
  readonly results: readonly ScriptResult[];
}

export type Phase = 'commission' | 'deploy' | 'erase' | 'release' | 'rescue' | 'test';
export type PowerState = 'on' | 'off' | 'unknown' | 'error';

export interface Machine {
  id: string;
  hostname: string;
  domain: string;
  description: string;
  architecture: string;
  status: number;
  /** The state that rescue mode, testing or commissioning goes back to. */
  previousStatus: number;
  owner: string | null;
  agentName: string;
  zone: string;
  pool: number;
  tags: readonly string[];
  powerType: string;
  powerParameters: Readonly<Record<string, unknown>>;
  powerState: PowerState;
  osystem: string;
  distroSeries: string;
  hweKernel: string | null;
  ephemeral: boolean;
  locked: boolean;
  ownerData: Readonly<Record<string, string>>;
  statusMessage: string | null;
  statusAction: string | null;
  errorDescription: string;
  cpuCount: number;
  memory: number;
  interfaces: readonly NetworkInterface[];
  disks: readonly Disk[];
  volumeGroups: readonly VolumeGroup[];
  /** Link chosen for the default gateway; null: MAAS chooses. */
  gatewayLink: number | null;
  isUefi: boolean;
  scriptSets: readonly ScriptSet[];
  current: Readonly<Partial<Record<ScriptSet['type'], number>>>;
  /** When the running phase ends automatically (epoch milliseconds); null when only a rack event ends it. */
  due: { readonly phase: Phase; readonly at: number } | null;
  /** As sent with the last deployment: base64. */
  userData?: string | null;
}

export interface MaasEvent {
  readonly id: number;
  readonly node: string;
  readonly hostname: string;
  readonly level: keyof typeof eventLevels;
  readonly type: string;
  readonly description: string;
  readonly username: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** `level=` of `events/?op=query` is a minimum on this scale. */
export const eventLevels = { AUDIT: 0, DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 } as const;

/** A change of state. `from` is null for a new machine, `to` for a deleted one. */
export interface Effect {
  readonly n: number;
  readonly at: string;
  readonly system_id: string;
  readonly hostname: string;
  readonly from: number | null;
  readonly to: number | null;
  /** The operation (`deploy`), rack event (`rack:deployed`) or timer (`auto:deployed`) that caused it. */
  readonly cause: string;
  readonly user: string | null;
}

/** One API request, without its `Authorization` header. */
export interface RequestEntry {
  readonly n: number;
  readonly at: string;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly user: string | null;
  readonly status: number | null;
  /** Kind of the injected fault, if any. */
  readonly fault: string | null;
}

/** Duration of each automatic phase, and the machines that fail in it; see `readAutomation`. */
export interface Automation {
  delays: Readonly<Partial<Record<Phase, number>>>;
  /** Share of the delay by which it varies, 0 to 1. */
  jitter: number;
  /** Hostnames or system_ids that fail in that phase every time. */
  fail: Readonly<Partial<Record<Phase, readonly string[]>>>;
  /** Remaining failures of a hostname or system_id in that phase. */
  failTimes: Readonly<Partial<Record<Phase, Readonly<Record<string, number>>>>>;
  failComment: string;
  /** Commissioning finds a disk and a network, as for a real machine. */
  discover: boolean;
}

export interface Fault {
  readonly match: string;
  readonly kind: string;
  readonly times: number;
  readonly ms: number;
}

/** Switches of the simulator, outside MAAS' data. */
export interface Controls {
  rackUp: boolean;
  bmcConflict: boolean;
  automation: Automation;
  faults: readonly Fault[];
}

/** A machine as MAAS creates it, before anything is known about it. */
export function blankMachine(
  fields: Pick<Machine, 'id' | 'hostname' | 'architecture' | 'powerType' | 'powerParameters'>,
): Machine {
  return {
    ...fields,
    domain: 'maas',
    description: '',
    status: MachineStatus.New,
    previousStatus: MachineStatus.New,
    owner: null,
    agentName: '',
    zone: 'default',
    pool: 0,
    tags: [],
    powerState: 'unknown',
    osystem: '',
    distroSeries: '',
    hweKernel: null,
    ephemeral: false,
    locked: false,
    ownerData: {},
    statusMessage: null,
    statusAction: null,
    errorDescription: '',
    cpuCount: 0,
    memory: 0,
    interfaces: [],
    disks: [],
    volumeGroups: [],
    gatewayLink: null,
    isUefi: false,
    scriptSets: [],
    current: {},
    due: null,
  };
}
