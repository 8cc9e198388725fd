/** What documents say of a network beyond its subnet, which MAAS has. */
export interface NetworkSettings {
  /** Name of its document. */
  readonly network: string;
  readonly cidr: string;
  /** Of its default route. */
  readonly gateway?: string;
  /** To other networks, by their subnets. */
  readonly routes: readonly NetworkRoute[];
  readonly dnsServers: readonly string[];
  /** `dynamic`: MAAS gives addresses from it by DHCP; `reserved`: MAAS gives none of it. */
  readonly ranges: readonly { readonly type: 'dynamic' | 'reserved'; readonly start: string; readonly end: string }[];
}

export interface NetworkRoute {
  readonly destination: string;
  readonly gateway: string;
  readonly metric: number;
}
