import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { catalogueOf, rolesHolding, tagNameProblem, tagsOfRole } from '../../../../src/clusters/tags/catalogue.ts';
import { tagsOnRoleChange } from '../../../../src/clusters/tags/role-tag-changes.ts';
import {
  type ClusterNode,
  resolveTaggedNodes,
  type TaggedNodesInput,
} from '../../../../src/clusters/tags/tagged-nodes.ts';
import { isInstanceTag, planGraph, readPlanInput } from '../../../../src/graph/index.ts';
import { tagsOfRelease } from '../../../../src/ops/inventory/releases.ts';

const none = { roles: {}, tags: {} };
const release = {
  roles: {
    controller: { name: 'Controller', tags: ['controller', 'mysql', 'keystone'] },
    compute: { name: 'Compute', tags: ['compute'] },
    plain: { name: 'Plain', has_primary: true },
  },
  tags: {
    controller: { has_primary: true },
    mysql: { has_primary: true },
    keystone: { has_primary: false },
    compute: { has_primary: false },
  },
};
const catalogue = catalogueOf({ release, cluster: none, plugins: [] });

const node = (id: number, roles: string[], more: Partial<ClusterNode> = {}): ClusterNode => ({
  id,
  status: 'provisioned',
  pendingDeletion: false,
  roles,
  tags: [...new Set(roles.flatMap((role) => tagsOfRole(role, catalogue.roles.get(role)?.meta)))],
  primaryTags: [],
  ...more,
});

const resolve = (nodes: readonly ClusterNode[], more: Partial<TaggedNodesInput> = {}) =>
  resolveTaggedNodes({ nodes, catalogue, tagsEngine: true, highAvailability: true, ...more });
const tagsOf = (nodes: readonly ClusterNode[], more: Partial<TaggedNodesInput> = {}) =>
  Object.fromEntries(resolve(nodes, more).nodes.map(({ uid, tags }) => [uid, tags]));

describe('catalogue', () => {
  it('gives a role without tags one of its own name, with a primary if the role has one', () => {
    expect(tagsOfRole('plain', release.roles.plain)).toEqual(['plain']);
    expect(catalogue.tags.get('plain')).toMatchObject({ meta: { has_primary: true }, implied: true });
  });

  it('gives a role its own name as a tag, even if its tags do not list it', () => {
    expect(tagsOfRole('storage', { tags: ['ceph'] })).toEqual(['ceph', 'storage']);
  });

  it('prefers the later owner of a name: release, cluster, plugins', () => {
    const all = catalogueOf({
      release,
      cluster: { roles: {}, tags: { mysql: { has_primary: false } } },
      plugins: [{ id: 7, name: 'p', roles: { kafka: {} }, tags: { keystone: { has_primary: true } } }],
    });
    expect(all.tags.get('mysql')).toMatchObject({ owner: { kind: 'cluster' }, meta: { has_primary: false } });
    expect(all.tags.get('keystone')).toMatchObject({ owner: { kind: 'plugin', id: 7 }, meta: { has_primary: true } });
    expect(all.tags.get('kafka')).toMatchObject({ owner: { kind: 'plugin', name: 'p' }, implied: true });
  });

  it('lists the roles that have a tag', () => {
    expect(rolesHolding('mysql', release.roles)).toEqual(['controller']);
    expect(rolesHolding('compute', release.roles)).toEqual(['compute']);
    expect(rolesHolding('swift', release.roles)).toEqual([]);
  });
});

describe('names', () => {
  it.each(['swift', 'mysql:1', 'a-b_C9'])('%s is a valid name', (name) => expect(tagNameProblem(name)).toBeUndefined());
  it.each(['bad name!', '', 'mysql:', ':1', 'a:b:c', '/x/', 'primary-x', 'é', 'x'.repeat(101)])(
    '%j is refused',
    (name) => expect(tagNameProblem(name)).toBeTypeOf('string'),
  );
  it('an instance has a colon', () =>
    expect([isInstanceTag('mysql:1'), isInstanceTag('mysql')]).toEqual([true, false]));
});

