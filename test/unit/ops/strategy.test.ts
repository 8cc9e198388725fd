import { expect, it } from 'vitest';
import { viewStrategy } from '../../../src/ops/strategy.ts';

const group = (name: string, nodes: readonly number[]) => ({
  ...{ name, nodes, critical: false, depends_on: [], success_criteria: {} },
});
const warningsOf = (names: readonly string[], groups: readonly object[]) =>
  viewStrategy({ strategyName: 'dc1', groups, nodes: names.map((name) => ({ name })) } as never).warnings;

it('a warning for several nodes or groups is one, and names them', () => {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
  const groups = [group('a', [0, 1]), group('b', [0, 1, 2]), group('c', [2]), group('d', []), group('e', [])];
  expect(warningsOf(names, groups)).toEqual([
    'groups d, e have no nodes',
    'nodes n4, n5, n6 are in no group: they will not be deployed',
    'nodes n1, n2 are in 2 groups (a, b): the first group to reach them deploys them',
    'node n3 is in 2 groups (b, c): the first group to reach it deploys it',
  ]);
});

it('of many nodes the first are named', () => {
  const names = Array.from({ length: 60 }, (_, at) => `n${at}`);
  expect(warningsOf(names, [])).toEqual([
    'nodes n0, n1, n2, n3, n4, n5, n6, n7 and 52 more are in no group: they will not be deployed',
  ]);
});
