import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { checkCluster } from '../../../../src/clusters/checks/check-cluster.ts';
import { checkLimits } from '../../../../src/clusters/checks/limits.ts';
import { checkRestrictions, expandRestriction } from '../../../../src/clusters/checks/restrictions.ts';
import { evaluateExpression } from '../../../../src/clusters/checks/settings-expression.ts';
import type { ClusterNode, ClusterSources } from '../../../../src/clusters/sources.ts';
import { type RoleMetadata, tagsOfRole } from '../../../../src/clusters/tags/catalogue.ts';

type Fixture = { model: string; fields: Record<string, never> }[];
/** The base entry of the real release; js-yaml does not read the entries after it, nor `!!pairs`. */
const [{ fields }] = load(
  readFileSync(new URL('../../../data/plugins/nailgun-release-fixture/openstack.yaml', import.meta.url), 'utf8')
    .split('\n- pk: 1')[0]!
    .replaceAll('!!pairs', ''),
) as [
  Fixture[0] & {
    fields: {
      roles_metadata: Record<string, object>;
      tags_metadata: object;
      attributes_metadata: { editable: object };
    };
  },
];

const node = (id: number, roles: string[], more: Partial<ClusterNode> = {}): ClusterNode =>
  ({
    id,
    name: `n${id}`,
    hostname: null,
    status: 'ready',
    online: true,
    pendingAddition: false,
    pendingDeletion: false,
    roles,
    pendingRoles: [],
    tags: roles.flatMap((role) => tagsOfRole(role, fields.roles_metadata[role] as RoleMetadata)),
    primaryTags: [],
    ...more,
  }) as unknown as ClusterNode;

/** Settings of the real release, some changed. */
function settings(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const editable = structuredClone(fields.attributes_metadata.editable) as Record<
    string,
    Record<string, { value: unknown }>
  >;
  for (const [path, value] of Object.entries(changes)) {
    const [group, name] = path.split('.') as [string, string];
    editable[group] ??= {};
    editable[group][name] = { ...editable[group][name], value };
  }
  return { editable, generated: {} };
}

const cluster = (
  nodes: readonly ClusterNode[],
  more: { settings?: Record<string, unknown>; mode?: string; placesByTags?: boolean } = {},
) =>
  ({
    cluster: {
      id: 1,
      name: 'c',
      mode: more.mode ?? 'ha_compact',
      status: 'new',
      settings: more.settings ?? settings(),
      networks: {},
      roles: {},
      tags: {},
      placesByTags: more.placesByTags ?? true,
    },
    release: {
      name: 'r',
      operatingSystem: 'ubuntu',
      version: 'newton-10.0',
      roles: fields.roles_metadata,
      tags: fields.tags_metadata,
    },
    plugins: [],
    nodes,
  }) as unknown as ClusterSources;

const said = (sources: ClusterSources, options = {}) =>
  checkCluster(sources, options).map(({ severity, code, message }) => `${severity} ${code} ${message}`);
const codes = (sources: ClusterSources, options = {}) =>
  checkCluster(sources, options).map(({ code, role }) => (role === undefined ? code : `${code} ${role}`));

const three = [
  node(1, ['controller']),
  node(2, ['controller']),
  node(3, ['controller']),
  node(4, ['compute', 'cinder']),
];

it('a cluster as recommended by the release has only informational findings', () => {
  expect(said(cluster(three))).toEqual([
    expect.stringMatching(/^info check\.tags-unassigned No node has the tags base-os, ceph-osd, cinder-block-device, /),
  ]);
});

it('tags moved off the nodes are reported, and the user may continue', () => {
  const moved = three.map((one) => ({ ...one, tags: one.tags.filter((tag) => tag !== 'database') }));
  const [finding] = checkCluster(cluster(moved));
  expect(finding).toMatchObject({ severity: 'info', tags: expect.arrayContaining(['database']) });
  expect(checkCluster(cluster(moved, { placesByTags: false }))[0]!.tags).not.toContain('database');
});

it('a node without tags is reported; an instance is not a tag that places tasks', () => {
  const bare = node(5, [], { tags: ['mysql:1'] });
  expect(codes(cluster([...three, bare]))).toContain('check.node-without-tags');
});

