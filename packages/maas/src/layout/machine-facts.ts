import type { Hardware, Interface } from './hardware.ts';

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

/** What MAAS knows of a machine's hardware, as the inventory keeps them, in the shape of Fuel's hardware reports. */
export interface MachineFacts {
  /** Its address in the network of its default gateway, else its first. */
  readonly ip: string | null;
  /** Of the interface that it boots from, else of its first. */
  readonly mac: string | null;
  readonly manufacturer: string | null;
  readonly platform: string | null;
  readonly system: string | null;
  readonly interfaces: readonly InterfaceFact[];
  readonly disks: readonly { readonly name: string; readonly disk: string; readonly size: number }[];
}

interface InterfaceFact {
  readonly name: string;
  /** `ether`, `bond`, `vlan`, `bridge`. */
  readonly type: string;
  readonly mac: string;
  readonly mtu: number | null;
  readonly slaves: readonly { readonly name: string }[];
  readonly vlan: number | null;
  /** Its addresses, each with its subnet and space in MAAS. */
  readonly addresses: readonly AddressFact[];
}

/** A machine's hardware, interfaces, addresses and disks in MAAS. */
export function machineFacts(hardware: Hardware): MachineFacts {
  const interfaces = hardware.interfaces.map(
    (nic): InterfaceFact => ({
      name: nic.name,
      type: nic.type === 'physical' ? 'ether' : nic.type,
      mac: nic.macAddress,
      mtu: nic.mtu ?? null,
      slaves: nic.parents.map((name) => ({ name })),
      vlan: nic.vid ?? null,
      addresses: addressesOf(nic),
    }),
  );
  const all = interfaces.flatMap(({ addresses }) => addresses).filter(({ ip }) => ip !== null);
  const gateway = hardware.interfaces
    .flatMap(({ links }) => links)
    .find(({ id, ipAddress }) => hardware.gatewayLinks.includes(id) && ipAddress !== '');
  const main = gateway?.ipAddress ?? (all.find((address) => address.gateway !== null) ?? all[0])?.ip;
  const disks = hardware.disks.map(({ name, size }) => ({ name, disk: name, size }));
  const { bootMac, vendor, product, osystem } = hardware;
  const first = interfaces.find(({ type }) => type === 'ether')?.mac;
  return {
    ip: main ?? null,
    mac: bootMac || first || null,
    manufacturer: vendor || null,
    platform: product || null,
    system: osystem || null,
    interfaces,
    disks,
  };
}

const addressesOf = (nic: Interface): readonly AddressFact[] =>
  nic.links.flatMap(({ mode, subnetId, subnet, ipAddress }): AddressFact[] => {
    if (!subnet && ipAddress === '') return [];
    // Addresses from DHCP are those that MAAS has discovered.
    const ip = ipAddress || (mode === 'dhcp' ? nic.discovered.get(subnetId) : undefined);
    return [
      {
        mode,
        ip: ip ?? null,
        cidr: subnet?.cidr ?? null,
        gateway: subnet?.gateway || null,
        subnet: subnet?.name ?? null,
        space: subnet?.space ?? null,
      },
    ];
  });
