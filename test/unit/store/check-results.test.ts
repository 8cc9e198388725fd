import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

describeStore('CheckResultStore', (backend) => {
  const AT = '2026-01-01T00:00:00.000Z';
  const result = (node: string, verdict: 'well' | 'failed' | 'unknown' = 'well', ms = 5, runId = 'r1') => ({
    ...{ node, verdict, ms, runId },
    ...{ text: 'HTTP 200', output: null, at: AT },
  });
  const known = { checks: ['metrics', 'gateway'], nodes: ['n1', 'n2'] };
  const withSite = async () => {
    const store = await backend.fresh();
    for (const name of ['dc1', 'dc2']) await store.sites.create({ name });
    return store;
  };

  it('keeps what came of a check, and knows the newest of each node', async () => {
    const { checkResults } = await withSite();
    await checkResults.add('dc1', 'metrics', [result('n1'), result('n2', 'failed', 7)], known);
    await checkResults.add('dc1', 'gateway', [{ ...result(''), output: 'a\0b' }], known);
    await checkResults.add('dc1', 'metrics', [result('n1', 'unknown', 9, 'r2')], known);
    const shown = async (filter = {}) =>
      (await checkResults.list('dc1', filter)).map(({ name, node, verdict }) => [name, node, verdict].join(' '));
    expect(await shown({ newest: true })).toEqual(['metrics n1 unknown', 'gateway  well', 'metrics n2 failed']);
    expect(await shown({ name: 'metrics', node: 'n1' })).toEqual(['metrics n1 unknown', 'metrics n1 well']);
    expect(await shown({ runId: 'r2' })).toEqual(['metrics n1 unknown']);
    expect(await shown({ limit: 1 })).toEqual(['metrics n1 unknown']);
    expect(await checkResults.list('dc1', { name: 'gateway' })).toMatchObject([
      { site: 'dc1', node: '', runId: 'r1', text: 'HTTP 200', output: 'a\uFFFDb', at: AT, ms: 5 },
    ]);
    expect(await checkResults.list('dc2')).toEqual([]);
    expect(await checkResults.count()).toEqual([
      { name: 'gateway', verdict: 'well', nodes: 1, longest: 5 },
      { name: 'metrics', verdict: 'failed', nodes: 1, longest: 7 },
      { name: 'metrics', verdict: 'unknown', nodes: 1, longest: 9 },
    ]);
  });

  it('keeps the last twenty of each check and node', async () => {
    const { checkResults } = await withSite();
    await checkResults.add('dc1', 'metrics', [result('n2')], known);
    for (let ms = 1; ms <= 23; ms++) await checkResults.add('dc1', 'metrics', [result('n1', 'well', ms)], known);
    const kept = await checkResults.list('dc1', { node: 'n1' });
    expect(kept.map(({ ms }) => ms)).toEqual(Array.from({ length: 20 }, (_, at) => 23 - at));
    expect(await checkResults.list('dc1', { node: 'n2' })).toHaveLength(1);
  });

  it('takes results of checks and nodes that the documents no longer have as history', async () => {
    const { checkResults } = await withSite();
    await checkResults.add('dc1', 'metrics', [result('n1'), result('n2')], known);
    await checkResults.add('dc1', 'gateway', [result('')], known);
    await checkResults.add('dc1', 'metrics', [result('n1')], { checks: ['metrics'], nodes: ['n1'] });
    expect(await checkResults.list('dc1', { newest: true })).toMatchObject([{ name: 'metrics', node: 'n1' }]);
    expect(await checkResults.list('dc1')).toHaveLength(4);
  });

  it('goes with its site, and is for none that does not exist', async () => {
    const store = await withSite();
    await store.checkResults.add('dc1', 'metrics', [result('n1')], known);
    await store.sites.delete('dc1');
    expect(await store.checkResults.count()).toEqual([]);
    for (const call of [store.checkResults.list('dc1'), store.checkResults.add('dc1', 'm', [], known)])
      expect(await failureOf(call)).toMatchObject({ kind: 'not-found' });
  });
});
