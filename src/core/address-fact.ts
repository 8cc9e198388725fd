/** An address of an interface, as MAAS reports it and the inventory keeps it, with its subnet and space in MAAS. */
export interface AddressFact {
  /** `static`, `auto`, `dhcp`, `link_up`. */
  readonly mode: string;
  readonly ip: string | null;
  readonly cidr: string | null;
  readonly gateway: string | null;
  readonly subnet: string | null;
  readonly space: string | null;
}
