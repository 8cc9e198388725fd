import { isIP } from 'node:net';
import { canonicalAddress, canonicalNetwork, isInNetwork, isInRange } from '@sitewright/maas/ip-address';
import type { DeviceReference, MachineLayout, NetworkAttachment, PortLayout } from '@sitewright/maas/machine-layout';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { BaremetalNodeData } from '../schemas/baremetal-node.ts';
import type { KnownSchema } from '../schemas/envelope.ts';
import {
  BOND_MODES,
  type HardwareProfileData,
  type HostInterface,
  type NetworkData,
  type NetworkLinkData,
} from '../schemas/machine-layout.ts';
import { checkOob } from './check-oob.ts';
import type { Inherited, Named } from './inherit.ts';
import { isLeftAlone } from './left-alone.ts';
import type { Owned, ReportLayout } from './owned-value.ts';
import { resolveKernelOptions } from './resolve-kernel-options.ts';
import { resolveStorage } from './resolve-storage.ts';
import type { SiteDocument } from './site-document.ts';

/** Documents of a schema by name; `names` has the invalid ones, too. */
export interface NamedDocuments<Data> {
  readonly schema: KnownSchema;
  readonly checked: ReadonlyMap<string, SiteDocument<Data>>;
  readonly names: readonly string[];
}

interface LayoutDocuments {
  readonly links: NamedDocuments<NetworkLinkData>;
  readonly networks: NamedDocuments<NetworkData>;
  readonly hardware: NamedDocuments<HardwareProfileData>;
  /** Some documents could not be read: one that seems missing may be among them. */
  readonly isIncomplete: boolean;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** Converts interfaces, disks and kernel options of documents into the configuration for MAAS. Reports each problem once. */
export class LayoutResolver {
  readonly #documents: LayoutDocuments;
  readonly #reported = new Set<string>();
  readonly #addresses = new Map<string, string>();

  constructor(documents: LayoutDocuments) {
    this.#documents = documents;
  }

