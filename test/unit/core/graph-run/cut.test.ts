import { expect, it } from 'vitest';
import { countCrossings, cutForExecution, splitForExecution } from '../../../../src/core/graph-run/cut.ts';
import { compileNamed } from '../../../../src/core/scheduler/named-plan.ts';

function graphOf(tasksByNode: readonly number[], withoutWork = 0) {
  const compiled = compileNamed({
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

it('a small plan is one part, however many tasks without work it has', () => {
  // Three questions whether the nodes are there, and ten tasks.
  const graph = graphOf([3, 4, 3], 20);
  expect(new Set(cutForExecution(graph, 13))).toEqual(new Set([0]));
  expect(splitForExecution(graph, 13)).toBeNull();
  expect(splitForExecution(graph, 12)!.parts).toHaveLength(2);
  expect(splitForExecution(graphOf([0, 0], 20), 13, 0)).toBeNull();
});

it('a plan that does not fit into the run is a part, even if it is the only one', () => {
  const graph = graphOf([3, 4, 3]);
  expect(splitForExecution(graph, 50, 13)).toBeNull();
  const { parts, coordination } = splitForExecution(graph, 50, 12)!;
  expect(parts.map(({ nodes, part }) => [nodes, part!.count])).toEqual([[['n0', 'n1', 'n2'], 1]]);
  expect(coordination).toMatchObject({ parts: 1, tasks: [], joins: [] });
});

it('a node too large for one history gets its own part', () => {
  expect(splitForExecution(graphOf([80], 5), 50)!.parts.map(({ nodes }) => nodes)).toEqual([['n0']]);
  expect(splitForExecution(graphOf([10, 80, 10], 5), 50)!.parts.map(({ nodes }) => nodes)).toEqual([
    ['n0'],
    ['n1'],
    ['n2'],
  ]);
});

it.each([
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
  const heaviest = Math.max(...tasksByNode) + 1;
  for (const work of workOf(parts, tasksByNode)) {
    expect(work).toBeGreaterThan(0);
    expect(work).toBeLessThanOrEqual(Math.max(most, heaviest));
  }
});

it('dependencies of a task in another part are one join, which orders the same pairs', () => {
  const compiled = compileNamed({
    nodes: ['n0', 'n1', 'n2'].map((id) => ({ id, kind: 'node' })),
    tasks: ['n0', 'n1', 'n2'].flatMap((node) => ['a', 'b'].map((id) => ({ id, node }))),
    edges: [
      ['a@n0', 'b@n0'],
      ['a@n0', 'a@n2'],
      ['b@n0', 'a@n2'],
      ['a@n0', 'b@n2'],
      ['b@n0', 'b@n2'],
      ['a@n1', 'b@n2'],
    ],
  });
  if (!compiled.ok) throw new Error('not a plan');
  const { graph } = compiled;
  const pairs = (one: typeof graph): string[] => {
    const tasks = one.nodeOf.length;
    const direct = (from: number): number[] =>
      one.successors[from]!.flatMap((to) => (to < tasks ? [to] : [...one.successors[to]!]));
    return one.nodeOf.flatMap((_n, from) => direct(from).map((to) => `${from}>${to}`)).sort();
  };
  const counted = countCrossings(graph, [0, 1, 2]);
  expect(pairs(counted)).toEqual(pairs(graph));
  // Both tasks of n2 wait for both of n0: one join. The single edge from n1 stays.
  expect([graph.joins, counted.joins]).toEqual([0, 1]);
  expect(countCrossings(graph, [0, 0, 0])).toEqual(graph);
});
