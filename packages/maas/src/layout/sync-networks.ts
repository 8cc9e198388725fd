import type { MaasClient } from '../client.ts';
import type { FormFields } from '../connection.ts';
import { isMaasFailure } from '../failure.ts';
import { isSameAddress, isSameNetwork } from './ip-address.ts';
import type { NetworkSettings } from './machine-layout.ts';
import type { SubnetChange, SubnetSettings } from './subnet-settings.ts';

interface SyncedNetworks {
  readonly changes: readonly string[];
  /** Settings that differ, are missing or refused in MAAS. */
  readonly problems: readonly string[];
}

/**
 * Gives the subnets of networks their gateways, routes, DNS servers and address ranges. Missing values are set; different
 * values in MAAS are a problem, because other machines use them. Nothing is removed. Each call follows from the state in MAAS, so
 * that it may be repeated.
 * @param acting called before each change
 */
export async function syncNetworks(
  { layouts }: MaasClient,
  networks: readonly NetworkSettings[],
  acting: () => Promise<void>,
  signal?: AbortSignal,
): Promise<SyncedNetworks> {
  const changes: string[] = [];
  if (networks.length === 0) return { changes, problems: [] };
  let found = await layouts.subnetSettings(signal);
  const problems = networks.flatMap((network) => problemsOf(found, network));
  if (problems.length > 0) return { changes, problems };
  for (const network of networks) {
    for (let change = nextChange(found, network); change; change = nextChange(found, network)) {
      if (changes.includes(change.text))
        return { changes, problems: [`MAAS accepts "${change.text}" without effect: look at the subnet there`] };
      await acting();
      let refusal: string | undefined;
      try {
        await layouts.sendToSubnet(change, signal);
      } catch (error) {
        // Such as a range that overlaps with another one; or another run was quicker.
        if (!isMaasFailure(error, 'invalid', 'forbidden')) throw error;
        refusal = error.message;
      }
      found = await layouts.subnetSettings(signal);
      if (refusal === undefined) changes.push(change.text);
      else if (nextChange(found, network)?.text === change.text)
        return { changes, problems: [`MAAS refuses to ${change.text}: ${refusal}`] };
    }
  }
  return { changes, problems: [] };
}

function problemsOf({ subnets }: SubnetSettings, { network, cidr, gateway, dnsServers, routes }: NetworkSettings) {
  const subnet = subnets.find((each) => isSameNetwork(each.cidr, cidr));
  if (!subnet)
    return [`MAAS has no subnet ${cidr} (network ${network}): add it there, or correct the Network document`];
  const has = (what: string, theirs: string, ours: string): string =>
    `the subnet ${cidr} (network ${network}) has the ${what} ${theirs} in MAAS, not ${ours}: correct one of them`;
  const others = routes.filter(({ destination }) => !subnets.some((each) => isSameNetwork(each.cidr, destination)));
  return [
    ...(gateway !== undefined && subnet.gateway !== '' && !isSameAddress(subnet.gateway, gateway)
      ? [has('gateway', subnet.gateway, gateway)]
      : []),
    ...(dnsServers.length > 0 && subnet.dnsServers.length > 0 && !isSame(subnet.dnsServers, dnsServers)
      ? [has('DNS servers', subnet.dnsServers.join(', '), dnsServers.join(', '))]
      : []),
    ...others.map(
      ({ destination }) =>
        `MAAS has no subnet ${destination}, to which ${network} has a route: add it there, or correct the Network document`,
    ),
  ];
}

/** The next call towards the settings, from one reading; `undefined` if nothing is left to do. */
function nextChange(
  { subnets, routes, ranges }: SubnetSettings,
  { network, cidr, gateway, dnsServers, routes: wanted, ranges: reserved }: NetworkSettings,
): SubnetChange | undefined {
  const subnet = subnets.find((each) => isSameNetwork(each.cidr, cidr));
  if (!subnet) return undefined;
  const ofSubnet = (form: FormFields, text: string): SubnetChange => ({
    method: 'put',
    path: `subnets/${subnet.id}/`,
    form,
    text: `${text} of ${cidr} (network ${network})`,
  });
  if (gateway !== undefined && !isSameAddress(subnet.gateway, gateway))
    return ofSubnet({ gateway_ip: gateway }, `set the gateway ${gateway}`);
  if (dnsServers.length > 0 && !isSame(subnet.dnsServers, dnsServers))
    return ofSubnet({ dns_servers: dnsServers.join(' ') }, `set the DNS servers ${dnsServers.join(', ')}`);
  for (const { destination, gateway: via, metric } of wanted) {
    const to = subnets.find((each) => isSameNetwork(each.cidr, destination))?.id;
    const there = routes.find(
      (route) => route.source === subnet.id && route.destination === to && isSameAddress(route.gateway, via),
    );
    const text = `set the route from ${cidr} to ${destination} through ${via}, metric ${metric}`;
    if (!there) {
      const form = { source: subnet.id, destination: to, gateway_ip: via, metric };
      return { method: 'post', path: 'static-routes/', form, text };
    }
    if (there.metric !== metric) return { method: 'put', path: `static-routes/${there.id}/`, form: { metric }, text };
  }
  const missing = reserved.find(
    ({ type, start, end }) =>
      !ranges.some(
        (range) =>
          range.subnet === subnet.id &&
          range.type === type &&
          isSameAddress(range.start, start) &&
          isSameAddress(range.end, end),
      ),
  );
  if (!missing) return undefined;
  const { type, start, end } = missing;
  return {
    method: 'post',
    path: 'ipranges/',
    form: { type, start_ip: start, end_ip: end, subnet: subnet.id, comment: `network ${network}, by Sitewright` },
    text: `make the ${type} range ${start} to ${end} of ${cidr} (network ${network})`,
  };
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((item) => other.some((each) => isSameAddress(each, item)));
