import { createTaskEngine, defineFunction, p, registerHelpers } from '@sitewright/yaql';
import { describe, expect, it } from 'vitest';
import { agentAddress } from '../../../src/clusters/agent-address.ts';
import { clusterStatusAfter, nodeTransitions } from '../../../src/clusters/node-transitions.ts';
import { planCluster } from '../../../src/clusters/plan-cluster.ts';
import { flattenSettings } from '../../../src/clusters/settings.ts';
import type { ClusterNode } from '../../../src/clusters/sources.ts';
import { clusterState } from '../../../src/clusters/state/cluster-state.ts';
import { oldStatesOf } from '../../../src/clusters/state/old-states.ts';
import { tagCluster } from '../../../src/clusters/tagged-cluster.ts';
import type { Fields } from '../../../src/graph/index.ts';
import { layer, node, sixNodes } from './six-nodes.ts';

const plain = (nodes: readonly ClusterNode[], more = {}) => ({
  ...sixNodes({ deploymentInfo: { common: {}, nodes: {} }, ...more }),
  nodes,
});
const shell = (id: string, more: Fields = {}): Fields => ({
  id,
  type: 'shell',
  version: '2.1.0',
  roles: '*',
  parameters: { cmd: 'true' },
  ...more,
});
const planned = (sources: ReturnType<typeof plain>, tasks: readonly Fields[], request = {}, context = {}) => {
  const result = planCluster(sources, [layer('release', tasks)], { type: 'default', ...request }, context);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
};
const running = ({ plan }: ReturnType<typeof planned>): string[] =>
  plan.instances.filter(({ skip }) => skip === undefined).map((one) => `${one.id}@${plan.nodes[one.node]}`);

describe('settings', () => {
  it('are read as values: common at the top, chosen components as enabled, edited over generated', () => {
    const settings = {
      editable: {
        metadata: { label: 'x' },
        common: { metadata: { label: 'Common' }, debug: { value: false, type: 'checkbox' } },
        additional_components: { metadata: {}, heat: { value: true }, note: { value: 'text' } },
        storage: { metadata: { weight: 60 }, pg_num: { value: 128 }, plain: [1] },
      },
      generated: { heat: { db_password: 'p' }, storage: { pg_num: { value: 1 }, fsid: { value: 'f' } } },
    };
    expect(flattenSettings(settings)).toEqual({
      debug: false,
      heat: { db_password: 'p', enabled: true },
      metadata: { label: 'Common' },
      storage: { metadata: { weight: 60 }, pg_num: 128, plain: [1], fsid: 'f' },
    });
  });
});

