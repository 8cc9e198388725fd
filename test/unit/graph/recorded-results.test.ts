import { describe, expect, it } from 'vitest';
import { normaliseTask, presentTask } from '../../../src/graph/index.ts';
import { type Json, planOf, recorded, resultOf, running, withChoice } from './recorded.ts';

const CASES = ['aio', 'six'].flatMap((name) => ['normalized', 'raw'].map((form) => [name, form] as const));

describe('the recorded clusters', () => {
  it.each(CASES)('%s with %s tasks gives the recorded result', (name, form) => {
    const result = resultOf({ tasks: recorded(`tasks.${form}.json`), cluster: recorded(`cluster.${name}.json`) });
    const expected = recorded(`expected/${name}.default.json`) as Json;
    const { chosen, candidates } = result.any_choices[0]!;
    expect(candidates).toContain(chosen[0]);
    expect(result).toEqual(withChoice(expected, chosen[0]!));
  });

  it('six repeats recorded choices when they are given', () => {
    const expected = recorded('expected/six.default.json') as Json;
    const { any_choices } = expected;
    const result = resultOf({ tasks: recorded('tasks.raw.json'), cluster: recorded('cluster.six.json'), any_choices });
    expect(result).toEqual(expected);
  });

  it('the worked example gives its recorded result', () => {
    const { expected, ...input } = recorded('expected/worked-example.json') as Json;
    expect(resultOf(input)).toEqual(expected);
  });

  it('a second run without changes runs only tasks without a condition on changes', () => {
    const tasks = recorded('tasks.normalized.json') as Json[];
    const cluster = recorded('cluster.six.json') as Json;
    const old_state = {
      states: { s1: cluster.deployment_info },
      tasks: Object.fromEntries(tasks.map(({ id }) => [id, 's1'])),
    };
    const names = running(resultOf({ tasks, cluster, old_state })).map((one) => one.split('@')[0]);
    expect([...new Set(names)]).toEqual([
      'copy_keys',
      'create_resources',
      'generate_keys',
      'heat-cfn-keystone',
      'openstack-haproxy',
      'rsync_core_puppet',
    ]);
  });

  it('a task disabled by an override without roles is on no node, and the plan reports the lost order', () => {
    const release = recorded('tasks.raw.json') as Json[];
    const plan = planOf({
      layers: { release, cluster: [{ id: 'netconfig', type: 'skipped' }] },
      cluster: recorded('cluster.six.json'),
    });
    expect(plan.instances.some(({ id }) => id === 'netconfig')).toBe(false);
    expect(plan.problems.map(({ code }) => code)).toContain('graph.order-lost');
  });
});

describe('the stored form of tasks', () => {
  const raw = recorded('tasks.raw.json') as Json[];
  const stored = recorded('tasks.normalized.json') as Json[];

  it('uploaded tasks are presented as the reference presents them', () => {
    expect(raw.map((task) => presentTask(normaliseTask(task)))).toEqual(stored);
  });

  it('a presented task that is read again is the same task', () => {
    expect(stored.map(normaliseTask)).toEqual(raw.map(normaliseTask));
  });

  it('one special role alone is a plain word; one role as text is a list', () => {
    expect(normaliseTask({ id: 'a', type: 'shell', role: ['*'] }).roles).toBe('*');
    expect(normaliseTask({ id: 'a', type: 'shell', role: 'compute', groups: 'x' })).toMatchObject({
      roles: ['compute'],
      groups: ['x'],
    });
    expect(normaliseTask({ id: 'a', type: 'shell', roles: [], groups: ['x'] })).not.toHaveProperty('roles');
  });
});
