import { isMachineStatus, type MachineStatus, machineStatusFilters, MachineStatus as S } from '@sitewright/maas/status';
import { beginPhase } from './automation.ts';
import { isMac } from './constraints.ts';
import { equip, subnetsInTurn } from './hardware.ts';
import { findAddresses } from './network/addresses.ts';
import { subnetAround } from './network/find.ts';
import { Interfaces } from './network/interfaces.ts';
import { formatAddress, formatNetwork, parseAddress, parseNetwork } from './network/ip.ts';
import type { FoundNic, Subnet } from './network/records.ts';
import { blankMachine, type Machine } from './records.ts';
import type { Region } from './region.ts';
import { endScripts, noteEffect, noteEvent, type Simulation, startScripts } from './simulation.ts';
import { newDisk } from './storage/disks.ts';
import { isInUse, userFilesystems } from './storage/in-use.ts';

/** One machine to make. Omitted fields have MAAS' defaults. */
interface SeedMachine {
  readonly hostname: string;
  /** Made if the region does not have it. */
  readonly domain?: string;
  readonly mac?: string;
  readonly tags?: readonly string[];
  readonly zone?: string;
  readonly pool?: string;
  /** Number, or the name used by the list filter (`ready`). Default: Ready. */
  readonly status?: number | string;
  readonly owner?: string;
  readonly owner_data?: Readonly<Record<string, string>>;
  readonly power_type?: string;
  readonly power_state?: Machine['powerState'];
  readonly power_parameters?: Readonly<Record<string, unknown>>;
  readonly osystem?: string;
  readonly distro_series?: string;
  readonly hwe_kernel?: string;
  readonly agent_name?: string;
  readonly description?: string;
  readonly error_description?: string;
  readonly locked?: boolean;
  /** All cards, as commissioning found them; or names of further ones: the first is `eth0`. */
  readonly interfaces?: readonly (string | SeedNic)[];
  /** Disks instead of the usual one; sizes in bytes. */
  readonly disks?: readonly SeedDisk[];
  /** It starts by UEFI. */
  readonly uefi?: boolean;
}

interface SeedDisk {
  readonly name: string;
  readonly size: number;
  readonly block_size?: number;
  /** Its address on a bus as `lshw` tells it, `scsi@2:0.0.0`; default: by its number. */
  readonly bus?: string;
}

interface SeedNic {
  readonly name: string;
  /** As of a disk: `pci@0000:00:03.0`. */
  readonly bus?: string;
  readonly mac?: string;
  /** Default: true. */
  readonly link_connected?: boolean;
  /** The address that it got, `10.77.0.201/24`, of a subnet of the region. Null: none. */
  readonly discovered?: string | null;
}

/** A subnet to add, with its VLAN and fabric; without `cidr` the VLAN alone. */
interface SeedNetwork {
  readonly cidr?: string;
  readonly gateway?: string;
  readonly name?: string;
  /** Tag; default 0: untagged. */
  readonly vid?: number;
  /** Number of the fabric; default 0. */
  readonly fabric?: number;
  readonly space?: string;
  readonly mtu?: number;
}

/** An image to offer for deployment, in addition to jammy and noble. */
interface SeedImage {
  /** `ubuntu/focal`, `custom/name`. */
  readonly name: string;
  /** `20.04`: accepted instead of the series. */
  readonly version?: string;
  readonly kernels?: readonly string[];
}

/** Content for the region: a number of like machines, and single ones. */
export interface Seed extends Omit<SeedMachine, 'hostname' | 'mac' | 'zone' | 'pool'> {
  readonly count?: number;
  readonly prefix?: string;
  /** Assigned in turn. */
  readonly zones?: readonly string[];
  readonly pools?: readonly string[];
  readonly machines?: readonly SeedMachine[];
  readonly images?: readonly SeedImage[];
  readonly networks?: readonly SeedNetwork[];
}

const statusWords = new Map(
  Object.entries(machineStatusFilters).map(([n, word]): [string, number] => [word, Number(n)]),
);

