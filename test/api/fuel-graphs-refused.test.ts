import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { normaliseTask } from '../../src/graph/index.ts';
import { endStoredRun } from '../rig/ended-run.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import type { ApiRig } from './api-rig.ts';
import { type Environment, environment, myTask, recorded } from './fuel-graphs-rig.ts';

/* Refusals of a run's workflow when it opens the run, as the API answers them. */

let rig: TemporalRig;
let system: LivingCluster;
let env: Environment;
let made = 0;

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  system = await livingCluster(rig);
  await system.store.migrate();
});
afterAll(async () => {
  for (const { workflow_id, id } of (await ask('GET', `${api}/runs?open=true`)).body.items)
    await rig.client.workflow
      .getHandle(workflow_id, id)
      .terminate('the test is over')
      .catch(() => undefined);
  await system.close();
  await rig.close();
});
beforeEach(async () => {
  env = await environment(system.store, `refused${++made}`);
  await system.store.graphs.put({ kind: 'cluster', id: env.cluster }, 'custom', {
    tasks: [normaliseTask({ ...myTask, requires: [] })],
  });
});

const api = '/api/v1';
const ask: ApiRig['ask'] = (...given) => system.ask(...given);
const execute = (body: object) => ask('POST', `${api}/graphs/execute/`, { cluster: env.cluster, ...body });

describe('executing graphs', () => {
  it('is refused wherever the reference refuses, and for requests that broke it (500)', async () => {
    for (const index of [130, 131, 132, 133, 134, 135, 136, 137, 138, 139]) {
      const { request, status } = recorded(index, 'POST', '/graphs/execute/');
      const body = { ...(request as { cluster?: unknown }) };
      if (body.cluster === 1) body.cluster = env.cluster;
      const answer = await ask('POST', `${api}/graphs/execute/`, body);
      expect([index, answer.status]).toEqual([index, status === 500 ? 400 : status]);
      expect(answer.body.detail.length).toBeGreaterThan(5);
    }
  });

  it('of nodes of another cluster is refused with their ids (500 in the reference)', async () => {
    const stranger = await environment(system.store, `stranger${made}`);
    expect(await execute({ graphs: [{ type: 'custom', nodes: [env.nodes[0], ...stranger.nodes] }] })).toMatchObject({
      status: 400,
      body: { detail: `Nodes ${stranger.nodes.join(', ')} do not belong to the same cluster ${env.cluster}` },
    });
  });

  it('of an unknown type is refused, naming the known types (202 in the reference)', async () => {
    expect(await execute({ graphs: [{ type: 'custm' }] })).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringContaining("no deployment tasks for graph type 'custm'"),
        hint: "Did you mean 'custom'? Known types: custom, default.",
        errors: [{ path: 'graphs[0].type' }],
      },
    });
  });

  it.each<[string, object, RegExp]>([
    ['tasks that are not there', { graphs: [{ type: 'custom', tasks: ['zz'] }] }, /^Tasks zz are not present/],
    ['an unknown inner key', { graphs: [{ type: 'custom', node: [1] }] }, /unknown field 'node'/],
    ['both modes at once', { graphs: [{ type: 'custom' }], dry_run: true, noop_run: true }, /exclude each other/],
    [
      'a subgraph of no task',
      { graphs: [{ type: 'custom' }], subgraphs: [{ start: ['zz/1'] }] },
      /^'zz\/1' matches no task/,
    ],
    [
      'a subgraph without ends',
      { graphs: [{ type: 'custom' }], subgraphs: [{ start: [null], end: [null] }] },
      /neither/,
    ],
    ['graphs and an earlier run', { graphs: [{ type: 'custom' }], from: 1 }, /exclude each other/],
    [
      'a rollout of a role that the cluster does not have',
      { graphs: [{ type: 'custom' }], rollouts: { compte: { first: 1 } } },
      /no role 'compte'/,
    ],
    ['the same type twice', { graphs: [{ type: 'custom' }, { type: 'custom' }] }, /twice/],
  ])('is refused for %s', async (_, body, message) => {
    expect(await execute(body)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(message) } });
  });

  it('is refused on a cluster with problems, listing all of them, unless it is forced', async () => {
    const { store } = system;
    const [controller, compute] = env.nodes;
    await store.releases.update(env.release, {
      rolesMetadata: {
        controller: { name: 'controller', conflicts: ['compute'], limits: { min: 2 } },
        compute: { name: 'compute', restrictions: [{ condition: 'cluster:mode == "multinode"', message: 'no HA' }] },
      },
    });
    await store.nodes.update(controller, { roles: ['controller', 'compute'], online: false });
    const checks = (await ask('GET', `${api}/clusters/${env.cluster}/checks`)).body;
    expect(checks.ok).toBe(false);
    const wrong = await execute({ graphs: [{ type: 'default' }] });
    const codes = (answer: typeof wrong) => answer.body.errors.map(({ code }: { code: string }) => code).sort();
    expect([wrong.status, codes(wrong)]).toEqual([
      400,
      ['check.nodes-offline', 'check.role-below-minimum', 'check.role-conflict', 'check.role-restricted'],
    ]);
    expect(wrong.body.detail).toContain("Role 'controller' in conflict with role 'compute'.");
    expect(wrong.body.detail).toContain("Role 'compute' restrictions mismatch: no HA");
    expect(wrong.body.detail).toContain(`Nodes "${(await store.nodes.get(controller)).name}" are offline.`);
    // For another graph, neither offline nodes nor limits matter.
    expect(codes(await execute({ graphs: [{ type: 'custom' }] }))).toEqual([
      'check.role-conflict',
      'check.role-restricted',
    ]);
    expect(codes(await execute({ graphs: [{ type: 'custom', nodes: [compute] }] }))).toEqual(['check.role-restricted']);
    const forced = await execute({ graphs: [{ type: 'custom' }], force: true });
    expect([forced.status, forced.body.warnings.map(({ code }: { code: string }) => code).sort()]).toEqual([
      202,
      [
        'check.no-agent',
        'check.nodes-offline',
        'check.role-below-minimum',
        'check.role-conflict',
        'check.role-restricted',
      ],
    ]);
  });

  it('continues only from a run of the cluster that ended with tasks left', async () => {
    expect(await execute({ from: 9999 })).toMatchObject({
      status: 404,
      body: {
        detail: expect.stringMatching(new RegExp(`^run 9999 is not of cluster ${env.cluster} \\(.+\\)$`)),
        errors: [{ path: 'from' }],
      },
    });
    const { run, graphs } = await system.store.transactions.createRun({
      clusterId: env.cluster,
      graphs: [{ graphType: 'custom' }],
      workflowId: `execute_graph:${env.cluster}:x`,
      temporalRunId: `run-${made}`,
    });
    for (const { id } of graphs) await system.store.transactions.update(id, { status: 'success' });
    await endStoredRun(system.store, run.id, 'success');
    expect(await execute({ from: run.id })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`run ${run.id} `), errors: [{ path: 'from' }] },
    });
    const other = await environment(system.store, `other${made}`);
    expect(await execute({ cluster: other.cluster, from: run.id })).toMatchObject({ status: 404 });
  });

  it('by a sequence is refused on a cluster of another release', async () => {
    const { id } = (
      await ask('POST', `${api}/sequences/`, { name: 's', release: env.release, graphs: [{ type: 'custom' }] })
    ).body;
    const other = await environment(system.store, `elsewhere${made}`);
    expect(await ask('POST', `${api}/sequences/${id}/execute/`, { cluster: other.cluster })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining(`belongs to release ${env.release}`) },
    });
  });

  it('leaves no run behind when it is refused', async () => {
    await execute({ graphs: [{ type: 'custm' }] });
    expect((await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body).toEqual([]);
    expect(
      (await ask('GET', `${api}/runs`)).body.items.filter(
        ({ labels }: { labels: { cluster?: string } }) => labels.cluster === String(env.cluster),
      ),
    ).toEqual([]);
  });
});

