import { BlockList, isIPv6 } from 'node:net';

/** Whether an address is in a network such as `10.0.0.0/8`. */
export function contains(cidr: string, address: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  if (isIPv6(address) !== isIPv6(network)) return false;
  const subnet = new BlockList();
  subnet.addSubnet(network, Number(prefix), family);
  return subnet.check(address, family);
}
