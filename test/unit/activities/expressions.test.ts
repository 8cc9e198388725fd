import { createTaskEngine, TaskScope } from '@sitewright/yaql';
import { describe, expect, it } from 'vitest';
import { planCluster } from '../../../src/clusters/plan-cluster.ts';
import { readClusterSources, readGraphLayers } from '../../../src/clusters/read-sources.ts';
import { clusterStates } from '../../../src/clusters/state/cluster-state.ts';
import { StateData } from '../../../src/graph/index.ts';
import { graphWorld, MASTER_IP, planOf } from './graph-world.ts';

const SHELL = { id: 'touch', type: 'shell', version: '2.1.0', roles: '*', parameters: { cmd: 'true' } };
const ATTRIBUTES = { rack: { name: { value: 'r1', type: 'text' } } };
const scheme = (via: string) => ({
  endpoints: { 'br-ex': { IP: ['10.0.0.2/24'], routes: [{ net: '10.1.0.0/16', via }] } },
});

/** A controller and two computes that a run has deployed, and the values of expressions now on a node, or on none. */
async function deployed() {
  const world = await graphWorld({ nodes: [['controller'], ['compute'], ['compute']] });
  const { store, cluster, nodes } = world;
  const [controller, compute] = nodes as [number, number, number];
  const murano = (value: boolean) => ({
    editable: { additional_components: { murano: { value } }, storage: { size: { value: 1 } } },
    generated: {},
  });
  await store.clusters.update(cluster, { attributes: murano(false) });
  await store.nodes.update(controller, { labels: { testing: null } });
  await store.nodes.update(compute, { attributes: ATTRIBUTES });
  const facts = (via: string, parameter = true) => {
    const configuration = { nova_config: { parameter: { value: parameter } } };
    return { common: {}, nodes: { [compute]: { network_scheme: scheme(via), configuration } } };
  };
  await store.clusters.update(cluster, { deploymentInfo: facts('10.0.0.1') });
  await world.upload([SHELL]);
  const started = await world.start();
  const graph = started.graphs[0]!.transaction;
  planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
  const rows = nodes.map((id) => ({ task: 'touch', node: String(id), status: 'success' as const, attempt: 1 }));
  await world.record_tasks({ transaction: started.transaction, graph, part: 0, sequence: 1, rows });
  const ended = Object.fromEntries(nodes.map((id) => [String(id), 'success' as const]));
  await world.close_graph({ transaction: started.transaction, graph, outcome: 'success', nodes: ended, done: 0 });
  await world.close(started);
  const engine = createTaskEngine();
  const value = async (expression: string, node: number | null = null): Promise<unknown> => {
    const uid = node === null ? null : String(node);
    const { now, before } = clusterStates(
      await readClusterSources(store, cluster),
      await store.taskStates.read(cluster),
      { masterIp: MASTER_IP },
    );
    const old = before === null ? null : new StateData(before).of(uid);
    return new TaskScope(engine, new StateData(now).of(uid), old).evaluateToHost(expression);
  };
  return { ...world, controller, compute, value, murano, facts };
}

