import type { Region } from '../region.ts';
import { formatNetwork, isIn, parseAddress, parseNetwork } from './ip.ts';
import type { Fabric, Space, Subnet } from './records.ts';
import { fabricName, spaceName } from './view.ts';

/** `name:oam` without its word, if it has one of those. */
function specified(text: string, words: readonly string[]): { readonly word: string | null; readonly value: string } {
  const found = /^([a-z]+):(.+)$/.exec(text);
  const word = found?.[1] ?? '';
  return found && words.includes(word) ? { word, value: found[2] ?? '' } : { word: null, value: text };
}

/** By id, name or CIDR. */
export function findSubnet(region: Region, text: string): Readonly<Subnet> | undefined {
  const { word, value } = specified(text, ['id', 'name', 'cidr']);
  const network = parseNetwork(value);
  const cidr = network && formatNetwork(network);
  const isFound = (subnet: Readonly<Subnet>): boolean =>
    (word !== 'name' && word !== 'cidr' && String(subnet.id) === value) ||
    (word !== 'id' && word !== 'cidr' && subnet.name === value) ||
    (word !== 'id' && word !== 'name' && subnet.cidr === cidr);
  return [...region.subnets.values()].find(isFound);
}

/** The narrowest subnet that an address is in. */
export function subnetAround(region: Region, text: string): Readonly<Subnet> | undefined {
  const address = parseAddress(text);
  if (!address) return undefined;
  return [...region.subnets.values()]
    .flatMap((subnet) => {
      const network = parseNetwork(subnet.cidr);
      return network && isIn(network, address) ? [{ subnet, prefix: network.prefix }] : [];
    })
    .sort((a, b) => b.prefix - a.prefix)[0]?.subnet;
}

/** By id or name. */
export function findFabric(region: Region, text: string): Readonly<Fabric> | undefined {
  const { value } = specified(text, ['id', 'name']);
  return region.fabrics.get(value) ?? [...region.fabrics.values()].find((fabric) => fabricName(fabric) === value);
}

/** By id or name. */
export function findSpace(region: Region, text: string): Readonly<Space> | undefined {
  const { value } = specified(text, ['id', 'name']);
  return region.spaces.get(value) ?? [...region.spaces.values()].find((space) => spaceName(space) === value);
}