function statusNumber(given: number | string | undefined): number {
  if (given === undefined) return S.Ready;
  return typeof given === 'number' ? given : (statusWords.get(given) ?? Number.NaN);
}

/** States in which a machine has an owner. */
const owned: ReadonlySet<number> = new Set([
  S.Deployed,
  S.Deploying,
  S.Allocated,
  S.FailedDeployment,
  S.Releasing,
  S.FailedReleasing,
  S.DiskErasing,
  S.FailedDiskErasing,
  S.Commissioning,
]);

/** States of a machine before its first successful commissioning. */
const uncommissioned: ReadonlySet<number> = new Set([S.New, S.Commissioning, S.FailedCommissioning]);

/** States in which a machine has a system, or one is being installed. */
const installed: ReadonlySet<number> = new Set([S.Deployed, S.Deploying, S.FailedDeployment]);

function fleet(region: Region, seed: Seed): SeedMachine[] {
  const {
    count = 0,
    prefix = 'n',
    zones = [],
    pools = [],
    machines = [],
    images: _images,
    networks: _networks,
    ...alike
  } = seed;
  const width = Math.max(3, String(count).length);
  const made: SeedMachine[] = [];
  for (let n = 1; made.length < count; n++) {
    const hostname = `${prefix}${String(n).padStart(width, '0')}`;
    if (region.machinesNamed(hostname).length > 0) continue;
    const zone = zones[made.length % zones.length];
    const pool = pools[made.length % pools.length];
    made.push({ ...alike, hostname, ...(zone === undefined ? {} : { zone }), ...(pool === undefined ? {} : { pool }) });
  }
  return [...made, ...machines];
}

function problemsOf(region: Region, machines: readonly SeedMachine[]): string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  const macs = new Set<string>();
  for (const { hostname, mac: first, status, interfaces = [] } of machines) {
    const where = `machine '${String(hostname)}'`;
    if (typeof hostname !== 'string' || !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(hostname)) {
      problems.push(`${where}: hostname must be letters, digits and '-'`);
      continue;
    }
    if (names.has(hostname) || region.machinesNamed(hostname).length > 0) problems.push(`${where}: hostname is taken`);
    names.add(hostname);
    if (!isMachineStatus(statusNumber(status))) {
      problems.push(`${where}: status '${String(status)}' is unknown: 0 to 22, or a word such as ready`);
    }
    const cards = interfaces.filter((nic) => typeof nic !== 'string');
    for (const mac of [first, ...cards.map((nic) => nic.mac)]) {
      if (mac === undefined) continue;
      if (!isMac(mac)) problems.push(`${where}: '${mac}' is not a valid MAC address`);
      else if (macs.has(mac.toLowerCase()) || region.machineWithMac(mac))
        problems.push(`${where}: MAC ${mac} is taken`);
      macs.add(mac.toLowerCase());
    }
    for (const { name, discovered } of cards) {
      if (discovered == null || subnetAround(region, hostOf(discovered))) continue;
      problems.push(`${where}: no subnet holds ${discovered}, the address of ${name}`);
    }
  }
  return problems;
}

const hostOf = (address: string): string => address.split('/')[0] ?? '';

/**
 * Makes machines, with their zones, pools and tags.
 * @returns their system_ids in order (fleet first), or every problem, in which case nothing was made.
 */
export function plantSeed(
  sim: Simulation,
  seed: Seed,
): { readonly systemIds: readonly string[] } | { readonly problems: readonly string[] } {
  const { region } = sim;
  const { count = 0 } = seed;
  if (!Number.isInteger(count) || count < 0 || count > 100_000) {
    return { problems: ['count must be a whole number from 0 to 100000'] };
  }
  const machines = fleet(region, seed);
  const odd = (seed.networks ?? []).filter(({ cidr }) => cidr !== undefined && parseNetwork(cidr) === null);
  if (odd.length > 0) return { problems: odd.map(({ cidr }) => `'${cidr}' is not a network`) };
  for (const network of seed.networks ?? []) addNetwork(region, network);
  const problems = problemsOf(region, machines);
  if (problems.length > 0) return { problems };
  for (const { name, version, kernels = [] } of seed.images ?? []) {
    const known = region.images.get(name);
    region.addImage(name, version ?? known?.version ?? '', [...new Set([...(known?.kernels ?? []), ...kernels])]);
  }
  const subnet = subnetsInTurn(region);
  return { systemIds: machines.map((machine) => plant(sim, machine, subnet)) };
}