describe('the state of a cluster', () => {
  const state = (sources: ReturnType<typeof plain>) =>
    clusterState(
      sources,
      tagCluster(
        sources,
        sources.nodes.map(({ id }) => id),
      ).nodes,
      { masterIp: '10.0.0.1' },
    );

  it('has the cluster, its release, its nodes, and a part for each node, master and sync', () => {
    const found = state(plain([node(8, ['controller'])]));
    expect(found.common).toMatchObject({
      cluster: { id: 3, name: 'six', mode: 'ha_compact', fuel_version: '10.0' },
      master_ip: '10.0.0.1',
      openstack_version: 'newton-10.0',
      release: { name: 'Newton', operating_system: 'Ubuntu', version: 'newton-10.0' },
    });
    expect(found.nodes['8']).toEqual({
      uid: '8',
      fqdn: 'node-8',
      user_node_name: 'node-1',
      configuration: {},
      configuration_options: {},
      roles: ['primary-controller', 'primary-database', 'primary-keystone', 'primary-neutron', 'primary-rabbitmq'],
      tags: ['controller', 'rabbitmq', 'database', 'keystone', 'neutron'],
    });
    expect(found.nodes.master).toEqual({ roles: ['master'], uid: 'master' });
    expect(found.nodes.null).toEqual({});
    expect(found.facts?.common).toMatchObject({ cluster: { status: 'new', site: null } });
    expect(found.facts?.nodes['8']).toMatchObject({ status: 'provisioned', online: true, pending_addition: false });
  });

  it('is merged with uploaded data, key by key; uploaded lists of nodes are used as they are', () => {
    const deploymentInfo = {
      common: { storage: { size: 2 }, network_metadata: { nodes: { a: {} } } },
      nodes: { '8': { roles: ['x'], extra: { deep: 1 } }, '99': { stray: true } },
    };
    const settings = { editable: { storage: { kind: { value: 'ceph' } } } };
    const found = state(plain([node(8, ['compute'])], { deploymentInfo, settings }));
    expect(found.common.storage).toEqual({ kind: 'ceph', size: 2 });
    expect(found.common.network_metadata).toEqual({ nodes: { a: {} } });
    expect(found.nodes['8']).toMatchObject({ roles: ['x'], extra: { deep: 1 } });
    expect(found.nodes).not.toHaveProperty('99');
  });

  it('has the tags of every node, instances among them, so that expressions can read them on all', () => {
    const tags = ['compute', 'mysql:1'];
    const nodes = [node(8, ['compute'], { tags }), node(9, ['compute'], { tags: ['compute'] })];
    const found = state(plain(nodes, { placesByTags: true }));
    expect(found.nodes['8']).toMatchObject({ tags, roles: tags });
    expect(found.nodes['9']).toMatchObject({ tags: ['compute'], roles: ['compute'] });
    const task = shell('a', { condition: { yaql_exp: "'mysql:1' in $.tags" } });
    expect(running(planned(plain(nodes, { placesByTags: true }), [task]))).toEqual(['a@8']);
  });

  it('keeps uploaded facts of a node until its tags are changed manually', () => {
    const deploymentInfo = { common: {}, nodes: { '8': { uid: '8' }, '9': { uid: '9' } } };
    const nodes = [node(8, ['compute'], { tags: ['compute'] }), node(9, ['compute'], { tags: ['mysql:1'] })];
    const found = state(plain(nodes, { placesByTags: true, deploymentInfo }));
    expect(found.nodes['8']).not.toHaveProperty('tags');
    expect(found.nodes['9']).toMatchObject({ tags: ['mysql:1', 'compute'] });
  });

  it('is the same for all nodes, whichever of them a run is for', () => {
    const sources = plain(
      [node(8, ['controller'], { tags: ['controller'] }), node(9, ['compute'], { tags: ['mysql:2'] })],
      {
        placesByTags: true,
      },
    );
    const common = (run: readonly number[]) => clusterState(sources, tagCluster(sources, run).nodes).common;
    expect(common([8])).toEqual(common([8, 9]));
    expect(common([8])).toMatchObject({
      network_metadata: { nodes: { 'node-9': { node_roles: ['compute', 'mysql:2'] } } },
    });
  });
});

