import type {
  Automation,
  Controls,
  Effect,
  Image,
  IpRange,
  MaasEvent,
  Machine,
  NetworkInterface,
  Pool,
  RequestEntry,
  ReservedAddress,
  StaticRoute,
  Subnet,
  Tag,
  Vlan,
  Zone,
} from './records.js';
import { ChangeSet, Log, Table } from './tables.js';

const noAutomation = (): Automation => ({
  delays: {},
  jitter: 0,
  fail: {},
  failTimes: {},
  failComment: 'Failed by the simulator',
  discover: true,
});

const macKey = (mac: string): string => mac.toLowerCase();

/** All data of a region, in memory, with indexes that keep 1,000 machines fast. */
export class Region {
  readonly changes = new ChangeSet();
  readonly zones = new Table<Zone>('zones', this.changes);
  readonly pools = new Table<Pool>('pools', this.changes);
  readonly tags = new Table<Tag>('tags', this.changes);
  readonly vlans = new Table<Vlan>('vlans', this.changes);
  readonly subnets = new Table<Subnet>('subnets', this.changes);
  readonly routes = new Table<StaticRoute>('routes', this.changes);
  readonly ranges = new Table<IpRange>('ranges', this.changes);
  readonly reserved = new Table<ReservedAddress>('reserved', this.changes);
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
      this.vlans,
      this.subnets,
      this.routes,
      this.ranges,
      this.reserved,
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

  /** Resets to a newly installed region: one zone, pool, fabric and subnet, two images, no machine. */
  reset(): void {
    for (const table of this.tables) table.clear();
    for (const log of this.logs) log.clear();
    this.#byHostname.clear();
    this.#byMac.clear();
    this.#addresses.clear();
    this.zones.put('default', { id: 1, name: 'default', description: '' });
    this.pools.put('0', { id: 0, name: 'default', description: 'Default pool' });
    this.vlans.put('5001', { id: 5001, vid: 0, fabric: 0, name: 'untagged', mtu: 1500, space: 'space-1' });
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

  /** Changes indexed fields. */
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
    return this.#addresses.has(address) || this.reserved.has(address);
  }

  poolOf(machine: Readonly<Machine>): Readonly<Pool> {
    return this.pools.get(String(machine.pool)) as Readonly<Pool>;
  }

  poolNamed(name: string): Readonly<Pool> | undefined {
    for (const pool of this.pools.values()) if (pool.name === name) return pool;
    return undefined;
  }

  /** Six characters, like MAAS' ids; from a counter, so that runs are reproducible. */
  newSystemId(): string {
    const letters = '34678abcdefghkmnpqrtwxy';
    for (;;) {
      // Steps through all 23^5 ids by a coprime number, so that consecutive ids differ widely.
      let n = (this.next('machine') * 2_654_435) % letters.length ** 5;
      let id = '';
      for (let i = 0; i < 5; i++) {
        id += letters[n % letters.length];
        n = Math.floor(n / letters.length);
      }
      // A leading letter keeps an id from being read as a number.
      const candidate = `s${id}`;
      if (!this.machines.has(candidate)) return candidate;
    }
  }

  /** Rebuilds the indexes after rows were restored from the journal. */
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