it('with the tags engine off, manually moved tags are reported as without effect', () => {
  const off = { placesByTags: false };
  const moved = [node(1, ['controller'], { tags: ['controller', 'database:1'] }), node(2, ['compute'])];
  const ignored = checkCluster(cluster(moved, off)).find(({ code }) => code === 'check.tags-ignored');
  expect(ignored).toMatchObject({ severity: 'warning', nodes: [1] });
  expect(ignored!.tags).toEqual(expect.arrayContaining(['database', 'database:1']));
  expect(codes(cluster(moved))).not.toContain('check.tags-ignored');
  expect(codes(cluster(three, off))).not.toContain('check.tags-ignored');
  const never = three.map((one) => ({ ...one, tags: [] }));
  expect(codes(cluster(never, off))).not.toContain('check.tags-ignored');
});

it('offline nodes are reported in the words of the reference', () => {
  const nodes = [...three, node(5, ['compute'], { online: false }), node(6, ['compute'], { online: false })];
  expect(said(cluster(nodes))[0]).toBe(
    'error check.nodes-offline Nodes "n5,n6" are offline. Remove them from environment and try again.',
  );
  expect(codes(cluster(nodes), { nodes: [1, 2] })).not.toContain('check.nodes-offline');
});

it('conflicting roles are reported, each pair once, with the nodes', () => {
  const both = checkCluster(
    cluster([...three, node(5, ['controller', 'compute']), node(6, ['compute', 'controller'])]),
  );
  expect(both.filter(({ code }) => code === 'check.role-conflict')).toMatchObject([
    { severity: 'error', message: "Role 'controller' in conflict with role 'compute'.", nodes: [5, 6] },
  ]);
});

it('a conflict with * excludes all other roles', () => {
  const sources = cluster([...three, node(5, ['cinder', 'lonely'])]);
  const roles = { ...sources.release.roles, lonely: { conflicts: '*' } };
  expect(codes({ ...sources, release: { ...sources.release, roles } })).toContain('check.role-conflict lonely');
});

it('roles that the settings forbid are reported in the words of the reference', () => {
  const nodes = [...three, node(5, ['cinder']), node(6, ['ceph-osd'])];
  expect(
    said(
      cluster(nodes, {
        settings: settings({
          'storage.volumes_ceph': true,
          'storage.volumes_lvm': false,
          'storage.osd_pool_size': '1',
        }),
      }),
    ),
  ).toContain(
    "error check.role-restricted Role 'cinder' restrictions mismatch: Cinder LVM should be enabled in the environment settings. Ceph RBD cannot be used with Cinder",
  );
});

describe('limits', () => {
  it('have a minimum, an override of it, and a recommended number', () => {
    expect(codes(cluster([node(4, ['compute'])]))).toContain('check.role-below-minimum controller');
    const one = [node(1, ['controller']), node(4, ['compute', 'cinder'])];
    expect(codes(cluster(one))).toContain('check.role-below-recommended controller');
    expect(codes(cluster(one))).not.toContain('check.role-below-minimum controller');
    const l3ha = settings({ 'neutron_advanced_configuration.neutron_l3_ha': true });
    expect(said(cluster(one, { settings: l3ha }))).toContain(
      "error check.role-below-minimum 1 node has role 'controller'; the minimum is 2. Neutron L3 HA requires at least 2 Controller nodes to function properly.",
    );
  });

  it('can be expressions', () => {
    const ceph = (size: string) => settings({ 'storage.volumes_ceph': true, 'storage.osd_pool_size': size });
    const nodes = [...three, node(5, ['ceph-osd']), node(6, ['ceph-osd'])];
    expect(codes(cluster(nodes, { settings: ceph('3') }))).toContain('check.role-below-minimum ceph-osd');
    expect(codes(cluster(nodes, { settings: ceph('2') }))).not.toContain('check.role-below-minimum ceph-osd');
  });

  it('can have a maximum by the mode of the cluster', () => {
    const nodes = [...three, node(5, ['mongo']), node(6, ['mongo'])];
    const with_ceilometer = settings({
      'additional_components.ceilometer': true,
      'additional_components.mongo': false,
    });
    expect(said(cluster(nodes, { settings: with_ceilometer, mode: 'multinode' }))).toContain(
      "error check.role-above-maximum 2 nodes have role 'mongo'; the maximum is 1. At most 1 MongoDB node can be added for non-HA deployment",
    );
    expect(codes(cluster(nodes, { settings: with_ceilometer }))).toContain('check.role-below-recommended mongo');
  });

  it('do not count nodes that are to be deleted', () => {
    expect(codes(cluster([node(1, ['controller'], { pendingDeletion: true }), node(4, ['compute'])]))).toContain(
      'check.role-below-minimum controller',
    );
  });

  it('report the strictest of several overrides, and an override without the limit leaves it unchanged', () => {
    const limits = {
      min: 1,
      max: 9,
      overrides: [
        { condition: 'true', min: 2 },
        { condition: 'true', min: 4, message: 'four' },
        { condition: 'false', min: 8 },
      ],
    };
    expect(checkLimits(limits, 1, {})).toEqual([{ type: 'min', limit: 4, message: 'four' }]);
    expect(checkLimits(limits, 10, {})).toEqual([{ type: 'max', limit: 9 }]);
    expect(checkLimits({ condition: 'false', min: 3 }, 0, {})).toEqual([]);
    expect(checkLimits({ min: 'nonsense ==' }, 0, {})).toEqual([]);
    expect(checkLimits(undefined, 0, {})).toEqual([]);
  });
});

