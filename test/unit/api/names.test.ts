import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApi, type Api as Server } from '../../../src/api/index.ts';
import { API } from '../../../src/core/contracts/api.ts';
import { namedIdsOf } from '../../../src/core/contracts/named-ids.ts';
import type { Route } from '../../../src/core/contracts/route.ts';
import { NAMED_KINDS, type NamedKind } from '../../../src/core/names.ts';
import { createOperations } from '../../../src/ops/index.ts';
import { taskInRun } from '../../../src/ops/named-in-run.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { openapiCheck } from '../../rig/openapi-check.ts';

let store: Store;
let api: Server;
const ids = {} as Record<NamedKind, number>;
const NAMES: Readonly<Record<NamedKind, string>> = {
  cluster: 'lab',
  node: 'web3',
  release: 'noble',
  plugin: 'ceph',
  sequence: 'nightly',
};

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
  // So that no id equals another's.
  await store.releases.create({ name: 'other', version: '1', operatingSystem: 'Ubuntu' });
  const release = await store.releases.create({ name: 'noble', version: '2', operatingSystem: 'Ubuntu' });
  const cluster = await store.clusters.create({ name: 'lab', releaseId: release.id });
  const plugin = await store.plugins.create({ name: 'ceph', version: '1', packageVersion: '5.0.0' } as never);
  for (const name of ['web1', 'web2', 'web3'])
    await store.nodes.create({ name, hostname: `${name}.example.com`, status: 'ready' } as never);
  const nodes = await store.nodes.list();
  const node = nodes.find(({ name }) => name === 'web3')!;
  await store.clusters.get(cluster.id);
  await store.nodes.assign(cluster.id, [{ id: node.id, roles: [] }] as never).catch(() => undefined);
  const sequence = await store.sequences.create({
    releaseId: release.id,
    name: 'nightly',
    graphs: [{ type: 'default' }],
  });
  Object.assign(ids, {
    ...{ cluster: cluster.id, node: node.id, release: release.id, plugin: plugin.id, sequence: sequence.id },
  });
  const operations = createOperations({
    store,
    temporal: {} as never,
    maas: () => {
      throw new Error('names need no MAAS');
    },
  });
  api = await createApi(operations, { log: pino({ level: 'silent' }), version: '1', checkAnswer: openapiCheck() });
});
afterAll(async () => {
  await api.close();
  await store.close();
});

const routes = Object.entries(API as unknown as Readonly<Record<string, Route>>);
const fieldsOf = (schema: unknown) => (schema instanceof z.ZodObject ? Object.entries(schema.shape) : []);

/** Every place in a path where an id of something with a name is taken, once for each route. */
const IN_PATHS = routes.flatMap(([at, { params }]) =>
  fieldsOf(params).flatMap(([field, schema]) => {
    const named = namedIdsOf(schema);
    // Runs have numbers and workflow ids: test/api/fuel-graphs-runs.test.ts.
    return named === undefined || named.kind === 'run' ? [] : [[at, field, named.kind] as const];
  }),
);
const READS = IN_PATHS.filter(([at]) =>
  /^GET \/[a-z]+\/:id(\/(tags|roles|attributes|deployment_graphs|releases))?$/.test(at),
);

const urlOf = (at: string, id: string) => `/api/v1${at.replace(/^\w+ /, '').replace(':id', encodeURIComponent(id))}`;
const get = async (url: string) => {
  const answer = await api.inject({ url });
  return { status: answer.statusCode, body: answer.json<{ message?: string; hint?: string }>() };
};

describe('a name in place of an id', () => {
  it('is taken by every route whose path has an id of something with a name', () => {
    expect(new Set(IN_PATHS.map(([, , kind]) => kind))).toEqual(new Set(NAMED_KINDS));
    // No path has an id that is described as one of these, and takes no name.
    const described = routes.flatMap(([at, { params, query }]) =>
      [...fieldsOf(params), ...fieldsOf(query)].flatMap(([field, schema]) => {
        const text = (schema as z.ZodType).description ?? '';
        const of = NAMED_KINDS.find((kind) => text.startsWith(`Id of the ${kind}`));
        return of !== undefined && namedIdsOf(schema)?.kind !== of ? [`${at} ${field}`] : [];
      }),
    );
    expect(described).toEqual([]);
    expect(READS.length).toBeGreaterThan(8);
  });

  it.each(READS)('gives the same answer: %s', async (at, _field, kind) => {
    const byId = await get(urlOf(at, String(ids[kind])));
    expect(byId.status).toBe(200);
    expect(await get(urlOf(at, NAMES[kind]))).toEqual(byId);
  });

  it.each(IN_PATHS.filter(([at]) => at.startsWith('GET ')))(
    'that is unknown is an error with a suggestion: %s',
    async (at, _field, kind) => {
      const { status, body } = await get(
        urlOf(at.replace(':type', 'default').replace(':name', 'x'), `${NAMES[kind]}x`),
      );
      expect([status, body.message]).toEqual([404, expect.stringMatching(`^there is no ${kind} '${NAMES[kind]}x'`)]);
      expect(body.hint).toBe(`Did you mean '${NAMES[kind]}'?`);
    },
  );

  it('is taken in queries, in lists, in bodies, and by a host name or a name with its version', async () => {
    const listed = async (url: string) => (await api.inject({ url })).json<{ id: number }[]>().map(({ id }) => id);
    expect(await listed('/api/v1/nodes?ids=web3,web1.example.com')).toHaveLength(2);
    expect(await listed('/api/v1/sequences/?release=noble')).toEqual([ids.sequence]);
    expect((await get('/api/v1/releases/noble%202')).body).toMatchObject({ id: ids.release });
    const made = await api.inject({
      method: 'POST',
      url: '/api/v1/clusters',
      payload: { name: 'second', release_id: 'noble', nodes: ['web1'] },
    });
    expect(made.json()).toMatchObject({ release_id: ids.release });
    expect(await get('/api/v1/nodes?ids=web3,web9')).toMatchObject({
      status: 400,
      body: {
        message: expect.stringContaining('Comma-separated numbers list expected'),
        hint: expect.stringContaining("Did you mean 'web1'"),
        errors: [{ message: "there is no node 'web9'", path: 'query.ids' }],
      },
    });
    // Numbers stay what they are.
    expect((await get('/api/v1/clusters/0')).status).toBe(400);
    expect((await get('/api/v1/clusters/999')).status).toBe(404);
  });

  it('is the node of a task of a run; an unknown task or node is an error with a suggestion', async () => {
    const { run, graphs } = await store.transactions.createRun({
      ...{ clusterId: ids.cluster, graphs: [{ graphType: 'default' }], workflowId: 'execute_graph:x' },
    } as never);
    await store.taskHistory.plan(graphs[0]!.id, [{ node: String(ids.node), task: 'web-install' }]);
    const of = { cluster: ids.cluster, transaction: run.id };
    const asked = (task: string, node: string) => taskInRun(store, of, { task, node });
    const inCluster = (await store.nodes.list({ clusterId: ids.cluster })).map(({ name }) => name);
    expect(inCluster).toContain('web3');
    for (const node of ['web3', 'web3.example.com', String(ids.node)])
      expect(await asked('web-install', node)).toEqual({ task: 'web-install', node: String(ids.node) });
    await expect(asked('web-instal', 'web3')).rejects.toMatchObject({
      problem: { code: 'not-found', hint: "Did you mean 'web-install'?" },
    });
    await expect(asked('web-install', 'wb3')).rejects.toMatchObject({
      problem: { code: 'not-found', hint: expect.stringContaining("'web3'") },
    });
  });
});
