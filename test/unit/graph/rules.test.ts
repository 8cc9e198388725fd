import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cycleProblems, findCycles, schedulerGraph, serializedText } from '../../../src/graph/index.ts';
import { cluster, type Json, planOf, refusalOf, resultOf, running, taskOf } from './recorded.ts';

const nodes = { '1': ['primary-controller'], '2': ['controller'], '10': ['compute'] };
const task = (id: string, more: Json = {}): Json => ({ id, type: 'shell', version: '2.1.0', roles: '*', ...more });
const one = (tasks: Json[], more: Json = {}): Json => ({ tasks, cluster: cluster(nodes), ...more });
const where = (more: Json): string[] =>
  running(resultOf(one([task('t', { roles: undefined, ...more })]))).map((at) => at.slice(2));

describe('placing', () => {
  it.each([
    ['a tag by name, which the primary node does not have', { tags: ['controller'] }, ['2']],
    ['a regular expression, tied at its start only', { roles: ['/cont/'] }, ['2']],
    ['a regular expression over both', { roles: ['/(primary-)?controller/'] }, ['1', '2']],
    ['a star: every node with a tag, never the master', { roles: '*' }, ['1', '10', '2']],
    ['a star in a list of roles', { roles: ['*'] }, ['1', '10', '2']],
    ['a star in a list of tags, which is a name', { tags: ['*'] }, []],
    ['the master', { roles: ['master', 'compute'] }, ['10', 'master']],
    ['tags win over roles', { tags: ['controller'], roles: ['compute'] }, ['2']],
    ['empty tags count as absent, so roles count', { tags: [], roles: ['compute'] }, ['10']],
    ['tags that an expression leaves empty, too', { tags: { yaql_exp: '[]' }, roles: ['compute'] }, ['10']],
    ['empty roles count as absent, so groups count', { roles: [], groups: ['compute'] }, ['10']],
    ['role is another spelling of roles', { role: 'compute' }, ['10']],
    ['an expression over the common data', { roles: { yaql_exp: '[compute, controller].take(1)' } }, ['10']],
    ['nothing', {}, []],
  ])('%s', (_, more, expected) => {
    expect(where(more)).toEqual(expected);
  });

  it.each([
    ['by its whole name', ['mysql:1'], ['1', '3']],
    ['not by the name of its tag', ['mysql'], []],
    ['by a regular expression', ['/mysql:[12]/'], ['1', '2', '3']],
    ['by a wildcard', ['my*:2'], ['2']],
    ['by a wildcard that has to match all of it', ['mysq*l'], []],
    ['by a wildcard that matches nothing more', ['mysql:1*'], ['1', '3']],
    ['not by a star, which means tags that are not instances', '*', ['3']],
  ])('an instance places tasks %s', (_, tags, expected) => {
    const instances = cluster({ '1': ['mysql:1'], '2': ['mysql:2'], '3': ['mysql:1', 'x'] });
    const result = resultOf({ tasks: [task('t', { roles: undefined, tags })], cluster: instances });
    expect(running(result)).toEqual(expected.map((uid) => `t@${uid}`));
  });

  it.each([
    ['a role', { roles: ['controller'] }, ['1 primary-controller']],
    ['a pattern', { tags: ['/contr/'] }, ['1 primary-controller']],
    ['neither, if the task names both', { tags: ['controller', 'primary-controller'] }, []],
    ['nor one that is not primary', { tags: ['compute'] }, []],
    ['nor all nodes', { tags: '*' }, []],
  ])('%s that skips the primary node is reported', (_, more, expected) => {
    const plan = planOf(one([task('t', { roles: undefined, ...more })]));
    expect(plan.tasks[0]!.skippedPrimaries.map(({ node, tag }) => `${node} ${tag}`)).toEqual(expected);
  });

  it('a task that only the primary node could have names that node', () => {
    const plan = planOf({
      tasks: [task('t', { roles: ['controller'] })],
      cluster: cluster({ '4': ['primary-controller'] }),
    });
    expect(plan.tasks[0]!.unplaced).toBe('no node has roles ["controller"]; node 4 has it as primary-controller');
  });

  it('stages are on the sync node, whatever their roles', () => {
    const { tasks_graph } = resultOf(one([{ id: 's', type: 'stage', roles: ['compute'] }]));
    expect(tasks_graph).toEqual({ null: [{ id: 's', type: 'skipped', fail_on_error: false }] });
  });

  it('a group also places its tasks on its nodes, and sets how many may fail', () => {
    const tasks = [
      task('a', { roles: ['compute'] }),
      { id: 'g', type: 'group', roles: ['/.*controller/'], tasks: ['a'], fault_tolerance: '-50%' },
      { id: 'none', type: 'group', roles: ['unused'], tasks: ['not there'], fault_tolerance: 1 },
    ];
    const result = resultOf(one(tasks));
    expect(running(result)).toEqual(['a@1', 'a@10', 'a@2']);
    expect(result.tasks_metadata).toEqual({
      fault_tolerance_groups: [{ name: 'g', node_ids: ['1', '2'], fault_tolerance: 1 }],
    });
  });

  it.each([
    [undefined, 3],
    ['-1', 1],
    ['-50%', 1],
    ['abc', 3],
    [7, 7],
    [' 50 % ', 1],
    [-5, 0],
    [1.9, 1],
    ['1.5', 3],
  ])('fault tolerance %j of two nodes is %i', (fault_tolerance, expected) => {
    const group = { id: 'g', type: 'group', roles: ['/.*controller/'], fault_tolerance };
    expect(resultOf(one([group])).tasks_metadata.fault_tolerance_groups[0]!.fault_tolerance).toBe(expected);
  });

  it('a task that is on no node is reported with the reason', () => {
    const plan = planOf(one([task('t', { roles: ['mongo'] })]));
    expect(plan.tasks[0]!.unplaced).toBe('no node has roles ["mongo"]');
  });
});

