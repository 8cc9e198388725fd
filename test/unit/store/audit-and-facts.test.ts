import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

describeStore('AuditStore', (backend) => {
  const entry = { actor: 'ann', action: 'run.pause', target: 'site/dc1' };

  it('keeps audit entries with actor, action, time and reason', async () => {
    const { audit } = await backend.fresh();
    const given = { ...entry, at: '2026-01-01T01:00:00+01:00', reason: "Wärme; '--", details: { a: ['\0'] } };
    const stored = await audit.append(given);
    expect(stored).toEqual({ ...given, id: stored.id, at: '2026-01-01T00:00:00.000Z' });
    expect(stored.id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect((await audit.list()).items).toEqual([stored]);
    const bare = await audit.append(entry);
    expect(bare).toMatchObject({ reason: null, details: null });
    expect(Date.parse(bare.at)).toBeGreaterThan(Date.parse(stored.at));
  });

  it('stores an entry with a given id once: the first', async () => {
    const { audit } = await backend.fresh();
    const first = await audit.append({ ...entry, id: 'x' });
    expect(await audit.append({ ...entry, id: 'x', actor: 'eve' })).toEqual(first);
    expect((await audit.list()).items).toEqual([first]);
  });

  it('filters and pages, newest first', async () => {
    const { audit } = await backend.fresh();
    for (let n = 1; n <= 5; n++) {
      await audit.append({ ...entry, id: `e${n}`, at: `2026-01-0${n}T00:00:00Z`, actor: n % 2 ? 'ann' : 'bob' });
    }
    const ids = async (filter: Parameters<typeof audit.list>[0]) =>
      (await audit.list(filter)).items.map(({ id }) => id);
    expect(await ids({ actor: 'bob' })).toEqual(['e4', 'e2']);
    expect(await ids({ since: '2026-01-02T00:00:00Z', until: '2026-01-04T00:00:00Z' })).toEqual(['e3', 'e2']);
    expect(await ids({ action: 'run.stop' })).toEqual([]);
    expect(await ids({ target: 'site/dc1', limit: 1 })).toEqual(['e5']);
    const first = await audit.list({ limit: 3 });
    expect(await ids({ limit: 3, before: first.next! })).toEqual(['e2', 'e1']);
    expect(await failureOf(audit.list({ since: 'now' }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'since' }],
    });
  });

  it('refuses an empty entry', async () => {
    const { audit } = await backend.fresh();
    const failure = await failureOf(audit.append({ actor: '', action: '', target: '' }));
    expect(failure).toMatchObject({ problems: [{ path: 'actor' }, { path: 'action' }, { path: 'target' }] });
  });
});

describeStore('NodeFactStore', (backend) => {
  const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
  const withSite = async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    return store.nodeFacts;
  };

  it('keeps the last known facts, by name', async () => {
    const facts = await withSite();
    const seen = { node: 'n2', systemId: 'abc', hostname: 'n2.☃', status: 'Ready', power: 'off', zone: 'z' };
    await facts.put('dc1', [
      { ...seen, tags: ['a', "b'"], seenAt: at(1) },
      { node: 'n1', seenAt: at(1) },
    ]);
    expect(await facts.list('dc1')).toEqual([
      {
        site: 'dc1',
        node: 'n1',
        systemId: null,
        hostname: null,
        status: null,
        power: null,
        tags: [],
        zone: null,
        seenAt: at(1),
      },
      { site: 'dc1', ...seen, tags: ['a', "b'"], seenAt: at(1) },
    ]);
  });

  it('replaces older facts by newer ones, never the reverse', async () => {
    const facts = await withSite();
    await facts.put('dc1', [{ node: 'n', status: 'Ready', power: 'on', seenAt: at(2) }]);
    await facts.put('dc1', [{ node: 'n', status: 'New', seenAt: at(1) }]);
    expect(await facts.list('dc1')).toMatchObject([{ status: 'Ready', power: 'on' }]);
    await facts.put('dc1', [{ node: 'n', status: 'Deployed', seenAt: at(3) }]);
    expect(await facts.list('dc1')).toMatchObject([{ status: 'Deployed', power: null, seenAt: at(3) }]);
    const mixed = [5, 6, 4].map((minute) => ({ node: 'n', status: `${minute}`, seenAt: at(minute) }));
    await facts.put('dc1', mixed);
    expect(await facts.list('dc1')).toMatchObject([{ status: '6' }]);
  });

  it('accepts thousands of facts in one call', async () => {
    const facts = await withSite();
    const many = Array.from({ length: 2500 }, (_, n) => ({ node: `n${n}`, seenAt: at(0) }));
    await facts.put('dc1', many);
    expect(await facts.list('dc1')).toHaveLength(2500);
  });

  it('refuses unknown sites', async () => {
    const facts = await withSite();
    const calls = [facts.put('x', []), facts.list('x')];
    for (const failure of await Promise.all(calls.map(failureOf))) {
      expect(failure).toMatchObject({ kind: 'not-found', what: 'site' });
    }
  });
});

