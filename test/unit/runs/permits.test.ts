import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { standingsOfSite } from '../../../src/clusters/site-standings.ts';
import type { Limits } from '../../../src/core/permits/limits.ts';
import { type LimitedSite, type PermitRequest, takePermits } from '../../../src/runs/permits.ts';
import type { Store } from '../../../src/store/index.ts';
import { describeStore } from '../store/backends.ts';

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const NONE: Limits = { out_of_service: [], at_once: [], windows: [], freezes: [] };
const limited = (limits: Partial<Limits>): LimitedSite => ({
  ...{ site: 'dc1', limits: { ...NONE, ...limits } },
  racks: new Map(NAMES.map((name, index) => [name, index < 3 ? 'a' : 'b'])),
  standings: (within) => standingsOfSite(within, 'dc1'),
});
const TWO = limited({ out_of_service: [{ per: 'site', at_most: 2 }] });
const wants = (run: string, names: readonly string[] = NAMES, more: Partial<PermitRequest> = {}): PermitRequest => ({
  ...{ run, work: 'deploy', wants: names },
  ...more,
});

/** Who came first has the turn: two requests of one millisecond have no order. */
const pass = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);

describeStore('permits of runs', (backend) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** A site in service; run `a` has the site, run `b` its cluster. */
  async function withRuns(store: Store): Promise<Store> {
    await store.sites.create({ name: 'dc1' });
    const { id: releaseId } = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'x' });
    const { id: cluster } = await store.clusters.create({ name: 'c', releaseId });
    for (const name of NAMES) await store.nodes.create({ name, hostname: name, site: 'dc1', status: 'ready' });
    await store.claims.claim({ site: 'dc1' }, { workflowId: 'deploy_site:dc1', runId: 'a', executionId: 'a' });
    await store.claims.claim({ cluster }, { workflowId: 'execute_graph:1:1', runId: 'b', executionId: 'b' });
    return store;
  }

  it('are shared by the runs of a site and of its cluster, and are taken once', async () => {
    const store = await withRuns(await backend.fresh());
    expect((await takePermits(store, TWO, wants('a', ['n1', 'n2', 'n3']))).granted).toEqual(['n1', 'n2']);
    const other = await takePermits(store, TWO, wants('b', ['n4'], { work: 'tasks' }));
    expect(other).toMatchObject({
      granted: [],
      waits: [{ kind: 'out_of_service', machines: 1, behind: ['n1: a run', 'n2: a run'] }],
    });
    expect((await takePermits(store, TWO, wants('a', ['n1', 'n2']))).granted).toEqual(['n1', 'n2']);
    // What falls to a run that waits is left to it.
    pass(1);
    expect((await takePermits(store, TWO, wants('a', ['n3'], { done: ['n1'] }))).granted).toEqual([]);
    expect((await takePermits(store, TWO, wants('b', ['n4'], { work: 'tasks' }))).granted).toEqual(['n4']);
    expect(await store.permits.holds('dc1', 'b', 'n4')).toBe(true);
  });

  it('go back when their run does not know of them, unless it was given them since it asked', async () => {
    const store = await withRuns(await backend.fresh());
    await takePermits(store, TWO, wants('a', ['n1', 'n2']));
    const asked = (at: number, machines: readonly string[]) =>
      takePermits(store, TWO, wants('a', ['n3', 'n4'], { known: { machines, at } }));
    expect((await asked(Date.now() - 60_000, ['n1'])).granted).toEqual([]);
    expect((await asked(Date.now() + 60_000, ['n1'])).granted).toEqual(['n3']);
    expect(await store.permits.holds('dc1', 'a', 'n1')).toBe(true);
    expect(await store.permits.holds('dc1', 'a', 'n2')).toBe(false);
    const other = { work: 'tasks', known: { machines: [], at: Date.now() + 60_000 } } as const;
    expect((await takePermits(store, TWO, wants('a', ['n4'], other))).granted).toEqual([]);
  });

  it('come back with the claim of a run that is dead, and not before', async () => {
    const store = await withRuns(await backend.fresh());
    await takePermits(store, TWO, wants('a', ['n1', 'n2']));
    expect((await takePermits(store, TWO, wants('b', ['n3', 'n4', 'n5']))).granted).toEqual([]);
    await store.claims.release({ site: 'dc1' }, { workflowId: 'deploy_site:dc1', runId: 'a' });
    expect((await takePermits(store, TWO, wants('b', ['n3', 'n4', 'n5']))).granted).toEqual(['n3', 'n4']);
    expect((await store.permits.list()).map(({ runId }) => runId)).not.toContain('a');
  });

  it('are fewer by the machines that are in maintenance, broken, or left broken by a run until another succeeds on them', async () => {
    const store = await withRuns(await backend.fresh());
    await takePermits(store, TWO, wants('a', ['n1']));
    const left = await takePermits(store, TWO, wants('a', ['n2', 'n3'], { failed: ['n1'] }));
    expect(left.granted).toEqual(['n2']);
    expect(left.waits[0]?.behind[0]).toContain('n1');
    // After a reset, a run gives permits back that it has not used.
    await takePermits(store, TWO, wants('a', [], { done: ['n2'], unused: ['n1'] }));
    await store.claims.release({ site: 'dc1' }, { workflowId: 'deploy_site:dc1', runId: 'a' });
    await store.nodeMaintenance.begin({
      ...{ site: 'dc1', node: 'n6', reason: 'fans', by: 'eve', since: new Date().toISOString() },
    });
    expect((await takePermits(store, TWO, wants('b', ['n2', 'n1']))).granted).toEqual(['n1']);
    expect((await takePermits(store, TWO, wants('b', ['n2'], { done: ['n1'] }))).granted).toEqual(['n2']);
    const [node] = await store.nodes.list({ site: 'dc1' });
    await store.nodes.updateMany([{ id: node!.id, change: { status: 'error', errorType: 'deploy', errorMsg: 'x' } }]);
    expect((await takePermits(store, TWO, wants('b', ['n3'], { unused: ['n2'] }))).granted).toEqual([]);
  });

  it('are counted by others when a run goes beyond the limits', async () => {
    const store = await withRuns(await backend.fresh());
    const beyond = await takePermits(store, TWO, wants('a', ['n1', 'n2', 'n3'], { overrides: true }));
    expect(beyond.granted).toEqual(['n1', 'n2', 'n3']);
    expect((await takePermits(store, TWO, wants('b', ['n4'], { work: 'tasks' }))).granted).toEqual([]);
  });

  it('leave no turn to a run that has stopped asking', async () => {
    const store = await withRuns(await backend.fresh());
    const ONE = limited({ out_of_service: [{ per: 'site', at_most: 1 }] });
    await takePermits(store, ONE, wants('a', ['n1']));
    await takePermits(store, ONE, wants('b', ['n2'], { work: 'tasks' }));
    pass(1);
    expect((await takePermits(store, ONE, wants('a', ['n3'], { done: ['n1'] }))).granted).toEqual([]);
    pass(31_000);
    expect((await takePermits(store, ONE, wants('a', ['n3']))).granted).toEqual(['n3']);
  });

  it('are never more than the limits allow, however many processes ask at the same moment', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3].map(() => backend.open(url)));
    await withRuns(stores[0]!);
    const asked = Array.from({ length: 24 }, (_, index) =>
      takePermits(stores[index % 3]!, TWO, wants(index % 2 === 0 ? 'a' : 'b', [NAMES[index % 6]!])),
    );
    await Promise.all(asked);
    const held = (await stores[0]!.permits.list()).filter(({ state }) => state === 'held');
    expect(new Set(held.map(({ machine }) => machine)).size).toBe(2);
  });
});