describe('fields', () => {
  const fieldsOf = (more: Json, data: Json = {}): Json =>
    taskOf(resultOf({ tasks: [task('t', more)], cluster: cluster({ '1': ['x'] }, data) }), 't', '1')!;

  it('names are replaced in texts, but not in keys', () => {
    const data = { cluster: { id: 7 }, openstack_version: 'v', public_ssl: { hostname: 'h' } };
    const parameters = {
      '{CLUSTER_ID}': '{CLUSTER_ID:03d}/{OPENSTACK_VERSION}/{MASTER_IP}/{CN_HOSTNAME}',
      list: ['{{x}}'],
    };
    expect(fieldsOf({ parameters }, data).parameters).toEqual({
      cwd: '/',
      '{CLUSTER_ID}': '007/v/10.20.0.2/h',
      list: ['{x}'],
    });
  });

  it.each(['{NOPE} {CLUSTER_ID}', '{ {{', 'a } b', '{}', '{0}', "awk '{print $1}' {{x}}"])(
    '%j is not replaced',
    (text) => {
      expect(fieldsOf({ parameters: { text } }, { cluster: { id: 7 } }).parameters.text).toBe(text);
    },
  );

  it('a regular expression under the key regex is not changed', () => {
    expect(fieldsOf({ parameters: { regex: 'a{{2}}' } }).parameters.regex).toBe('a{{2}}');
  });

  it('whole numbers of any size are preserved', () => {
    const plan = planOf({
      tasks: [task('t', { parameters: { n: { yaql_exp: '2 * 1180591620717411303424' } } })],
      cluster: cluster({ '1': ['x'] }),
    });
    expect([...serializedText(plan)].join('')).toContain('"n":2361183241434822606848');
  });

  it('expressions work in any subfield; the node wins over the common data', () => {
    const input = {
      tasks: [
        task('t', {
          parameters: { a: [{ b: { yaql_exp: '[$.x, $common.x, $node.x]' } }], timeout: { yaql_exp: '$.n * 2' } },
        }),
      ],
      cluster: cluster({ '1': ['x'] }, { x: 'common', n: 21 }, { '1': { x: 'own' } }),
    };
    expect(taskOf(resultOf(input), 't', '1')!.parameters).toEqual({
      a: [{ b: ['own', 'common', 'own'] }],
      timeout: 42,
      cwd: '/',
    });
  });

  it.each([
    ['new', 3],
    ['operational', 1],
  ])('the strategy of a task can follow the state of the cluster: %s', (status, limit) => {
    const chosen =
      'switch($.cluster.status = operational => {type => one_by_one}, true => {type => parallel, amount => 3})';
    const input = {
      tasks: [task('t', { parameters: { strategy: { yaql_exp: chosen } } })],
      cluster: cluster({ '1': ['x'] }, { cluster: { status } }),
    };
    expect(schedulerGraph(planOf(input))).toMatchObject({ graph: { names: ['t'], nameLimit: [limit] } });
  });

  it.each([
    ['the last', '$.me != n3'],
    ['the first', '$.me != n1'],
  ])('a task that is skipped on %s of its nodes keeps its strategy', (_, condition) => {
    const input = {
      tasks: [task('t', { parameters: { strategy: { type: 'one_by_one' } }, condition: { yaql_exp: condition } })],
      cluster: cluster(
        { '1': ['x'], '2': ['x'], '3': ['x'] },
        {},
        { '1': { me: 'n1' }, '2': { me: 'n2' }, '3': { me: 'n3' } },
      ),
    };
    expect(schedulerGraph(planOf(input))).toMatchObject({ graph: { names: ['t'], nameLimit: [1] } });
  });

  it.each<[string, Json, RegExp]>([
    [
      'a strategy',
      { parameters: { strategy: { yaql_exp: "{type => 'one-by-one'}" } } },
      /"one-by-one" is not a strategy/,
    ],
    ['a type of a strategy', { parameters: { strategy: { type: { yaql_exp: "'one-by-one'" } } } }, /is not a strategy/],
    [
      'an amount',
      { parameters: { strategy: { type: 'parallel', amount: { yaql_exp: "'two'" } } } },
      /amount must be a whole number of 0 or more, not "two"/,
    ],
    ['a text for a strategy', { parameters: { strategy: { yaql_exp: 'one_by_one' } } }, /strategy must be a mapping/],
    [
      'a policy',
      { 'cross-depends': [{ name: 'u', role: '*', policy: { yaql_exp: "'some'" } }] },
      /"some" is not a policy/,
    ],
  ])('%s that is computed is checked', (_, more, message) => {
    const refused = refusalOf({ tasks: [task('t', more), task('u')], cluster: cluster({ '1': ['x'] }) });
    expect(JSON.stringify(refused).replaceAll('\\"', '"')).toMatch(message);
  });

  it('a given cwd and fail_on_error stay; fields that are not for executors are removed', () => {
    const given = fieldsOf({ parameters: { cwd: '/x' }, fail_on_error: false, test_pre: { cmd: 'x' } });
    expect(given).toEqual({ id: 't', type: 'shell', parameters: { cwd: '/x' }, fail_on_error: false });
  });

  it('old data is that of the task and the node', () => {
    const tasks = [
      task('t', { condition: { yaql_exp: 'changed($.x)' } }),
      task('u', { condition: { yaql_exp: 'changed($.x)' } }),
    ];
    const common = { x: 1 };
    const now = cluster({ '1': ['a'], '2': ['a'] }, common, { '1': { k: 1 }, '2': { k: 1 } });
    const old_state = { states: { s: { common, nodes: { '1': { k: 1 } } } }, tasks: { t: 's' } };
    expect(running(resultOf({ tasks, cluster: now, old_state }))).toEqual(['t@2', 'u@1', 'u@2']);
  });

  it('changed() in tags, roles and type compares with the state of the last success of the task', () => {
    const moves = (at: 'tags' | 'roles' | 'groups'): object => ({
      tags: undefined,
      roles: undefined,
      [at]: { yaql_exp: 'switch(changed($.x) => [a], true => [b])' },
    });
    const type = { type: { yaql_exp: 'switch(changed($.x) => shell, true => skipped)' } };
    const tasks = [
      task('t', moves('tags')),
      task('r', moves('roles')),
      task('g', moves('groups')),
      task('k', { tags: ['a'], ...type }),
    ];
    const now = cluster({ '1': ['a'], '2': ['b'] }, { x: 1 });
    const old = (x: number) => ({
      states: { s: { common: { x }, nodes: {} } },
      tasks: { t: 's', r: 's', g: 's', k: 's' },
    });
    expect(running(resultOf({ tasks, cluster: now, old_state: old(1) }))).toEqual(['g@2', 'r@2', 't@2']);
    expect(running(resultOf({ tasks, cluster: now, old_state: old(2) }))).toEqual(['g@1', 'k@1', 'r@1', 't@1']);
    expect(running(resultOf({ tasks, cluster: now }))).toEqual(['g@1', 'k@1', 'r@1', 't@1']);
  });

  it('that of a group, which never runs, is that of each task it lists', () => {
    const tasks = [
      task('a', { roles: undefined }),
      task('b', { roles: undefined }),
      task('c', { roles: undefined }),
      {
        id: 'g',
        type: 'group',
        roles: '*',
        tasks: { yaql_exp: 'switch(changed($.x) => [a, b], true => [c])' },
      },
    ];
    const now = cluster({ '1': ['r'] }, { x: 2 });
    const states = Object.fromEntries([1, 2].map((x) => [`x${x}`, { common: { x }, nodes: {} }]));
    const ran = (last: Json) => running(resultOf({ tasks, cluster: now, old_state: { states, tasks: last } }));
    expect(ran({})).toEqual(['a@1', 'b@1']);
    expect(ran({ a: 'x1', b: 'x1', c: 'x1' })).toEqual(['a@1', 'b@1']);
    expect(ran({ a: 'x2', b: 'x1', c: 'x1' })).toEqual(['b@1']);
    expect(ran({ a: 'x2', b: 'x2', c: 'x2' })).toEqual(['c@1']);
  });

  it('a node without data of its own in the old state has none', () => {
    const tasks = [task('t', { condition: { yaql_exp: 'changed($.x)' } })];
    const now = cluster({ '1': ['a'] }, { x: 1 });
    const old_state = { states: { s: { common: { x: 1 }, nodes: { '1': {} } } }, tasks: { t: 's' } };
    expect(running(resultOf({ tasks, cluster: now, old_state }))).toEqual(['t@1']);
  });

  it('a node’s own data decides, and shared parts are evaluated once', () => {
    const expression = 'changedAny($.own, $.big) and ($.uid in added($.big)) and not changed($.same)';
    const own = Object.fromEntries(['1', '2', '3'].map((uid) => [uid, { uid, own: uid === '3' ? 'new' : 'old' }]));
    const now = cluster({ '1': ['a'], '2': ['a'], '3': ['a'] }, { big: ['1', '3'], same: 1 }, own);
    const before = {
      common: { big: ['1'], same: 1 },
      nodes: Object.fromEntries(['1', '2', '3'].map((uid) => [uid, { uid, own: 'old' }])),
    };
    const input = {
      tasks: [task('t', { condition: { yaql_exp: expression } })],
      cluster: now,
      old_state: { states: { s: before }, tasks: { t: 's' } },
    };
    expect(running(resultOf(input))).toEqual(['t@3']);
  });
});