/** A network that is there already stays as it is. */
function addNetwork(region: Region, given: SeedNetwork): void {
  const { gateway = '', vid = 0, fabric = 0, space, mtu = 1500 } = given;
  const network = given.cidr === undefined ? null : parseNetwork(given.cidr);
  const cidr = network && formatNetwork(network);
  if ([...region.subnets.values()].some((subnet) => subnet.cidr === cidr)) return;
  if (fabric === 0) region.defaultVlan();
  else if (!region.fabrics.has(String(fabric))) region.addFabric({ id: fabric });
  const vlan =
    region.vlansOf(fabric).find((each) => each.vid === vid) ?? region.addVlan({ fabric, vid, name: String(vid), mtu });
  if (space !== undefined) region.vlans.edit(String(vlan.id)).space = spaceNamed(region, space);
  if (cidr === null) return;
  const id = region.next('subnet');
  region.subnets.put(String(id), { id, name: given.name ?? cidr, vlan: vlan.id, cidr, gateway });
}

function spaceNamed(region: Region, name: string): number {
  const known = [...region.spaces.values()].find((space) => space.name === name);
  if (known) return known.id;
  const id = region.next('space');
  return region.spaces.put(String(id), { id, name }).id;
}

function generatedMac(region: Region): string {
  for (;;) {
    const n = region.next('mac');
    const mac = `52:54:01:${[16, 8, 0].map((shift) => ((n >> shift) & 255).toString(16).padStart(2, '0')).join(':')}`;
    if (!region.machineWithMac(mac)) return mac;
  }
}

