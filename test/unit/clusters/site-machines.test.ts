import { expect, it } from 'vitest';
import { commitRevision, enterMachines } from '../../../src/clusters/site-machines.ts';
import type { ResolvedSite } from '../../../src/documents/index.ts';
import { describeStore } from '../store/backends.ts';

const site = 'dc1';
const names = Array.from({ length: 20 }, (_, at) => `n${at}`);

describeStore('Commits of a site', (backend) => {
  it('at the same moment are stored one after the other, with their machines', async () => {
    const url = await backend.newUrl();
    const [one, two, three] = await Promise.all([backend.open(url), backend.open(url), backend.open(url)]);
    await one.sites.create({ name: site });
    for (const round of [1, 2, 3, 4, 5]) {
      const commit = (store: typeof one, part: string) => {
        const nodes = [...names, part].map((name) => ({ name: `${name}-${round}` }));
        const files = [{ name: 'a.yaml', text: `${part} ${round}` }];
        return commitRevision(store, site, { files, resolved: { nodes } as unknown as ResolvedSite });
      };
      const [first, second] = await Promise.all([
        commit(one, 'x'),
        commit(two, 'y'),
        enterMachines(three, site, [`n0-${round}`, `n1-${round}`]),
      ]);
      expect([first, second].map(({ revision }) => revision.number).sort((a, b) => a - b)).toEqual([
        2 * round - 1,
        2 * round,
      ]);
      const last = first.revision.number > second.revision.number ? 'x' : 'y';
      const found = (await one.nodes.list({ site })).map(({ name }) => name);
      // Of the other commit's machine nothing was ever known but its name.
      expect(found.sort()).toEqual([...names, last].map((name) => `${name}-${round}`).sort());
    }
  });

  it('that cannot be stored whole are not stored', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: site });
    const resolved = { nodes: [{ name: 'n1' }, { name: 'x'.repeat(5_000) }] } as unknown as ResolvedSite;
    await expect(commitRevision(store, site, { files: [{ name: 'a.yaml', text: '' }], resolved })).rejects.toThrow();
    expect([(await store.sites.get(site)).latestRevision, await store.nodes.list({ site })]).toEqual([null, []]);
  });
});
