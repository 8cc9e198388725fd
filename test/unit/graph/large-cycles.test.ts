import { describe, expect, it } from 'vitest';
import {
  checkGraphUpload,
  cycleProblems,
  findCycles,
  namePattern,
  type Plan,
  taskGraph,
} from '../../../src/graph/index.ts';
import { growthOf, MUCH_GROWTH } from '../../rig/growth.ts';
import { cluster, planOf } from './recorded.ts';

const task = (id: string, requires: readonly string[], more: object = {}) => ({
  id,
  type: 'skipped',
  requires,
  ...more,
});
const tasks = (n: number, make: (at: number, next: number) => object): readonly object[] =>
  Array.from({ length: n }, (_, at) => make(at, (at + 1) % n));

// Each is one idea of someone who wants a check to take long.
const SHAPES: readonly (readonly [string, (n: number) => readonly object[]])[] = [
  ['one cycle of all tasks', (n) => tasks(n, (at, next) => task(`t${at}`, [`t${next}`]))],
  [
    'two cycles, and all other tasks between them',
    (n) => [
      task('a', ['b']),
      task('b', ['a']),
      ...tasks(n, (at) => task(`t${at}`, [at === 0 ? 'a' : `t${at - 1}`])),
      task('y', ['z', `t${n - 1}`]),
      task('z', ['y']),
    ],
  ],
  [
    'cycles of tasks that no node has together',
    (n) => tasks(n, (at) => task(`t${at}`, [`t${at ^ 1}`], { tags: [`${at % 2 === 0 ? 'primary-' : ''}x${at >> 1}`] })),
  ],
  ['one cycle by patterns', (n) => tasks(n, (at, next) => task(`t${at}`, [`/t${next}$/`]))],
  ['one cycle of groups', (n) => tasks(n, (at, next) => ({ id: `t${at}`, type: 'group', tasks: [`t${next}`] }))],
  ['a mistake in each task', (n) => tasks(n, (at) => ({ id: `t${at}`, type: 'puppet', nonsense: 1 }))],
  ['names that nothing has', (n) => tasks(n, (at) => task(`t${at}`, [`u${at}`]))],
];

describe('a large graph with mistakes', () => {
  it.each(SHAPES)('is checked in time in proportion to its size: %s', (_name, make) => {
    expect(growthOf((given: readonly object[]) => checkGraphUpload({ tasks: given }), make, 200)).toBeLessThan(
      MUCH_GROWTH,
    );
  });

  it('is refused if its patterns would be compared with too many names', () => {
    const graph = tasks(1_000, (at) => task(`t${at}`, [`/.*${at}$/`]));
    const codes = checkGraphUpload({ tasks: graph }).problems.map(({ severity, code }) => `${severity} ${code}`);
    expect(codes).toContain('error graph.too-many-patterns');
    // As many patterns that begin with letters are compared with few names each.
    const fine = tasks(1_000, (at) => task(`t${at}`, at === 0 ? [] : [`/t${at - 1}$/`]));
    expect(checkGraphUpload({ tasks: fine }).problems).toEqual([]);
  });

  it.each([
    '/abc/',
    '/^abc/',
    '/ab*c/',
    '/abc?d/',
    '/ab{2}/',
    '/a|b/',
    '/(?i)abc/',
    '/a.c/',
    '/[ab]c/',
    '/a-1/',
    '/abc\\d/',
  ])('has patterns that match the same names as one by one: %s', (pattern) => {
    const names = [
      'abc',
      'ab',
      'ac',
      'abd',
      'abcd',
      'abbc',
      'abb',
      'a',
      'b',
      'ABC',
      'bc',
      'a-1',
      'abc1',
      'xabc',
      'ab2',
    ];
    const graph = taskGraph([
      ...names.map((id) => ({ id, type: 'skipped' })),
      { id: '~', type: 'skipped', requires: [pattern] },
    ]);
    const alone = names.filter((name) => namePattern(pattern).matches(name));
    expect(graph.inNeighbors('~')).toEqual(alone.length === 0 ? [pattern] : alone);
  });

  it('has its cycle named by both ends, with the number of tasks between', () => {
    const { problems } = checkGraphUpload({ tasks: tasks(8_000, (at, next) => task(`t${at}`, [`t${next}`])) });
    const [cycle, ...more] = problems.filter(({ code }) => code === 'graph.cycle');
    expect(more).toEqual([]);
    expect(cycle!.message).toContain(
      ': t0 -> t7999 -> t7998 -> t7997 -> t7996 -> (7990 more) -> t5 -> t4 -> t3 -> t2 -> t1 -> t0',
    );
    expect(cycle!.path).toBe('tasks[7999].requires[0]');
  });
});

describe('a large plan', () => {
  /** Tasks of one node, each after the one before it; `closed`: and the first after the last. */
  const chain = (n: number, closed: boolean): Plan =>
    planOf({
      tasks: tasks(n, (at) =>
        task(`t${at}`, at > 0 ? [`t${at - 1}`] : closed ? [`t${n - 1}`] : [], { version: '2.1.0', roles: '*' }),
      ),
      cluster: cluster({ '1': ['x'] }),
    });

  it('has its cycle named by both ends, and no stack is deep enough to matter', () => {
    const plan = chain(20_000, true);
    const [problem, ...more] = cycleProblems(plan, findCycles(plan));
    expect(more).toEqual([]);
    expect(problem!.message).toContain(
      ': t0@1 -> t1@1 -> t2@1 -> t3@1 -> t4@1 -> (19990 more) -> t19995@1 -> t19996@1 -> t19997@1 -> t19998@1 -> t19999@1 -> t0@1',
    );
    expect(findCycles(chain(20_000, false))).toEqual([]);
  });

  it.each([true, false])('is searched for cycles in time in proportion to its size, with a cycle: %s', (closed) => {
    expect(growthOf(findCycles, (n) => chain(n, closed), 500)).toBeLessThan(MUCH_GROWTH);
  });
});
