import { expect, it } from 'vitest';
import { CLOSING, sequenceIn } from '../../../src/store/index.ts';
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

  // The models of the two protocols (test/models/Claim.tla) found the next three.
  const row = (run: Holder, sequence: number) => ({
    id: run.runId,
    sequence,
    workflowId: run.workflowId,
    kind: 'deploy_site',
    phase: 'baremetal',
    startedAt: '2026-01-01T00:00:00.000Z',
  });
  const RESET = { ...A, executionId: 'a2' };

  it('gives a run that has closed itself nothing any more, however late its tries wake up', async () => {
    const { sites, claims, runs } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    await claims.claim({ site: 'dc1' }, A);
    expect(await runs.end({ ...row(A, CLOSING), outcome: 'success' }, {}, { site: 'dc1' }, 1)).not.toBeNull();
    expect(await claims.claim({ site: 'dc1' }, A)).toEqual({ claimed: false, holder: null });
    expect(await claims.claim({ site: 'dc1' }, RESET)).toEqual({ claimed: false, holder: null });
    await claims.claim({ site: 'dc1' }, B);
    expect(await claims.takeOver({ site: 'dc1' }, B, A)).toEqual({ claimed: false, holder: null });
    expect(await claims.holder({ site: 'dc1' })).toMatchObject(B);
  });

  it('does not let an execution close a run that goes on as another, or that has lost its claim', async () => {
    const { sites, claims, runs } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    await claims.claim({ site: 'dc1' }, A);
    await runs.put(row(A, 1));
    await claims.takeOver({ site: 'dc1' }, A, RESET);
    const late = runs.end({ ...row(A, CLOSING), outcome: 'failed' }, { late: true }, { site: 'dc1' }, 1);
    expect(await late).toBeNull();
    expect(await claims.holder({ site: 'dc1' })).toMatchObject({ ...RESET, generation: 2 });
    expect(await runs.get('a')).toMatchObject({ outcome: null, phase: 'baremetal' });
    expect(await runs.getReport('a')).toBeUndefined();
    const ended = await runs.end({ ...row(A, CLOSING), outcome: 'success' }, { of: 'a2' }, { site: 'dc1' }, 2);
    expect(ended).toMatchObject({ outcome: 'success' });
    expect(await runs.getReport('a')).toEqual({ of: 'a2' });
    expect(await claims.holder({ site: 'dc1' })).toBeNull();
  });

  it('lets the records of a run that claims again, after others had the site, be newer than those before', async () => {
    const { sites, claims, runs } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    await claims.claim({ site: 'dc1' }, A);
    await runs.put({ ...row(A, sequenceIn(1, 40)), phase: 'software' });
    await claims.takeOver({ site: 'dc1' }, A, B);
    await claims.release({ site: 'dc1' }, B);
    await claims.claim({ site: 'dc1' }, RESET);
    const { generation } = (await claims.holder({ site: 'dc1' }))!;
    await runs.put({ ...row(A, sequenceIn(generation, 1)), phase: 'verify' });
    expect(await runs.get('a')).toMatchObject({ phase: 'verify' });
    await claims.release({ site: 'dc1' }, RESET);
    await claims.claim({ site: 'dc1' }, B);
    await claims.takeOver({ site: 'dc1' }, B, RESET);
    expect((await claims.holder({ site: 'dc1' }))!.generation).toBeGreaterThan(generation);
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
