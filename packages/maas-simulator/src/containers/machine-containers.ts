import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MachineStatus } from '@sitewright/maas/status';
import type { Subnet } from '../network/records.ts';
import type { RackEvent } from '../rack-events.ts';
import type { Machine } from '../records.ts';
import { BootFaults } from './boot-faults.ts';
import { removeAllOf } from './leftovers.ts';
import { MachineNetworks } from './machine-networks.ts';
import { LIMITS, OWNER, PODMAN_OPTIONS, type Podman, podmanBy, type RunCommand } from './podman.ts';

/** How a machine reports to MAAS. */
export type ReportEvent = (id: string, event: RackEvent, comment: string | null) => void;

/** The part of a region that machines are made from. */
interface MachineRoom {
  readonly machines: { get(id: string): Readonly<Machine> | undefined; values(): Iterable<Readonly<Machine>> };
  readonly subnets: { values(): Iterable<Readonly<Subnet>> };
}

/** Reports the end of containers: name and exit code. The answer stops it. */
type WatchEnds = (owner: string, ended: (name: string, code: number) => void) => () => void;

interface ContainerOptions {
  readonly run: RunCommand;
  readonly image: string;
  /** The process that all containers and networks are labelled with. */
  readonly owner: string;
  readonly watchEnds: WatchEnds;
  readonly say: (line: string) => void;
}

/** The state of a machine that MAAS wants: nothing on its disks, or one installation, running or not. */
type Wanted = { readonly installation: number; readonly running: boolean } | null;

interface Container {
  readonly name: string;
  readonly installation: number;
  running: boolean;
  /** Cloud-init has ended for the first time. */
  installed: boolean;
}

/** A container's exit code after `reboot`, and not `poweroff`: its first process ends by SIGHUP. */
const REBOOTED = 129;

/** States in which the disks are empty, or are being emptied. */
const WITHOUT_SYSTEM: ReadonlySet<number> = new Set([
  MachineStatus.New,
  MachineStatus.Ready,
  MachineStatus.Allocated,
  MachineStatus.Releasing,
  MachineStatus.DiskErasing,
  MachineStatus.Commissioning,
]);

/** The state of a machine that MAAS wants, by its record. */
function wantedOf(machine: Readonly<Machine>): Wanted {
  const installation = machine.current.installation;
  if (installation === undefined || machine.osystem === '' || WITHOUT_SYSTEM.has(machine.status)) return null;
  return { installation, running: machine.powerState !== 'off' };
}

/** The containers that are the region's machines. Each follows its record: one step at a time, until both agree. */
export class MachineContainers {
  readonly faults = new BootFaults();
  readonly networks: MachineNetworks;
  readonly #region: MachineRoom;
  readonly #report: ReportEvent;
  readonly #options: ContainerOptions;
  readonly #podman: Podman;
  readonly #containers = new Map<string, Container>();
  readonly #settling = new Map<string, Promise<void>>();
  readonly #stopWatching: () => void;
  #closed = false;

  constructor(region: MachineRoom, report: ReportEvent, options: ContainerOptions) {
    this.#region = region;
    this.#report = report;
    this.#options = options;
    this.#podman = podmanBy(options.run);
    this.networks = new MachineNetworks(options.run, this.#podman, options.owner);
    this.#stopWatching = options.watchEnds(options.owner, (name, code) => this.#ended(name, code));
  }

  /** Makes the networks of the machines there are, so that services can listen on their gateways. */
  async start(): Promise<void> {
    for (const subnet of this.#region.subnets.values()) await this.networks.of(subnet);
  }

  /** To be called after each change of the region. */
  follow(): void {
    for (const { id } of this.#region.machines.values()) this.#settle(id);
    for (const id of this.#containers.keys()) this.#settle(id);
  }

  /** Removes all containers and networks. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopWatching();
    await Promise.all(this.#settling.values());
    await removeAllOf(this.#podman, this.#options.owner);
  }

  /** Resolves when every machine is as MAAS wants it, for tests. */
  async settled(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling.values());
  }

  #settle(id: string): void {
    if (this.#settling.has(id) || this.#closed || this.#nextStep(id) === undefined) return;
    const work = this.#takeSteps(id).finally(() => {
      this.#settling.delete(id);
      // The record may have changed after the last step.
      this.#settle(id);
    });
    this.#settling.set(id, work);
  }

  async #takeSteps(id: string): Promise<void> {
    for (let step = this.#nextStep(id); step !== undefined && !this.#closed; step = this.#nextStep(id)) {
      try {
        await step();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.say(`${this.#region.machines.get(id)?.hostname ?? id}: ${reason}`);
        // MAAS sees a machine that does not come up, and has no power.
        this.#report(id, 'failed', reason);
        this.#report(id, 'off', null);
        return;
      }
    }
  }