  resolve(node: SiteDocument<BaremetalNodeData>, described: Inherited): MachineLayout | undefined {
    const { interfaces, devices, groups } = described;
    // What Drydock itself is to deploy is checked as strictly as it would.
    const { oob } = described;
    const isManaged =
      typeof oob.type === 'string' || (Object.keys(oob).length > 0 && this.#documents.hardware.names.length > 0);
    const hardware = this.#hardware(node, described.hardwareProfile, isManaged);
    const aliases = new Map(
      Object.entries(hardware?.device_aliases ?? {}).map(([alias, { address, bus_type: bus = 'pci' }]) => [
        alias,
        `${bus.toLowerCase()}@${address.toLowerCase()}`,
      ]),
    );
    const device = (name: string): DeviceReference => {
      const address = aliases.get(name);
      return { name, ...(address !== undefined && { address }) };
    };
    const untouched = new Set<string>();
    const made = interfaces && this.#ports(node, described, interfaces, device, untouched);
    const ports = made && made.length > 0 ? made : undefined;
    const storage =
      devices && devices.size > 0
        ? resolveStorage({ name: node.name, isManaged }, devices, groups ?? new Map(), device, this.#report)
        : undefined;
    if (!storage && isManaged) {
      this.#report(
        { document: node, path: ['data'] },
        {
          code: 'node.bad-storage',
          message: `'${node.name}' has no partition for the root filesystem (DD1001)`,
          hint: 'Describe a partition named root, of 20 GB or more, under storage of it or of its host profile.',
        },
      );
    }
    checkOob(node, described, this.#report);
    if (!devices?.size && groups) {
      for (const [name, group] of groups) {
        this.#report(group, {
          code: 'node.bad-storage',
          message: `no disk or partition belongs to the volume group '${name}'`,
          hint: `Name it as volume_group of a device under storage.physical_devices.`,
        });
      }
    }
    const kernelOptions =
      described.kernelParams && resolveKernelOptions(described.kernelParams, hardware, this.#report, node.name);
    if (!ports && !storage && !kernelOptions) return undefined;
    return {
      ...(ports && { ports }),
      ...(ports && untouched.size > 0 && { untouched: [...untouched] }),
      ...(storage && { storage }),
      ...(kernelOptions && { kernelOptions }),
    };
  }

  #hardware(
    document: SiteDocument,
    name: string | null | undefined,
    isManaged: boolean,
  ): HardwareProfileData | undefined {
    const { hardware } = this.#documents;
    if (!name) {
      if (isManaged)
        this.#report(
          { document, path: ['data'] },
          {
            code: 'node.unknown-hardware-profile',
            message: `'${document.name}' has no hardware profile`,
            hint: 'Name one as hardware_profile, in its own document or in its host profile.',
          },
        );
      return undefined;
    }
    const profile = this.#find(this.#documents.hardware, name);
    // Without any documents of hardware, names of devices are those of MAAS.
    if (profile === 'unknown' && (hardware.names.length > 0 || isManaged)) {
      this.#report(
        { document, path: ['data', 'hardware_profile'] },
        {
          code: 'node.unknown-hardware-profile',
          message: `there is no hardware profile '${name}', which '${document.name}' has`,
          hint: didYouMean(name, hardware.names) ?? 'Add its drydock/HardwareProfile/v1 document.',
        },
      );
    }
    return typeof profile === 'string' ? undefined : profile.data;
  }

  #ports(
    document: SiteDocument<BaremetalNodeData>,
    described: Inherited,
    interfaces: Named<HostInterface>,
    device: (name: string) => DeviceReference,
    untouched: Set<string>,
  ): readonly PortLayout[] {
    const addressing = document.data.addressing ?? [];
    const primary = described.primaryNetwork ?? undefined;
    const users = new Map<string, string>();
    const attached = new Map<string, string>();
    const ports = [...interfaces].flatMap(([name, owned]): PortLayout[] => {
      const tell = (severity: 'error' | 'warning') => (message: string, hint: string, key?: string) =>
        this.#report(owned, {
          severity,
          code: 'node.bad-interface',
          message,
          hint,
          ...(key !== undefined && { under: [key] }),
        });
      const wrong = tell('error');
      const warn = tell('warning');
      const { device_link: named, slaves = [], networks = [], labels } = owned.value;
      const linkName = named === '!' ? undefined : named;
      for (const key of ['sriov', 'ovs_dpdk', 'pci_whitelist'] as const) {
        if (owned.value[key] === undefined || owned.value[key] === null) continue;
        warn(
          `${key} of '${name}' has no effect: MAAS does not configure it`,
          'Configure it on the node, by a task.',
          key,
        );
      }
      const leave = (): [] => {
        for (const one of [name, ...slaves]) untouched.add(one);
        return [];
      };
      for (const slave of slaves) {
        const other = users.get(slave);
        if (other !== undefined)
          wrong(`the device '${slave}' belongs to '${other}', too`, 'A device has one interface.', 'slaves');
        users.set(slave, name);
      }
      for (const network of networks) {
        const other = attached.get(network);
        if (other !== undefined)
          wrong(`the network '${network}' is on '${other}', too`, 'A network has one interface.', 'networks');
        attached.set(network, name);
      }
      if (linkName === undefined && networks.length > 0)
        wrong(
          `the interface '${name}' has networks and no device_link`,
          'Name the NetworkLink that it is connected to.',
        );
      if (linkName === undefined) return leave();
      const link = this.#known(this.#documents.links, 'link', linkName, owned, 'device_link');
      if (!link) return [];
      const mode = link.bonding?.mode ?? 'disabled';
      const isBond = mode !== 'disabled';
      if (isLeftAlone(link.labels) || isLeftAlone(labels)) return leave();
      if (isBond ? slaves.length === 0 : slaves.length !== 1) {
        const needs = isBond
          ? `a bond (${mode}) has at least one device`
          : 'an interface without a bond has one device';
        const message = `${needs}, '${name}' has ${slaves.length}`;
        // Drydock takes it, and fails when it configures the machine.
        const say = !isBond && slaves.length > 1 ? warn : wrong;
        say(message, 'Correct slaves, or bonding of the NetworkLink.', 'slaves');
      }
      if (isBond && !BOND_NAME.test(name)) {
        const hint = 'Give it 1 to 15 letters, digits, dots, colons, hyphens or underscores.';
        wrong(`MAAS cannot name a bond '${name}'`, hint);
      }
      const isTrunk = link.trunking?.mode === '802.1q';
      if (!isTrunk && networks.length > 1) {
        const hint = `Set trunking.mode of the NetworkLink '${linkName}' to 802.1q, or name one network.`;
        wrong(`'${name}' has ${networks.length} networks, but its link has no VLANs`, hint, 'networks');
      }
      const attachments = networks.flatMap((network): NetworkAttachment[] => {
        const allowed = link.allowed_networks;
        if (allowed && !allowed.includes(network)) {
          const hint = `Add it to allowed_networks of '${linkName}', or remove it here.`;
          wrong(`the link '${linkName}' does not carry the network '${network}'`, hint, 'networks');
        }
        const known = this.#known(this.#documents.networks, 'network', network, owned, 'networks');
        if (!known) return [];
        if (isLeftAlone(known.labels)) return [];
        if (known.mtu !== undefined && known.mtu > (link.mtu ?? 1500)) {
          const hint = 'Raise mtu of the NetworkLink, or lower that of the Network.';
          const say = link.trunking?.default_network === network ? wrong : warn;
          say(`the MTU of '${network}' is ${known.mtu}, that of its link ${link.mtu ?? 1500}`, hint, 'networks');
        }
        const at = addressing.findIndex((each) => each.network === network);
        const address = at < 0 ? undefined : this.#address(document, known, network, at, addressing[at]?.address);
        const isTagged = isTrunk && Number(known.vlan ?? 0) > 0 && link.trunking?.default_network !== network;
        return [
          {
            network,
            ...(known.cidr !== undefined && { cidr: canonicalNetwork(known.cidr) }),
            ...(isTagged && { vlan: Number(known.vlan) }),
            ...(known.mtu !== undefined && { mtu: known.mtu }),
            ...(address !== undefined && { address: canonicalAddress(address) }),
            ...(network === primary && { isPrimary: true }),
          },
        ];
      });
      if (networks.length > 0 && attachments.length === 0) return leave();
      if (attachments.filter(({ vlan }) => vlan === undefined).length > 1)
        wrong(`'${name}' has several networks without a tag`, 'Give all but one a vlan.', 'networks');
      if (attachments.length > 0 && attachments.every(({ cidr }) => cidr === undefined)) {
        const hint = 'Give one of its Network documents a cidr: MAAS is searched for that subnet.';
        wrong(`no network of '${name}' has a cidr`, hint, 'networks');
      }
      for (const { network, vlan } of attachments) {
        if (!isBond || vlan === undefined || `${name}.${vlan}`.length <= 15) continue;
        const message = `the VLAN interface of '${network}', ${name}.${vlan}, would have more than 15 characters`;
        wrong(message, 'Give the interface a shorter name.', 'networks');
      }
      return [
        {
          name,
          devices: slaves.map(device),
          ...(isBond && { bond: bondOf(mode, link.bonding) }),
          ...(link.mtu !== undefined && { mtu: link.mtu }),
          networks: attachments,
        },
      ];
    });
    for (const { name, bond } of ports) {
      const user = users.get(name);
      if (!bond || user === undefined) continue;
      const hint = 'Name the bond otherwise, such as bond0.';
      const message = `the bond '${name}' has the name of a device of '${user}'`;
      this.#report(interfaces.get(name)!, { code: 'node.bad-interface', message, hint });
    }
    this.#checkAddressing(document, described, ports, attached);
    return ports;
  }

  /** Checks that need all interfaces of a node. */
  #checkAddressing(
    document: SiteDocument<BaremetalNodeData>,
    { primaryNetwork, oob }: Inherited,
    ports: readonly PortLayout[],
    attached: ReadonlyMap<string, string>,
  ): void {
    const code = 'node.bad-address';
    for (const [index, { network }] of (document.data.addressing ?? []).entries()) {
      if (attached.has(network)) continue;
      const { networks } = this.#documents;
      if (networks.names.length > 0 && this.#find(networks, network) === 'unknown') {
        this.#documents.report(
          placeProblem(document.yaml, {
            code: 'node.unknown-network',
            message: `'${document.name}' has an address in the network '${network}', which is not there`,
            hint: didYouMean(network, networks.names) ?? `Add its ${networks.schema} document.`,
            path: ['data', 'addressing', index, 'network'],
          }),
        );
        continue;
      }
      if (network === oob.network) continue;
      this.#documents.report(
        placeProblem(document.yaml, {
          severity: 'warning',
          code,
          message: `no interface of '${document.name}' is on the network '${network}': its address is not used`,
          hint: 'Add the network to an interface, or remove the address.',
          path: ['data', 'addressing', index, 'network'],
        }),
      );
    }
    if (primaryNetwork && !attached.has(primaryNetwork)) {
      const message = `no interface is on the primary network '${primaryNetwork}'`;
      const hint = 'Add it to an interface: without it, the node gets no default gateway.';
      this.#report({ document, path: ['data'] }, { severity: 'warning', code, message, hint });
    }
    if (ports.length > 0 && ports.every(({ networks }) => networks.every(({ address }) => address === undefined))) {
      const message = `'${document.name}' has an address in none of its networks`;
      const hint = 'Add addressing with an address or dhcp: MAAS deploys no machine without one.';
      this.#report({ document, path: ['data'] }, { code, message, hint });
    }
  }

  #address(
    document: SiteDocument,
    network: NetworkData,
    name: string,
    index: number,
    address: string | undefined,
  ): string | undefined {
    if (address === undefined || address === 'dhcp') return address;
    const wrong = (message: string, hint: string): void =>
      this.#report(
        { document, path: ['data', 'addressing', index, 'address'] },
        { code: 'node.bad-address', message, hint },
      );
    if (isIP(address) === 0) {
      wrong(`'${address}' is not an IP address`, "Write an address of the network, or 'dhcp'.");
    } else if (network.cidr === undefined || !isInNetwork(address, network.cidr)) {
      wrong(`${address} is not in the network '${name}' (${network.cidr ?? 'without a cidr'})`, 'Correct either.');
    } else {
      const given = canonicalAddress(address);
      const other = this.#addresses.get(given);
      if (other !== undefined && other !== document.name)
        wrong(`${address} is the address of '${other}', too`, 'Each node has its own.');
      this.#addresses.set(given, document.name);
      const dynamic = network.ranges?.find(({ type, start, end }) => type === 'dhcp' && isInRange(address, start, end));
      if (dynamic) {
        const range = `${dynamic.start} to ${dynamic.end}`;
        wrong(`${address} is in the range ${range} of '${name}', which is for DHCP`, 'Choose an address outside it.');
      }
    }
    return address;
  }

  #known<Data>(of: NamedDocuments<Data>, word: 'link' | 'network', name: string, at: Owned<unknown>, key: string) {
    const found = this.#find(of, name);
    if (found === 'unknown') {
      const hint = didYouMean(name, of.names) ?? `Add its ${of.schema} document.`;
      const code = word === 'link' ? 'node.unknown-link' : 'node.unknown-network';
      this.#report(at, { code, message: `there is no ${word} '${name}'`, hint, under: [key] });
    }
    return typeof found === 'string' ? undefined : found.data;
  }

  /** `invalid`: it has been reported, or may be in a file that could not be read. */
  #find<Data>({ checked, names }: NamedDocuments<Data>, name: string): SiteDocument<Data> | 'invalid' | 'unknown' {
    return checked.get(name) ?? (this.#documents.isIncomplete || names.includes(name) ? 'invalid' : 'unknown');
  }

  /** Nodes share profiles: their problems are reported once. */
  readonly #report: ReportLayout = ({ document, path }, { under = [], ...problem }) => {
    const finding = { ...problem, path: [...path, ...under] };
    const key = JSON.stringify([document.schema, document.name, finding.path, problem.message]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#documents.report(placeProblem(document.yaml, finding));
  };
}

/** As MAAS takes it. */
const BOND_NAME = /^[\w.:-]{1,15}$/;

/** Modes that distribute packets by a hash. */
const HASHING: ReadonlySet<string> = new Set(['802.3ad', 'balance-xor', 'balance-tlb', 'balance-alb']);

function bondOf(name: string, bonding: NetworkLinkData['bonding']): NonNullable<PortLayout['bond']> {
  const { hash, peer_rate: rate, mon_rate: monitor, up_delay: up, down_delay: down } = bonding ?? {};
  const mode = BOND_MODES[name] ?? name;
  const isLacp = mode === '802.3ad';
  // Drydock's defaults; else those of MAAS, so that earlier settings are removed.
  const policy = hash ?? (isLacp ? 'layer3+4' : HASHING.has(mode) ? 'layer2' : undefined);
  const pace = rate ?? (isLacp ? 'fast' : undefined);
  return {
    bond_mode: mode,
    ...(policy !== undefined && { bond_xmit_hash_policy: policy }),
    ...(pace !== undefined && { bond_lacp_rate: pace }),
    bond_miimon: monitor ?? 100,
    bond_updelay: up ?? 200,
    bond_downdelay: down ?? 200,
  };
}
