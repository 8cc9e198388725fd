import { BlockList, isIP, SocketAddress } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalAddress,
  canonicalNetwork,
  isInNetwork,
  isInRange,
  isSameAddress,
  isSameNetwork,
} from '../src/layout/ip-address.ts';

const ipv6 = fc.ipV6().filter((text) => isIP(text) === 6);

describe('addresses as values', () => {
  it('are written as Node and MAAS write them', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), ipv6), (text) => {
        const family = isIP(text) === 6 ? 'ipv6' : 'ipv4';
        const { address } = new SocketAddress({ address: text, family });
        // Node writes some as mixed IPv4.
        if (!address.includes('.') || family === 'ipv4') expect(canonicalAddress(text)).toBe(address);
        expect(isSameAddress(text.toUpperCase(), address)).toBe(true);
      }),
    );
  });

  it('are in a network exactly when Node agrees', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 1, max: 32 }), (address, network, prefix) => {
        const list = new BlockList();
        list.addSubnet(network, prefix);
        expect(isInNetwork(address, `${network}/${prefix}`)).toBe(list.check(address));
      }),
    );
    expect(isInNetwork('fd00:1::5', 'FD00:0001::/64')).toBe(true);
    expect(isInNetwork('10.0.0.1', '::/0')).toBe(false);
  });

  it.each([
    ['10.31.0.5/24', '10.31.0.0/24'],
    ['FD00:0031:0000::/64', 'fd00:31::/64'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['not one', 'not one'],
  ])('the network %s is %s', (given, canonical) => {
    expect(canonicalNetwork(given)).toBe(canonical);
    expect(isSameNetwork(given, canonical)).toBe(true);
  });

  it('keep other texts unchanged', () => {
    for (const text of ['', '10.0.0', '10.0.0.256', '1::2::3', 'fd00::1%eth0', ':', '1:2:3:4:5:6:7:8:9']) {
      expect(canonicalAddress(text)).toBe(text);
      expect(isSameAddress(text, '::')).toBe(false);
    }
    expect([isInRange('10.0.0.5', '10.0.0.5', '10.0.0.9'), isInRange('10.0.0.5', '10.0.0.9', '10.0.0.1')]).toEqual([
      true,
      false,
    ]);
  });
});
