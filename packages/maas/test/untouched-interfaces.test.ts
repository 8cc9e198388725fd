import { describe, expect, it } from 'vitest';
import type { Hardware, Interface } from '../src/layout/hardware.ts';
import { nextNetworkChange } from '../src/layout/network-changes.ts';

const nic = (id: number, name: string, type: string, parents: readonly string[]): Interface =>
  ({
    id,
    name,
    type,
    parents,
    tags: ['sitewright'],
    links: [],
    params: {},
    discovered: new Set(),
  }) as unknown as Interface;

describe('interfaces that are left alone', () => {
  it('stay, with their VLANs, also when they were made for earlier documents', () => {
    const interfaces = [nic(1, 'bond0', 'bond', ['a', 'b']), nic(2, 'bond0.7', 'vlan', ['bond0'])];
    const hardware = { interfaces, gatewayLinks: {} } as unknown as Hardware;
    expect(nextNetworkChange(hardware, [])).toMatchObject({ method: 'delete', path: 'interfaces/2/' });
    expect(nextNetworkChange(hardware, [], ['bond0', 'a', 'b'])).toBeUndefined();
  });
});