describe('deploying a cluster', () => {
  const put = (path: string, body: unknown = {}) => ask('PUT', `${api}/clusters/${env.cluster}/${path}`, body);

  it('needs a graph with tasks, existing nodes, and a list of tasks where one is required', async () => {
    expect(await put('deploy/?graph_type=nosuch')).toMatchObject({
      status: 400,
      body: {
        detail: `There are no deployment tasks for graph type 'nosuch'. Checked cluster (ID=${env.cluster}), its plugins and release (ID=${env.release}).`,
      },
    });
    expect(await put('deploy/')).toMatchObject({ status: 400 });
    expect(await put('provision/')).toMatchObject({ status: 400 });
    expect(await put('changes')).toMatchObject({ status: 400 });
    expect(await put('deploy/?nodes=9999')).toMatchObject({
      status: 404,
      body: { detail: 'NodeCollection not found' },
    });
    expect(await put('deploy_tasks/?graph_type=custom', ['zz'])).toMatchObject({
      status: 400,
      body: { detail: recorded(179, 'PUT', '/clusters/1/deploy_tasks/?graph_type=custom').response.message },
    });
    expect(await put('deploy_tasks/?graph_type=custom', {})).toMatchObject({
      status: 400,
      body: { detail: 'Tasks list must be specified.' },
    });
    expect(await put('deploy/?force=maybe')).toMatchObject({ status: 400 });
    expect(await put('stop_deployment/')).toMatchObject({ status: 400, body: { detail: 'Nothing to stop' } });
    expect(await ask('PUT', `${api}/clusters/9999/deploy/`, {})).toMatchObject({
      status: 404,
      body: { detail: 'Cluster not found' },
    });
  });
});
