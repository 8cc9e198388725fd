import { expect, it } from 'vitest';
import { syncTags } from '../../../activities/site-tags.js';
import type { ResolvedNode } from '../../../src/documents/index.js';
import type { MachineContext } from '../../../src/maas/index.js';

/** Adds tags of one node to a MAAS without any; what happened, in order. */
async function added(tags: readonly string[], acting: () => void) {
  const events: string[] = [];
  const maas = {
    lookup: { find: async () => [{ systemId: 'abc123', tags: [] }] },
    client: {
      inventory: {
        ensureTag: async () => undefined,
        changeTag: async (tag: string) => void events.push(tag),
      },
    },
  } as unknown as MachineContext;
  const asked = async () => {
    events.push('asked');
    acting();
  };
  const answer = await syncTags(maas, [{ name: 'n1', tags } as ResolvedNode], asked, undefined).catch(String);
  return { events, answer };
}

it('before each tag it is asked whether this run may add it', async () => {
  const { events } = await added(['a', 'b'], () => undefined);
  expect(events).toEqual(['asked', 'a', 'asked', 'b']);
});

it('no tag is added after the claim was lost', async () => {
  let asked = 0;
  const lost = () => {
    asked += 1;
    if (asked > 1) throw new Error('lost');
  };
  expect(await added(['a', 'b'], lost)).toEqual({ events: ['asked', 'a', 'asked'], answer: 'Error: lost' });
});

it('machines that have their tags are left alone, and no one is asked', async () => {
  expect((await added([], () => undefined)).events).toEqual([]);
});
