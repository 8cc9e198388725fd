import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { reportText } from '../../src/cli/views/report.ts';
import { statusText, treeText } from '../../src/cli/views/status.ts';
import { strategyDot, strategyText } from '../../src/cli/views/strategy.ts';
import type { RunStatus, TreeNode } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import type { Strategy } from '../../src/core/contracts/strategy.ts';
import {
  endBaremetal,
  finishCall,
  finishNode,
  nextCall,
  startBaremetal,
  startNode,
} from '../../src/core/deployment/baremetal.ts';
import { planGroups } from '../../src/core/deployment/plan-groups.ts';
import type { BaremetalState } from '../../src/core/deployment/progress.ts';
import { retryNode } from '../../src/core/deployment/retry.ts';
import type { SiteNode } from '../../src/core/deployment/strategy.ts';
import { groupToWire } from '../../src/core/site-run/plan.ts';
import { type RunProgress, reportRun, statusOf } from '../../src/core/site-run/progress.ts';
import { fitReport } from '../../src/core/site-run/report.ts';
import { treeOfSiteRun } from '../../src/core/site-run/tree.ts';
import { viewStrategy } from '../../src/ops/strategy.ts';

/** What people read, as they read it. A change of these texts is a deliberate act. */
const golden = (name: string) => fileURLToPath(new URL(`cli/${name}.golden.txt`, import.meta.url));

const T0 = Date.UTC(2026, 2, 4, 10, 0, 0);
const seconds = (count: number): number => T0 + count * 1000;

const nodes: SiteNode[] = ['ctl01', 'ctl02', 'ctl03', 'cmp01', 'cmp02', 'spare'].map((name) => ({
  name,
  rack: 'r1',
  tags: [name.slice(0, 3)],
  labels: {},
}));

const strategy = {
  groups: [
    {
      name: 'compute',
      critical: false,
      depends_on: ['control', 'base'],
      selectors: [{ node_tags: ['cmp'] }, { node_names: ['ctl03'] }],
      success_criteria: { percent_successful_nodes: 50, maximum_failed_nodes: 1 },
    },
    {
      name: 'control',
      critical: true,
      depends_on: ['base'],
      selectors: [{ node_tags: ['ctl'] }],
      success_criteria: { percent_successful_nodes: 60, minimum_successful_nodes: 2 },
    },
    { name: 'base', critical: false, depends_on: [], selectors: [{ node_names: ['absent'] }] },
    {
      name: 'late',
      critical: false,
      depends_on: ['compute'],
      selectors: [{ node_names: ['nobody'] }],
      success_criteria: { minimum_successful_nodes: 1 },
    },
  ],
};

const plans = planGroups(strategy, nodes);

/** Processes the groups; `failing` returns why a node fails in a call. Ends before the call `until`, if given. */
function work(
  failing: Readonly<Record<string, string>>,
  until?: { readonly group: string; readonly call: string },
): { state: BaremetalState; now: number } {
  let state = startBaremetal(
    plans,
    nodes.map(({ name }) => name),
  );
  for (let now = 10; ; now += 20) {
    const next = nextCall(state, seconds(now));
    state = next.state;
    if (!next.call) return { state, now };
    const { call, name } = next.call;
    next.call.nodes.forEach((index) => {
      state = startNode(state, index, seconds(now));
    });
    if (until?.group === name && until.call === call) return { state, now };
    next.call.nodes.forEach((index, at) => {
      const reason = failing[`${nodes[index]!.name} ${call}`];
      const id = { system_id: `sys${index}` };
      const result = reason
        ? {
            ok: false as const,
            ...id,
            failure: { kind: 'deployment-failed', message: reason, hint: 'look at the log in MAAS' },
          }
        : { ok: true as const, ...id };
      state = finishNode(state, index, call, result, seconds(now + 5 + at));
    });
    state = finishCall(state, { kind: 'complete' }, seconds(now + 15));
  }
}

function progressOf(baremetal: BaremetalState, more: Partial<RunProgress> = {}): RunProgress {
  return {
    kind: 'deploy_site',
    input: { site: 'dc1', started_by: 'ann', reason: 'new rack' },
    workflow_id: 'deploy_site:dc1',
    run_id: '0199aaaa-0000-7000-8000-000000000001',
    started_at: T0,
    holds: [],
    plan: {
      site: 'dc1',
      revision: 3,
      hash: 'f'.repeat(64),
      nodes: nodes.map(({ name }) => name),
      groups: plans.map(groupToWire),
      pace: {} as never,
      done: [],
      removed: ['old07'],
      warnings: ['node spare is in no group'],
    },
    baremetal,
    phases: [
      {
        name: 'load',
        state: 'success',
        started_at: iso(0),
        ended_at: iso(1),
        detail: 'revision 3, 6 nodes in 4 groups',
      },
      { name: 'verify_site', state: 'success', started_at: iso(1), ended_at: iso(9) },
      { name: 'baremetal', state: 'running', started_at: iso(10) },
    ],
    operator: [],
    warnings: [],
    paused: null,
    stopping: false,
    ...more,
  };
}

const iso = (count: number): string => new Date(seconds(count)).toISOString();
const asAnswer = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T;

const halted = progressOf(
  endBaremetal(
    work({ 'ctl01 deploy': 'no boot\u001b[2J disk', 'ctl02 deploy': 'power\nlost', 'ctl03 prepare': 'not found' })
      .state,
  ),
  {
    ended_at: seconds(3_725),
    outcome: 'failed',
    failure: { kind: 'critical-group-failed', groups: [{ name: 'control', reason: 'too few nodes' }] },
    operator: [
      { action: 'pause', at: iso(12), by: 'ann', reason: 'lunch' },
      { action: 'retry_node', at: iso(40), node: 'ctl03' },
    ],
  },
);
const under = work({ 'ctl01 deploy': 'no boot' }, { group: 'compute', call: 'deploy' });
const underWay = progressOf(under.state, { paused: { since: iso(70), by: 'bob', reason: 'fan noise' } });
const succeeded = progressOf(endBaremetal(work({}).state), {
  ended_at: seconds(150),
  outcome: 'success_with_failures',
});

