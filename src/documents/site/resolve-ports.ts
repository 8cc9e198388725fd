import { isIP } from 'node:net';
import { canonicalAddress, canonicalNetwork, isInNetwork, isInRange } from '@sitewright/maas/ip-address';
import type { DeviceReference, NetworkAttachment, PortLayout } from '@sitewright/maas/machine-layout';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { BaremetalNodeData } from '../schemas/baremetal-node.ts';
import { BOND_MODES, type HostInterface, type NetworkData, type NetworkLinkData } from '../schemas/machine-layout.ts';
import type { Inherited, Named } from './inherit.ts';
import { isLeftAlone } from './left-alone.ts';
import type { Owned, ReportLayout } from './owned-value.ts';
import type { NamedDocuments, SiteDocument } from './site-document.ts';

/** What the ports of all nodes of a site have in common. */
export interface PortsOfSite {
  readonly links: NamedDocuments<NetworkLinkData>;
  readonly networks: NamedDocuments<NetworkData>;
  /** `invalid`: it has been reported, or may be in a file that could not be read. */
  find<Data>(of: NamedDocuments<Data>, name: string): SiteDocument<Data> | 'invalid' | 'unknown';
  /** Each problem once. */
  readonly report: ReportLayout;
  /** By address: the node that has it. */
  readonly addresses: Map<string, string>;
}

interface PortsOfNode {
  readonly document: SiteDocument<BaremetalNodeData>;
  readonly described: Inherited;
  readonly device: (name: string) => DeviceReference;
}

/** Reports a problem of an interface. */
type Tell = (message: string, hint: string, key?: string) => void;

/** An interface of a node, with the link that it is connected to. */
interface Port {
  readonly name: string;
  readonly owned: Owned<HostInterface>;
  readonly linkName: string;
  readonly link: NetworkLinkData;
  readonly wrong: Tell;
  readonly warn: Tell;
}

/** Interfaces of one node, as MAAS configures them. */
export class PortResolver {
  readonly #site: PortsOfSite;
  readonly #node: PortsOfNode;
  /** By device: the interface that it belongs to. */
  readonly #users = new Map<string, string>();
  /** By network: the interface that is on it. */
  readonly #attached = new Map<string, string>();
  /** Interfaces and devices that stay as they are. */
  readonly untouched = new Set<string>();

  constructor(site: PortsOfSite, node: PortsOfNode) {
    this.#site = site;
    this.#node = node;
  }

