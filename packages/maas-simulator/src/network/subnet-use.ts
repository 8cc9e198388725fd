import { refuse, unavailable } from '../answer.ts';
import type { Region } from '../region.ts';
import {
  formatAddress,
  gapsIn,
  type IpAddress,
  type IpNetwork,
  isIn,
  parseAddress,
  parseNetwork,
  type Span,
} from './ip.ts';
import type { IpRange, Subnet } from './records.ts';

/** Addresses of a subnet in use, and their purpose. */
export interface Use extends Span {
  readonly purpose: string;
}

export const networkOf = ({ cidr }: Pick<Subnet, 'cidr'>): IpNetwork => {
  const network = parseNetwork(cidr);
  if (network === null) throw new Error(`'${cidr}' is no network`);
  return network;
};

export function spanOf(range: Pick<IpRange, 'start' | 'end'>): Span {
  return { first: parseAddress(range.start)?.value ?? 0n, last: parseAddress(range.end)?.value ?? 0n };
}

/** Addresses that MAAS reserves in each IPv6 network. */
function keptOf({ version, first, prefix }: IpNetwork): Use[] {
  if (version === 4 || prefix >= 127) return [];
  const anycast = { first, last: first, purpose: 'rfc-4291-2.6.1' };
  return prefix === 64 ? [anycast, { first: first + 1n, last: first + 0xffff_ffffn, purpose: 'reserved' }] : [anycast];
}

interface UseOptions {
  /** Counts ranges, and neither single addresses nor gateways. */
  readonly rangesOnly?: boolean;
  readonly ignoreDiscovered?: boolean;
  /** Id of a range that does not count. */
  readonly except?: number;
}

function rangesIn(region: Region, subnet: Readonly<Subnet>, except: number | undefined): Use[] {
  return [...region.ranges.values()]
    .filter((range) => range.subnet === subnet.id && range.id !== except)
    .map((range) => ({ ...spanOf(range), purpose: range.type }));
}

function singlesIn(region: Region, subnet: Readonly<Subnet>, network: IpNetwork, ignoreDiscovered: boolean): Use[] {
  const single = (purpose: string, address: IpAddress | null): Use[] =>
    address && isIn(network, address) ? [{ first: address.value, last: address.value, purpose }] : [];
  const text = (purpose: string, given: string): Use[] => single(purpose, parseAddress(given));
  const routes = [...region.routes.values()].filter(({ source }) => source === subnet.id);
  return [
    ...text('gateway-ip', subnet.gateway),
    ...(subnet.dnsServers ?? []).flatMap((server) => text('dns-server', server)),
    ...routes.flatMap(({ gateway }) => text('gateway-ip', gateway)),
    ...region.machineAddresses(ignoreDiscovered).flatMap((address) => single('assigned-ip', address)),
    ...[...region.reserved.values()].flatMap(({ ip }) => text('assigned-ip', ip)),
  ];
}

export function usesOf(region: Region, subnet: Readonly<Subnet>, options: UseOptions = {}): Use[] {
  const network = networkOf(subnet);
  const singles = options.rangesOnly ? [] : singlesIn(region, subnet, network, options.ignoreDiscovered === true);
  return [...keptOf(network), ...rangesIn(region, subnet, options.except), ...singles];
}

/** Addresses that a host can have: all but those of the network and of the broadcast. */
export function hostsOf({ version, first, last, prefix }: IpNetwork): Span {
  if (version === 4 ? prefix >= 31 : prefix >= 127) return { first, last };
  return { first: first + 1n, last: version === 4 ? last - 1n : last };
}

export function unusedOf(region: Region, subnet: Readonly<Subnet>, options: UseOptions = {}): Span[] {
  return gapsIn(hostsOf(networkOf(subnet)), usesOf(region, subnet, options));
}

const sizeOf = ({ first, last }: Span): bigint => last - first + 1n;

/** The next address from MAAS: the first of the smallest gap. */
export function nextAddress(region: Region, subnet: Readonly<Subnet>, but: readonly string[] = []): string | null {
  const taken = but.flatMap((text) => parseAddress(text)?.value ?? []).map((value) => ({ first: value, last: value }));
  const network = networkOf(subnet);
  const gaps = gapsIn(hostsOf(network), [...usesOf(region, subnet), ...taken]);
  let best: Span | undefined;
  for (const gap of gaps) if (!best || sizeOf(gap) < sizeOf(best)) best = gap;
  return best ? formatAddress({ version: network.version, value: best.first }) : null;
}

export const claimAddress = (region: Region, subnet: Readonly<Subnet>): string =>
  nextAddress(region, subnet) ?? refuse(unavailable(`No more IPs available in subnet: ${subnet.cidr}.`));

/** In order, with neighbours of one purpose joined. */
export function joined(uses: readonly Use[]): { first: bigint; last: bigint; purpose: string[] }[] {
  const sorted = [...uses].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const found: { first: bigint; last: bigint; purpose: string[] }[] = [];
  for (const { first, last, purpose } of sorted) {
    const before = found.at(-1);
    const isSame = before?.purpose.length === 1 && before.purpose[0] === purpose;
    if (before && isSame && first <= before.last + 1n) {
      if (last > before.last) before.last = last;
    } else if (before && first === before.first && last === before.last) before.purpose.push(purpose);
    else found.push({ first, last, purpose: [purpose] });
  }
  return found;
}
