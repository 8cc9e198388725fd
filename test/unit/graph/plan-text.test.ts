import { expect, it } from 'vitest';
import { withNodeNames } from '../../../src/cli/shell/node-names.ts';
import type { PlanExplanation } from '../../../src/core/contracts/fuel/plan-explanation.ts';
import { alikeNodes, planSections } from '../../../src/core/graph-run/plan-sections.ts';
import { planText } from '../../../src/graph/index.ts';

const run = (task: string, first_time = true) => ({
  ...{ task, type: 'shell', placed_by: 'role web', first_time, changed: [] },
});
const skip = (task: string) => ({ task, reason: 'condition' as const, why: 'condition is false: $.x', values: [] });

const PLAN: PlanExplanation = {
  totals: { nodes: 4, tasks: 8, running: 7, first_time: 6 },
  nodes: [
    { node: 'n1', runs: [run('a'), run('b')], skipped: [] },
    { node: 'n2', runs: [run('a', false)], skipped: [skip('b')] },
    { node: 'n3', runs: [run('a'), run('b')], skipped: [] },
    { node: 'n4', runs: [run('b'), run('a')], skipped: [] },
  ],
  not_placed: [{ task: 'backup', reason: 'no node has tags ["vault"]' }],
  skipped_primaries: [
    { task: 'b', node: '1', tag: 'primary-web' },
    { task: 'c', node: '1', tag: 'primary-web' },
    { task: 'b', node: '2', tag: 'primary-web' },
  ],
  dropped_dependencies: [],
  fault_tolerance: [
    { name: 'web', node_ids: ['1', '2'], fault_tolerance: 1 },
    { name: 'db', node_ids: ['2'], fault_tolerance: 2 },
  ],
  any_choices: [],
};

it('nodes on which the same happens for the same reasons, in the same order, are one section of a plan', () => {
  expect(alikeNodes(PLAN.nodes).map((alike) => alike.map(({ node }) => node))).toEqual([['n1', 'n3'], ['n2'], ['n4']]);
  const text = planText(PLAN);
  expect(text).toContain('\n2 nodes, n1, n3: 2 run, 0 do not\n  run   a (shell) first time here\n');
  expect(text).toContain('\nnode n2: 1 run, 1 do not\n');
  expect(text.match(/run {3}a /g)).toHaveLength(3);
});

it('a wave of many nodes is a line that can be read, with their names', () => {
  const ids = Array.from({ length: 160 }, (_, at) => String(at + 1));
  const nodes = ids.map((node) => ({ node, runs: [run('a')], skipped: [] }));
  const plan = { ...PLAN, nodes, rollouts: [{ role: 'web', waves: [ids.slice(0, 1), ids.slice(1)] }] };
  const named = withNodeNames(plan, Object.fromEntries(ids.map((id) => [id, `n${id}`])));
  const lines = planText(named).split('\n');
  expect(lines.find((line) => line.includes('wave 1 of 2'))).toContain('n1');
  expect(lines.find((line) => line.includes('wave 2 of 2'))).toContain('n21 and 139 more');
  expect(lines.find((line) => line.startsWith('160 nodes'))).toContain('n20 and 140 more');
  // Of a status, it is their number.
  expect(withNodeNames({ waves: 2 }, { 2: 'n2' })).toEqual({ waves: 2 });
});

it('the rest of a plan is in sections of which each has a line, with nodes by name', () => {
  const nameOf = (node: string): string => ({ 1: 'web1', 2: 'web2' })[node] ?? node;
  expect(planSections(PLAN, nameOf)).toEqual([
    ['on no node', [['backup', 'no node has tags ["vault"]']]],
    [
      'not on the primary node',
      [
        ['b, c', 'node web1 has it as primary-web'],
        ['b', 'node web2 has it as primary-web'],
      ],
    ],
    [
      'nodes that may fail',
      [
        ['web', '1 of 2 (web1, web2)'],
        ['db', 'any number of 1 (web2)'],
      ],
    ],
  ]);
});