describe('expressions of tasks over a stored cluster', () => {
  it('see no change when nothing has changed since the last run', async () => {
    const { value, controller } = await deployed();
    for (const expression of [
      '$',
      "$.nodes.where($.role = 'compute')",
      '$.configs.nova',
      "$.nodes.where($.attribute = 'r1').network_scheme('routes')",
      "$.nodes.where($.label = 'testing')",
      '$.settings',
    ])
      expect(await value(`changed(${expression})`, controller), expression).toBe(false);
  });

  it('know the status of the cluster before the run', async () => {
    const { value, store, cluster } = await deployed();
    const known = '$.cluster.status in [operational, new, partially_deployed]';
    expect(await value(known)).toBe(true);
    expect(await value('[$.cluster.status, old($.cluster.status)]')).toEqual(['operational', 'new']);
    await store.clusters.update(cluster, { status: 'error' });
    expect(await value(known)).toBe(false);
  });

  it('notice an added or removed node, by its role', async () => {
    const { value, store, cluster, compute } = await deployed();
    const changes = "[changed($.nodes.where($.role = 'compute')), changed($.nodes.where($.role = 'controller'))]";
    const { id } = await store.nodes.create({ name: 'new' });
    await store.nodes.assign(cluster, [{ id, roles: ['compute'] }]);
    expect(await value(changes)).toEqual([true, false]);
    await store.nodes.unassign(cluster, [id]);
    expect(await value(changes)).toEqual([false, false]);
    await store.nodes.unassign(cluster, [compute]);
    expect(await value(changes)).toEqual([true, false]);
  });

  it('notice controllers that are added to ready ones', async () => {
    const { value, store, cluster, controller } = await deployed();
    const addition = `changed($.nodes.where($.status = 'ready' and 'controller' in $.roles))
and changed($.nodes.where($.status = 'discover' and 'controller' in
$.roles and $.pending_addition = true))`;
    expect(await value(addition, controller)).toBe(false);
    const { id } = await store.nodes.create({ name: 'new' });
    await store.nodes.assign(cluster, [{ id, roles: ['controller'] }]);
    expect(await value(addition, controller)).toBe(true);
    expect(await value('[$.pending_addition, $.status, $.pending_roles]', id)).toEqual([
      true,
      'discover',
      ['controller'],
    ]);
  });

  it('notice changed OpenStack configuration among the facts, and compare old with new values', async () => {
    const { value, store, cluster, facts, controller, compute } = await deployed();
    expect(await value('$.configs.nova.parameter.value', compute)).toBe(true);
    await store.clusters.update(cluster, { deploymentInfo: facts('10.0.0.1', false) });
    expect(await value('changed($.configs.nova)', compute)).toBe(true);
    const switchedOff = 'new($.configs.nova.parameter.value) = False and old($.configs.nova.parameter.value) = True';
    expect(await value(switchedOff, compute)).toBe(true);
    const empty = '[$.configs.keystone, $.configs, $.configuration]';
    expect(await value(empty, controller)).toEqual([{}, {}, {}]);
    expect(await value('[$.configs.keystone, $.configs]')).toEqual([{}, {}]);
    await store.clusters.update(cluster, { deploymentInfo: { common: {}, nodes: {} } });
    expect(await value('[changed($.configs.nova), $.configs.nova]', compute)).toEqual([true, {}]);
  });

  it('notice the network of nodes with an attribute, and the labels of nodes', async () => {
    const { value, store, cluster, facts, controller } = await deployed();
    const routes = "$.nodes.where($.attribute = 'r1').network_scheme('routes')";
    expect(await value(routes)).toEqual([{ 'br-ex': [{ net: '10.1.0.0/16', via: '10.0.0.1' }] }]);
    await store.clusters.update(cluster, { deploymentInfo: facts('10.0.0.254') });
    expect(await value(`changed(${routes})`)).toBe(true);
    expect(await value("$.nodes.network_scheme('routes').where($ = null).len()")).toBe(2);
    const labelled = "changed($.nodes.where($.label = 'testing'))";
    expect(await value(labelled)).toBe(false);
    await store.nodes.update(controller, { labels: { env: 'staging' } });
    expect(await value(labelled)).toBe(true);
    expect(
      await value("$.nodes.where($.label = 'staging' and $.label = env and $.label = 'env: staging').uid"),
    ).toEqual([String(controller)]);
  });

  it('see settings in their stored groups, and as serializers gave them', async () => {
    const { value, store, cluster, murano } = await deployed();
    const enabled = 'new($.settings.additional_components.murano.value) = True';
    expect(await value(`[${enabled}, $.murano.enabled, $.storage.size]`)).toEqual([false, false, 1]);
    await store.clusters.update(cluster, { attributes: murano(true) });
    expect(await value(`[${enabled}, $.murano.enabled]`)).toEqual([true, true]);
    expect(await value('old($.settings.additional_components.murano.value)')).toBe(false);
  });

  it('that read missing facts are reported as one problem, with the command', async () => {
    const { store, cluster, upload } = await deployed();
    const tasks = ['a', 'b', 'c'].map((id) => ({
      ...SHELL,
      id,
      condition: { yaql_exp: 'changed($.quantum_settings.keystone) and $.network_metadata.vips.management.ipaddr' },
    }));
    await upload([...tasks, { ...SHELL, id: 'd', parameters: { cmd: { yaql_exp: '$.nova.password' } } }]);
    const sources = await readClusterSources(store, cluster);
    const layers = await readGraphLayers(store, sources, 'default');
    const planned = planCluster(sources, layers, { type: 'default', nodes: [...sources.nodes.map(({ id }) => id)] });
    expect(planned.ok ? [] : planned.problems).toEqual([
      expect.objectContaining({
        code: 'graph.missing-facts',
        message:
          'tasks read missing facts: $.quantum_settings (3 tasks), $.network_metadata.vips.management (3 tasks), ' +
          '$.nova (1 task) (on nodes rack-1, rack-2, rack-3)',
        hint: expect.stringContaining(`sitewright cluster facts ${cluster} --upload FILE`),
      }),
    ]);
  });

  it('read uploaded data rather than computed data', async () => {
    const { value, store, cluster, controller } = await deployed();
    await store.clusters.update(cluster, {
      deploymentInfo: {
        common: { cluster: { status: 'given' }, nodes: [{ uid: String(controller), role: 'x' }], settings: 1 },
        nodes: { [controller]: { status: 'own', pending_addition: 'maybe' } },
      },
    });
    expect(await value('[$.cluster.status, $.settings, $.status, $.pending_addition]', controller)).toEqual([
      'given',
      1,
      'own',
      'maybe',
    ]);
    expect(await value('$.nodes.select([$.role, $.status, $.pending_deletion])')).toEqual([['x', 'own', false]]);
  });
});
