import type { NetworkData, NetworkLinkData } from '../schemas/machine-layout.ts';
import type { ReportLayout } from './owned-value.ts';
import type { NamedDocuments, SiteDocument } from './site-document.ts';

/** Checks of links by themselves and with their networks, as Drydock makes them. */
export function checkLinks(
  links: readonly SiteDocument<NetworkLinkData>[],
  networks: NamedDocuments<NetworkData>,
  isIncomplete: boolean,
  report: ReportLayout,
): void {
  const carriers = new Map<string, string>();
  for (const document of links) {
    const { bonding, trunking, allowed_networks: allowed = [] } = document.data;
    const wrong = (under: readonly (string | number)[], message: string, hint: string): void =>
      report({ document, path: ['data'] }, { code: 'network.bad-link', message, hint, under });
    for (const [index, network] of allowed.entries()) {
      const other = carriers.get(network);
      if (other !== undefined && other !== document.name)
        wrong(
          ['allowed_networks', index],
          `the network '${network}' is on the links '${other}' and '${document.name}'`,
          'A network is on one link.',
        );
      carriers.set(network, document.name);
    }
    const { mon_rate: monitor = 100, up_delay: up = 200, down_delay: down = 200 } = bonding ?? {};
    if (bonding?.mode === '802.3ad') {
      for (const [key, delay] of [
        ['up_delay', up],
        ['down_delay', down],
      ] as const)
        if (delay < monitor)
          wrong(
            ['bonding', key],
            `${key} of '${document.name}' is ${delay} ms, less than mon_rate, ${monitor} ms (DD1006)`,
            'Give it mon_rate or more.',
          );
    }
    const native = trunking?.default_network;
    const isTagged = native !== undefined && networks.checked.get(native)?.data.vlan !== undefined;
    if (isTagged && trunking?.mode !== '802.1q')
      wrong(
        ['trunking', 'default_network'],
        `'${document.name}' has no trunking, and its network '${native}' has a vlan (DD2004)`,
        "Set trunking.mode to 802.1q, or remove 'vlan' there.",
      );
    if (native === undefined || networks.names.length === 0) continue;
    if (!networks.names.includes(native) && !isIncomplete)
      wrong(
        ['trunking', 'default_network'],
        `'${document.name}' has the default network '${native}', which is not there`,
        'Correct default_network, or add the Network.',
      );
  }
}