  resolve(interfaces: Named<HostInterface>): readonly PortLayout[] {
    const ports = [...interfaces].flatMap(([name, owned]) => this.#port(name, owned));
    for (const { name, bond } of ports) {
      const user = this.#users.get(name);
      if (!bond || user === undefined) continue;
      const hint = 'Name the bond otherwise, such as bond0.';
      const message = `the bond '${name}' has the name of a device of '${user}'`;
      this.#site.report(interfaces.get(name)!, { code: 'node.bad-interface', message, hint });
    }
    this.#checkAddressing(ports);
    return ports;
  }

  #port(name: string, owned: Owned<HostInterface>): PortLayout[] {
    const tell =
      (severity: 'error' | 'warning'): Tell =>
      (message, hint, key) =>
        this.#site.report(owned, {
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
    this.#claim(name, owned, wrong, warn);
    const leave = (): [] => {
      for (const one of [name, ...slaves]) this.untouched.add(one);
      return [];
    };
    if (linkName === undefined && networks.length > 0)
      wrong(`the interface '${name}' has networks and no device_link`, 'Name the NetworkLink that it is connected to.');
    if (linkName === undefined) return leave();
    const link = this.#known(this.#site.links, 'link', linkName, owned, 'device_link');
    if (!link) return [];
    if (isLeftAlone(link.labels) || isLeftAlone(labels)) return leave();
    const port: Port = { name, owned, linkName, link, wrong, warn };
    checkDevices(port);
    const attachments = networks.flatMap((network) => this.#attachment(port, network));
    if (networks.length > 0 && attachments.length === 0) return leave();
    checkAttachments(port, attachments);
    return [
      {
        name,
        devices: slaves.map(this.#node.device),
        ...(isBond(link) && { bond: bondOf(modeOf(link), link.bonding) }),
        ...(link.mtu !== undefined && { mtu: link.mtu }),
        networks: attachments,
      },
    ];
  }

  /** A device and a network belong to one interface. */
  #claim(name: string, { value }: Owned<HostInterface>, wrong: Tell, warn: Tell): void {
    for (const key of ['sriov', 'ovs_dpdk', 'pci_whitelist'] as const) {
      if (value[key] === undefined || value[key] === null) continue;
      warn(
        `${key} of '${name}' has no effect: MAAS does not configure it`,
        'Configure it on the node, by a task.',
        key,
      );
    }
    for (const slave of value.slaves ?? []) {
      const other = this.#users.get(slave);
      if (other !== undefined)
        wrong(`the device '${slave}' belongs to '${other}', too`, 'A device has one interface.', 'slaves');
      this.#users.set(slave, name);
    }
    for (const network of value.networks ?? []) {
      const other = this.#attached.get(network);
      if (other !== undefined)
        wrong(`the network '${network}' is on '${other}', too`, 'A network has one interface.', 'networks');
      this.#attached.set(network, name);
    }
  }

  #attachment({ owned, linkName, link, wrong, warn }: Port, network: string): NetworkAttachment[] {
    const allowed = link.allowed_networks;
    if (allowed && !allowed.includes(network)) {
      const hint = `Add it to allowed_networks of '${linkName}', or remove it here.`;
      wrong(`the link '${linkName}' does not carry the network '${network}'`, hint, 'networks');
    }
    const known = this.#known(this.#site.networks, 'network', network, owned, 'networks');
    if (!known) return [];
    if (isLeftAlone(known.labels)) return [];
    const isDefault = link.trunking?.default_network === network;
    if (known.mtu !== undefined && known.mtu > (link.mtu ?? 1500)) {
      const hint = 'Raise mtu of the NetworkLink, or lower that of the Network.';
      const say = isDefault ? wrong : warn;
      say(`the MTU of '${network}' is ${known.mtu}, that of its link ${link.mtu ?? 1500}`, hint, 'networks');
    }
    const address = this.#address(known, network);
    const isTagged = isTrunk(link) && Number(known.vlan ?? 0) > 0 && !isDefault;
    return [
      {
        network,
        ...(known.cidr !== undefined && { cidr: canonicalNetwork(known.cidr) }),
        ...(isTagged && { vlan: Number(known.vlan) }),
        ...(known.mtu !== undefined && { mtu: known.mtu }),
        ...(address !== undefined && { address: canonicalAddress(address) }),
        ...(network === this.#node.described.primaryNetwork && { isPrimary: true }),
      },
    ];
  }

  /** Checks that need all interfaces of a node. */
  #checkAddressing(ports: readonly PortLayout[]): void {
    const { document, described } = this.#node;
    const { primaryNetwork, oob } = described;
    const code = 'node.bad-address';
    for (const [index, { network }] of (document.data.addressing ?? []).entries()) {
      if (this.#attached.has(network)) continue;
      const { networks, find, report } = this.#site;
      if (networks.names.length > 0 && find(networks, network) === 'unknown') {
        report(
          { document, path: ['data', 'addressing', index, 'network'] },
          {
            code: 'node.unknown-network',
            message: `'${document.name}' has an address in the network '${network}', which is not there`,
            hint: didYouMean(network, networks.names) ?? `Add its ${networks.schema} document.`,
          },
        );
        continue;
      }
      if (network === oob.network) continue;
      report(
        { document, path: ['data', 'addressing', index, 'network'] },
        {
          severity: 'warning',
          code,
          message: `no interface of '${document.name}' is on the network '${network}': its address is not used`,
          hint: 'Add the network to an interface, or remove the address.',
        },
      );
    }
    if (primaryNetwork && !this.#attached.has(primaryNetwork)) {
      const message = `no interface is on the primary network '${primaryNetwork}'`;
      const hint = 'Add it to an interface: without it, the node gets no default gateway.';
      this.#site.report({ document, path: ['data'] }, { severity: 'warning', code, message, hint });
    }
    if (ports.length > 0 && ports.every(({ networks }) => networks.every(({ address }) => address === undefined))) {
      const message = `'${document.name}' has an address in none of its networks`;
      const hint = 'Add addressing with an address or dhcp: MAAS deploys no machine without one.';
      this.#site.report({ document, path: ['data'] }, { code, message, hint });
    }
  }

  #address(network: NetworkData, name: string): string | undefined {
    const { document } = this.#node;
    const addressing = document.data.addressing ?? [];
    const index = addressing.findIndex((each) => each.network === name);
    const address = addressing[index]?.address;
    if (address === undefined || address === 'dhcp') return address;
    const wrong = (message: string, hint: string): void =>
      this.#site.report(
        { document, path: ['data', 'addressing', index, 'address'] },
        { code: 'node.bad-address', message, hint },
      );
    if (isIP(address) === 0) {
      wrong(`'${address}' is not an IP address`, "Write an address of the network, or 'dhcp'.");
    } else if (network.cidr === undefined || !isInNetwork(address, network.cidr)) {
      wrong(`${address} is not in the network '${name}' (${network.cidr ?? 'without a cidr'})`, 'Correct either.');
    } else {
      const given = canonicalAddress(address);
      const other = this.#site.addresses.get(given);
      if (other !== undefined && other !== document.name)
        wrong(`${address} is the address of '${other}', too`, 'Each node has its own.');
      this.#site.addresses.set(given, document.name);
      const dynamic = network.ranges?.find(({ type, start, end }) => type === 'dhcp' && isInRange(address, start, end));
      if (dynamic) {
        const range = `${dynamic.start} to ${dynamic.end}`;
        wrong(`${address} is in the range ${range} of '${name}', which is for DHCP`, 'Choose an address outside it.');
      }
    }
    return address;
  }

  #known<Data>(of: NamedDocuments<Data>, word: 'link' | 'network', name: string, at: Owned<unknown>, key: string) {
    const found = this.#site.find(of, name);
    if (found === 'unknown') {
      const hint = didYouMean(name, of.names) ?? `Add its ${of.schema} document.`;
      const code = word === 'link' ? 'node.unknown-link' : 'node.unknown-network';
      this.#site.report(at, { code, message: `there is no ${word} '${name}'`, hint, under: [key] });
    }
    return typeof found === 'string' ? undefined : found.data;
  }
}