describe('a change of roles', () => {
  const change = (before: string[], after: string[]) => tagsOnRoleChange({ before, after, roles: catalogue.roles });

  it('adds the tags and the name of a new role', () => {
    expect(change([], ['controller']).given).toEqual([
      { tag: 'controller', role: 'controller' },
      { tag: 'mysql', role: 'controller' },
      { tag: 'keystone', role: 'controller' },
    ]);
  });

  it('adds nothing for a role that stays, so removed tags stay removed', () => {
    expect(change(['controller'], ['controller', 'compute'])).toEqual({
      lost: [],
      given: [{ tag: 'compute', role: 'compute' }],
    });
  });

  it('removes the tags of a removed role', () =>
    expect(change(['controller'], ['compute']).lost).toEqual(['controller']));

  it('adds the name of an undescribed role', () => {
    expect(change([], ['unknown']).given).toEqual([{ tag: 'unknown', role: 'unknown' }]);
  });
});

describe('primary nodes', () => {
  it('are the first by id with the tag, with primary-TAG instead of TAG', () => {
    expect(tagsOf([node(10, ['controller']), node(9, ['controller'])])).toEqual({
      9: ['keystone', 'primary-controller', 'primary-mysql'],
      10: ['controller', 'keystone', 'mysql'],
    });
  });

  it('prefer a ready node over the lowest id', () => {
    const { primaryTags } = resolve([node(1, ['controller']), node(2, ['controller'], { status: 'ready' })]);
    expect(primaryTags).toEqual(new Map([[2, ['controller', 'mysql']]]));
  });

  it('stay primary, also outside the run', () => {
    const nodes = [node(1, ['controller']), node(2, ['controller'], { primaryTags: ['controller', 'mysql'] })];
    expect(resolve(nodes).primaryTags).toEqual(new Map([[2, ['controller', 'mysql']]]));
    expect(tagsOf(nodes, { run: [1] })).toEqual({ 1: ['controller', 'keystone', 'mysql'] });
  });

  it('change when the primary lost the tag, or is about to be deleted', () => {
    const gone = node(1, ['controller'], { primaryTags: ['controller', 'mysql'], tags: ['controller'] });
    expect(resolve([gone, node(2, ['controller'])]).primaryTags).toEqual(
      new Map([
        [1, ['controller']],
        [2, ['mysql']],
      ]),
    );
    const leaving = node(1, ['controller'], { primaryTags: ['mysql'], pendingDeletion: true });
    expect(resolve([leaving, node(2, ['controller'])]).primaryTags).toEqual(new Map([[2, ['controller', 'mysql']]]));
  });

  it('are chosen separately for a detached tag', () => {
    const nodes = [
      node(1, ['controller'], { tags: ['controller', 'keystone'] }),
      node(2, [], { tags: ['mysql'] }),
      node(3, [], { tags: ['mysql'] }),
    ];
    expect(tagsOf(nodes)).toEqual({ 1: ['keystone', 'primary-controller'], 2: ['primary-mysql'], 3: ['mysql'] });
  });

  it('exist only with high availability', () => {
    expect(tagsOf([node(1, ['controller'])], { highAvailability: false })).toEqual({
      1: ['controller', 'keystone', 'mysql'],
    });
  });

  it('are the same when chosen again', () => {
    const nodes = [node(3, ['controller']), node(1, ['plain']), node(2, ['controller', 'plain'])];
    const first = resolve(nodes).primaryTags;
    const marked = nodes.map((one) => ({ ...one, primaryTags: first.get(one.id) ?? [] }));
    expect(resolve(marked).primaryTags).toEqual(first);
  });
});

