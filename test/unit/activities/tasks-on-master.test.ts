import { describe, expect, it } from 'vitest';
import type { ExecutablePart } from '../../../src/core/graph-run/plan-reference.ts';
import type { Diagnostic } from '../../../src/core/problems/diagnostic.ts';
import type { OpsDependencies } from '../../../src/ops/dependencies.ts';
import { GraphOperations } from '../../../src/ops/graphs/graphs.ts';
import { PlanOperations } from '../../../src/ops/graphs/plans.ts';
import { openStore } from '../../../src/store/index.ts';
import { graphWorld, loadWhole, planOf } from './graph-world.ts';

const shell = { type: 'shell', version: '2.1.0', parameters: { cmd: 'true', timeout: 5 } };
const CODE = 'graph.master-denied';

/** Graphs that need an agent on `master`, and which of their tasks do. */
const NEEDING: readonly [string, readonly object[], readonly string[]][] = [
  ['by its role', [{ ...shell, id: 'a', role: 'master' }], ['a']],
  ['by one of its roles', [{ ...shell, id: 'a', roles: ['compute', 'master'] }], ['a']],
  ['by a tag', [{ ...shell, id: 'a', tags: ['master'] }], ['a']],
  ['by the name of a group', [{ ...shell, id: 'a', groups: ['master'] }], ['a']],
  [
    'by the roles of its group',
    [
      { id: 'g', type: 'group', roles: ['master'] },
      { ...shell, id: 'a', groups: ['g'] },
    ],
    ['a'],
  ],
  [
    'by a group that lists it',
    [
      { id: 'g', type: 'group', roles: ['master'], tasks: ['a'] },
      { ...shell, id: 'a', roles: ['compute'] },
    ],
    ['a'],
  ],
  [
    'with several tasks, of any type',
    [
      { ...shell, id: 'a', role: ['master'] },
      { id: 'b', type: 'puppet', version: '2.1.0', role: 'master', parameters: { puppet_manifest: '/m.pp' } },
      { ...shell, id: 'c', role: ['compute'] },
    ],
    ['a', 'b'],
  ],
];

const FREE: readonly [string, readonly object[]][] = [
  ['what MAAS does', [{ id: 'a', type: 'cobbler_sync', version: '2.1.0', role: 'master' }]],
  [
    'types without work',
    [
      { id: 'a', type: 'noop', version: '2.1.0', role: 'master' },
      { id: 'b', type: 'skipped', version: '2.1.0', role: 'master' },
      { id: 'c', type: 'group', version: '2.1.0', role: ['master'] },
    ],
  ],
  ['a task that never runs', [{ ...shell, id: 'a', role: 'master', condition: false }]],
  ['tags that come before its roles', [{ ...shell, id: 'a', role: 'master', tags: ['compute'] }]],
];

/** The graph operations over a store with a cluster of the site `dc1`. */
async function operations(more: Partial<OpsDependencies> = {}) {
  const store = await openStore('sqlite::memory:');
  await store.migrate();
  const { id: release } = await store.releases.create({ name: 'R', version: '1', operatingSystem: 'Ubuntu' });
  await store.sites.create({ name: 'dc1' });
  const { id: cluster } = await store.clusters.create({ name: 'c', releaseId: release, site: 'dc1' });
  const owner = { kind: 'cluster', id: cluster } as const;
  return Object.assign(new GraphOperations({ store, ...more } as unknown as OpsDependencies), {
    release,
    owner,
  });
}

const MASTER_TASK = { ...shell, id: 'a', roles: ['master'] };
const FREE_TASK = { ...shell, id: 'free', roles: ['compute'] };

/** What refuses a run of a graph: its opening or its plan. */
async function refusalOf(tasks: readonly object[]): Promise<readonly string[]> {
  const world = await graphWorld({ nodes: [['compute']], site: 'dc1' });
  await world.upload(tasks as never);
  const opened = await world.start({ force: true }).catch(() => undefined);
  if (opened === undefined) {
    const { kind, ...more } = await world.refused({ force: true }, 'run-2');
    expect(kind).toBe('request-refused');
    return (more as { readonly errors: readonly Diagnostic[] }).errors.map(({ message }) => message);
  }
  const { transaction, graphs } = opened;
  const planned = await world.plan_graph({ transaction, graph: graphs[0]!.transaction, room: 100 });
  return planned.ok || planned.failure.kind !== 'plan-refused' ? [] : planned.failure.problems;
}

const ofMaster = (tasks: readonly string[]) => ({
  code: CODE,
  message: expect.stringMatching(new RegExp(`\\b${tasks.join(', ')}\\b.*agent\\.master`)),
  hint: expect.stringMatching(/agent\.master: allow.*sitewright agent token --site _installation --node master/),
});

