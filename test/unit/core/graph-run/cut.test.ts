import { expect, test } from 'vitest';
import { cutForExecution } from '../../../../src/core/graph-run/index.js';
import { compilePlan } from '../../../../src/core/scheduler/index.js';

function graphOf(tasksByNode: readonly number[], withoutWork = 0) {
  const compiled = compilePlan({
    nodes: tasksByNode.map((_n, at) => ({ id: `n${at}`, kind: 'node' })),
    tasks: tasksByNode.flatMap((count, at) => [
      ...Array.from({ length: count }, (_, t) => ({ id: `t${t}`, node: `n${at}` })),
      ...Array.from({ length: withoutWork }, (_, t) => ({ id: `s${t}`, node: `n${at}`, type: 'noop' })),
    ]),
    edges: [],
  });
  if (!compiled.ok) throw new Error('not a plan');
  return compiled.graph;
}

const workOf = (parts: readonly number[], tasksByNode: readonly number[]): number[] => {
  const sums: number[] = [];
  parts.forEach((part, node) => {
    sums[part] = (sums[part] ?? 0) + tasksByNode[node]!;
  });
  return sums;
};

test('a small plan is one part, however many tasks without work it has', () => {
  expect(new Set(cutForExecution(graphOf([3, 4, 3], 20), 10))).toEqual(new Set([0]));
});

test.each([
  ['even nodes', Array<number>(40).fill(5), 50],
  ['a heavy first node', [45, ...Array<number>(30).fill(5)], 50],
  ['a last node without work', [...Array<number>(20).fill(10), 0], 50],
  ['a node that is too much by itself', [10, 80, 10, 10], 50],
])('%s: parts are in order, without gaps, of about equal work', (_what, tasksByNode, most) => {
  const parts = cutForExecution(graphOf(tasksByNode), most);
  expect(parts[0]).toBe(0);
  parts.slice(1).forEach((part, at) => {
    expect([parts[at], parts[at]! + 1]).toContain(part);
  });
  const heaviest = Math.max(...tasksByNode);
  for (const work of workOf(parts, tasksByNode)) {
    expect(work).toBeGreaterThan(0);
    expect(work).toBeLessThanOrEqual(Math.max(most, heaviest));
  }
});
