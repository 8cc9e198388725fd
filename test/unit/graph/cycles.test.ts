import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/documents/index.ts';
import { checkGraph, checkGraphUpload, findCycles, readTasks } from '../../../src/graph/index.ts';
import { cluster, planOf } from './recorded.ts';

const caseOf = (file: string): string =>
  readFileSync(new URL(`../../data/cases/fuel/${file}`, import.meta.url), 'utf8');
const yamlOf = (file: string): object[] => parseYaml(caseOf(file)).documents[0]!.value as object[];

const task = (id: string, more: object) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  parameters: { cmd: 'true' },
  ...more,
});

/** What an upload and `graph check` say of the order; both say the same. */
function orderOf(tasks: readonly object[]): string[] {
  const read = readTasks(tasks);
  const seen = [checkGraphUpload({ tasks }).problems, [...read.problems, ...checkGraph(read.tasks)]].map((problems) =>
    problems.filter(({ code }) => code !== 'graph.deprecated-roles').map(({ severity, code }) => `${severity} ${code}`),
  );
  expect(seen[1]!.sort()).toEqual(seen[0]!.sort());
  return seen[0]!;
}

describe('dependencies through groups', () => {
  it.each([
    ['a plugin', yamlOf('gcycle.yaml')],
    ['a release', yamlOf('gcrel/r/default.yaml')],
    ['a task that waits for its group', (JSON.parse(caseOf('group-cycle.json')) as { tasks: object[] }).tasks],
    [
      'dependencies between nodes',
      [
        { id: 'g', type: 'group', tags: ['x'] },
        task('t', { groups: ['g'], cross_depends: [{ name: 'g' }] }),
        task('u', { tags: ['x'], requires: ['t'], cross_depended_by: [{ name: 'g' }] }),
      ],
    ],
  ])('have no effect, and so no cycle: %s', (_name, tasks) => {
    expect(orderOf(tasks)).toEqual(['warning graph.group-dependency']);
  });

  it('of groups on each other and on stages are what old tasks need', () => {
    const tasks = [
      { id: 'deploy_start', type: 'stage' },
      { id: 'first', type: 'group', tags: ['x'], requires: ['deploy_start'] },
      { id: 'second', type: 'group', tags: ['y'], requires: ['first'] },
      task('t', { groups: ['first', 'second'] }),
    ];
    expect(orderOf(tasks)).toEqual([]);
  });
});

describe('tasks that wait for each other', () => {
  const pair = (a: object, b: object) => [task('a', { requires: ['b'], ...a }), task('b', { requires: ['a'], ...b })];

  it.each([
    [{ tags: ['x'] }, { tags: ['y', 'x'] }],
    [{ tags: '*' }, { tags: ['x'] }],
    [{ tags: ['/x.*/'] }, { tags: ['x1'] }],
    [{ tags: ['x*'] }, { tags: ['x:1'] }],
    [{ groups: ['x'] }, { roles: ['x'] }],
    [{}, { tags: ['x'] }],
  ])('wherever one is, are refused: %j %j', (a, b) => {
    expect(orderOf(pair(a, b))).toEqual(['error graph.cycle']);
  });

  it.each([
    [{ tags: ['x'] }, { tags: ['y'] }],
    [{ tags: ['primary-x', 'x'] }, { tags: ['y'] }],
    [{ tags: ['/x.*/'] }, { tags: ['y'] }],
    [{ groups: ['x'] }, { tags: ['y'] }],
  ])('only where a node has both, are a warning: %j %j', (a, b) => {
    expect(orderOf(pair(a, b))).toEqual(['warning graph.possible-cycle']);
  });

  it('on the primary node of a tag and on its others, are on no node together', () => {
    expect(orderOf(pair({ tags: ['primary-x'] }, { tags: ['x'] }))).toEqual([]);
    const both = { id: 'both', type: 'group', tags: ['y'], tasks: ['a', 'b'] };
    expect(orderOf([...pair({ tags: ['primary-x'] }, { tags: ['x'] }), both])).toEqual(['error graph.cycle']);
  });

  it('are refused by the plan in which a node has both, and only there', () => {
    const tasks = yamlOf('dcycle.yaml');
    expect(orderOf(tasks)).toEqual(['warning graph.possible-cycle']);
    const on = (nodes: Record<string, string[]>) => findCycles(planOf({ tasks, cluster: cluster(nodes) }));
    expect(on({ 1: ['primary-controller'], 2: ['controller'], 3: ['compute'] })).toEqual([]);
    expect(on({ 1: ['primary-controller'], 2: ['controller', 'compute'] })).toHaveLength(1);
  });
});