describe('conditions', () => {
  const runs = (condition: unknown, data: Json = {}): boolean =>
    running(resultOf({ tasks: [task('t', { condition })], cluster: cluster({ '1': ['x'] }, data) })).length === 1;

  it.each([
    [{ yaql_exp: '[]' }, false],
    [{ yaql_exp: '{a => 1}' }, true],
    [{ yaql_exp: 'old($.nothing)' }, true],
    [{ yaql_exp: "''.len()" }, false],
    [false, false],
    [null, true],
    [{ some: 'mapping' }, true],
  ])('%j', (condition, expected) => {
    expect(runs(condition)).toBe(expected);
  });

  const settings = { a: { b: true }, ceilometer: { enabled: false }, name: 'x-y', list: ['p'], cluster: { id: 4 } };
  it.each([
    ['settings:a.b.value == true', true],
    ['settings:common.a.b.value == true', true],
    ['settings:additional_components.ceilometer.value == true', false],
    ["settings:name.value == 'x-y' and not settings:ceilometer.enabled", true],
    ["'p' in settings:list", true],
    ['settings:nothing == null', true],
    ['cluster:id == 4', true],
    ['not settings:a.b == false', true],
    ['settings:a.b == 1', true],
    ['(settings:ceilometer.enabled or false) != true', true],
  ])('older condition %s', (condition, expected) => {
    expect(runs(condition, settings)).toBe(expected);
  });

  it('that are false keep the order and drop the parameters, and nothing else is evaluated', () => {
    const tasks = [
      task('a'),
      task('b', { requires: ['a'], condition: { yaql_exp: 'false' }, parameters: { x: { yaql_exp: '$.missing' } } }),
      task('c', { requires: ['b'] }),
    ];
    const result = resultOf(one(tasks));
    expect(taskOf(result, 'b', '2')).toEqual({
      id: 'b',
      type: 'skipped',
      fail_on_error: false,
      requires: [{ name: 'a', node_id: '2' }],
    });
    expect(taskOf(result, 'c', '2')!.requires).toEqual([{ name: 'b', node_id: '2' }]);
  });

  it('do not apply to unselected tasks, which are skipped; stages and groups stay', () => {
    const tasks = [task('a'), task('b', { requires: ['a'] }), { id: 's', type: 'stage', requires: ['a'] }];
    const plan = planOf(one(tasks, { selected_tasks: ['b', 'zz'] }));
    expect(plan.instances.filter(({ id }) => id === 'a').map(({ skip }) => skip)).toEqual([
      'not_selected',
      'not_selected',
      'not_selected',
    ]);
    expect(running(resultOf(one(tasks, { selected_tasks: ['b'] })))).toEqual(['b@1', 'b@10', 'b@2']);
    expect(plan.problems.map(({ code }) => code)).toContain('graph.unknown-selection');
  });
});