describe('the engine', () => {
  it('uses assigned tags when on, and a node without tags has the name of its role', () => {
    expect(tagsOf([node(1, ['compute'], { tags: [] }), node(2, ['compute'], { tags: ['mysql'] })])).toEqual({
      1: ['compute'],
      2: ['compute', 'primary-mysql'],
    });
  });

  it('uses the tags of roles when off, whatever is assigned', () => {
    expect(tagsOf([node(1, ['compute'], { tags: ['mysql'] })], { tagsEngine: false })).toEqual({ 1: ['compute'] });
  });

  const plan = (tasks: object[], nodes: readonly ClusterNode[], layer = 'cluster', highAvailability = true) => {
    const tagged = resolve(nodes, { highAvailability }).nodes;
    const read = readPlanInput({
      layers: { [layer]: layer === 'plugins' ? [{ name: 'p', tasks }] : tasks },
      cluster: { resolver: [], deployment_info: { common: {}, nodes: { 1: {}, 2: {}, null: {} } } },
    });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const planned = planGraph({ ...read.input, nodes: tagged });
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    const { plan } = planned;
    return Object.fromEntries(
      plan.tasks.map(({ merged }, at) => [
        merged.task.id,
        plan.instances.filter(({ task }) => task === at).map((one) => plan.nodes[one.node]),
      ]),
    );
  };
  const task = (id: string, more: object) => ({ id, type: 'puppet', version: '2.0.0', parameters: {}, ...more });

  it('places a task without tags by its roles, which are tags, or by the roles of its groups', () => {
    const nodes = [node(1, ['controller']), node(2, ['compute'])];
    expect(
      plan(
        [
          { id: 'hosts', type: 'group', version: '2.0.0', roles: ['compute'] },
          task('mysql', { tags: ['primary-mysql', 'mysql'], roles: ['compute'] }),
          task('haproxy', { role: ['primary-controller'] }),
          task('globals', { role: ['/.*/'] }),
          task('by-group', { groups: ['hosts'] }),
        ],
        nodes,
      ),
    ).toMatchObject({ mysql: ['1'], haproxy: ['1'], globals: ['1', '2'], 'by-group': ['2'] });
  });

  it('uses the roles of a group only where no node has its name as a tag, and not for patterns', () => {
    const nodes = [node(1, ['controller']), node(2, ['controller']), node(3, ['compute'])];
    const groups = ['controller', 'hosts'].map((id) => ({ id, type: 'group', version: '2.0.0', roles: ['compute'] }));
    const tasks = [task('tagged', { groups: ['controller'] }), task('pattern', { groups: ['/host.*/'] })];
    expect(plan([...groups, ...tasks], nodes)).toMatchObject({ tagged: ['2'], pattern: [] });
  });

  it('places a task of a plugin without tags by roles, one with tags by tags', () => {
    const nodes = [node(1, ['controller'], { tags: ['mysql'] }), node(2, [], { tags: ['controller'] })];
    const tasks = [
      task('old', { roles: ['/(primary-)?controller/'] }),
      task('new', { tags: ['/(primary-)?controller/'] }),
    ];
    expect(plan(tasks, nodes, 'plugins')).toEqual({ old: ['1'], new: ['1', '2'] });
    expect(plan(tasks, nodes)).toEqual({ old: ['1', '2'], new: ['1', '2'] });
  });

  it('places the three tasks of the specification on its node with the role and one tag', () => {
    const tasks = [
      task('mysql', { tags: ['controller', 'mysql'] }),
      task('haproxy', { role: ['controller'] }),
      task('globals', { role: ['/.*/'] }),
    ];
    expect(plan(tasks, [node(1, ['controller'], { tags: ['mysql'] })], 'cluster', false)).toEqual({
      mysql: ['1'],
      haproxy: ['1'],
      globals: ['1'],
    });
  });

  it('places tasks by an instance that they name exactly, with an asterisk, or by an expression with a colon', () => {
    const nodes = [node(1, [], { tags: ['mysql:1'] }), node(2, [], { tags: ['compute'] })];
    expect(
      plan(
        [
          task('service', { tags: ['mysql'] }),
          task('everything', { tags: ['/.*/'] }),
          task('prefix', { tags: ['/(?:primary-)?mysql/'] }),
          task('regex', { tags: ['/mysql:[0-9]/'] }),
          task('asterisk', { tags: ['mysql*'] }),
          task('all', { tags: '*' }),
          task('exact', { tags: ['mysql:1'] }),
        ],
        nodes,
      ),
    ).toEqual({
      ...{ service: [], everything: ['2'], prefix: [], regex: ['1'], asterisk: ['1'], all: ['2'], exact: ['1'] },
    });
  });

  it('resolves cross-dependencies by tags', () => {
    const read = readPlanInput({
      layers: {
        cluster: [
          task('db', { tags: ['primary-mysql'] }),
          task('api', { tags: ['compute'], 'cross-depends': [{ name: 'db', tags: ['primary-mysql'] }] }),
        ],
      },
      cluster: { resolver: [], deployment_info: { common: {}, nodes: { 1: {}, 2: {}, null: {} } } },
    });
    if (!read.ok) throw new Error('unreadable');
    const { nodes } = resolve([node(1, [], { tags: ['mysql'] }), node(2, ['compute'])]);
    const planned = planGraph({ ...read.input, nodes });
    if (!planned.ok) throw new Error('no plan');
    const api = planned.plan.instances.find(({ id }) => id === 'api')!;
    const waits = api.requires.flatMap((set) => planned.plan.targets[set]!.instances);
    expect(waits.map((at) => planned.plan.instances[at]!.id)).toEqual(['db']);
  });
});

