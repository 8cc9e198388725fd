import { MachineStatus } from '@sitewright/maas/status';
import type { FoundNic, NetworkInterface } from './network/records.ts';
import type { StorageLayout, UserFilesystems } from './storage/records.ts';

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

/** A group of users with rights on MAAS, since 3.8. */
export interface UserGroup {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** A domain of DNS. The default one has the id 0. */
export interface Domain {
  id: number;
  name: string;
  authoritative: boolean;
  ttl: number | null;
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

export interface Machine extends StorageLayout {
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
  /** Null: the first one. */
  bootInterface: number | null;
  /** Links chosen for the default gateways; null: MAAS chooses. */
  gatewayLinks: { readonly ipv4: number | null; readonly ipv6: number | null };
  /** The network cards that the next commissioning finds; null: those that it has. */
  foundNics: readonly FoundNic[] | null;
  /** Addresses on a bus of cards and disks, by their names; others have some by their order. */
  buses?: Readonly<Record<string, string>>;
  /** Null: the first one. */
  bootDisk: number | null;
  /** Of its user, while it has one. */
  userFilesystems: UserFilesystems;
  isUefi: boolean;
  /** Parts that the running commissioning does not change. */
  skips: { readonly networking: boolean; readonly storage: boolean };
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
    bootInterface: null,
    gatewayLinks: { ipv4: null, ipv6: null },
    foundNics: null,
    disks: [],
    virtual: [],
    groups: [],
    cacheSets: [],
    bootDisk: null,
    userFilesystems: {},
    isUefi: false,
    skips: { networking: false, storage: false },
    scriptSets: [],
    current: {},
    due: null,
  };
}
