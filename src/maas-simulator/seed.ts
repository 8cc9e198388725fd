import { isMachineStatus, type MachineStatus, machineStatusFilters, MachineStatus as S } from '../maas/status.js';
import { findAddresses } from './addresses.js';
import { beginPhase } from './automation.js';
import { isMac } from './constraints.js';
import { addSubnet, equip, newDisk, newInterface, subnetWithSpace } from './hardware.js';
import { blankMachine, type Machine, type Subnet } from './records.js';
import type { Region } from './region.js';
import { endScripts, noteEffect, noteEvent, type Simulation, startScripts } from './simulation.js';

/** One machine to make. Omitted fields have MAAS' defaults. */
interface SeedMachine {
  readonly hostname: string;
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
  /** Names of further interfaces; the first is `eth0`. */
  readonly interfaces?: readonly string[];
  /** Disks instead of the usual one; sizes in bytes. */
  readonly disks?: readonly { readonly name: string; readonly size: number }[];
  readonly uefi?: boolean;
}

/** A subnet to add, with its VLAN and fabric. */
interface SeedNetwork {
  readonly cidr: string;
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
  for (const { hostname, mac, status } of machines) {
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
    if (mac === undefined) continue;
    if (!isMac(mac)) problems.push(`${where}: '${mac}' is not a valid MAC address`);
    else if (macs.has(mac.toLowerCase()) || region.machineWithMac(mac)) problems.push(`${where}: MAC ${mac} is taken`);
    macs.add(mac.toLowerCase());
  }
  return problems;
}

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
  const problems = problemsOf(region, machines);
  if (problems.length > 0) return { problems };
  for (const { name, version = '', kernels = [] } of seed.images ?? []) region.addImage(name, version, kernels);
  for (const network of seed.networks ?? []) addNetwork(region, network);
  const subnet = subnetsInTurn(region);
  return { systemIds: machines.map((machine) => plant(sim, machine, subnet)) };
}

function addNetwork(region: Region, { cidr, gateway = '', vid = 0, fabric = 0, ...more }: SeedNetwork): void {
  let vlan = [...region.vlans.values()].find((each) => each.fabric === fabric && each.vid === vid);
  if (!vlan) {
    const id = 5001 + region.next('vlan');
    const { mtu = 1500, space = 'space-1' } = more;
    vlan = region.vlans.put(String(id), { id, vid, fabric, name: vid === 0 ? 'untagged' : String(vid), mtu, space });
  }
  const id = region.next('subnet');
  region.subnets.put(String(id), { id, name: more.name ?? cidr, vlan: vlan.id, cidr, gateway });
}

/** Subnets for many machines, without counting all links for each. */
function subnetsInTurn(region: Region): () => Readonly<Subnet> {
  const perSubnet = 200;
  let current: Readonly<Subnet> | null = null;
  let left = 0;
  return () => {
    if (current === null) {
      current = subnetWithSpace(region);
      let used = 0;
      for (const machine of region.machines.values()) {
        for (const nic of machine.interfaces) for (const link of nic.links) if (link.subnet === current.id) used += 1;
      }
      left = perSubnet - used;
    } else if (left === 0) {
      current = addSubnet(region);
      left = perSubnet;
    }
    left -= 1;
    return current;
  };
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
  region.setInterfaces(machine, [newInterface(region, 'eth0', given.mac ?? generatedMac(region))]);
  for (const name of given.interfaces ?? [])
    region.setInterfaces(machine, [...machine.interfaces, newInterface(region, name, generatedMac(region))]);
  machine.disks = (given.disks ?? []).map(({ name, size }) =>
    newDisk(region, { name, size, blockSize: 512, model: 'Simulated', serial: `${machine.id}-${name}` }),
  );
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
  machine.status = status;
  if (!uncommissioned.has(status)) machine.previousStatus = S.Ready;
  if (status !== S.New) {
    equip(region, machine, subnet);
    startScripts(sim, machine, 'commissioning');
    if (status === S.FailedCommissioning) endScripts(sim, machine, 'commissioning', 'failed');
    else if (status !== S.Commissioning) endScripts(sim, machine, 'commissioning', 'passed');
    noteEvent(sim, machine, 'INFO', 'Commissioning');
  }
  if (status === S.Testing || status === S.FailedTesting) startScripts(sim, machine, 'testing');
  if (status === S.DiskErasing) startScripts(sim, machine, 'release');
  if (installed.has(status)) install(sim, machine, given);
  const running = status === S.Deployed || status === S.Deploying;
  machine.powerState = given.power_state ?? (powerType === 'manual' ? 'unknown' : running ? 'on' : 'off');
  beginPhase(sim, machine);
  return machine.id;
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