describe('the nodes of a plan', () => {
  const nodes = [
    node(1, ['compute']),
    node(2, ['compute'], { online: false }),
    node(3, ['compute'], { pendingAddition: true }),
    node(4, ['compute'], { pendingDeletion: true }),
  ];
  it('are provisioned ones that stay, with a reason for every other', () => {
    const result = planned(plain(nodes), [shell('a')]);
    expect(running(result)).toEqual(['a@1']);
    expect(result.leftOut).toEqual([
      { node: 2, reason: 'it is offline' },
      { node: 3, reason: 'it is not provisioned yet' },
      { node: 4, reason: 'it is pending removal from the cluster' },
    ]);
  });

  it.each([
    // A new node is expected in a run, and so is one that is offline; one that leaves is not.
    ['default', {}, [2, 3]],
    ['provisioning', {}, []],
    ['deletion', {}, []],
    ['default', { nodes: [1, 4] }, [4]],
    ['deletion', { nodes: [1] }, [1]],
  ])('that a run of %s %j warns of are those that a person expects there', (type, request, expected) => {
    const found = planCluster(plain(nodes), [layer('release', [shell('a')])], { type, ...request });
    expect(found.ok && found.missed).toEqual(expected);
  });

  it('requested by id are used, unless offline; one of another cluster is refused at its place', () => {
    expect(running(planned(plain([...nodes, node(5, ['compute'])]), [shell('a')], { nodes: [2, 5] }))).toEqual(['a@5']);
    const refused = planCluster(plain(nodes), [layer('release', [shell('a')])], { type: 'default', nodes: [1, 77] });
    expect(refused).toMatchObject({ ok: false, problems: [{ code: 'graph.foreign-node', path: 'nodes[1]' }] });
  });

  it('are filtered by the highest layer that has a filter', () => {
    const layers = [
      layer('release', [shell('a')], { nodeFilter: 'false' }),
      layer('cluster', [], { nodeFilter: '$.id < 5' }),
    ];
    const result = planCluster(plain(nodes), layers, { type: 'default' });
    expect(result.ok && running(result)).toEqual(['a@1']);
  });

  it('are filtered with the installation’s own helper functions, as tasks are evaluated', () => {
    const engine = createTaskEngine();
    const isFirst = defineFunction({
      name: 'isFirst',
      call: 'function',
      parameters: [p.integer('id')],
      documentation: 'Whether a node is the first.',
      implementation: (_context, id) => Number(id) === 1,
    });
    registerHelpers(engine, { helpers: [isFirst] });
    const layers = [layer('release', [shell('a')], { nodeFilter: 'isFirst($.id)' })];
    const result = planCluster(plain(nodes), layers, { type: 'default' }, { engine });
    expect(result.ok ? running(result) : result.problems).toEqual(['a@1']);
    expect(planCluster(plain(nodes), layers, { type: 'default' })).toMatchObject({ ok: false });
  });

  it.each([
    ['deletion', undefined, ['a@4']],
    ['deletion', [1, 3, 4], ['a@4']],
    ['provisioning', undefined, ['a@3']],
    ['provision', [1, 3, 4], ['a@3']],
    ['default', [1, 3, 4], ['a@1']],
  ] as const)('are those that %s is for, whichever are named: %j', (type, named, expected) => {
    const request = { type, ...(named === undefined ? {} : { nodes: named }) };
    for (const nodeFilter of [null, '', 'true', '$.id > 0']) {
      const result = planCluster(plain(nodes), [layer('release', [shell('a')], { nodeFilter })], request);
      expect(result.ok && running(result)).toEqual(expected);
    }
  });
});

describe('refresh_on', () => {
  it.each<[string, unknown]>([
    ['a list', ['keystone_config']],
    ['an expression', { yaql_exp: "['nova' + '_config']" }],
  ])('selects no tasks: %s', (_, refresh_on) => {
    const tasks = [shell('a', { refresh_on }), shell('b', { requires: ['a'] })];
    expect(running(planned(plain([node(1, ['compute'])]), tasks))).toEqual(['a@1', 'b@1']);
  });

  it('is refused if an expression in it fails', () => {
    const tasks = [shell('a', { refresh_on: { yaql_exp: '$.nowhere.at' } })];
    const sources = plain([node(1, ['compute'])]);
    expect(planCluster(sources, [layer('release', tasks)], { type: 'default' })).toMatchObject({
      ok: false,
      problems: [{ path: expect.stringContaining('refresh_on') }],
    });
  });
});

