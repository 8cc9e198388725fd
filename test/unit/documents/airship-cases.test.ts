import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite } from '../../../src/documents/index.ts';

/** Cases of real sites, made small; see the README of the project's shared cases. */
const load = (name: string) =>
  loadSite([{ name, text: readFileSync(new URL(`../../data/cases/airship/${name}.yaml`, import.meta.url), 'utf8') }]);
const codes = (name: string) =>
  load(name)
    .diagnostics.filter(({ severity }) => severity !== 'info')
    .map(({ severity, code }) => `${severity} ${code}`);
const layoutOf = (name: string) => load(name).site?.nodes[0]?.layout;
const ENO1 = (network: object = {}) => ({
  name: 'eno1',
  devices: [{ name: 'eno1' }],
  networks: [{ network: 'net6', cidr: '10.6.0.0/24', address: '10.6.0.11', isPrimary: true, ...network }],
});

describe('values that Drydock reads', () => {
  it.each([
    ['ovs', ['warning node.bad-interface', 'warning node.bad-interface']],
    ['nolink', []],
    ['vlan0', []],
    ['twoconsoles', []],
    ['static', []],
    ['primary', ['warning node.bad-address']],
    ['linkspeed', ['warning document.no-effect']],
    ['region', ['warning document.no-effect']],
    ['noconfig', []],
  ])('%s: accepted', (name, warnings) => {
    expect(codes(name)).toEqual(warnings);
  });

  it.each([
    ['hugepages', 'node.bad-kernel-option', /'n001'.*DD1008/],
    ['smallroot', 'node.bad-storage', /'n001'.*DD1001/],
  ])('%s: refused, as by Drydock', (name, code, message) => {
    const errors = load(name).diagnostics.filter(isError);
    expect(errors).toEqual([expect.objectContaining({ code, message: expect.stringMatching(message) })]);
  });

  it('an interface without a link, or with noconfig at its link, is left alone; the rest is configured', () => {
    for (const name of ['nolink', 'noconfig']) expect(layoutOf(name)).toEqual({ ports: [ENO1()], untouched: ['eno2'] });
    expect(load('noconfig').site!.networks).toEqual([]);
  });

  it('VLAN 0 is untagged, two consoles are two options, and a primary network without interface is no gateway', () => {
    expect(layoutOf('vlan0')).toEqual({ ports: [ENO1()] });
    expect(layoutOf('twoconsoles')).toEqual({ kernelOptions: 'console=ttyS0,115200n8 console=tty0' });
    const { isPrimary: _, ...network } = ENO1().networks[0]!;
    expect(layoutOf('primary')).toEqual({ ports: [{ ...ENO1(), networks: [network] }] });
  });

  it('a region names what it does not set up, and where to set it', () => {
    const [warning] = load('region').diagnostics.filter(({ severity }) => severity === 'warning');
    expect(warning!.message).toMatch(/SSH keys.*package repositories/);
    expect(warning!.hint).toMatch(/SSH keys.*package repositories/);
  });
});
