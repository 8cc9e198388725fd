import { describe, expect, it } from 'vitest';
import { compileNamed, type NamedPlan } from '../../../src/core/scheduler/named-plan.ts';
import { partition } from '../../../src/core/scheduler/partition.ts';
import { simulate } from '../../../src/core/scheduler/simulate.ts';
import { tolerated } from '../../../src/core/scheduler/tolerance.ts';
import { blocksOfNodes } from '../../rig/blocks-of-nodes.ts';
import { planOf } from './run.ts';

const refusal = (plan: NamedPlan, offline: string[] = []) => {
  const compiled = compileNamed(plan, offline);
  return compiled.ok ? undefined : compiled.refusal;
};

describe('a plan is refused', () => {
  it('for every undefined or duplicate name, all together', () => {
    const plan = planOf(['a@n1', 'a@n1'], ['a@n1 > b@n1'], { joins: [{ before: ['c@n1'], after: ['a@n1'] }] });
    expect(refusal({ ...plan, tasks: [...plan.tasks, { id: 'z', node: 'n9' }] })).toEqual({
      reason: 'bad_reference',
      problems: [
        "tasks[1]: task 'a@n1' is given twice",
        "tasks[2]: node 'n9' of task 'z' is not in nodes",
        "edges[0][1]: there is no task 'b@n1'",
        "joins[0].before[0]: there is no task 'c@n1'",
      ],
    });
  });

  it('for a cycle through a join, with its path', () => {
    const plan = planOf(['a@n1', 'b@n1', 'c@n2', 'd@n2', 'e@n3'], ['c@n2 > e@n3', 'e@n3 > a@n1'], {
      joins: [{ before: ['a@n1', 'b@n1'], after: ['c@n2', 'd@n2'] }],
    });
    const found = refusal(plan);
    if (found?.reason !== 'cycle') throw new Error(`expected a cycle, got ${found?.reason}`);
    const { path } = found;
    expect(path[0]).toBe(path.at(-1));
    expect([...path.slice(1)].sort()).toEqual(['a@n1', 'c@n2', 'e@n3']);
  });

  it('for two tasks on both sides of a join', () => {
    expect(
      refusal(planOf(['a@n1', 'b@n2'], [], { joins: [{ before: ['a@n1', 'b@n2'], after: ['a@n1', 'b@n2'] }] }))?.reason,
    ).toBe('cycle');
  });

  it('for a subgraph that matches nothing, instead of keeping everything', () => {
    const subgraphs = [{ start: ['a', 'nope', 'a/n9', 'a/7-9'] }];
    expect(refusal(planOf(['a@n1'], [], { subgraphs }))).toEqual({
      reason: 'bad_subgraph',
      entries: ['nope', 'a/n9', 'a/7-9'],
    });
  });

  it('for an offline critical node before any other reason', () => {
    const plan = planOf(['a@n1', 'b@n1'], ['a@n1 > b@n1', 'b@n1 > a@n1'], { fault_tolerance_groups: [] });
    expect(refusal(plan, ['n1'])).toEqual({ reason: 'offline_critical', nodes: ['n1'] });
  });
});

describe('a join', () => {
  it('never makes a task wait for itself', () => {
    const run = simulate({
      id: 'self',
      ...planOf(['a@n1', 'b@n2', 'c@n3', 'd@n4', 'e@n5'], [], {
        joins: [{ before: ['a@n1', 'b@n2', 'c@n3'], after: ['c@n3', 'd@n4', 'e@n5'] }],
      }),
    });
    expect(run.result).toBe('success');
    expect(run.trace.filter(({ event }) => event === 'start').map(({ task }) => task)).toEqual([
      'a@n1',
      'b@n2',
      'c@n3',
      'd@n4',
      'e@n5',
    ]);
    expect(run.weights).toEqual({ 'a@n1': '50', 'b@n2': '50', 'c@n3': '20', 'd@n4': '0', 'e@n5': '0' });
  });

  it('keeps the graph linear where edges would be its square', () => {
    const size = (n: number): number => {
      const keys = (name: string) => Array.from({ length: n }, (_, i) => `${name}@n${i}`);
      const plan = planOf([...keys('a'), ...keys('b')], [], { joins: [{ before: keys('a'), after: keys('b') }] });
      const compiled = compileNamed(plan);
      if (!compiled.ok) throw new Error('refused');
      return compiled.graph.successors.reduce((sum, list) => sum + list.length, 0);
    };
    expect([size(100), size(200)]).toEqual([200, 400]);
  });
});

describe('a split run', () => {
  it('passes only crossing dependencies: joins by count, and tasks that others wait for', () => {
    const nodes = ['n1', 'n2', 'n3', 'n4'];
    const keys = (name: string) => nodes.map((node) => `${name}@${node}`);
    const plan = planOf([...keys('a'), ...keys('b'), ...keys('c')], ['a@n1 > b@n1', 'c@n1 > a@n4'], {
      joins: [{ before: keys('a'), after: keys('b') }],
    });
    const compiled = compileNamed(plan);
    if (!compiled.ok) throw new Error('refused');
    const { parts, coordination } = partition(compiled.graph, blocksOfNodes(compiled.graph, 2));
    expect(coordination.joins).toEqual([[0, [0, 1], [0, 1]]]);
    expect(coordination.tasks).toEqual([[8, [1]]]);
    expect(parts.map((part) => part.part!.externals)).toEqual([[], [8]]);
    expect(parts.map((part) => part.nodes)).toEqual([
      ['n1', 'n2'],
      ['n3', 'n4'],
    ]);
  });
});

describe('fault tolerance', () => {
  it.each([
    [2, 10, 2],
    [0, 10, 0],
    ['20%', 10, 2],
    ['2%', 49, 0],
    ['100 %', 7, 7],
    [-3, 10, 7],
    [-30, 10, 0],
    ['-3', 10, 7],
    [undefined, 10, 11],
    ['many', 10, 11],
  ])('%j of %i nodes is %i', (value, total, expected) => {
    expect(tolerated(value, total)).toBe(expected);
  });
});