describe('work that destroys', () => {
  const nodes = [
    node(1, ['compute']),
    node(3, ['compute'], { pendingAddition: true }),
    node(4, ['compute'], { pendingDeletion: true }),
  ];
  const erase = (more: Fields = {}) => [shell('erase', { type: 'erase_node', parameters: {}, ...more })];
  const attempt = (tasks: readonly Fields[], request: { type: string; nodes?: number[]; force?: boolean }) =>
    planCluster(plain(nodes), [layer('cluster', tasks)], request);

  it.each([
    ['a graph of any type', erase(), { type: 'default' }],
    ['a graph of one’s own', erase(), { type: 'cleanup' }],
    ['a named node', erase(), { type: 'cleanup', nodes: [1] }],
    ['force', erase(), { type: 'cleanup', force: true }],
    ['a new node', erase(), { type: 'provisioning' }],
    ['a release', erase({ type: 'move_to_bootstrap' }), { type: 'default' }],
    ['a type by an expression', erase({ type: { yaql_exp: "'erase_' + 'node'" } }), { type: 'default' }],
    ['the orchestrator’s own host', erase({ roles: ['master'] }), { type: 'deletion' }],
  ])('is refused on nodes that do not leave: %s', (_, tasks, request) => {
    expect(attempt(tasks, request)).toMatchObject({
      ok: false,
      reason: 'refused',
      problems: [{ code: 'graph.destroys-staying', path: 'cluster.tasks[0]' }],
    });
  });

  it('names the nodes that it would destroy, also the one that is in no cluster', () => {
    const messageOf = (roles: string[], type: string) => {
      const refused = attempt(erase({ roles }), { type });
      return refused.ok || refused.reason !== 'refused' ? undefined : refused.problems[0]!.message;
    };
    expect(messageOf(['master'], 'deletion')).toMatch(/ node master,/);
    expect(messageOf(['compute'], 'default')).toContain(` node ${nodes[0]!.name},`);
  });

  it('runs on leaving nodes; a new node may be made bare before it is provisioned', () => {
    const leaving = attempt(erase(), { type: 'deletion' });
    expect(leaving.ok && running(leaving)).toEqual(['erase@4']);
    const bare = attempt(erase({ type: 'move_to_bootstrap' }), { type: 'provisioning' });
    expect(bare.ok && running(bare)).toEqual(['erase@3']);
    const off = attempt(erase({ condition: { yaql_exp: 'false' } }), { type: 'default' });
    expect(off.ok && running(off)).toEqual([]);
  });

  it('is not needed for a node to leave', () => {
    for (const tasks of [[], erase({ roles: ['nothing'] }), erase({ condition: { yaql_exp: 'false' } })])
      expect(attempt(tasks, { type: 'deletion' })).toMatchObject({
        ok: true,
        untouched: [4],
        problems: expect.arrayContaining([expect.objectContaining({ code: 'graph.nothing-undone' })]),
      });
    expect(attempt(erase(), { type: 'deletion' })).toMatchObject({ ok: true, untouched: [] });
  });
});

describe('the layers of a graph', () => {
  const plugin = (id: number) => ({
    id,
    name: `p${id}`,
    path: `/plugins/p${id}/`,
    roles: {},
    tags: {},
    legacyTasks: [],
  });
  it('are merged by whole tasks; a plugin’s tasks run in its folder', () => {
    const layers = [
      layer('release', [shell('a', { parameters: { cmd: 'release' } })]),
      layer('plugins', [shell('b', { parameters: { cmd: 'x' } })], { plugin: plugin(1) }),
      layer('cluster', [shell('a', { parameters: { cmd: 'cluster' } })]),
    ];
    const result = planCluster(plain([node(1, ['compute'])]), layers, { type: 'default' });
    expect(result.ok && result.plan.instances.map(({ id, parameters }) => [id, parameters])).toEqual([
      ['a', { cmd: 'cluster', cwd: '/' }],
      ['b', { cmd: 'x', cwd: '/plugins/p1/' }],
    ]);
  });

  it('of two plugins with the same task are refused, and so is a type without tasks', () => {
    const twice = [1, 2].map((id) => layer('plugins', [shell('b')], { plugin: plugin(id) }));
    expect(planCluster(plain([node(1, ['compute'])]), twice, { type: 'default' })).toMatchObject({
      ok: false,
      problems: [{ code: 'graph.plugins-overlap', path: 'plugins.p2.tasks[0].id' }],
    });
    expect(planCluster(plain([]), [], { type: 'x' })).toMatchObject({ ok: false, reason: 'no-graph' });
  });

  it.each([
    ['a task that is not there', { tasks: ['zz'] }, 'tasks[0]'],
    ['a subgraph that is nowhere', { subgraphs: [{ start: ['a'] }, { end: ['zz'] }] }, 'subgraphs[1]'],
  ])('asked for with %s are refused at its place', (_, request, path) => {
    const result = planCluster(plain([node(1, ['compute'])]), [layer('release', [shell('a')])], {
      type: 'default',
      ...request,
    });
    expect(result).toMatchObject({ ok: false, problems: [{ path }] });
  });
});

