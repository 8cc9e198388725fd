import { describe, expect, it } from 'vitest';
import { readClusterSources } from '../../../src/clusters/read-sources.ts';
import type { OpsDependencies } from '../../../src/ops/dependencies.ts';
import { PlanOperations } from '../../../src/ops/graphs/plans.ts';
import type { Store } from '../../../src/store/index.ts';
import { graphWorld, planOf, row, type StartedRun } from './graph-world.ts';

const NOTE = { reason: 'a broken disk', by: 'nina', since: '2026-11-21T09:30:00.000Z' };
const SAID = 'it has been in maintenance since 2026-11-21 09:30 UTC (nina: a broken disk)';

const begin = (store: Store, site: string, node: string) => store.nodeMaintenance.begin({ site, node, ...NOTE });

async function threeNodes(site?: string) {
  const world = await graphWorld({
    nodes: [['compute'], ['compute'], ['compute']],
    ...(site === undefined ? {} : { site }),
  });
  const task = { id: 'a', type: 'shell', version: '2.1.0', roles: ['compute'], parameters: { cmd: 'a', timeout: 5 } };
  await world.upload([{ ...task, condition: { yaql_exp: 'changed($.setting)' } }]);
  await set(world.store, world.cluster, 1);
  return world;
}

const set = (store: Store, cluster: number, value: number) =>
  store.clusters.update(cluster, { attributes: { editable: { common: { setting: { value } } } } });

const ofGraph = ({ transaction, graphs }: StartedRun) => ({ transaction, graph: graphs[0]!.transaction });

/** Runs the graph to its end; the nodes on which its task ran. */
async function ran(world: Awaited<ReturnType<typeof threeNodes>>, run: string) {
  const started = await world.start({}, run);
  const of = ofGraph(started);
  const { warnings } = planOf(await world.plan_graph({ ...of, room: 2_500 }));
  const planned = await world.store.taskHistory.list(of.graph);
  const nodes = planned.filter(({ status }) => status !== 'skipped').map(({ node }) => node);
  await world.record_tasks({ ...of, part: 0, sequence: 1, rows: nodes.map((node) => row('a', node, 'success')) });
  const ended = Object.fromEntries(nodes.map((node) => [node, 'success' as const]));
  await world.close_graph({ ...of, outcome: 'success', nodes: ended, done: 0 });
  await world.close(started);
  return { nodes, warnings };
}

describe('a node of a cluster in maintenance', () => {
  it.each([
    ['by its id', undefined, '2'],
    ['by its name in the documents of a site', 'dc1', 'rack-2'],
  ])('put there %s is left out of plans, which say why', async (_how, site, node) => {
    const world = await threeNodes(site);
    await begin(world.store, site ?? '', node);
    const sources = await readClusterSources(world.store, world.cluster);
    expect(sources.nodes.map(({ maintenance }) => maintenance)).toEqual([undefined, NOTE, undefined]);
    const started = await world.start();
    const plan = planOf(await world.plan_graph({ ...ofGraph(started), room: 2_500 }));
    expect(plan.nodes).toBe(2);
    expect(plan.warnings).toContain(`node rack-2 is left out: ${SAID}`);
  });

  it('that a run names is refused, with the next step; a plan, too', async () => {
    const world = await threeNodes();
    await begin(world.store, '', '2');
    const hint = 'Leave it out, or end its maintenance: sitewright node maintenance off 2';
    const message = `node rack-2 has been in maintenance since 2026-11-21 09:30 UTC (nina: a broken disk)`;
    expect(await world.refused({ graphs: [{ type: 'default', nodes: [1, 2] }] })).toMatchObject({
      kind: 'request-refused',
      errors: [{ code: 'graph.node-in-maintenance', message, hint, path: 'graphs[0].nodes' }],
    });
    const plans = new PlanOperations({ store: world.store } as OpsDependencies);
    await expect(plans.explain(world.cluster, { type: 'default', nodes: [2] })).rejects.toMatchObject({
      problem: { code: 'conflict', message, hint },
    });
    const { tasks_graph } = JSON.parse(await plans.serialized(world.cluster, { type: 'default' }, {}));
    expect(Object.keys(tasks_graph).sort()).toEqual(['1', '3', 'null']);
  });

  it('that is offline refuses nothing: who works on it may have switched it off', async () => {
    const world = await threeNodes();
    await world.store.nodes.update(2, { online: false });
    expect(await world.refused()).toMatchObject({ errors: [{ code: 'check.nodes-offline' }] });
    await begin(world.store, '', '2');
    const started = await world.start({}, 'run-2');
    const plan = planOf(await world.plan_graph({ ...ofGraph(started), room: 2_500 }));
    expect(plan.warnings).toContain(`node rack-2 is left out: ${SAID}`);
  });

  it('misses what runs do meanwhile, and has it in its plan afterwards', async () => {
    const world = await threeNodes();
    expect((await ran(world, 'run-1')).nodes).toEqual(['1', '2', '3']);
    await set(world.store, world.cluster, 2);
    await begin(world.store, '', '2');
    expect((await ran(world, 'run-2')).nodes).toEqual(['1', '3']);
    await world.store.nodeMaintenance.end({ site: '', node: '2' });
    expect(await ran(world, 'run-3')).toEqual({ nodes: ['2'], warnings: [] });
  });

  it('that is deleted from the inventory, or whose site is, is in maintenance no more', async () => {
    const { store, nodes, cluster } = await threeNodes();
    await store.nodes.unassign(cluster, nodes);
    await begin(store, '', '2');
    await store.nodes.delete(2);
    await store.sites.create({ name: 'gone' });
    await begin(store, 'gone', 'n1');
    await store.sites.delete('gone');
    expect(await store.nodeMaintenance.list()).toEqual([]);
  });
});