describe('a graph that needs an agent on master', () => {
  it.each(NEEDING)('%s is refused at upload to a cluster, on every way, as one problem', async (_, tasks, names) => {
    const graphs = await operations();
    const { owner } = graphs;
    const refusal = { code: 'invalid', errors: expect.arrayContaining([expect.objectContaining(ofMaster(names))]) };
    const one = async (way: Promise<unknown>) => {
      const error = await way.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ problem: refusal });
      const { errors } = (error as { problem: { errors: readonly { severity: string }[] } }).problem;
      expect(errors.filter(({ severity }) => severity === 'error')).toHaveLength(1);
    };
    await one(graphs.create(owner, 'extra', { body: { tasks } }, 'otto'));
    await one(graphs.replaceTasks(owner, 'extra', { body: tasks }, 'otto'));
    const { graph } = await graphs.create(owner, 'extra', { body: { tasks: [] } }, 'otto');
    await one(graphs.change(owner, 'extra', { body: { tasks } }, 'otto'));
    await one(graphs.update(graph.id, { body: { tasks } }, 'otto'));
    expect(await graphs.check({ body: { tasks } }, { owner, type: 'extra' })).toMatchObject({ valid: false });
  });

  it('is stored for a release, and for a cluster where agent.master allows it', async () => {
    const [, tasks] = NEEDING[0]!;
    const denying = await operations();
    await denying.create({ kind: 'release', id: denying.release }, 'extra', { body: { tasks } }, 'ada');
    const allowing = await operations({ masterAllowed: true });
    await allowing.create(allowing.owner, 'extra', { body: { tasks } }, 'otto');
  });

  it.each(NEEDING)('%s is refused where its run is opened or planned, as one problem', async (_, tasks, names) => {
    expect(await refusalOf(tasks)).toEqual([expect.stringContaining(`: ${names.join(', ')};`)]);
  });

  it('is refused before anything of its run starts, whichever of several graphs needs it', async () => {
    const world = await graphWorld({ nodes: [['compute']] });
    await world.upload([{ ...shell, id: 'a', roles: ['compute'] }]);
    await world.upload([{ ...shell, id: 'b', roles: ['master'] }], 'later');
    const input = { graphs: [{ type: 'default' }, { type: 'later' }], force: true };
    expect(await world.refused(input)).toMatchObject({
      kind: 'request-refused',
      errors: [{ code: CODE, path: 'graphs[1].type', message: expect.stringContaining(': b;') }],
    });
    expect(await world.store.transactions.list({})).toEqual([]);
  });

  it.each([
    ['with a condition', { tasks: [{ ...shell, id: 'a', roles: ['master'], condition: { yaql_exp: 'false' } }] }, {}],
    ['that is not chosen', { tasks: [MASTER_TASK, FREE_TASK] }, { graphs: [{ type: 'default', tasks: ['free'] }] }],
    ['outside of the chosen part', { tasks: [MASTER_TASK, FREE_TASK] }, { subgraphs: [{ end: ['free'] }] }],
  ])('does not keep a run from opening for a task %s', async (_, { tasks }, input) => {
    const world = await graphWorld({ nodes: [['compute']] });
    await world.upload(tasks);
    const { transaction, graphs } = await world.start(input);
    planOf(await world.plan_graph({ transaction, graph: graphs[0]!.transaction, room: 100 }));
  });

  it('is refused in a plan although the role is an expression that no upload can see', async () => {
    const tasks = [{ ...shell, id: 'a', roles: { yaql_exp: "'master'" } }];
    const stored = await operations();
    await stored.create(stored.owner, 'extra', { body: { tasks } }, 'otto');
    const world = await graphWorld({ nodes: [['compute']] });
    await world.upload(tasks);
    const { transaction, graphs } = await world.start();
    expect(await world.plan_graph({ transaction, graph: graphs[0]!.transaction, room: 100 })).toMatchObject({
      ok: false,
      failure: { kind: 'plan-refused', problems: [expect.stringContaining('--site _installation --node master')] },
    });
  });

  it('is explained with the same problem', async () => {
    const world = await graphWorld({ nodes: [['compute']], site: 'dc1' });
    await world.upload(NEEDING[0]![1] as never);
    const plans = new PlanOperations({ store: world.store } as unknown as OpsDependencies);
    const { warnings } = await plans.explain(world.cluster, { type: 'default' });
    expect(warnings.filter(({ code }) => code === CODE)).toMatchObject([{ severity: 'error', ...ofMaster(['a']) }]);
  });

  it.each([{}, { site: 'dc1' }])('runs where agent.master allows it, on one agent for all clusters: %o', async (of) => {
    const world = await graphWorld({ nodes: [['compute']], masterAllowed: true, ...of });
    await world.upload(NEEDING[0]![1] as never);
    const { transaction, graphs } = await world.start();
    const plan = planOf(await world.plan_graph({ transaction, graph: graphs[0]!.transaction, room: 100 }));
    const part = await loadWhole<ExecutablePart>(world, plan.hash, 0, plan.parts[0]!.chunks);
    expect([part.queues, part.agents]).toEqual([['node._installation.master'], ['master']]);
    const order = await world.store.plans.getOrder(plan.hash, 'master', 'a');
    expect(order).toMatchObject({ site: '_installation', uid: 'master' });
  });

  it.each(FREE)('is none with %s', async (_, tasks) => {
    const stored = await operations();
    await stored.create(stored.owner, 'extra', { body: { tasks } }, 'otto');
    const world = await graphWorld({ nodes: [['compute']] });
    await world.upload(tasks as never);
    const { transaction, graphs } = await world.start();
    planOf(await world.plan_graph({ transaction, graph: graphs[0]!.transaction, room: 100 }));
  });
});