describe('old states', () => {
  const stored = (state: unknown) => ({
    states: { s: JSON.stringify(state) },
    tasks: ['1', '2', '3'].map((uid) => ({
      task: 'a',
      node: uid,
      state: 's',
      at: '2026-11-21T10:00:00.000Z',
      digest: '',
    })),
  });
  it('apply by task and node, but not to nodes that start over', () => {
    const sources = plain([
      node(1, ['compute'], { status: 'ready' }),
      node(2, ['compute'], { status: 'provisioned' }),
      node(3, ['compute'], { status: 'ready' }),
    ]);
    const same = clusterState(sources, tagCluster(sources, [1, 2, 3]).nodes);
    const { states, tasks } = stored(same);
    const old = oldStatesOf(sources, { states, tasks: tasks.filter(({ node: uid }) => uid !== '3') });
    const changed = { condition: { yaql_exp: 'changed($.cluster.name)' } };
    expect(running(planned(sources, [shell('a', changed)], {}, { old }))).toEqual(['a@2', 'a@3']);
  });
});

describe('tasks that have changed since they succeeded', () => {
  const sources = plain([node(1, ['compute'], { status: 'ready' }), node(2, ['compute'], { status: 'ready' })]);
  const changing = { condition: { yaql_exp: 'changed($.cluster.name)' } };
  const off = { condition: { yaql_exp: '$.cluster.name = elsewhere' } };
  const first = [shell('a', changing), shell('b', changing), shell('off', off), shell('always')];
  /** As if a run of these tasks had succeeded on the nodes. */
  const ranBefore = (of: ReturnType<typeof planned>, nodes = ['1', '2']) => {
    const state = JSON.stringify(clusterState(sources, tagCluster(sources, [1, 2]).nodes));
    const at = '2026-11-21T10:00:00.000Z';
    const tasks = of.plan.instances
      .map(({ id, node: on, task }) => ({ task: id, node: of.plan.nodes[on]!, digest: of.plan.tasks[task]!.digest }))
      .filter((one) => nodes.includes(one.node))
      .map((one) => ({ ...one, at, state: 's' }));
    return oldStatesOf(sources, { states: { s: state }, tasks });
  };
  const old = ranBefore(planned(sources, first));
  const doing = { parameters: { cmd: 'false' } };
  const missedIn = ({ plan, problems }: ReturnType<typeof planned>) => ({
    missed: plan.instances
      .filter(({ skip, hasChanged }) => skip !== undefined && hasChanged)
      .map((one) => `${one.id}@${plan.nodes[one.node]}`),
    warned: problems.filter(({ code }) => code === 'graph.missed-tasks').length,
  });

  it.each<[string, readonly Fields[]]>([
    ['the same', first],
    [
      'conditions, places and order',
      [shell('b', { ...changing, requires: ['a'], roles: ['compute'] }), ...first.slice(0, 1), ...first.slice(2)],
    ],
  ])('are none of a version with other %s', (_, tasks) => {
    expect(missedIn(planned(sources, tasks, {}, { old }))).toEqual({ missed: [], warned: 0 });
    expect(running(planned(sources, tasks, { missed: true }, { old }))).toEqual([]);
  });

  it.each<[string, Fields]>([
    ['parameters', doing],
    ['type', { type: 'puppet', parameters: { puppet_manifest: 'a.pp', puppet_modules: 'm', timeout: 1 } }],
    ['expression', { parameters: { cmd: { yaql_exp: '$.uid' } } }],
  ])(
    'are named where a condition keeps them from running, and a run of just these carries them out: other %s',
    (_, more) => {
      const tasks = [shell('a', { ...changing, ...more }), ...first.slice(1)];
      const usual = planned(sources, tasks, {}, { old });
      expect(running(usual)).toEqual(['always@1', 'always@2']);
      expect(missedIn(usual)).toEqual({ missed: ['a@1', 'a@2'], warned: 1 });
      const just = planned(sources, tasks, { missed: true }, { old });
      expect(running(just)).toEqual(['a@1', 'a@2']);
      expect(missedIn(just)).toEqual({ missed: [], warned: 0 });
    },
  );

  it('had nothing to do where their condition is false anyway, or they never ran', () => {
    const tasks = [shell('off', { ...off, ...doing }), shell('added', off), ...first.slice(0, 2)];
    expect(missedIn(planned(sources, tasks, {}, { old })).missed).toEqual([]);
    expect(running(planned(sources, tasks, { missed: true }, { old }))).toEqual([]);
    const partly = ranBefore(planned(sources, first), ['1']);
    const changed = [shell('a', { ...changing, ...doing }), shell('added')];
    expect(missedIn(planned(sources, changed, {}, { old: partly })).missed).toEqual(['a@1']);
    expect(running(planned(sources, changed, { missed: true }, { old: partly }))).toEqual(['a@1']);
  });

  it('are those whose package has other files, too, and their files come first', () => {
    const files = (digest: string) => ({
      package: 'lib-1.0',
      folder: '/etc/lib/',
      scripts: { src: 's', digest },
      repository: undefined,
    });
    const withFiles = (digest: string) => ({ ...sources, release: { ...sources.release, files: files(digest) } });
    const before = ranBefore(planned(withFiles('1'), first));
    expect(missedIn(planned(withFiles('1'), first, {}, { old: before })).missed).toEqual([]);
    expect(missedIn(planned(withFiles('2'), first, {}, { old: before })).missed).toEqual(
      ['a@1', 'b@1', 'a@2', 'b@2'].sort(),
    );
    expect(running(planned(withFiles('2'), first, { missed: true, nodes: [1] }, { old: before })).sort()).toEqual([
      'a@1',
      'always@1',
      'b@1',
      'lib-1.0-files@1',
    ]);
  });
});