it('the recorded clusters get the tags the reference gave them', () => {
  const fixture = {
    controller: ['controller', 'rabbitmq', 'database', 'keystone', 'neutron'],
    compute: ['compute'],
    cinder: ['cinder'],
    'ceph-osd': ['ceph-osd'],
  };
  const primary = ['controller', 'rabbitmq', 'database', 'keystone', 'neutron', 'mongo'];
  const recorded = catalogueOf({
    release: {
      roles: Object.fromEntries(Object.entries(fixture).map(([role, tags]) => [role, { tags }])),
      tags: Object.fromEntries(
        [...new Set(Object.values(fixture).flat())].map((tag) => [tag, { has_primary: primary.includes(tag) }]),
      ),
    },
    cluster: none,
    plugins: [],
  });
  for (const name of ['aio', 'six']) {
    const { resolver } = JSON.parse(
      readFileSync(new URL(`../../../data/fuel/cluster.${name}.json`, import.meta.url), 'utf8'),
    ) as {
      resolver: { uid: string; roles: string[]; all_tags: string[] }[];
    };
    const nodes = resolver.map(({ uid, roles }) => ({
      ...node(Number(uid), roles),
      tags: roles.flatMap((role) => tagsOfRole(role, recorded.roles.get(role)?.meta)),
    }));
    expect(tagsOf(nodes, { catalogue: recorded })).toEqual(
      Object.fromEntries(resolver.map(({ uid, all_tags }) => [uid, [...all_tags].sort()])),
    );
  }
});

it('tags that only roles name are tags of the release, as they are of its clusters', () => {
  const roles = { db: { tags: ['sql', 'cache'], has_primary: true }, web: {} };
  const tags = { sql: { has_primary: true } };
  const owners = { release: { roles, tags }, cluster: { roles: {}, tags: {} }, plugins: [] };
  const ofCluster = [...catalogueOf(owners).tags.values()].map(({ name, meta }) => [name, meta.has_primary]);
  const ofRelease = tagsOfRelease({ rolesMetadata: roles, tagsMetadata: tags });
  expect(ofRelease.map(({ name, hasPrimary }) => [name, hasPrimary])).toEqual(ofCluster);
  expect(ofCluster).toContainEqual(['cache', false]);
});