  /** The step that brings a machine nearer to its record; undefined when both agree. */
  #nextStep(id: string): (() => Promise<void>) | undefined {
    const machine = this.#region.machines.get(id);
    const wanted = machine === undefined ? null : wantedOf(machine);
    const container = this.#containers.get(id);
    if (container !== undefined && container.installation !== wanted?.installation)
      return () => this.#remove(id, container);
    if (machine === undefined) return undefined;
    if (wanted === null)
      return machine.status === MachineStatus.Releasing ? async () => this.#report(id, 'off', null) : undefined;
    if (container === undefined) return wanted.running ? () => this.#create(machine, wanted.installation) : undefined;
    if (wanted.running === container.running) return undefined;
    return wanted.running ? () => this.#boot(machine, container) : () => this.#cutPower(container);
  }

  async #create(machine: Readonly<Machine>, installation: number): Promise<void> {
    const { image, owner } = this.#options;
    // With SYS_ADMIN, services of Debian can have their own mounts; with SYS_BOOT a reboot and a shutdown differ.
    const name = `sitewright-${machine.hostname}`;
    const subnets = new Map([...this.#region.subnets.values()].map((subnet) => [subnet.id, subnet]));
    await this.#podman(
      'create',
      ...['--name', name, '--hostname', machine.hostname, '--label', `${OWNER}=${owner}`],
      ...['--systemd', 'always', '--cap-add', 'NET_ADMIN,NET_RAW,SYS_ADMIN,SYS_BOOT', ...LIMITS],
      ...(await this.networks.options(machine, subnets)),
      image,
    );
    this.#containers.set(machine.id, { name, installation, running: false, installed: false });
    const seed = await mkdtemp(join(tmpdir(), 'sitewright-seed-'));
    try {
      const metadata = { 'instance-id': `${machine.id}-${installation}`, 'local-hostname': machine.hostname };
      await writeFile(join(seed, 'meta-data'), JSON.stringify(metadata));
      await writeFile(join(seed, 'user-data'), Buffer.from(machine.userData ?? '', 'base64'), { mode: 0o600 });
      await this.#podman('cp', `${seed}/.`, `${name}:/var/lib/cloud/seed/nocloud/`);
    } finally {
      await rm(seed, { recursive: true, force: true });
    }
  }

  async #boot(machine: Readonly<Machine>, container: Container): Promise<void> {
    const fault = this.faults.take(machine.hostname);
    container.running = true;
    // It has power and does nothing, until MAAS loses patience.
    if (fault === 'no_boot') return;
    await this.#podman('start', container.name);
    if (!container.installed) void this.#followInstallation(machine.id, container);
    if (fault === undefined) return;
    await this.#inside(container, 'until test -e /run/cloud-init/status.json; do sleep 0.1; done');
    // Not `cutPower`: to MAAS it happens by itself.
    await this.#podman(
      ...(fault === 'dies' ? ['kill', container.name] : ['exec', container.name, 'reboot', '--force']),
    );
  }

  async #cutPower(container: Container): Promise<void> {
    container.running = false;
    await this.#options.run('podman', [...PODMAN_OPTIONS, 'kill', container.name]);
  }

  async #remove(id: string, { name }: Container): Promise<void> {
    this.#containers.delete(id);
    await this.#podman('rm', '--force', '--time', '0', name);
  }

  /** The final result of cloud-init decides about a deployment, as in MAAS. */
  async #followInstallation(id: string, container: Container): Promise<void> {
    const result = '/run/cloud-init/result.json';
    const { code, stdout } = await this.#inside(
      container,
      `until test -e ${result}; do sleep 0.3; done; cat ${result}`,
    );
    // Without power or rebooted: the next boot is followed by itself.
    if (code !== 0 || this.#containers.get(id) !== container) return;
    container.installed = true;
    const errors = errorsOf(stdout);
    if (errors.length === 0) this.#report(id, 'deployed', null);
    else this.#report(id, 'failed', `cloud-init: ${errors.join('; ')}`);
  }

  #inside(container: Container, script: string): ReturnType<RunCommand> {
    return this.#options.run('podman', [...PODMAN_OPTIONS, 'exec', container.name, 'sh', '-c', script]);
  }

  /** A container that ended without being asked to: a reboot, a shutdown from inside, or a death. */
  #ended(name: string, code: number): void {
    const [id, container] = [...this.#containers].find(([, each]) => each.name === name) ?? [];
    if (id === undefined || container === undefined || !container.running) return;
    container.running = false;
    if (code === REBOOTED) this.#settle(id);
    else this.#report(id, 'off', null);
  }
}

function errorsOf(result: string): readonly string[] {
  try {
    const { v1 } = JSON.parse(result) as { v1?: { errors?: readonly string[] } };
    return v1?.errors ?? ['no result'];
  } catch {
    return ['its result cannot be read'];
  }
}

/** Podman's own stream of events. */
export const podmanEnds: WatchEnds = (owner, ended) => {
  const filters = ['--filter', 'event=died', '--filter', `label=${OWNER}=${owner}`];
  const args = [...PODMAN_OPTIONS, 'events', '--stream', ...filters, '--format', 'json'];
  const child = spawn('podman', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { Name, ContainerExitCode = 0 } = JSON.parse(line) as { Name?: string; ContainerExitCode?: number };
    if (Name !== undefined) ended(Name, ContainerExitCode);
  });
  return () => child.kill();
};
