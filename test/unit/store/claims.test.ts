import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

const [A, B, C] = ['a', 'b', 'c'].map((name) => ({
  workflowId: `deploy_site:${name}`,
  runId: name,
  executionId: name,
})) as [Holder, Holder, Holder];
interface Holder {
  readonly workflowId: string;
  readonly runId: string;
  readonly executionId: string;
}

describeStore('ClaimStore', (backend) => {
  const withSite = async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    return store.claims;
  };

  it('gives a site to one holder, and names the holder to the others', async () => {
    const claims = await withSite();
    expect(await claims.holder({ site: 'dc1' })).toBeNull();
    expect(await claims.claim({ site: 'dc1' }, A)).toEqual({ claimed: true });
    expect(await claims.claim({ site: 'dc1' }, A)).toEqual({ claimed: true });
    const refused = await claims.claim({ site: 'dc1' }, B);
    expect(refused).toMatchObject({ claimed: false, holder: A });
    // Another run of the same workflow is another holder.
    expect(await claims.claim({ site: 'dc1' }, { ...A, runId: 'later', executionId: 'later' })).toEqual(refused);
    expect(await claims.holder({ site: 'dc1' })).toMatchObject(A);
  });

  it('keeps the time of the claim when it is repeated', async () => {
    const claims = await withSite();
    await claims.claim({ site: 'dc1' }, A);
    const before = await claims.holder({ site: 'dc1' });
    await claims.claim({ site: 'dc1' }, A);
    expect(await claims.holder({ site: 'dc1' })).toEqual(before);
  });

  it('releases a claim only for its holder, which frees the site', async () => {
    const claims = await withSite();
    await claims.claim({ site: 'dc1' }, A);
    expect(await claims.release({ site: 'dc1' }, B)).toBe(false);
    expect(await claims.release({ site: 'dc1' }, { ...A, runId: 'x' })).toBe(false);
    expect(await claims.holder({ site: 'dc1' })).toMatchObject(A);
    expect(await claims.release({ site: 'dc1' }, A)).toBe(true);
    expect(await claims.release({ site: 'dc1' }, A)).toBe(false);
    expect(await claims.claim({ site: 'dc1' }, B)).toEqual({ claimed: true });
  });

  it('transfers the claim by compare and swap', async () => {
    const claims = await withSite();
    expect(await claims.takeOver({ site: 'dc1' }, A, B)).toEqual({ claimed: false, holder: null });
    await claims.claim({ site: 'dc1' }, A);
    expect(await claims.takeOver({ site: 'dc1' }, B, C)).toMatchObject({ claimed: false, holder: A });
    expect(await claims.takeOver({ site: 'dc1' }, A, B)).toEqual({ claimed: true });
    expect(await claims.takeOver({ site: 'dc1' }, A, B)).toEqual({ claimed: true });
    expect(await claims.takeOver({ site: 'dc1' }, A, C)).toMatchObject({ claimed: false, holder: B });
    expect(await claims.claim({ site: 'dc1' }, A)).toMatchObject({ claimed: false, holder: B });
  });

  it('keeps sites apart', async () => {
    const { sites, claims } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    await sites.create({ name: 'dc2' });
    expect(await claims.claim({ site: 'dc1' }, A)).toEqual({ claimed: true });
    expect(await claims.claim({ site: 'dc2' }, B)).toEqual({ claimed: true });
    expect(await claims.holder({ site: 'dc1' })).toMatchObject(A);
    expect(await claims.holder({ site: 'dc2' })).toMatchObject(B);
  });

  it('refuses unknown sites and empty ids', async () => {
    const claims = await withSite();
    for (const failure of await Promise.all(
      [
        claims.claim({ site: 'dc2' }, A),
        claims.release({ site: 'dc2' }, A),
        claims.takeOver({ site: 'dc2' }, A, B),
        claims.holder({ site: 'dc2' }),
        claims.claim({ site: "dc1' --" }, A),
      ].map(failureOf),
    )) {
      expect(failure).toMatchObject({ kind: 'not-found', what: 'site' });
    }
    const noHolder = { workflowId: '', runId: '', executionId: '' };
    expect(await failureOf(claims.claim({ site: 'dc1' }, noHolder))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'workflowId' }, { path: 'runId' }, { path: 'executionId' }],
    });
  });

  it('has exactly one winner when many connections claim, and when many take over', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => backend.open(url)));
    await stores[0]!.sites.create({ name: 'dc1' });
    const rivals = Array.from({ length: 24 }, (_, n) => ({
      workflowId: `w${n}`,
      runId: `r${n}`,
      executionId: `r${n}`,
    }));
    const storeOf = (n: number) => stores[n % stores.length]!.claims;

    const claimed = await Promise.all(rivals.map((rival, n) => storeOf(n).claim({ site: 'dc1' }, rival)));
    expect(claimed.filter((result) => result.claimed)).toHaveLength(1);
    const winner = rivals[claimed.findIndex((result) => result.claimed)]!;
    for (const result of claimed) if (!result.claimed) expect(result.holder).toMatchObject(winner);

    const heirs = rivals.filter((rival) => rival !== winner);
    const taken = await Promise.all(heirs.map((heir, n) => storeOf(n).takeOver({ site: 'dc1' }, winner, heir)));
    expect(taken.filter((result) => result.claimed)).toHaveLength(1);
    const heir = heirs[taken.findIndex((result) => result.claimed)]!;
    expect(await storeOf(0).holder({ site: 'dc1' })).toMatchObject(heir);

    const released = await Promise.all(stores.map((store) => store.claims.release({ site: 'dc1' }, heir)));
    expect(released.filter(Boolean)).toHaveLength(1);
  });
});
