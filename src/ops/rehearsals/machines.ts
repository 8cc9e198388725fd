import { busAddressesOf, type Machine, MachineStatus, machinesNamed } from '@sitewright/maas';
import { given } from '../../core/data/given.ts';
import { someOf } from '../../core/text/text.ts';
import { assumedHardware, type ResolvedNode } from '../../documents/index.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { asProblem } from '../problem.ts';
import type { RehearsalOrder, RehearsedMachine } from './order.ts';

type Simulated = Pick<RehearsalOrder, 'machines' | 'networks' | 'images'>;

/** As hardware that documents do not describe has it. */
const USUAL_INTERFACE = 'eth0';

/** The machines of nodes, as MAAS has them now; and in words what is not known of them. */
export async function rehearsedMachines(
  deps: Pick<OpsDependencies, 'store' | 'maas' | 'distroSeries'>,
  site: string,
  nodes: readonly ResolvedNode[],
): Promise<Simulated & { readonly told: readonly string[] }> {
  const rest = { networks: networksOf(nodes), images: imagesOf(nodes, deps.distroSeries) };
  try {
    const maas = deps.maas();
    const me = await maas.client.username();
    const recorded = new Map((await deps.store.deployedMachines.list(site)).map((one) => [one.node, one]));
    const found = await Promise.all(nodes.map((node) => machinesNamed(maas, node.hostname, recorded.get(node.name))));
    const ids = found.flatMap(([machine]) => machine?.systemId ?? []);
    const whole = ids.length === 0 ? [] : await maas.client.layouts.machines(ids);
    const hardware = new Map(whole.map((one) => [one.machine.systemId, one.hardware]));
    const buses = await Promise.all(
      nodes.map((node, at) => {
        const machine = found[at]?.[0];
        return machine && namesAddresses(node) ? busAddressesOf(maas.client, machine.systemId) : undefined;
      }),
    );
    const machines = nodes.flatMap((node, at) => {
      const machine = found[at]?.[0];
      if (machine === undefined) return [];
      const as = { ...described(node), ...asFound(machine, me) };
      // Its commissioning will tell where its devices are: until then, where its documents say.
      if (buses[at]?.size === 0) return as;
      const { interfaces = [], disks = [] } = hardware.get(machine.systemId) ?? {};
      const busOf = new Map([...(buses[at] ?? [])].map(([bus, name]) => [name, bus]));
      const cards = interfaces
        .filter(({ type }) => type === 'physical')
        .map(({ name, macAddress }) => ({ name, ...given({ mac: macAddress || undefined, bus: busOf.get(name) }) }));
      const sizes = disks.map(({ name, size }) => ({ name, size, ...given({ bus: busOf.get(name) }) }));
      return { ...as, ...(cards.length > 0 && { interfaces: cards }), ...(sizes.length > 0 && { disks: sizes }) };
    });
    const unknown = nodes.filter((_, at) => found[at]?.[0] === undefined).map(({ name }) => name);
    const told = ['Machines are as MAAS has them now.'];
    if (unknown.length > 0) told.push(`MAAS has no machine for ${someOf(unknown, 5)}.`);
    return { ...rest, machines, told };
  } catch (error) {
    const { code, message } = asProblem(error);
    if (code !== 'maas-failed' && code !== 'maas-not-configured') throw error;
    const told = [
      `MAAS could not be asked (${message}): every machine counts as ready, with the hardware that the documents name.`,
    ];
    return { ...rest, machines: nodes.map(described), told };
  }
}

/** A machine that is ready, with the hardware that its documents name. */
function described(node: ResolvedNode): RehearsedMachine {
  const { name, hostname, boot_mac } = node;
  const { cards, disks } = assumedHardware(node);
  return {
    node: name,
    hostname,
    status: MachineStatus.Ready,
    tags: [],
    holder: null,
    annotations: {},
    locked: false,
    interfaces: cards.length > 0 ? cards : [{ name: USUAL_INTERFACE, ...given({ mac: boot_mac }) }],
    disks,
  };
}

const namesAddresses = ({ layout }: ResolvedNode): boolean =>
  [
    ...(layout?.ports ?? []).flatMap((port) => port.devices),
    ...(layout?.storage?.disks ?? []).map((disk) => disk.device),
  ].some(({ address }) => address !== undefined);

/** Phases that are under way in MAAS end in a rehearsal after their usual time. */
function asFound(machine: Machine, me: string) {
  const { hostname, status, tags, zone, owner, annotations, locked, osystem, distroSeries } = machine;
  return {
    hostname,
    status,
    tags,
    zone,
    holder: owner === null ? null : owner === me ? ('us' as const) : ('other' as const),
    annotations,
    locked,
    ...(osystem === '' ? {} : { osystem }),
    ...(distroSeries === '' ? {} : { distroSeries }),
  };
}

function networksOf(nodes: readonly ResolvedNode[]): Simulated['networks'] {
  const attached = nodes.flatMap(({ layout }) => layout?.ports?.flatMap(({ networks }) => networks) ?? []);
  const byCidr = new Map(attached.flatMap(({ cidr, vlan }) => (cidr === undefined ? [] : [[cidr, vlan] as const])));
  return [...byCidr].map(([cidr, vid]) => ({ cidr, ...given({ vid }) }));
}

/** Systems that documents name: MAAS has them, or the run itself would say so. */
function imagesOf(nodes: readonly ResolvedNode[], usual: string | undefined): string[] {
  const series = nodes.flatMap(({ distro_series }) => distro_series ?? []);
  return [...new Set([...series, ...(usual === undefined ? [] : [usual])])].map((one) =>
    one.includes('/') ? one : `ubuntu/${one}`,
  );
}
