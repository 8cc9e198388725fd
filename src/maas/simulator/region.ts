import { MachineStatus } from '../status.js';
import { ChangeSet, Log, Table } from './tables.js';

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

export interface Subnet {
  id: number;
  name: string;
  vlan: number;
  cidr: string;
  gateway: string;
}

/** An image that can be deployed. `name` as in `ubuntu/jammy`. */
export interface Image {
  id: number;
  name: string;
  /** Version number that MAAS takes instead of the name, e.g. `22.04`; empty for a custom image. */
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
  readonly links: readonly Link[];
  readonly parents: readonly string[];
  readonly tags: readonly string[];
}

export interface Disk {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly blockSize: number;
  readonly model: string;
  readonly serial: string;
}

/** What a storage layout made on the boot disk. */
export interface Layout {
  readonly name: string;
  readonly bootDisk: number;
  readonly partition: number;
  readonly volume: number;
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
  layout: Layout | null;
  scriptSets: readonly ScriptSet[];
  current: Readonly<Partial<Record<ScriptSet['type'], number>>>;
  /** When the running phase ends by itself (epoch milliseconds); null when only a rack event ends it. */
  due: { readonly phase: Phase; readonly at: number } | null;
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

/** A change of state that really happened. `from` is null for a machine made, `to` for one deleted. */
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

/** One API request as it arrived; the `Authorization` header is left out. */
export interface RequestEntry {
  readonly n: number;
  readonly at: string;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly user: string | null;
  readonly status: number | null;
  /** Kind of the injected fault that met it. */
  readonly fault: string | null;
}

/** How long each phase takes by itself, and which machines fail in it; see `readAutomation`. */
export interface Automation {
  delays: Readonly<Partial<Record<Phase, number>>>;
  /** Share of the delay by which it varies, 0 to 1. */
  jitter: number;
  /** Hostnames or system_ids that fail in that phase every time. */
  fail: Readonly<Partial<Record<Phase, readonly string[]>>>;
  /** How many times more a hostname or system_id fails in that phase. */
  failTimes: Readonly<Partial<Record<Phase, Readonly<Record<string, number>>>>>;
  failComment: string;
  /** Commissioning finds a disk and a network, as that of a real machine does. */
  discover: boolean;
}

export interface Fault {
  readonly match: string;
  readonly kind: string;
  readonly times: number;
  readonly ms: number;
}

/** Switches of the simulator that are no part of MAAS' own data. */
export interface Controls {
  rackUp: boolean;
  bmcConflict: boolean;
  automation: Automation;
  faults: readonly Fault[];
}

const noAutomation = (): Automation => ({
  delays: {},
  jitter: 0,
  fail: {},
  failTimes: {},
  failComment: 'Failed by the simulator',
  discover: true,
});

const macKey = (mac: string): string => mac.toLowerCase();

/** Everything a region knows, in memory, with the indexes that keep 1,000 machines quick. */
export class Region {
  readonly changes = new ChangeSet();
  readonly zones = new Table<Zone>('zones', this.changes);
  readonly pools = new Table<Pool>('pools', this.changes);
  readonly tags = new Table<Tag>('tags', this.changes);
  readonly subnets = new Table<Subnet>('subnets', this.changes);
  readonly images = new Table<Image>('images', this.changes);
  readonly machines = new Table<Machine>('machines', this.changes);
  readonly settings = new Table<{ value: unknown }>('settings', this.changes);
  readonly counters = new Table<{ value: number }>('counters', this.changes);
  readonly controls = new Table<Controls>('controls', this.changes);
  readonly events = new Log<MaasEvent>('events', this.changes);
  readonly effects = new Log<Effect>('effects', this.changes);
  readonly requests = new Log<RequestEntry>('requests', this.changes);
  readonly #byHostname = new Map<string, Set<string>>();
  readonly #byMac = new Map<string, string>();
  readonly #addresses = new Set<string>();

  constructor() {
    this.reset();
  }

  get tables(): readonly Table<object>[] {
    return [
      this.zones,
      this.pools,
      this.tags,
      this.subnets,
      this.images,
      this.machines,
      this.settings,
      this.counters,
      this.controls,
    ] as unknown as readonly Table<object>[];
  }

  get logs(): readonly Log<object>[] {
    return [this.events, this.effects, this.requests] as unknown as readonly Log<object>[];
  }

  /** A region as it is after installation: one zone, pool, fabric and subnet, two images, no machine. */
  reset(): void {
    for (const table of this.tables) table.clear();
    for (const log of this.logs) log.clear();
    this.#byHostname.clear();
    this.#byMac.clear();
    this.#addresses.clear();
    this.zones.put('default', { id: 1, name: 'default', description: '' });
    this.pools.put('0', { id: 0, name: 'default', description: 'Default pool' });
    this.subnets.put('1', { id: 1, name: 'prov', vlan: 5001, cidr: '10.77.0.0/24', gateway: '10.77.0.1' });
    this.addImage('ubuntu/jammy', '22.04', ['ga-22.04']);
    this.addImage('ubuntu/noble', '24.04', ['ga-24.04']);
    this.counters.put('zone', { value: 1 });
    this.counters.put('subnet', { value: 1 });
    this.controls.put('controls', { rackUp: true, bmcConflict: false, automation: noAutomation(), faults: [] });
  }

