import { type MachineContext, MachineStatus } from '@sitewright/maas';
import { expect, it } from 'vitest';
import { syncTags } from '../../../activities/site-tags.ts';
import type { ResolvedNode } from '../../../src/documents/index.ts';

interface Scene {
  readonly there?: readonly string[];
  readonly before?: readonly string[];
  readonly machine?: { readonly status?: number; readonly owner?: string; readonly annotations?: object };
  readonly adopt?: readonly string[];
}

/** Sets tags of one node that had others before; returns the requests to MAAS, in order. */
async function set(
  tags: readonly string[],
  acting: () => void,
  { there = [], before = [], machine = {}, adopt }: Scene = {},
) {
  const events: string[] = [];
  const maas = {
    lookup: { find: async () => [{ systemId: 'abc123', tags: there, owner: null, annotations: {}, ...machine }] },
    client: {
      username: async () => 'admin',
      inventory: {
        ensureTag: async () => undefined,
        changeTag: async (tag: string, { remove }: { remove: readonly string[] }) =>
          void events.push(remove.length > 0 ? `-${tag}` : tag),
      },
    },
  } as unknown as MachineContext;
  const asked = async () => {
    events.push('asked');
    acting();
  };
  const node = (names: readonly string[]) => ({ name: 'n1', tags: names }) as ResolvedNode;
  const subject = {
    site: 'dc1',
    adopt,
    nodes: [node(tags)],
    before: new Map([['n1', node(before)]]),
    known: new Map(),
  };
  const answer = await syncTags(maas, subject, asked, undefined).catch(String);
  return { events, answer };
}

it('each tag is added only after a check that the run may do so', async () => {
  const { events } = await set(['a', 'b'], () => undefined);
  expect(events).toEqual(['asked', 'a', 'asked', 'b']);
});

it('no tag is added after the claim was lost', async () => {
  let asked = 0;
  const lost = () => {
    asked += 1;
    if (asked > 1) throw new Error('lost');
  };
  expect(await set(['a', 'b'], lost)).toEqual({ events: ['asked', 'a', 'asked'], answer: 'Error: lost' });
});

it('machines that have their tags are not changed, without a request', async () => {
  expect((await set([], () => undefined)).events).toEqual([]);
});

it('a tag removed from the documents is removed from machines; their other tags stay', async () => {
  const { events, answer } = await set(['a'], () => undefined, {
    there: ['a', 'old', 'by-hand'],
    before: ['a', 'old', 'never-set'],
  });
  expect(events).toEqual(['asked', '-old']);
  expect(answer).toEqual({ warnings: [], changes: ['tag old was removed from 1 machine in MAAS'] });
});

it('a machine that someone else uses keeps its tags, unless the run takes it over', async () => {
  const { Deployed } = MachineStatus;
  const events = async (scene: Scene) => (await set(['a'], () => undefined, scene)).events;
  expect(await events({ machine: { status: Deployed, owner: 'admin' } })).toEqual([]);
  expect(await events({ machine: { status: Deployed, owner: 'bob' } })).toEqual([]);
  expect(await events({ machine: { status: Deployed, owner: 'admin' }, adopt: ['n1'] })).toEqual(['asked', 'a']);
  const annotations = { sitewright_site: 'dc1' };
  expect(await events({ machine: { status: Deployed, owner: 'admin', annotations } })).toEqual(['asked', 'a']);
});