function plant(sim: Simulation, given: SeedMachine, subnet: () => Readonly<Subnet>): string {
  const { region } = sim;
  const status = statusNumber(given.status) as MachineStatus;
  const powerType = given.power_type ?? 'manual';
  const n = region.next('bmc');
  const bmc = {
    power_address: `10.200.${Math.floor(n / 250) % 256}.${n % 250}`,
    power_user: 'maas',
    power_pass: 'made-up',
  };
  const machine = region.addMachine(
    blankMachine({
      id: region.newSystemId(),
      hostname: given.hostname,
      architecture: 'amd64/generic',
      powerType,
      powerParameters: given.power_parameters ?? (powerType === 'manual' ? {} : bmc),
    }),
  );
  if (given.domain !== undefined) machine.domain = domainNamed(region, given.domain);
  addCards(region, machine, given);
  const devices = [...(given.interfaces ?? []), ...(given.disks ?? [])];
  machine.buses = Object.fromEntries(
    devices.flatMap((one) => (typeof one === 'string' || one.bus === undefined ? [] : [[one.name, one.bus]])),
  );
  // MAAS numbers disks in the order of their names, and boots from the first.
  const disks = [...(given.disks ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  machine.disks = disks.map(({ name, size, block_size = 512 }) => {
    const serial = `${machine.hostname}-${name}`;
    return newDisk(region, { name, size, blockSize: block_size, model: 'Simulated', serial, tags: ['ssd', 'sata'] });
  });
  machine.isUefi = given.uefi === true;
  for (const name of given.tags ?? []) {
    if (!region.tags.has(name)) region.tags.put(name, { name, definition: '', comment: '', kernel_opts: '' });
  }
  machine.tags = [...new Set(given.tags ?? [])].sort();
  machine.zone = zoneNamed(region, given.zone ?? 'default');
  machine.pool = poolNamed(region, given.pool ?? 'default');
  machine.description = given.description ?? '';
  machine.agentName = given.agent_name ?? '';
  machine.ownerData = given.owner_data ?? {};
  machine.errorDescription = given.error_description ?? '';
  machine.locked = given.locked === true;
  machine.owner = given.owner ?? (owned.has(status) ? 'admin' : null);
  noteEffect(sim, machine, null, status, { what: 'seed', user: null });
  if (!uncommissioned.has(status)) machine.previousStatus = S.Ready;
  // Its storage is laid out before it is in use.
  if (status !== S.New) equip(region, machine, subnet);
  machine.status = status;
  if (status !== S.New) {
    startScripts(sim, machine, 'commissioning');
    if (status === S.FailedCommissioning) endScripts(sim, machine, 'commissioning', 'failed');
    else if (status !== S.Commissioning) endScripts(sim, machine, 'commissioning', 'passed');
    noteEvent(sim, machine, 'INFO', 'Commissioning');
  }
  if (status === S.Testing || status === S.FailedTesting) startScripts(sim, machine, 'testing');
  if (status === S.DiskErasing) startScripts(sim, machine, 'release');
  if (isInUse(machine) && owned.has(status)) machine.userFilesystems = userFilesystems(machine);
  if (installed.has(status)) install(sim, machine, given);
  const running = status === S.Deployed || status === S.Deploying;
  machine.powerState = given.power_state ?? (powerType === 'manual' ? 'unknown' : running ? 'on' : 'off');
  beginPhase(sim, machine);
  return machine.id;
}

/** The cards of a machine: all that are given, or `eth0` and those that are only named. */
function addCards(region: Region, machine: Machine, { interfaces = [], mac }: SeedMachine): void {
  const given = interfaces.filter((nic) => typeof nic !== 'string');
  const names = interfaces.filter((nic) => typeof nic === 'string');
  const cards: readonly SeedNic[] =
    given.length > 0
      ? given
      : [{ name: 'eth0', ...(mac === undefined ? {} : { mac }) }, ...names.map((name) => ({ name }))];
  const made = new Interfaces(region, machine);
  const found = cards.map(({ name, mac: its, link_connected = true, discovered = null }): FoundNic => {
    const nic = made.add({ type: 'physical', name, mac: its ?? generatedMac(region), linkConnected: link_connected });
    const address = discovered === null ? null : parseAddress(hostOf(discovered));
    const text = address && formatAddress(address);
    return {
      name,
      mac: nic.mac,
      connected: link_connected,
      address: text,
      subnet: (text && subnetAround(region, text)?.id) || null,
    };
  });
  made.commit();
  if (given.length > 0) machine.foundNics = found;
}

function install(sim: Simulation, machine: Machine, given: SeedMachine): void {
  machine.osystem = given.osystem ?? 'ubuntu';
  machine.distroSeries = given.distro_series ?? 'noble';
  const image = sim.region.images.get(`${machine.osystem}/${machine.distroSeries}`);
  machine.hweKernel = given.hwe_kernel ?? image?.kernels[0] ?? null;
  startScripts(sim, machine, 'installation');
  if (machine.status === S.Deployed) endScripts(sim, machine, 'installation', 'passed');
  if (machine.status === S.FailedDeployment)
    endScripts(sim, machine, 'installation', 'failed', machine.errorDescription);
  const found = findAddresses(sim, machine);
  if ('interfaces' in found) sim.region.setInterfaces(machine, found.interfaces);
}

function domainNamed(region: Region, name: string): string {
  if (![...region.domains.values()].some((domain) => domain.name === name)) {
    const id = region.next('domain');
    region.domains.put(String(id), { id, name, authoritative: true, ttl: null });
  }
  return name;
}

function zoneNamed(region: Region, name: string): string {
  if (!region.zones.has(name)) region.zones.put(name, { id: region.next('zone'), name, description: '' });
  return name;
}

function poolNamed(region: Region, name: string): number {
  const known = region.poolNamed(name);
  if (known) return known.id;
  const id = region.next('pool');
  region.pools.put(String(id), { id, name, description: '' });
  return id;
}
