import type { AddressFact } from '@sitewright/maas';
import { isMapping } from '../../core/data/plain-value.ts';
import type { Fields } from '../../graph/index.ts';
import type { ClusterNode, ClusterSources } from '../sources.ts';

/** An address, and the interface that has it. */
interface Attachment extends AddressFact {
  readonly endpoint: string;
}

/** Networks and roles of networks of a node, in Fuel's shapes. */
export interface NodeNetworks {
  readonly scheme: Fields;
  /** Its address for each role of a network that it has. */
  readonly roles: Fields;
}

/**
 * The networks of a node from the interfaces that MAAS reported; `undefined` when it has reported nothing. A network
 * of the cluster is where its `place`, `space`, `subnet` or `cidr` is, else where a space or subnet of its name is.
 */
export function networksOfNode(node: ClusterNode, sources: ClusterSources): NodeNetworks | undefined {
  const interfaces = (node.interfaces ?? []).filter(isMapping).filter(({ addresses }) => Array.isArray(addresses));
  if (interfaces.length === 0) return undefined;
  const attachments = interfaces.flatMap(attachmentsOf);
  const networks = networksOf(sources, attachments);
  const roles: Record<string, string> = {};
  const addresses: Record<string, string | null> = {};
  const named = [...networks.keys()].map((name) => [name, name] as const);
  const roleNames = rolesOf(sources).map(({ id, network }) => [id, network] as const);
  for (const [role, network] of [...named, ...roleNames]) {
    const at = attachments.find((one) => networks.get(network)?.(one));
    if (!at) continue;
    roles[role] = at.endpoint;
    addresses[role] = at.ip;
  }
  return {
    scheme: {
      version: '1.1',
      provider: 'lnx',
      interfaces: Object.fromEntries(
        interfaces.filter(({ type }) => type === 'ether').map(({ name }) => [String(name), { vendor_specific: {} }]),
      ),
      // MAAS has made bonds and VLANs already.
      transformations: [],
      endpoints: Object.fromEntries(
        interfaces.map(({ name }) => [
          String(name),
          endpointOf(attachments.filter(({ endpoint }) => endpoint === String(name))),
        ]),
      ),
      roles,
    },
    roles: addresses,
  };
}

function attachmentsOf({ name, addresses }: Fields): Attachment[] {
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  return (Array.isArray(addresses) ? addresses : []).filter(isMapping).map((address) => ({
    endpoint: String(name),
    mode: text(address.mode) ?? '',
    ip: text(address.ip),
    cidr: text(address.cidr),
    gateway: text(address.gateway),
    subnet: text(address.subnet),
    space: text(address.space),
  }));
}

function endpointOf(attachments: readonly Attachment[]): Fields {
  const addresses = attachments.flatMap(({ ip, cidr }) =>
    ip === null ? [] : [`${ip}/${cidr?.split('/')[1] ?? '32'}`],
  );
  const gateway = attachments.find((one) => one.ip !== null && one.gateway !== null)?.gateway;
  const isDhcp = attachments.some(({ mode }) => mode === 'dhcp');
  return {
    IP: addresses.length > 0 ? addresses : isDhcp ? 'dhcp' : 'none',
    ...(gateway === undefined || gateway === null ? {} : { gateway }),
  };
}

type Place = Pick<Attachment, 'space' | 'subnet' | 'cidr'>;
type Matches = (place: Place) => boolean;

/** Where each network is: those of the cluster's configuration, and those of roles and spaces by their names. */
export function networksOf(
  sources: Pick<ClusterSources, 'cluster' | 'release' | 'plugins'>,
  places: readonly Place[],
): ReadonlyMap<string, Matches> {
  const { networks } = sources.cluster.networks;
  const found = new Map<string, Matches>();
  for (const network of (Array.isArray(networks) ? networks : []).filter(isMapping)) {
    const { name, place, space, subnet, cidr } = network;
    if (typeof name !== 'string') continue;
    const isSaid: Matches | undefined =
      typeof place === 'string'
        ? (one) => one.cidr === place || isCalled(place)(one)
        : typeof space === 'string'
          ? (one) => one.space === space
          : typeof subnet === 'string'
            ? (one) => one.subnet === subnet || one.cidr === subnet
            : places.some((one) => one.cidr === cidr)
              ? (one) => one.cidr === cidr
              : undefined;
    found.set(name, isSaid ?? isCalled(name));
  }
  for (const name of [
    ...places.flatMap(({ space }) => space ?? []),
    ...rolesOf(sources).map(({ network }) => network),
  ]) {
    if (!found.has(name)) found.set(name, isCalled(name));
  }
  return found;
}

const isCalled =
  (name: string): Matches =>
  (one) =>
    one.space === name || one.subnet === name;

/** Roles of networks of the release and the plugins, each with its network. */
export const rolesOf = ({
  release,
  plugins,
}: Pick<ClusterSources, 'release' | 'plugins'>): readonly { id: string; network: string; fields: Fields }[] =>
  [release, ...plugins].flatMap(({ networkRoles = [] }) =>
    networkRoles.filter(isMapping).flatMap((fields) => {
      const { id, default_mapping: network } = fields;
      return typeof id === 'string' && typeof network === 'string' ? [{ id, network, fields }] : [];
    }),
  );
