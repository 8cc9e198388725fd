import { type IpAddress, parseAddress } from './network/ip.ts';
import type {
  Fabric,
  IpRange,
  NetworkInterface,
  ReservedAddress,
  Space,
  StaticRoute,
  Subnet,
  Vlan,
} from './network/records.ts';
import type {
  Automation,
  Controls,
  Domain,
  Effect,
  Image,
  MaasEvent,
  Machine,
  Pool,
  RequestEntry,
  Tag,
  UserGroup,
  Zone,
} from './records.ts';
import { ChangeSet, Log, Table } from './tables.ts';
import type { MaasVersion } from './versions.ts';

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
  /** Whose answers it gives. */
  readonly version: MaasVersion;
  readonly changes = new ChangeSet();
  readonly zones = new Table<Zone>('zones', this.changes);
  readonly pools = new Table<Pool>('pools', this.changes);
  readonly userGroups = new Table<UserGroup>('user-groups', this.changes);
  readonly tags = new Table<Tag>('tags', this.changes);
  readonly domains = new Table<Domain>('domains', this.changes);
  readonly fabrics = new Table<Fabric>('fabrics', this.changes);
  readonly spaces = new Table<Space>('spaces', this.changes);
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
  readonly #given = new AddressCount();
  readonly #discovered = new AddressCount();

  constructor(version: MaasVersion) {
    this.version = version;
    this.reset();
  }

  get tables(): readonly Table<object>[] {
    return [
      this.zones,
      this.pools,
      this.userGroups,
      this.tags,
      this.domains,
      this.fabrics,
      this.spaces,
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

  /** Resets to a newly installed region: one zone and pool, the subnet `prov`, two images, no machine. */
  reset(): void {
    for (const table of this.tables) table.clear();
    for (const log of this.logs) log.clear();
    this.#byHostname.clear();
    this.#byMac.clear();
    this.#given.clear();
    this.#discovered.clear();
    this.zones.put('default', { id: 1, name: 'default', description: '' });
    this.pools.put('0', { id: 0, name: 'default', description: 'Default pool' });
    this.domains.put('0', { id: 0, name: 'maas', authoritative: true, ttl: null });
    this.#addFirstNetworks();
    this.addImage('ubuntu/jammy', '22.04', ['ga-22.04']);
    this.addImage('ubuntu/noble', '24.04', ['ga-24.04']);
    this.counters.put('zone', { value: 1 });
    this.controls.put('controls', { rackUp: true, bmcConflict: false, automation: noAutomation(), faults: [] });
  }

  /** A fabric with the subnet that machines start in, and one that nothing is on, as a new MAAS has it. */
  #addFirstNetworks(): void {
    this.spaces.put('1', { id: 1, name: null });
    this.spaces.put('2', { id: 2, name: 'provisioning' });
    this.counters.put('space', { value: 2 });
    const [vlan, unused] = [this.addFabric(), this.addFabric()].map(({ id }) => this.firstVlanOf(id).id);
    this.vlans.edit(String(vlan)).space = 2;
    this.vlans.edit(String(unused)).space = 1;
    this.counters.put('subnet', { value: 1 });
    const network = { cidr: '10.76.0.0/24', gateway: '10.76.0.1' };
    this.subnets.put('1', { id: 1, name: 'prov', vlan: vlan ?? 0, ...network });
  }

  addFabric(given: { id?: number; name?: string | null; classType?: string | null } = {}): Fabric {
    let id = given.id ?? this.next('fabric');
    while (given.id === undefined && this.fabrics.has(String(id))) id = this.next('fabric');
    const fabric = { id, name: given.name ?? null, classType: given.classType ?? null };
    this.fabrics.put(String(id), fabric);
    this.addVlan({ fabric: id, vid: 0, name: 'untagged' });
    return fabric;
  }

  addVlan(given: Pick<Vlan, 'fabric' | 'vid' | 'name'> & Partial<Vlan>): Vlan {
    const id = 5000 + this.next('vlan');
    return this.vlans.put(String(id), { mtu: 1500, space: null, ...given, id });
  }

  /** In the order of their making; the first is the default of its fabric. */
  vlansOf(fabric: number): Readonly<Vlan>[] {
    return [...this.vlans.values()].filter((vlan) => vlan.fabric === fabric).sort((a, b) => a.id - b.id);
  }

  firstVlanOf(fabric: number): Readonly<Vlan> {
    return this.vlansOf(fabric)[0] as Readonly<Vlan>;
  }

  /** The default VLAN, in fabric 0, which is created if it is missing. */
  defaultVlan(): Readonly<Vlan> {
    if (!this.fabrics.has('0')) this.addFabric({ id: 0 });
    return this.firstVlanOf(0);
  }

  vlan(id: number | null): Readonly<Vlan> | undefined {
    return id === null ? undefined : this.vlans.get(String(id));
  }

  subnet(id: number | null): Readonly<Subnet> | undefined {
    return id === null ? undefined : this.subnets.get(String(id));
  }

  subnetsOn(vlan: number): Readonly<Subnet>[] {
    return [...this.subnets.values()].filter((subnet) => subnet.vlan === vlan);
  }

  /** Interfaces on a VLAN, with their machines. */
  *interfacesOn(test: (vlan: number) => boolean): Generator<[Readonly<Machine>, NetworkInterface]> {
    for (const machine of this.machines.values()) {
      for (const nic of machine.interfaces) if (nic.vlan !== null && test(nic.vlan)) yield [machine, nic];
    }
  }

  /** Removes the fabric of a VLAN that an interface has left, when nothing else is on it. */
  forgetEmptyFabric(vlan: number): void {
    const fabric = this.vlan(vlan)?.fabric;
    if (fabric === undefined) return;
    const ids = new Set(this.vlansOf(fabric).map(({ id }) => id));
    if ([...this.subnets.values()].some((subnet) => ids.has(subnet.vlan))) return;
    if (!this.interfacesOn((id) => ids.has(id)).next().done) return;
    for (const id of ids) this.vlans.delete(String(id));
    this.fabrics.delete(String(fabric));
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

  /** True for an address of a link, a discovered one, and one that a user reserved. */
  addressTaken(address: string): boolean {
    return this.addressGiven(address) || this.#discovered.has(address);
  }

  /** The same without discovered ones. */
  addressGiven(address: string): boolean {
    return this.#given.has(address) || this.reserved.has(address);
  }

  /** Addresses of links, and those that commissioning found. */
  machineAddresses(withoutDiscovered: boolean): readonly IpAddress[] {
    return withoutDiscovered ? this.#given.all : [...this.#given.all, ...this.#discovered.all];
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
    this.#given.clear();
    this.#discovered.clear();
    for (const machine of this.machines.values()) this.#index(machine);
  }

  #index(machine: Readonly<Machine>): void {
    const same = this.#byHostname.get(machine.hostname);
    if (same) same.add(machine.id);
    else this.#byHostname.set(machine.hostname, new Set([machine.id]));
    for (const nic of machine.interfaces) {
      if (nic.type === 'physical') this.#byMac.set(macKey(nic.mac), machine.id);
      this.#count(nic, 1);
    }
  }

  #unindex(machine: Readonly<Machine>): void {
    const same = this.#byHostname.get(machine.hostname);
    same?.delete(machine.id);
    if (same?.size === 0) this.#byHostname.delete(machine.hostname);
    for (const nic of machine.interfaces) {
      this.#byMac.delete(macKey(nic.mac));
      this.#count(nic, -1);
    }
  }

  #count({ links, discovered }: NetworkInterface, change: 1 | -1): void {
    for (const { address } of links) if (address !== null) this.#given.count(address, change);
    for (const { address } of discovered) this.#discovered.count(address, change);
  }
}

/** Addresses, with how often each is there. */
class AddressCount {
  readonly #known = new Map<string, { times: number; readonly address: IpAddress }>();

  get all(): readonly IpAddress[] {
    return [...this.#known.values()].map(({ address }) => address);
  }

  has(text: string): boolean {
    return this.#known.has(text);
  }

  count(text: string, change: 1 | -1): void {
    const address = this.#known.get(text)?.address ?? parseAddress(text);
    const times = (this.#known.get(text)?.times ?? 0) + change;
    if (address && times > 0) this.#known.set(text, { times, address });
    else this.#known.delete(text);
  }

  clear(): void {
    this.#known.clear();
  }
}