const cases: readonly (readonly [string, RunProgress])[] = [
  ['halted', halted],
  ['under-way', underWay],
  ['succeeded', succeeded],
];

describe.each(cases)('a run %s', (name, progress) => {
  it('is shown as a report', async () => {
    const text = reportText(asAnswer<RunReport>(reportRun(progress)));
    await expect(text).toMatchFileSnapshot(golden(`report-${name}`));
  });
  it('is shown as a tree', async () => {
    await expect(
      treeText(asAnswer<TreeNode>(treeOfSiteRun(reportRun(progress), statusOf(progress)))),
    ).toMatchFileSnapshot(golden(`tree-${name}`));
  });
  it('is shown as a status', async () => {
    await expect(statusText(asAnswer<RunStatus>(statusOf(progress)))).toMatchFileSnapshot(golden(`status-${name}`));
  });
});

it('a report shows all four states, also those without nodes', () => {
  const text = reportText(asAnswer<RunReport>(reportRun(succeeded)));
  for (const state of ['not reached', 'prepared', 'success', 'failed'])
    expect(text).toMatch(new RegExp(`^ {2}${state} +\\d`, 'm'));
});

it('a truncated report notes that, and still has correct counts', () => {
  const report = asAnswer<RunReport>(fitReport(reportRun(halted), [], 4_000));
  const text = reportText(report);
  expect(report.cut?.nodes_omitted).toBeGreaterThan(0);
  expect(text).toContain(`${report.cut?.nodes_omitted} nodes are omitted`);
  const kept = report.baremetal!.nodes.filter(({ state }) => state === 'failed').map(({ name }) => name);
  expect(kept.length).toBeGreaterThan(0);
  expect(text).toMatch(new RegExp(`^ {2}failed +${kept.length} {2}${kept.join(', ')}$`, 'm'));
});

it('control characters of others never reach the terminal; ours do only with colour', () => {
  const report = asAnswer<RunReport>(reportRun(halted));
  expect(reportText(report)).not.toContain('\u001b');
  expect(reportText(report, true)).toContain('\u001b[31m');
  expect(reportText(report, true)).not.toContain('\u001b[2J');
});

it('notes of successful nodes are in the report', () => {
  const report = reportRun(succeeded);
  const noted = report.baremetal!.nodes.map((node, i) => (i === 0 ? { ...node, warnings: ['was taken over'] } : node));
  const released = [{ name: 'old01', state: 'success', attempts: 1, warnings: ['was released already'] }] as const;
  const text = reportText(
    asAnswer<RunReport>({ ...report, baremetal: { ...report.baremetal!, nodes: noted }, released }),
  );
  expect(text).toMatch(/^Notes on nodes\n {2}\S+ {2}was taken over\n {2}old01 {2}was released already$/m);
});

it('a retried node shows its attempts', () => {
  let { state } = work({ 'ctl01 deploy': 'no boot', 'ctl02 deploy': 'x', 'ctl03 deploy': 'x' });
  state = retryNode(state, 'ctl01');
  const { state: again, call } = nextCall(state, seconds(100));
  expect(call?.nodes).toEqual([0]);
  let failed = startNode(again, 0, seconds(101));
  failed = finishNode(
    failed,
    0,
    'prepare',
    { ok: false, failure: { kind: 'vanished', message: 'gone' } },
    seconds(102),
  );
  failed = finishCall(failed, { kind: 'complete' }, seconds(103));
  expect(reportText(asAnswer<RunReport>(reportRun(progressOf(failed))))).toMatch(/ctl01 .*attempt 2/);
});

it('the report of a run has what came of its checks, for each node that is not well', () => {
  const result = { output: null, at: '2026-03-04T10:00:00.000Z', run: 'r1' };
  const report: RunReport = {
    ...asAnswer<RunReport>(reportRun(succeeded)),
    check_results: [
      { ...result, check: 'metrics', node: 'ctl02', verdict: 'failed', text: 'HTTP 503 instead of 200', seconds: 20 },
      { ...result, check: 'metrics', node: 'ctl01', verdict: 'well', text: 'HTTP 200', seconds: 1 },
      { ...result, check: 'errors', node: null, verdict: 'well', text: '0.1', seconds: 75 },
    ],
  };
  const text = reportText(report);
  expect(text.slice(text.indexOf('Checks (2)')).split('\n').slice(0, 4)).toEqual([
    'Checks (2)',
    '  errors  well  1 of 1 well  1m15s',
    '  metrics  failed  1 of 2 well  20s',
    '    ctl02  failed  HTTP 503 instead of 200  20s',
  ]);
});

describe('a strategy', () => {
  const view = asAnswer<Strategy>(viewStrategy({ groups: plans, strategyName: 'dc1 "main"', nodes } as never));
  it('is shown as a tree', async () => {
    await expect(strategyText(view)).toMatchFileSnapshot(golden('strategy'));
  });
  it('is shown as a drawing', async () => {
    await expect(strategyDot(view)).toMatchFileSnapshot(golden('strategy-dot'));
  });
  it('shows every group exactly once, whatever its dependencies', () => {
    const text = strategyText(view);
    for (const { name } of view.groups) expect(text.split(new RegExp(`\\d\\. ${name}\\b`)).length).toBe(2);
  });
});
