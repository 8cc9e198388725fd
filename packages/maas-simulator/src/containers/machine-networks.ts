import type { Subnet } from '../network/records.ts';
import type { Machine } from '../records.ts';
import { OWNER, outputOf, type Podman, type RunCommand } from './podman.ts';

/** The owner of a network that this made, by its name. */
export const ownerOfNetwork = (name: string): string | undefined => /^sitewright-(\d+-\d+)-\d+$/.exec(name)?.[1];

/** Podman's networks, one per subnet of the region. */
export class MachineNetworks {
  readonly #run: RunCommand;
  readonly #podman: Podman;
  readonly #owner: string;
  readonly #made = new Map<number, Promise<string>>();

  constructor(run: RunCommand, podman: Podman, owner: string) {
    this.#run = run;
    this.#podman = podman;
    this.#owner = owner;
  }

  /** Makes the network of a subnet, if it is not there; its bridge has the address of the subnet's gateway. */
  of(subnet: Readonly<Subnet>): Promise<string> {
    const known = this.#made.get(subnet.id);
    if (known !== undefined) return known;
    const making = this.#make(subnet);
    this.#made.set(subnet.id, making);
    making.catch(() => this.#made.delete(subnet.id));
    return making;
  }

  async #make({ id, cidr, gateway }: Readonly<Subnet>): Promise<string> {
    const name = `sitewright-${this.#owner}-${id}`;
    const address = gateway === '' ? `${cidr.slice(0, cidr.lastIndexOf('.') + 1)}1` : gateway;
    const subnet = ['--disable-dns', '--subnet', cidr, '--gateway', address];
    await this.#podman('network', 'create', ...subnet, '--label', `${OWNER}=${this.#owner}`, name);
    const bridge = await this.#podman('network', 'inspect', '--format', '{{.NetworkInterface}}', name);
    // Podman makes the bridge with the first container; services for machines must listen on it before.
    const ip = (...args: string[]) => outputOf(this.#run, 'ip', args);
    await ip('link', 'add', bridge, 'type', 'bridge');
    await ip('address', 'add', `${address}/${cidr.split('/')[1]}`, 'dev', bridge);
    await ip('link', 'set', bridge, 'up');
    return name;
  }

  /** The options that connect a machine: each interface with its name, MAC and first address in MAAS. */
  async options(machine: Readonly<Machine>, subnets: ReadonlyMap<number, Readonly<Subnet>>): Promise<string[]> {
    const options = new Map<string, string>();
    for (const { name, mac, links } of machine.interfaces) {
      const link = links.find(({ address, subnet }) => address !== null && subnet !== null && subnets.has(subnet));
      const subnet = subnets.get(link?.subnet ?? -1);
      if (link === undefined || subnet === undefined) continue;
      const network = await this.of(subnet);
      // Podman connects a container to a network once.
      if (!options.has(network)) options.set(network, `ip=${link.address},mac=${mac},interface_name=${name}`);
    }
    if (options.size === 0) return ['--network', 'none'];
    return [...options].flatMap(([network, settings]) => ['--network', `${network}:${settings}`]);
  }
}
