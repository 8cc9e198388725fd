import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openPlanner } from '../../../src/clusters/planning/index.ts';
import type { OpsDependencies } from '../../../src/ops/dependencies.ts';
import { PlanOperations } from '../../../src/ops/graphs/plans.ts';
import { graphWorld, MASTER_IP, planOf } from '../activities/graph-world.ts';
import type { Json } from '../graph/recorded.ts';

it('the plan of the API equals that of a run: addresses and user functions are the same', async () => {
  const planner = await openPlanner(fileURLToPath(new URL('../clusters/planning/functions.mjs', import.meta.url)));
  try {
    const world = await graphWorld({ nodes: [['compute']], site: 'dc1', planner });
    await world.upload([
      {
        id: 'greet',
        type: 'shell',
        version: '2.1.0',
        roles: '/.*/',
        parameters: {
          cmd: 'curl http://{MASTER_IP}/',
          greeting: { yaql_exp: 'greeting()' },
          address: { yaql_exp: '$.master_ip' },
          timeout: 5,
        },
      },
    ]);
    const started = await world.start();
    const { transaction: graph } = started.graphs[0]!;
    const { hash } = planOf(await world.plan_graph({ transaction: started.transaction, graph, room: 2_500 }));
    const order = (await world.store.plans.getOrder(hash, 'rack-1', 'greet')) as Json;

    const deps = { store: world.store, planner, masterIp: MASTER_IP };
    const operations = new PlanOperations(deps as unknown as OpsDependencies);
    const { tasks_graph } = JSON.parse(await operations.serialized(world.cluster, { type: 'default' }, {})) as Json;
    const [shown] = tasks_graph[String(world.nodes[0])] as Json[];
    expect(order.parameters).toMatchObject({
      cmd: `curl http://${MASTER_IP}/`,
      greeting: 'hello from a helper',
      address: MASTER_IP,
    });
    expect(shown!.parameters).toMatchObject(order.parameters);
  } finally {
    await planner.close();
  }
});
