import { describe, expect, it } from 'vitest';
import { planCluster } from '../../../src/clusters/plan-cluster.ts';
import { readClusterSources, readGraphLayers } from '../../../src/clusters/read-sources.ts';
import { oldStatesOf } from '../../../src/clusters/state/old-states.ts';
import type { ExecutablePart } from '../../../src/core/graph-run/plan-reference.ts';
import { serializedGraph } from '../../rig/serialized-graph.ts';
import { RELEASE_ROLES, RELEASE_TAGS } from '../clusters/six-nodes.ts';
import { type Json, recorded, withChoice } from '../graph/recorded.ts';
import { graphWorld, loadWhole, MASTER_IP, planOf } from './graph-world.ts';

/** The recorded six nodes, with the ids they have there, their data uploaded. */
async function recordedCluster(form: 'raw' | 'normalized') {
  const world = await graphWorld({
    roles: RELEASE_ROLES,
    tags: RELEASE_TAGS,
    nodes: [['controller'], ['controller'], ['controller'], ['compute'], ['compute'], ['ceph-osd']],
    idsFrom: { cluster: 3, node: 8 },
    masterAllowed: true,
  });
  await world.upload(recorded(`tasks.${form}.json`) as Json[]);
  const { deployment_info } = recorded('cluster.six.json') as Json;
  const { any_choices } = recorded('expected/six.default.json') as Json;
  await world.store.clusters.update(world.cluster, {
    deploymentInfo: deployment_info,
    anyChoices: Object.fromEntries((any_choices as Json[]).map((one, at) => [String(at), one])),
  });
  return world;
}

const planNow = async ({ store, cluster }: Awaited<ReturnType<typeof recordedCluster>>) => {
  const sources = await readClusterSources(store, cluster);
  const layers = await readGraphLayers(store, sources, 'default');
  const old = oldStatesOf(sources, await store.taskStates.read(cluster));
  const planned = planCluster(sources, layers, { type: 'default' }, { old, surroundings: { masterIp: MASTER_IP } });
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return planned;
};

describe('the recorded cluster of six nodes, in a store', () => {
  it.each(['raw', 'normalized'] as const)('gives the recorded result for %s tasks', async (form) => {
    const { plan } = await planNow(await recordedCluster(form));
    // The recorded choice has no ntp-server: another candidate is chosen.
    const expected = withChoice(recorded('expected/six.default.json') as Json, '8');
    expect(serializedGraph(plan)).toEqual(expected);
  });

  it('a second run without changes runs only tasks without a condition on changes', async () => {
    const world = await recordedCluster('raw');
    const started = await world.start();
    const graph = started.graphs[0]!.transaction;
    const reference = planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
    const part = await loadWhole<ExecutablePart>(world, reference.hash, 0, reference.parts[0]!.chunks);
    expect(part.graph.nodes).toEqual(['8', '9', '10', '11', '12', '13', 'master', 'null']);
    const waiting = await world.store.taskHistory.list(graph, { statuses: ['waiting'] });
    await world.record_tasks({
      transaction: started.transaction,
      graph,
      part: 0,
      sequence: 1,
      rows: waiting.map(({ task, node }) => ({ task, node, status: 'success' as const, attempt: 1 })),
    });
    const nodes = Object.fromEntries(world.nodes.map((id) => [String(id), 'success' as const]));
    await world.close_graph({ transaction: started.transaction, graph, outcome: 'success', nodes, done: 0 });
    await world.close(started);

    const { plan } = await planNow(world);
    const running = plan.instances.filter(({ skip }) => skip === undefined);
    expect([...new Set(running.map(({ id }) => id))].sort()).toEqual([
      'copy_keys',
      'create_resources',
      'generate_keys',
      'heat-cfn-keystone',
      'openstack-haproxy',
      'rsync_core_puppet',
    ]);
    expect((await world.store.clusters.get(world.cluster)).primaries).toMatchObject({ controller: 8, database: 8 });
  });
});
