import { expect, it } from 'vitest';
import type { RunReport } from '../../../src/core/contracts/site-run-report.ts';
import { given } from '../../../src/core/data/given.ts';
import { outOfServiceOf } from '../../../src/core/node-system.ts';
import { closeGone } from '../../../src/runs/life.ts';
import { describeStore } from '../store/backends.ts';

describeStore('a run that was terminated', (backend) => {
  it('names the machines that it was in the middle of, which are out of service', async () => {
    const store = await backend.fresh();
    await store.sites.create({ name: 'dc1' });
    for (const name of ['n1', 'n2', 'n3']) await store.nodes.create({ name, site: 'dc1' });
    await store.nodes.create({ name: 'n4', hostname: 'host4', site: 'dc1' });
    await store.nodes.create({ name: 'n5', site: 'dc1', status: 'ready' });
    await store.sites.create({ name: 'dc2' });
    await store.nodes.create({ name: 'n1', site: 'dc2' });
    const [workflowId, startedAt] = ['deploy_site:dc1', '2026-03-01T10:00:00.000Z'];
    const run = { id: 'r1', sequence: 1, workflowId, kind: 'deploy_site', site: 'dc1', phase: 'baremetal', startedAt };
    await store.runs.put(run);
    const node = (name: string, state: string, running?: string) => ({
      name,
      state,
      attempts: 1,
      ...given({ running }),
    });
    const nodes = [
      node('n1', 'prepared', 'deploy'),
      node('n2', 'waiting', 'prepare'),
      node('n3', 'prepared'),
      node('host4', 'prepared', 'deploy'),
      node('n5', 'prepared', 'deploy'),
    ];
    const baremetal = { groups: [], nodes, nodes_by_state: {}, order: [], processed: [], critical_failures: [] };
    const about = { kind: 'deploy_site', site: 'dc1', workflow_id: workflowId, run_id: 'r1', started_at: startedAt };
    await store.runs.putReport('r1', 1, { ...about, outcome: null, operator: [], phases: [], warnings: [], baremetal });
    const end = async () => ({ outcome: 'terminated', at: new Date(startedAt) }) as const;
    await closeGone({ store, end });
    expect((await store.runs.get('r1')).outcome).toBe('terminated');
    const report = (await store.runs.getReport('r1')) as unknown as RunReport;
    expect(report.warnings.filter((one) => /n1, n2, host4, n5/.test(one))).toHaveLength(1);
    expect(report.baremetal?.nodes.map(({ reason }) => reason !== undefined)).toEqual([true, true, false, true, true]);
    const inventory = await store.nodes.list({});
    const failed = inventory.filter(({ status }) => status === 'error');
    expect(failed.map(({ name, site, errorType }) => [name, site, errorType])).toEqual(
      ['n1', 'n2', 'n4'].map((name) => [name, 'dc1', 'provision']),
    );
    expect(failed.map(outOfServiceOf)).toEqual(['failed', 'failed', 'failed']);
    for (const { errorMsg } of failed) expect(errorMsg).toContain('terminated');
  });
});
