import { MaasError, type MachineContext, MachineStatus } from '@sitewright/maas';
import { expect, it } from 'vitest';
import { restoreTags, syncTags } from '../../../activities/site/tags.ts';
import type { ResolvedNode } from '../../../src/documents/index.ts';

interface Scene {
  readonly there?: readonly string[];
  /** Tags that we gave the machine. */
  readonly ours?: readonly string[];
  readonly machine?: { readonly status?: number; readonly owner?: string; readonly annotations?: object };
  readonly adopt?: readonly string[];
  readonly refused?: readonly string[];
  readonly restores?: boolean;
}

/** Sets tags of one node; returns requests and records in order, and what is recorded as ours at the end. */
async function set(
  tags: readonly string[],
  acting: () => void,
  { there = [], ours = [], machine = {}, adopt, refused = [], restores = false }: Scene = {},
) {
  const events: string[] = [];
  const systemId = 'abc123';
  const found = { systemId, tags: there, owner: null, annotations: {}, ...machine };
  const maas = {
    lookup: { find: async () => [found] },
    client: {
      username: async () => 'admin',
      inventory: {
        ensureTag: async () => undefined,
        changeTag: async (tag: string, { remove }: { remove: readonly string[] }) => {
          const request = 'POST';
          if (refused.includes(tag))
            throw new MaasError({ kind: 'forbidden', request, text: '', retryable: false, outcomeUnknown: false });
          events.push(remove.length > 0 ? `-${tag}` : tag);
        },
      },
    },
  } as unknown as MachineContext;
  const asked = async () => {
    events.push('asked');
    acting();
  };
  let recorded: readonly string[] = ours;
  const givenTags = {
    list: async () => new Map([[systemId, ours]]),
    get: async () => ours,
    put: async (_site: string, machines: ReadonlyMap<string, readonly string[]>) => {
      recorded = machines.get(systemId)!;
      events.push(`ours: ${recorded.join(' ')}`);
    },
  };
  const node = { name: 'n1', tags } as ResolvedNode;
  const change = restores
    ? restoreTags({ givenTags }, maas, 'dc1', node, found as never, asked, undefined)
    : syncTags({ givenTags }, maas, { site: 'dc1', adopt, nodes: [node], known: new Map() }, asked, undefined);
  return { answer: await change.catch(String), events, recorded };
}
const nothing = () => undefined;

it('each tag is recorded as ours, then added after a check that the run may do so', async () => {
  expect((await set(['a', 'b'], nothing)).events).toEqual(['ours: a b', 'asked', 'a', 'asked', 'b']);
});

it('no tag is added after the claim was lost', async () => {
  let asked = 0;
  const lost = () => {
    asked += 1;
    if (asked > 1) throw new Error('lost');
  };
  const { events, answer } = await set(['a', 'b'], lost);
  expect([events, answer]).toEqual([['ours: a b', 'asked', 'a', 'asked'], 'Error: lost']);
});

it('machines that have their tags are not changed, without a request; the tags are not ours', async () => {
  expect(await set(['by-hand'], nothing, { there: ['by-hand'] })).toMatchObject({ events: [], recorded: [] });
});

it('a tag of ours that the documents no longer name is removed from machines; tags of people stay', async () => {
  const { events, answer } = await set(['a'], nothing, {
    there: ['a', 'old', 'by-hand'],
    ours: ['a', 'gone', 'old'],
  });
  expect(events).toEqual(['ours: a old', 'asked', '-old', 'ours: a']);
  expect(answer).toEqual({ warnings: [], changes: ['tag old was removed from 1 machine in MAAS'] });
});

it('a refused tag is not ours', async () => {
  const { answer, recorded } = await set(['a', 'b'], nothing, { refused: ['a'] });
  expect(answer).toMatchObject({ warnings: [expect.stringContaining('tag a')] });
  expect(recorded).toEqual(['b']);
});

it('a machine that was released in the course of its deployment gets the tags again that were ours', async () => {
  const scene = { there: ['by-hand'], ours: ['a'], restores: true };
  expect((await set(['a', 'refused-before', 'by-hand'], nothing, scene)).events).toEqual(['asked', 'a']);
});

it('a machine that someone else uses keeps its tags, unless the run takes it over', async () => {
  const { Deployed } = MachineStatus;
  const changes = async (scene: Scene) =>
    (await set(['a'], nothing, { ours: ['old'], there: ['old'], ...scene })).events.filter((one) =>
      /a$|old$/.test(one),
    );
  expect(await changes({ machine: { status: Deployed, owner: 'admin' } })).toEqual([]);
  expect(await changes({ machine: { status: Deployed, owner: 'bob' } })).toEqual([]);
  const taken = ['ours: a old', 'a', '-old', 'ours: a'];
  expect(await changes({ machine: { status: Deployed, owner: 'admin' }, adopt: ['n1'] })).toEqual(taken);
  const annotations = { sitewright_site: 'dc1' };
  expect(await changes({ machine: { status: Deployed, owner: 'admin', annotations } })).toEqual(taken);
});