const isTrunk = ({ trunking }: NetworkLinkData): boolean => trunking?.mode === '802.1q';

const modeOf = ({ bonding }: NetworkLinkData): string => bonding?.mode ?? 'disabled';

const isBond = (link: NetworkLinkData): boolean => modeOf(link) !== 'disabled';

function checkDevices({ name, owned, linkName, link, wrong, warn }: Port): void {
  const { slaves = [], networks = [] } = owned.value;
  if (isBond(link) ? slaves.length === 0 : slaves.length !== 1) {
    const needs = isBond(link)
      ? `a bond (${modeOf(link)}) has at least one device`
      : 'an interface without a bond has one device';
    // Drydock takes it, and fails when it configures the machine.
    const say = !isBond(link) && slaves.length > 1 ? warn : wrong;
    say(`${needs}, '${name}' has ${slaves.length}`, 'Correct slaves, or bonding of the NetworkLink.', 'slaves');
  }
  if (isBond(link) && !BOND_NAME.test(name)) {
    const hint = 'Give it 1 to 15 letters, digits, dots, colons, hyphens or underscores.';
    wrong(`MAAS cannot name a bond '${name}'`, hint);
  }
  if (!isTrunk(link) && networks.length > 1) {
    const hint = `Set trunking.mode of the NetworkLink '${linkName}' to 802.1q, or name one network.`;
    wrong(`'${name}' has ${networks.length} networks, but its link has no VLANs`, hint, 'networks');
  }
}

function checkAttachments({ name, link, wrong }: Port, attachments: readonly NetworkAttachment[]): void {
  if (attachments.filter(({ vlan }) => vlan === undefined).length > 1)
    wrong(`'${name}' has several networks without a tag`, 'Give all but one a vlan.', 'networks');
  if (attachments.length > 0 && attachments.every(({ cidr }) => cidr === undefined)) {
    const hint = 'Give one of its Network documents a cidr: MAAS is searched for that subnet.';
    wrong(`no network of '${name}' has a cidr`, hint, 'networks');
  }
  for (const { network, vlan } of attachments) {
    if (!isBond(link) || vlan === undefined || `${name}.${vlan}`.length <= 15) continue;
    const message = `the VLAN interface of '${network}', ${name}.${vlan}, would have more than 15 characters`;
    wrong(message, 'Give the interface a shorter name.', 'networks');
  }
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
