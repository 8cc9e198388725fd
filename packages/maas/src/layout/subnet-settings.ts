import type { FormFields } from '../connection.ts';
import { asNumber, asObject, asText, asTexts } from '../lenient.ts';
import { type AddressRange, parseRange, parseSubnet, type Subnet } from './hardware.ts';

/** Subnets with their settings. */
export interface SubnetSettings {
  readonly subnets: readonly (Subnet & { readonly dnsServers: readonly string[] })[];
  readonly routes: readonly {
    readonly id: number;
    readonly source: number;
    readonly destination: number;
    readonly gateway: string;
    readonly metric: number;
  }[];
  readonly ranges: readonly AddressRange[];
}

/** One call that sets something at a subnet. */
export interface SubnetChange {
  readonly method: 'post' | 'put';
  readonly path: string;
  readonly form: FormFields;
  /** Description for people. */
  readonly text: string;
}

export function parseSubnetSettings(
  subnets: readonly unknown[],
  routes: readonly unknown[],
  ranges: readonly unknown[],
): SubnetSettings {
  const idOf = (value: unknown): number => asNumber(asObject(value).id) ?? -1;
  return {
    subnets: subnets.map((item) => ({ ...parseSubnet(item), dnsServers: dnsServersOf(asObject(item).dns_servers) })),
    routes: routes.map((item) => {
      const { source, destination, gateway_ip: gateway, metric } = asObject(item);
      return {
        id: idOf(item),
        source: idOf(source),
        destination: idOf(destination),
        gateway: asText(gateway),
        metric: asNumber(metric) ?? 0,
      };
    }),
    ranges: ranges.map(parseRange),
  };
}

/** A list in answers of MAAS 2.4 and later, a text before. */
export const dnsServersOf = (value: unknown): readonly string[] =>
  typeof value === 'string' ? value.split(/[\s,]+/).filter((server) => server !== '') : asTexts(value);
