import { describe, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, files, findings, node, profile } from './site-files.ts';

const nodesOf = (...texts: string[]) => loadSite(files(CONFIGURATION, ...texts)).site!.nodes;
const errorsOf = (...texts: string[]) =>
  loadSite(files(CONFIGURATION, ...texts))
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ code, message, hint, file, line }) => [code, message, hint, `${file}:${line}`]);

describe('inheritance of a node', () => {
  it('takes own values first, then profile by profile', () => {
    const [n1, n2] = nodesOf(
      profile(
        'base',
        '{metadata: {rack: r0, tags: [all, site], owner_data: {a: base, b: base}}, platform: {image: bionic, kernel: ga-18.04}}',
      ) +
        profile(
          'cp',
          '{host_profile: base, metadata: {tags: [masters, all], owner_data: {b: cp, c: cp}}, platform: {kernel: hwe-18.04}}',
        ),
      node(
        'n1.example.org',
        '{host_profile: cp, metadata: {rack: r1, tags: [own], owner_data: {c: n1}, boot_mac: 52-54-00-00-A3-31}, platform: {image: jammy}}',
      ) + node('n2', '{host_profile: cp}'),
    );
    expect(n1).toEqual({
      name: 'n1.example.org',
      hostname: 'n1',
      domain: 'example.org',
      rack: 'r1',
      tags: ['own', 'masters', 'all', 'site'],
      labels: { a: 'base', b: 'cp', c: 'n1' },
      boot_mac: '52:54:00:00:a3:31',
      distro_series: 'jammy',
      hwe_kernel: 'hwe-18.04',
    });
    expect(n2).toEqual({
      name: 'n2',
      hostname: 'n2',
      rack: 'r0',
      tags: ['masters', 'all', 'site'],
      labels: { a: 'base', b: 'cp', c: 'cp' },
      distro_series: 'bionic',
      hwe_kernel: 'hwe-18.04',
    });
  });

  it('can be removed with !', () => {
    const [n1] = nodesOf(
      profile(
        'base',
        '{metadata: {rack: r0, tags: [a, b], owner_data: {x: "1", y: "2"}}, platform: {kernel: ga-18.04}}',
      ),
      node(
        'n1',
        '{host_profile: base, metadata: {rack: "!", tags: ["!a", c], owner_data: {"!x": ""}}, platform: {kernel: "!"}}',
      ),
    );
    expect(n1).toEqual({ name: 'n1', hostname: 'n1', rack: null, tags: ['c', 'b'], labels: { y: '2' } });
  });

  it('reaches through a chain of a thousand profiles', () => {
    const chain = Array.from({ length: 1000 }, (_, index) =>
      profile(`p${index}`, index === 999 ? '{metadata: {tags: [deep]}}' : `{host_profile: p${index + 1}}`),
    ).join('');
    expect(nodesOf(chain, node('n1', '{host_profile: p0}'))[0]!.tags).toEqual(['deep']);
  });
});

describe('missing profiles', () => {
  it('are one warning if none is given, and nodes stay as they are', () => {
    expect(
      findings(
        CONFIGURATION,
        node('n1', '{host_profile: cp, metadata: {tags: [own]}}') + node('n2', '{host_profile: dp}'),
      ),
    ).toEqual(['info site.all-at-once 1.yaml:5:1 data', 'warning node.profiles-not-given 2.yaml:5:22 cp']);
  });

  it('are an error for each use if others are given, with the nearest name', () => {
    expect(
      errorsOf(
        profile('control') + profile('data', '{host_profile: defautls}') + profile('defaults'),
        node('n1', '{host_profile: contorl}') + node('n2', '{host_profile: xyz}') + node('n3', '{host_profile: data}'),
      ),
    ).toEqual([
      ['node.unknown-profile', "there is no host profile 'defautls'", "Did you mean 'defaults'?", '2.yaml:10'],
      ['node.unknown-profile', "there is no host profile 'contorl'", "Did you mean 'control'?", '3.yaml:5'],
      [
        'node.unknown-profile',
        "there is no host profile 'xyz'",
        'Host profiles of this site: control, data, defaults.',
        '3.yaml:10',
      ],
    ]);
  });

  it('do not include a profile with errors', () => {
    expect(
      errorsOf(profile('p', '{metadata: {tags: x}}'), node('n1', '{host_profile: p}')).map(([code]) => code),
    ).toEqual(['document.wrong-type']);
  });
});

describe('profiles in a ring', () => {
  it('are refused, named in full, once', () => {
    const ring =
      profile('a', '{host_profile: b}') + profile('b', '{host_profile: c}') + profile('c', '{host_profile: b}');
    expect(errorsOf(ring, node('n1', '{host_profile: a}') + node('n2', '{host_profile: c}'))).toEqual([
      [
        'node.profile-cycle',
        'host profiles inherit from each other in a cycle: b > c > b',
        'Remove host_profile from one of them.',
        '2.yaml:10',
      ],
    ]);
    expect(errorsOf(profile('self', '{host_profile: self}'), node('n1')).map(([, message]) => message)).toEqual([
      'host profiles inherit from each other in a cycle: self > self',
    ]);
  });
});