describe('restrictions', () => {
  it('have three forms', () => {
    expect(expandRestriction('settings:a == true')).toEqual({ condition: 'settings:a == true' });
    expect(expandRestriction({ 'settings:a == true': 'no' })).toEqual({
      condition: 'settings:a == true',
      message: 'no',
    });
    expect(expandRestriction({ condition: 'x', message: 'm', action: 'hide' })).toEqual({
      condition: 'x',
      message: 'm',
      action: 'hide',
    });
    expect(expandRestriction({ a: 'b', c: 'd' })).toBeUndefined();
    expect(expandRestriction(7)).toBeUndefined();
  });

  it('treat a missing value as null and report it; an expression that cannot be evaluated restricts nothing', () => {
    const { holding, doubts } = checkRestrictions(['settings:a.b == null', 'nosuch:x == 1', 'settings:'], {
      settings: {},
    });
    expect(holding).toEqual([{ condition: 'settings:a.b == null' }]);
    expect(doubts).toHaveLength(3);
    expect(doubts[0]!.message).toBe('there is no settings:a.b; it counts as null');
  });

  it.each([
    ["'experimental' in version:feature_groups", true],
    ["not ('advanced' in version:feature_groups)", true],
    ["cluster:mode != 'ha_compact'", false],
    ['settings:a.value == false and settings:b.c.value == 1', false],
    ['settings:a.value or settings:b.c.value == 2', true],
  ])('%s', (text, value) => {
    const models = {
      version: { feature_groups: ['experimental'] },
      cluster: { mode: 'ha_compact' },
      settings: { a: { value: true }, b: { c: { value: 1 } } },
    };
    expect(evaluateExpression(text, models)).toEqual({ ok: true, value, missing: [] });
  });
});

describe('hostile conditions', () => {
  const evaluate = (text: string) => evaluateExpression(text, { settings: { a: { b: 1 } } });

  it('take time in proportion to their length, not its square', () => {
    const { user: before } = process.cpuUsage();
    const text = `${'a'.repeat(9_000)} settings:a.b`;
    for (let times = 0; times < 200; times++) expect(evaluate(text)).toMatchObject({ ok: true });
    // A fraction of a second; ten where each letter looks through the rest of its word.
    expect(process.cpuUsage().user - before).toBeLessThan(2_500_000);
  });

  it('are refused when they are long or deep, and do not crash the process', () => {
    expect(evaluate('a'.repeat(10_001))).toMatchObject({ ok: false, message: expect.stringContaining('10000') });
    for (const text of ['('.repeat(9_000), 'not '.repeat(2_000), `${'('.repeat(51)}1${')'.repeat(51)}`])
      expect(evaluate(text)).toMatchObject({ ok: false, message: expect.stringContaining('50 levels') });
    expect(evaluate(`${'('.repeat(40)}settings:a.b${')'.repeat(40)}`)).toMatchObject({ ok: true, value: 1 });
    expect(evaluate(`${'1or'.repeat(3_300)}1`)).toMatchObject({ ok: true, value: 1 });
    expect(evaluate('xsettings:a.b')).toMatchObject({ ok: false });
  });
});
