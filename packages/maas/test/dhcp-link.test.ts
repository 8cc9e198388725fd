import { expect, it } from 'vitest';
import type { Hardware, Interface, Subnet } from '../src/layout/hardware.ts';
import { nextNetworkChange } from '../src/layout/network-changes.ts';
import type { TargetInterface } from '../src/layout/target-interfaces.ts';

/* MAAS shows a DHCP link with the subnet of the address that it discovered on the NIC, whichever subnet was asked for. */
const subnet = (id: number, cidr: string): Subnet => ({ id, cidr }) as Subnet;
const pxe = subnet(1, '10.77.0.0/24');
const oam = subnet(2, '10.78.0.0/24');
const nic = (shown: Subnet, discovered: readonly Subnet[]): Interface => ({
  ...{ id: 7, name: 'eno1', type: 'physical', macAddress: '52:54:00:01:00:00', vlanId: 5001, vid: 0, mtu: 1500 },
  ...{ parents: [], tags: [], params: {} },
  links: [{ id: 9, mode: 'dhcp', subnetId: shown.id, subnet: shown, ipAddress: '' }],
  discovered: new Map(discovered.map(({ id }) => [id, '10.77.0.201'])),
});
const wanted = {
  ...{ name: 'eno1', type: 'physical', parents: [], vlan: 5001, params: {} },
  link: { mode: 'dhcp', subnet: oam, isGateway: false },
} as unknown as TargetInterface;
const change = (shown: Subnet, discovered: readonly Subnet[]) =>
  nextNetworkChange({ interfaces: [nic(shown, discovered)], gatewayLinks: [] } as unknown as Hardware, [wanted]);

it('a DHCP link that is shown in the discovered subnet is not made again', () => {
  expect(change(pxe, [pxe])).toBeUndefined();
  expect(change(oam, [pxe])).toBeUndefined();
});

it('one in a subnet where nothing was discovered is another link', () => {
  expect(change(pxe, [])).toMatchObject({ op: 'unlink_subnet' });
});