describeStore('GivenTagsStore', (backend) => {
  it('keeps the tags of each machine, until it is released or its site is deleted', async () => {
    const { givenTags, sites } = await backend.fresh();
    expect(await failureOf(givenTags.put('dc1', new Map([['abc', ['a']]])))).toMatchObject({ kind: 'not-found' });
    for (const name of ['dc1', 'dc2']) await sites.create({ name });
    const all = new Map([
      ['abc', ['a', 'b']],
      ['def', ['a']],
      ['ghi', ['c']],
    ]);
    for (const name of ['dc1', 'dc2']) await givenTags.put(name, all);
    await givenTags.put(
      'dc1',
      new Map([
        ['abc', ['c']],
        ['def', []],
      ]),
    );
    await givenTags.forget('dc1', 'ghi');
    expect(await givenTags.list('dc1')).toEqual(new Map([['abc', ['c']]]));
    expect([await givenTags.get('dc1', 'abc'), await givenTags.get('dc1', 'def')]).toEqual([['c'], []]);
    await sites.delete('dc1');
    expect((await givenTags.list('dc1')).size).toBe(0);
    expect(await givenTags.list('dc2')).toEqual(all);
  });
});

describeStore('DeployedMachineStore', (backend) => {
  const state = {
    ...{ status: 'Deployed', hostname: 'n1', owner: 'us', system: 'ubuntu/jammy', kernel: '', zone: '', pool: '' },
    ...{ deployment: 'r1', tags: ['a'], interfaces: { eth0: 'physical' }, disks: {} },
    ...{ lock: '', domain: 'maas', powerType: 'ipmi', processors: '4', memory: '8192 MiB', storage: {} },
  };
  const machine = {
    ...{ site: 'dc1', node: 'n1', systemId: 'abc', runId: 'r1', revision: 1, state },
    at: '2026-01-01T00:00:00.000Z',
  };

  it('keeps the newest record of each node, until its machine is released or its site is deleted', async () => {
    const store = await backend.fresh();
    const { deployedMachines, sites } = store;
    expect(await failureOf(deployedMachines.put(machine))).toMatchObject({ kind: 'not-found' });
    for (const name of ['dc1', 'dc2']) await sites.create({ name });
    await deployedMachines.put(machine);
    await deployedMachines.put({ ...machine, node: 'm2' });
    await deployedMachines.put({ ...machine, site: 'dc2' });
    const newer = { ...machine, runId: 'r2', revision: 2, state: { ...state, tags: [] } };
    await deployedMachines.put(newer);
    expect(await deployedMachines.get('dc1', 'n1')).toEqual(newer);
    expect(await deployedMachines.list('dc1')).toEqual([{ ...machine, node: 'm2' }, newer]);
    await deployedMachines.forget('dc1', 'm2');
    await deployedMachines.forget('dc1', 'unknown');
    expect((await deployedMachines.list('dc1')).map(({ node }) => node)).toEqual(['n1']);
    expect(await deployedMachines.get('dc1', 'm2')).toBeUndefined();
    await sites.delete('dc1');
    expect(await deployedMachines.list('dc1')).toEqual([]);
    expect(await deployedMachines.list('dc2')).toHaveLength(1);
  });
});