  addImage(name: string, version: string, kernels: readonly string[], architecture = 'amd64'): void {
    const known = this.images.get(name);
    const id = known?.id ?? this.next('image');
    const type = name.startsWith('custom/') ? 'Uploaded' : 'Synced';
    this.images.put(name, {
      id,
      name,
      version,
      architecture,
      kernels,
      type,
      lastDeployed: known?.lastDeployed ?? null,
    });
  }

  /** The next number of a sequence, from 1. */
  next(counter: string): number {
    if (!this.counters.has(counter)) this.counters.put(counter, { value: 0 });
    const row = this.counters.edit(counter);
    row.value += 1;
    return row.value;
  }

  get control(): Readonly<Controls> {
    return this.controls.get('controls') as Readonly<Controls>;
  }

  editControl(): Controls {
    return this.controls.edit('controls');
  }

  /** Adds a machine; the caller has checked that its names and MAC addresses are free. */
  addMachine(machine: Machine): Machine {
    this.machines.put(machine.id, machine);
    this.#index(machine);
    return machine;
  }

  deleteMachine(machine: Readonly<Machine>): void {
    this.#unindex(machine);
    this.machines.delete(machine.id);
  }

  editMachine(machine: Readonly<Machine>): Machine {
    return this.machines.edit(machine.id);
  }

  /** Changes what the indexes are made of. */
  rename(machine: Readonly<Machine>, name: { hostname?: string; domain?: string }): void {
    this.#unindex(machine);
    Object.assign(this.editMachine(machine), name);
    this.#index(machine);
  }

  setInterfaces(machine: Readonly<Machine>, interfaces: readonly NetworkInterface[]): void {
    this.#unindex(machine);
    this.editMachine(machine).interfaces = interfaces;
    this.#index(machine);
  }

  machinesNamed(hostname: string): Readonly<Machine>[] {
    return [...(this.#byHostname.get(hostname) ?? [])].flatMap((id) => this.machines.get(id) ?? []);
  }

  machineWithMac(mac: string): Readonly<Machine> | undefined {
    const id = this.#byMac.get(macKey(mac));
    return id === undefined ? undefined : this.machines.get(id);
  }

  addressTaken(address: string): boolean {
    return this.#addresses.has(address);
  }

  poolOf(machine: Readonly<Machine>): Readonly<Pool> {
    return this.pools.get(String(machine.pool)) as Readonly<Pool>;
  }

  poolNamed(name: string): Readonly<Pool> | undefined {
    for (const pool of this.pools.values()) if (pool.name === name) return pool;
    return undefined;
  }

  /** Six characters, as MAAS makes them; taken from a counter, so that a run can be repeated. */
  newSystemId(): string {
    const letters = '34678abcdefghkmnpqrtwxy';
    for (;;) {
      // Steps through all 23^5 ids by a number that shares no factor with it, so neighbours differ widely.
      let n = (this.next('machine') * 2_654_435) % letters.length ** 5;
      let id = '';
      for (let i = 0; i < 5; i++) {
        id += letters[n % letters.length];
        n = Math.floor(n / letters.length);
      }
      // A letter in front keeps an id from being read as a number.
      const candidate = `s${id}`;
      if (!this.machines.has(candidate)) return candidate;
    }
  }

  /** Builds the indexes anew after rows came from the journal. */
  reindex(): void {
    this.#byHostname.clear();
    this.#byMac.clear();
    this.#addresses.clear();
    for (const machine of this.machines.values()) this.#index(machine);
  }

  #index(machine: Readonly<Machine>): void {
    const same = this.#byHostname.get(machine.hostname);
    if (same) same.add(machine.id);
    else this.#byHostname.set(machine.hostname, new Set([machine.id]));
    for (const nic of machine.interfaces) {
      if (nic.type === 'physical') this.#byMac.set(macKey(nic.mac), machine.id);
      for (const link of nic.links) if (link.address !== null) this.#addresses.add(link.address);
    }
  }

  #unindex(machine: Readonly<Machine>): void {
    const same = this.#byHostname.get(machine.hostname);
    same?.delete(machine.id);
    if (same?.size === 0) this.#byHostname.delete(machine.hostname);
    for (const nic of machine.interfaces) {
      this.#byMac.delete(macKey(nic.mac));
      for (const link of nic.links) if (link.address !== null) this.#addresses.delete(link.address);
    }
  }
}

/** A machine as MAAS makes it before anything is known of it. */
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
    layout: null,
    scriptSets: [],
    current: {},
    due: null,
  };
}
