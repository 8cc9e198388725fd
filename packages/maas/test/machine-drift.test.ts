import { expect, it } from 'vitest';
import { driftOf, type MachineState, recordAfter } from '../src/machine-drift.ts';

const deployed: MachineState = {
  ...{ status: 'Deployed', hostname: 'n1', owner: 'sitewright', system: 'ubuntu/jammy', kernel: 'ga-22.04' },
  ...{ zone: 'default', pool: 'default', deployment: 'run-1', tags: ['blue', 'rack1'] },
  interfaces: { eth0: 'physical 52:54:00:aa:00:01, static 10.0.0.5 10.0.0.0/24', eth1: 'physical 52:54:00:aa:00:02' },
  disks: { sda: '500107862016 bytes' },
  ...{ lock: '', domain: 'maas', powerType: 'ipmi', processors: '4', memory: '8192 MiB', storage: {} },
};

it('a machine as deployed has no drift', () => {
  expect(driftOf(deployed, structuredClone(deployed))).toEqual([]);
});

it('drift lists changed, added and removed properties', () => {
  const now: MachineState = {
    ...deployed,
    ...{ system: 'ubuntu/noble', zone: 'west', deployment: '', tags: ['gpu', 'rack1'] },
    interfaces: { eth0: 'physical 52:54:00:aa:00:01, static 10.0.0.9 10.0.0.0/24', bond0: 'bond 52:54:00:aa:00:02' },
    disks: {},
  };
  expect(driftOf(deployed, now)).toEqual([
    { what: 'system', deployed: 'ubuntu/jammy', now: 'ubuntu/noble' },
    { what: 'zone', deployed: 'default', now: 'west' },
    { what: 'deployment', deployed: 'run-1', now: null },
    { what: 'tag blue', deployed: 'set', now: null },
    { what: 'tag gpu', deployed: null, now: 'set' },
    { what: 'interface bond0', deployed: null, now: 'bond 52:54:00:aa:00:02' },
    { what: 'interface eth0', deployed: deployed.interfaces.eth0, now: now.interfaces.eth0 },
    { what: 'interface eth1', deployed: deployed.interfaces.eth1, now: null },
    { what: 'disk sda', deployed: '500107862016 bytes', now: null },
  ]);
});

it('drift covers all recorded properties, but no kernel options where they were unknown', () => {
  const before: MachineState = {
    ...deployed,
    storage: { 'partition sda-part1': '1000 bytes, ext4 at /' },
    kernelOptions: { blue: 'nosmt' },
  };
  const now: MachineState = {
    ...before,
    ...{ lock: 'locked', domain: 'lab', powerType: 'manual', processors: '8', memory: '4096 MiB' },
    storage: { 'partition sda-part1': '1000 bytes, xfs at /', 'filesystem sdb': 'ext4 at /srv' },
    kernelOptions: { blue: 'nosmt quiet' },
  };
  expect(driftOf(before, now)).toEqual([
    { what: 'domain', deployed: 'maas', now: 'lab' },
    { what: 'lock', deployed: null, now: 'locked' },
    { what: 'power type', deployed: 'ipmi', now: 'manual' },
    { what: 'processors', deployed: '4', now: '8' },
    { what: 'memory', deployed: '8192 MiB', now: '4096 MiB' },
    { what: 'kernel options of tag blue', deployed: 'nosmt', now: 'nosmt quiet' },
    { what: 'filesystem sdb', deployed: null, now: 'ext4 at /srv' },
    { what: 'partition sda-part1', deployed: '1000 bytes, ext4 at /', now: '1000 bytes, xfs at /' },
  ]);
  const { kernelOptions: _, ...unknown } = now;
  expect(driftOf(unknown, now)).toEqual([]);
  expect(recordAfter(unknown, now, { added: [], removed: [] })).toEqual(now);
});

it('drift of a released machine is only that it is released', () => {
  const released = { ...deployed, status: 'Ready', owner: '', system: '', deployment: '' };
  expect(driftOf(deployed, released)).toEqual([{ what: 'status', deployed: 'Deployed', now: 'Ready' }]);
  // A refused release clears the system in MAAS only.
  expect(driftOf(deployed, { ...deployed, system: '' })).toEqual([]);
});

it('a run that does not change a machine keeps its record, and adds the tags it has set', () => {
  const now = { ...deployed, hostname: 'renamed', tags: ['by-hand', 'new', 'rack1'] };
  expect(recordAfter(deployed, now, { added: ['new', 'refused'], removed: [] })).toEqual({
    ...deployed,
    tags: ['blue', 'new', 'rack1'],
  });
  // One that the documents have no more, and one that they had and someone else keeps.
  const tags = { added: [], removed: ['blue', 'rack1'] };
  expect(recordAfter(deployed, now, tags)).toEqual({ ...deployed, tags: ['rack1'] });
  expect(recordAfter(undefined, now, { added: [], removed: [] })).toBe(now);
  // Deployed again by someone, and taken over.
  const adopted = { ...now, deployment: 'run-2' };
  expect(recordAfter(deployed, adopted, { added: [], removed: [] })).toBe(adopted);
});
