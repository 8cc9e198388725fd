import { expect, it } from 'vitest';
import type { NodeReport, RunReport } from '../../../../src/core/contracts/site-run-report.ts';
import { workOfSite } from '../../../../src/core/run-work.ts';
import { assembleReport, fitReport, type NodeRecord, nodesOfRun } from '../../../../src/core/site-run/report.ts';

const names = Array.from({ length: 100 }, (_, at) => `node-${at}`);
const plan = { nodes: names, done: ['node-99'], total: 100 };
const node = (at: number, more: Partial<NodeReport> = {}): NodeReport => ({
  ...{ name: names[at]!, state: 'waiting', attempts: 0 },
  ...more,
});
const began = { attempts: 1, started_at: '2026-05-01T10:00:00.000Z' };
const prepared = { ...began, state: 'prepared' } as const;
const now: NodeReport[] = [
  ...Array.from({ length: 40 }, (_, at) =>
    node(at, { ...prepared, state: 'success', ended_at: `2026-05-01T10:00:${10 + (at % 50)}.000Z` }),
  ),
  ...Array.from({ length: 10 }, (_, at) => node(40 + at, { ...prepared, running: 'deploy' })),
  ...Array.from({ length: 50 }, (_, at) => node(50 + at)),
];
const group = { name: 'all', critical: true, state: 'waiting', depends_on: [], nodes: names, criteria: [], calls: [] };
const counts = { waiting: 0, not_reached: 0, prepared: 0, success: 0, failed: 0 };
const report = {
  ...{ kind: 'deploy_site', site: 'dc1', workflow_id: 'w', run_id: 'r', started_at: began.started_at, holds: [] },
  ...{ phases: [], operator: [], warnings: [] },
  baremetal: {
    ...{
      groups: [{ ...group, counts }],
      nodes: now,
      order: ['all'],
      processed: [],
      critical_failures: [],
      halts: false,
    },
    nodes_by_state: { waiting: [], not_reached: [], prepared: [], success: [], failed: [] },
  },
} as unknown as RunReport;

it('a report that was cut has all nodes of the plan again, with the newest that is known of each', () => {
  const cut = fitReport(report, [[0, 99]], 4_500);
  const kept = cut.baremetal!.nodes.map(({ name }) => name);
  // Running ones, then those that ended last: earlier ones are recorded.
  expect(kept.slice(0, 11)).toEqual([...names.slice(40, 50), 'node-39']);
  expect(kept.length).toBeLessThan(35);
  const recorded = now.slice(0, 30).map((one, position): NodeRecord => ({ position, report: one, released: null }));
  const whole = assembleReport(cut, recorded, plan);
  expect(whole.cut).toBeUndefined();
  const known = new Map(nodesOfRun(whole, plan).map((one) => [one.name, one]));
  expect(known.size).toBe(100);
  expect(known.get('node-39')?.state).toBe('success');
  expect(known.get('node-45')?.running).toBe('deploy');
  expect(whole.baremetal!.groups[0]!.nodes).toEqual(names);
  // A plan that was itself cut tells no positions.
  expect(assembleReport(cut, recorded, { ...plan, total: 101 }).cut?.nodes_omitted).toBeGreaterThan(0);
});

it('all nodes of a plan are there before its groups start, and none of a test', () => {
  const { baremetal: _, ...early } = report;
  const all = nodesOfRun(early, plan);
  expect(all.map(({ name }) => name)).toEqual(names);
  expect(all.filter(({ state }) => state === 'success').map(({ name }) => name)).toEqual(['node-99']);
  expect(nodesOfRun({ ...early, kind: 'test_site' }, plan)).toEqual([]);
  const released = [node(0, { running: 'deploy' })];
  expect(nodesOfRun({ ...early, kind: 'redeploy_nodes', released }, plan)).toHaveLength(100);
});

it('what is still to do is what has neither ended nor runs', () => {
  const nodes = [
    node(0, { ...prepared, state: 'success' }),
    node(1, { ...prepared, running: 'deploy' }),
    node(2, prepared),
    node(3),
    node(4, { state: 'not_reached' }),
    node(5, { ...began, state: 'failed' }),
  ];
  expect(workOfSite(nodes, [])).toEqual({ running: ['node-1'], next: ['node-2', 'node-3'] });
  const groups = [{ name: 'late', nodes: ['node-3', 'node-5'] }];
  expect(workOfSite(nodes, groups, 'late')).toEqual({ running: ['node-1'], next: ['node-3'] });
});