describe('a primary node on which a run does nothing', () => {
  const sources = plain([node(1, ['controller']), node(2, ['controller'])], { primaries: { controller: 1 } });
  const idle = (tasks: readonly Fields[]) =>
    planned(sources, tasks).problems.filter(({ code }) => code === 'graph.idle-primary');

  it('is warned of, with the tasks that leave it out', () => {
    expect(idle([shell('a', { roles: ['controller'] }), shell('b', { roles: ['controller'] })])).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/primary-controller.*a, b/) },
    ]);
    expect(idle([shell('a', { roles: ['controller'] }), shell('b')])).toEqual([]);
    expect(idle([shell('a', { roles: ['primary-controller', 'controller'] })])).toEqual([]);
  });

  it('is warned of where only its conditions are false, and not where they are false on all', () => {
    const on = (uid: string) => ({
      roles: ['primary-controller', 'controller'],
      condition: { yaql_exp: `$.uid = '${uid}'` },
    });
    expect(idle([shell('a', on('2')), shell('b', on('2')), shell('c', on('3'))])).toMatchObject([
      {
        severity: 'warning',
        message: expect.stringMatching(/primary-controller.*: conditions are false there: a, b$/),
      },
    ]);
    expect(idle([shell('a', on('2')), shell('b', on('1'))])).toEqual([]);
    expect(idle([shell('a', on('3'))])).toEqual([]);
  });
});

describe('after a run', () => {
  it.each([
    ['operational', ['ready', 'ready'], 'success'],
    ['partially_deployed', ['ready', 'error'], 'failed'],
    ['stopped', ['ready', 'stopped'], 'stopped'],
    ['new', ['discover', 'provisioned'], 'success'],
    ['new', [], 'success'],
  ] as const)('the cluster is %s with nodes %j after %s', (expected, statuses, outcome) => {
    const nodes = statuses.map((status, at) => node(at + 1, [], { status }));
    expect(clusterStatusAfter(nodes, outcome)).toBe(expected);
  });

  it('nodes change as set by the graph, or by default; an empty value changes nothing', () => {
    const metadata = {
      nodeFilter: null,
      onSuccess: { node_attributes: {} },
      onError: null,
      onStop: { node_attributes: { status: 'discover', error_type: null } },
    };
    expect(nodeTransitions('deletion', metadata)).toEqual({
      success: {},
      failed: { status: 'error', error_type: 'deletion' },
      not_reached: { status: 'discover', error_type: null },
    });
  });

  it('agents of a site have unique names or host names; others have ids', () => {
    const nodes = [
      node(1, [], { name: 'rack-1' }),
      node(2, [], { name: 'Untitled (aa:bb)' }),
      node(3, [], { name: 'twin' }),
      node(4, [], { name: 'twin' }),
    ];
    const inSite = { ...sixNodes({ site: 'dc1' }), nodes };
    expect(nodes.map((one) => agentAddress(inSite, one).node)).toEqual(['rack-1', 'node-2', 'node-3', 'node-4']);
    expect(agentAddress({ ...sixNodes(), nodes }, nodes[0]!)).toEqual({ site: 'cluster-3', node: '1' });
  });
});