describe('order', () => {
  const requires = (more: Json, others: Json[] = [], node = '2'): string[] =>
    (taskOf(resultOf(one([task('a'), ...others, task('t', more)])), 't', node)!.requires ?? []).map(
      (r: Json) => `${r.name}@${r.node_id}`,
    );
  const stage = { id: 's', type: 'stage' };

  it.each([
    ['names on the node itself and on the sync node', { requires: ['a', 's', 'zz'] }, ['a@2', 's@null']],
    ['a regular expression, never the task itself', { requires: ['/.*/'] }, ['a@2', 's@null']],
    ['all nodes by default', { 'cross-depends': [{ name: 'a' }] }, ['a@1', 'a@10', 'a@2']],
    ['self', { 'cross-depends': [{ name: 'a', role: 'self' }] }, ['a@2']],
    ['the sync node', { 'cross-depends': [{ name: 's', role: null }] }, ['s@null']],
    ['tags win over role', { 'cross-depends': [{ name: 'a', tags: ['compute'], role: 'self' }] }, ['a@10']],
    ['self in a list is a tag', { 'cross-depends': [{ name: 'a', role: ['self'] }] }, []],
    ['any is the lowest number', { 'cross-depends': [{ name: 'a', role: '*', policy: 'any' }] }, ['a@1']],
    [
      'any is never a node without the task',
      { 'cross-depends': [{ name: 'on-compute', role: '*', policy: 'any' }] },
      ['on-compute@10'],
    ],
    [
      'empty tags of a dependency count as absent',
      { 'cross-depends': [{ name: 'a', tags: [], role: 'self' }] },
      ['a@2'],
    ],
    ['null and empty entries mean nothing', { 'cross-depends': [null, {}, { name: 'a', role: 'compute' }] }, ['a@10']],
    ['a mapping is not a list of tags', { 'cross-depends': [{ name: 'a', role: {} }] }, []],
    ['the whole list by an expression', { 'cross-depends': { yaql_exp: '[{name => a, role => self}]' } }, ['a@2']],
    ['names by an expression', { requires: { yaql_exp: '[a]' } }, ['a@2']],
    ['said twice is once', { requires: ['a'], 'cross-depends': [{ name: 'a', role: 'self' }] }, ['a@2']],
  ])('%s', (_, more, expected) => {
    expect(requires(more, [stage, task('on-compute', { roles: ['compute'] })])).toEqual(expected);
  });

  it('a cycle is named in full, wherever it is', () => {
    const tasks = [
      task('a', { requires: ['c'] }),
      task('b', { requires: ['a'] }),
      task('c', { 'cross-depends': [{ name: 'b', role: 'self' }] }),
      task('d'),
    ];
    const plan = planOf(one(tasks));
    const [problem, ...more] = cycleProblems(plan, findCycles(plan));
    expect(problem!.message).toBe('tasks wait for each other: a@1 -> b@1 -> c@1 -> a@1');
    expect(more).toEqual([]);
  });

  it('a cycle through an all-to-all dependency is found', () => {
    const all = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n + 1}`, ['x']]));
    const tasks = [task('a', { 'cross-depends': [{ name: 'b' }] }), task('b', { 'cross-depends': [{ name: 'a' }] })];
    const plan = planOf({ tasks, cluster: cluster(all) });
    expect(cycleProblems(plan, findCycles(plan))[0]!.message).toMatch(/a@\d -> b@\d -> a@\d/);
  });

  it('names that wait for each other are a cycle only if their tasks do', () => {
    // a@2 waits for b@2, which waits for a@1, which has no b on its node.
    const waiting = (role: string): Json =>
      one([
        task('a', { requires: ['b'] }),
        task('b', { roles: ['controller', 'compute'], 'cross-depends': [{ name: 'a', role }] }),
        task('c', { requires: ['a'] }),
      ]);
    expect(findCycles(planOf(waiting('primary-controller')))).toEqual([]);
    const plan = planOf(waiting('compute'));
    expect(cycleProblems(plan, findCycles(plan)).map(({ message }) => message)).toEqual([
      expect.stringContaining(': a@10 -> b@10 -> a@10'),
    ]);
  });

  it('a task that waits for all tasks of its name on other nodes is a cycle', () => {
    const plan = planOf(one([task('a', { 'cross-depends': [{ name: 'a' }] })]));
    expect(findCycles(plan)).toHaveLength(1);
    const fine = planOf(one([task('a', { 'cross-depends': [{ name: 'a', role: 'primary-controller' }] })]));
    expect(findCycles(fine)).toHaveLength(1 - 1);
  });

  it('a dependency that leads nowhere is reported', () => {
    const tasks = [task('a', { roles: ['compute'] }), task('t', { roles: ['controller'], requires: ['a', 'zz'] })];
    const plan = planOf(one(tasks));
    expect(plan.tasks[1]!.dropped).toEqual([
      { field: 'requires', name: 'a', reason: 'not on the nodes it looks at' },
      { field: 'requires', name: 'zz', reason: 'no such task' },
    ]);
    expect(plan.problems.map(({ code, path }) => [code, path])).toEqual([
      ['graph.unknown-dependency', 'tasks[1].requires'],
    ]);
  });
});

describe('layers', () => {
  it('the more specific whole task wins; cluster tasks come first', () => {
    const layers = {
      release: [task('r'), task('both', { requires: ['r'] })],
      plugins: [{ name: 'p', path: '/plugins/p/', tasks: [task('plug', { parameters: { cmd: 'x' } }), task('bare')] }],
      cluster: [task('both')],
    };
    const plan = planOf({ layers, cluster: cluster({ '1': ['x'] }) });
    expect(plan.tasks.map(({ merged }) => [merged.task.id, merged.layer])).toEqual([
      ['both', 'cluster'],
      ['plug', 'plugins'],
      ['bare', 'plugins'],
      ['r', 'release'],
    ]);
    expect(plan.instances.map(({ parameters }) => parameters!.cwd)).toEqual(['/', '/plugins/p/', '/', '/']);
    expect(plan.instances[0]!.requires).toEqual([]);
  });

  it('parameters that are one expression get the folder of the package, too, unless they name another', () => {
    const parameters = (yaql: string) => ({ parameters: { yaql_exp: yaql } });
    const tasks = [task('whole', parameters('{cmd => x}')), task('own', parameters("{cmd => x, cwd => '/own'}"))];
    const plan = planOf({
      layers: { release: [task('r', parameters('{cmd => x}'))], plugins: [{ name: 'p', path: '/plugins/p/', tasks }] },
      cluster: cluster({ '1': ['x'] }),
    });
    expect(plan.instances.map(({ id, parameters: { cwd } = {} }) => [id, cwd])).toEqual([
      ['whole', '/plugins/p/'],
      ['own', '/own'],
      ['r', '/'],
    ]);
  });

  it('two plugins with one task are refused, with both names', () => {
    const plugins = ['a', 'b'].map((name) => ({ name, tasks: [task('same')] }));
    expect(refusalOf({ layers: { plugins }, cluster: cluster(nodes) })).toEqual([
      {
        code: 'graph.plugins-overlap',
        path: 'layers.plugins[1].tasks[0].id',
        message: "plugins 'a' and 'b' both define task 'same'",
      },
    ]);
  });
});

describe('tasks from before dependencies between nodes', () => {
  const tasks = [
    { id: 'pre_deployment_start', type: 'stage' },
    { id: 'pre_deployment_end', type: 'stage', requires: ['pre_deployment_start'] },
    { id: 'deploy_start', type: 'stage', requires: ['pre_deployment_end'] },
    { id: 'controller', type: 'group', roles: ['controller'], requires: ['deploy_start'] },
    { id: 'compute', type: 'group', roles: ['compute'], requires: ['controller'] },
    {
      id: 'early',
      type: 'shell',
      roles: ['compute'],
      requires: ['pre_deployment_start'],
      required_for: ['pre_deployment_end'],
    },
    { id: 'old', type: 'shell', roles: ['compute'] },
    { id: 'new', type: 'shell', version: '2.0.0', roles: ['controller'] },
  ];
  const adapted = (propagate: boolean): Json =>
    resultOf({ tasks, cluster: cluster(nodes, { propagate_task_deploy: propagate }) });

  it('are placed between the start and end of their roles', () => {
    const result = adapted(true);
    expect(taskOf(result, 'old', '10')).toMatchObject({
      requires: [{ name: 'compute_start', node_id: '10' }],
      required_for: [{ name: 'compute_end', node_id: '10' }],
    });
    expect(taskOf(result, 'compute_start', '10')).toMatchObject({
      type: 'skipped',
      requires: [{ name: 'controller_end', node_id: '2' }],
      required_for: [{ name: 'compute_end', node_id: '10' }],
    });
    expect(taskOf(result, 'new', '2')!.required_for).toEqual([{ name: 'controller_end', node_id: '2' }]);
    expect(taskOf(result, 'early', '10')).toMatchObject({
      requires: [{ name: 'pre_deployment_start', node_id: null }],
      required_for: [{ name: 'pre_deployment_end', node_id: null }],
    });
  });

  it('are unchanged if the cluster does not request it', () => {
    expect(taskOf(adapted(false), 'old', '10')).toEqual({
      id: 'old',
      type: 'shell',
      fail_on_error: true,
      parameters: { cwd: '/' },
    });
  });

  it('get no warnings about names that nobody wrote', () => {
    expect(planOf(sharedCase('legacy-warn.json')).problems).toEqual([]);
  });

  it('tasks that plugins order by stage follow it one after another', () => {
    const legacy_plugin_tasks = [
      { type: 'shell', role: ['compute'], stage: 'pre_deployment/100', parameters: { n: 2 } },
      { type: 'shell', role: ['compute'], stage: 'pre_deployment/-5.5', parameters: { n: 1 } },
    ];
    const result = resultOf({ tasks, legacy_plugin_tasks, cluster: cluster(nodes, { propagate_task_deploy: true }) });
    expect(taskOf(result, 'pre_deployment_0', '10')).toMatchObject({
      parameters: { n: 1 },
      requires: [{ name: 'pre_deployment_end', node_id: null }],
      required_for: [{ name: 'deploy_start', node_id: null }],
    });
    expect(taskOf(result, 'pre_deployment_1', '10')!.requires).toEqual([{ name: 'pre_deployment_0', node_id: '10' }]);
  });
});

const sharedCase = (file: string): Json =>
  JSON.parse(readFileSync(new URL(`../../data/cases/fuel/${file}`, import.meta.url), 'utf8'));

it('a function whose brackets are missing is no missing fact', () => {
  expect(refusalOf(sharedCase('values-typo.json'))).toMatchObject([
    { code: 'graph.function-without-call', message: expect.stringContaining('values()'), path: 'tasks[0].condition' },
  ]);
});

describe('a graph is refused for', () => {
  const bad = (more: Json): Json => one([task('t', more)]);
  it.each([
    [
      'a group with an unknown task',
      one([{ id: 'g', type: 'group', roles: '*', tasks: ['zz'] }]),
      'graph.unknown-group-task',
      'tasks[0].tasks[0]',
    ],
    ['an unknown type', bad({ type: 'bogus' }), 'graph.bad-task', 'tasks[0].type'],
    ['no id', one([{ type: 'shell' }]), 'graph.bad-task', 'tasks[0].id'],
    ['a version that is none', bad({ version: '2a' }), 'graph.bad-task', 'tasks[0].version'],
    ['names that are not a list', bad({ requires: 'a' }), 'graph.bad-task', 'tasks[0].requires'],
    [
      'a relation without a name',
      bad({ 'cross-depends': [{ role: 'x' }] }),
      'graph.bad-task',
      'tasks[0]["cross-depends"][0]'.replace('["cross-depends"]', '.cross-depends'),
    ],
    [
      'an unknown policy',
      bad({ 'cross-depends': [{ name: 'x', policy: 'some' }] }),
      'graph.bad-task',
      'tasks[0].cross-depends[0].policy',
    ],
    ['a broken pattern', bad({ roles: ['ok', '/(/'] }), 'graph.bad-regex', 'tasks[0].roles[1]'],
    ['a broken expression', bad({ parameters: { x: { yaql_exp: '$.(' } } }), 'graph.bad-yaql', 'tasks[0].parameters.x'],
    [
      'an expression that fails',
      bad({ parameters: { x: { yaql_exp: '$.missing' } } }),
      'graph.missing-facts',
      'tasks[0].parameters.x',
    ],
    [
      'an expression that fails for another reason',
      bad({ parameters: { x: { yaql_exp: '1 + a' } } }),
      'graph.yaql-failed',
      'tasks[0].parameters.x',
    ],
    [
      'a condition that fails on the new data',
      bad({ condition: { yaql_exp: 'changed($.missing)' } }),
      'graph.missing-facts',
      'tasks[0].condition',
    ],
    [
      'a failing expression in an unused field',
      bad({ custom: { yaql_exp: '$.missing' } }),
      'graph.missing-facts',
      'tasks[0].custom',
    ],
    [
      'an argument of an expression',
      bad({ parameters: { x: { yaql_exp: '1', yaql_exp_arg: 2 } } }),
      'graph.bad-expression',
      'tasks[0].parameters.x.yaql_exp_arg',
    ],
    ['a broken older condition', bad({ condition: 'settings:a ==' }), 'graph.bad-condition', 'tasks[0].condition'],
    ['an expression as id', one([{ id: { yaql_exp: '1' }, type: 'shell' }]), 'graph.bad-task', 'tasks[0].id'],
    [
      'parameters that are not a mapping',
      bad({ parameters: { yaql_exp: '[1]' } }),
      'graph.bad-parameters',
      'tasks[0].parameters',
    ],
    [
      'dependencies that are not a list',
      bad({ 'cross-depends': { yaql_exp: "'a'" } }),
      'graph.bad-dependency',
      'tasks[0].cross_depends',
    ],
    [
      'fault tolerance that is not a number',
      one([{ id: 'g', type: 'group', roles: '*', fault_tolerance: [] }]),
      'graph.bad-fault-tolerance',
      'tasks[0].fault_tolerance',
    ],
    [
      'a number as a name',
      bad({ requires: { yaql_exp: '[1180591620717411303424]' } }),
      'graph.bad-name',
      'tasks[0].requires[0]',
    ],
    [
      'a number as a tag',
      bad({ tags: { yaql_exp: '[1180591620717411303424]' } }),
      'graph.bad-name',
      'tasks[0].tags[0]',
    ],
    [
      'a time',
      bad({ parameters: { x: { yaql_exp: "datetime('2016-01-01')" } } }),
      'graph.no-json-value',
      'tasks[0].parameters.x',
    ],
    ['two tasks of one id', one([task('a'), task('a')]), 'graph.duplicate-task', 'tasks[1].id'],
    [
      'an old state that was not given',
      one([], { old_state: { states: {}, tasks: { t: 's9' } } }),
      'graph.bad-input',
      'old_state.tasks.t',
    ],
    ['no cluster', { tasks: [] }, 'graph.bad-input', 'cluster'],
    ['a list', [], 'graph.bad-input', undefined],
    ['tasks and layers', { ...one([]), layers: {} }, 'graph.bad-input', 'tasks'],
  ])('%s', (_, input, code, path) => {
    expect(refusalOf(input)).toContainEqual(expect.objectContaining({ code, path }));
  });

  it('a node without data, but only when a task goes there', () => {
    const without = cluster(nodes);
    delete without.deployment_info.nodes['2'];
    expect(refusalOf({ tasks: [task('t', { roles: ['compute'] })], cluster: without })).toEqual([]);
    expect(refusalOf({ tasks: [task('t')], cluster: without })).toMatchObject([{ code: 'graph.no-node-state' }]);
  });

  it('all problems together, and a problem of many nodes is reported once', () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`${n + 1}`, ['x']]));
    const tasks = [
      task('a', { parameters: { x: { yaql_exp: '$.missing' } } }),
      task('b', { condition: { yaql_exp: '1/0' } }),
    ];
    const found = refusalOf({ tasks, cluster: cluster(many) });
    expect(found.map(({ path }) => path)).toEqual(['tasks[0].parameters.x', 'tasks[1].condition']);
    expect(found[0]!.message).toMatch(/on nodes 1, 2, 3, 4, 5 and 3 more\)$/);
  });
});
