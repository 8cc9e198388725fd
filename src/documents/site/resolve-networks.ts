import { isIP } from 'node:net';
import { canonicalAddress, canonicalNetwork, isInNetwork, isInRange } from '@sitewright/maas/ip-address';
import type { NetworkRoute, NetworkSettings } from '@sitewright/maas/machine-layout';
import type { NetworkData } from '../schemas/machine-layout.ts';
import { isLeftAlone } from './left-alone.ts';
import type { ReportLayout } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

const DEFAULT_ROUTES: readonly string[] = ['0.0.0.0/0', '::/0'];

/** Types of ranges that MAAS has; for others there is nothing to set. */
const CONFIGURED: readonly string[] = ['dhcp', 'reserved'];

const hasHostBits = (cidr: string): boolean => {
  const [address = '', prefix] = cidr.split('/');
  return `${canonicalAddress(address)}/${Number(prefix)}` !== canonicalNetwork(cidr);
};

/** Settings for MAAS at the subnets of networks. Networks with only a subnet are omitted. */
export function resolveNetworks(
  networks: readonly SiteDocument<NetworkData>[],
  report: ReportLayout,
): NetworkSettings[] {
  return networks.flatMap((network) => {
    const { cidr, ranges = [], dns, routes = [] } = network.data;
    const at = { document: network, path: ['data'] };
    const servers = (dns?.servers ?? '').split(/[\s,]+/).filter((server) => server !== '');
    const wrong = (under: readonly (string | number)[], message: string, hint: string): void =>
      report(at, { code: 'network.bad-setting', message, hint, under });
    if (cidr !== undefined && hasHostBits(cidr))
      wrong(['cidr'], `${cidr} of '${network.name}' has host bits (DD2006)`, 'Write the address of the network.');
    if (ranges.length + servers.length + routes.length === 0 || isLeftAlone(network.data.labels)) return [];
    if (cidr === undefined) {
      wrong([], `the network '${network.name}' has no cidr`, 'Give it one: MAAS is searched for that subnet.');
      return [];
    }
    const inside = (under: readonly (string | number)[], address: string): void => {
      if (isInNetwork(address, cidr)) return;
      wrong(under, `${address} is not in the network '${network.name}' (${cidr})`, 'Correct either.');
    };
    ranges.forEach(({ type, start, end }, index) => {
      if (!CONFIGURED.includes(type)) return;
      inside(['ranges', index, 'start'], start);
      inside(['ranges', index, 'end'], end);
      if (isInNetwork(start, cidr) && isInNetwork(end, cidr) && !isInRange(start, start, end))
        wrong(['ranges', index], `the range ends at ${end}, before ${start}`, 'Exchange start and end.');
    });
    for (const server of servers) {
      if (isIP(server) === 0) wrong(['dns', 'servers'], `'${server}' is not an IP address`, 'Name servers by address.');
    }
    const settled = routes.flatMap(({ subnet, routedomain, gateway, metric = 0 }, index): NetworkRoute[] => {
      inside(['routes', index, 'gateway'], gateway);
      const via = canonicalAddress(gateway);
      if (subnet !== undefined) return [{ destination: canonicalNetwork(subnet), gateway: via, metric }];
      const others = networks.flatMap((other) =>
        other !== network && other.data.routedomain === routedomain ? (other.data.cidr ?? []) : [],
      );
      if (routedomain === undefined || others.length === 0) {
        const message =
          routedomain === undefined ? 'a route needs a destination' : `no other network is in '${routedomain}'`;
        wrong(['routes', index], message, 'Give it subnet, or a routedomain that other networks have.');
      }
      return others.map((destination) => ({ destination: canonicalNetwork(destination), gateway: via, metric }));
    });
    const gateways = new Set(
      settled.flatMap(({ destination, gateway }) => (DEFAULT_ROUTES.includes(destination) ? gateway : [])),
    );
    if (gateways.size > 1) wrong(['routes'], `'${network.name}' has several default routes`, 'MAAS has one gateway.');
    const [gateway] = gateways;
    return [
      {
        network: network.name,
        cidr: canonicalNetwork(cidr),
        ...(gateway !== undefined && { gateway }),
        routes: settled.filter(({ destination }) => !DEFAULT_ROUTES.includes(destination)),
        dnsServers: servers.map(canonicalAddress),
        // All other addresses are MAAS' to give as fixed ones: there is nothing to set for a static range.
        ranges: ranges.flatMap(({ type, start, end }) =>
          !CONFIGURED.includes(type)
            ? []
            : {
                type: type === 'dhcp' ? 'dynamic' : 'reserved',
                start: canonicalAddress(start),
                end: canonicalAddress(end),
              },
        ),
      },
    ];
  });
}
