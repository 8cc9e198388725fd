import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OUTCOMES, STATES } from '../../src/core/outcomes.ts';
import { TRANSACTION_STATUSES } from '../../src/core/words.ts';
import { normaliseTask } from '../../src/graph/index.ts';
import type { RunTransactions } from '../../src/store/index.ts';
import { endStoredRun } from '../rig/ended-run.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';
import { type Environment, environment, myTask, recorded } from './fuel-graphs-rig.ts';

let rig: ApiRig;
let env: Environment;
let made = 0;

beforeAll(async () => {
  rig = await apiAlone();
});
afterAll(() => rig.close());
beforeEach(async () => {
  env = await environment(rig.store, `run${++made}`);
  await rig.store.graphs.put({ kind: 'cluster', id: env.cluster }, 'custom', {
    tasks: [normaliseTask({ ...myTask, requires: [] })],
  });
});

const api = '/api/v1';
const ask: ApiRig['ask'] = (...given) => rig.ask(...given);
const execute = (body: object) => ask('POST', `${api}/graphs/execute/`, { cluster: env.cluster, ...body });

/** A run as `execute` writes it, with one planned graph: two tasks on a node, one on none. */
async function runningRun(): Promise<RunTransactions> {
  const { transactions, taskHistory } = rig.store;
  const created = await transactions.createRun({
    clusterId: env.cluster,
    graphs: [{ graphType: 'custom' }, { graphType: 'default' }],
    workflowId: `execute_graph:${env.cluster}:x`,
    temporalRunId: `run-${made}`,
    startedBy: 'nina',
  });
  const [first] = created.graphs;
  const id = first!.id;
  await transactions.update(id, { status: 'running' });
  const definitions = [myTask, { id: 'rel-only', type: 'shell', role: ['/.*/'] }, { id: 'nowhere', type: 'shell' }];
  await transactions.putSnapshot(id, 'tasks', JSON.stringify(definitions.map(normaliseTask)));
  await transactions.putSnapshot(id, 'deployment_info', '{"common":{"big":12345678901234567890},"nodes":{"1":{}}}');
  await taskHistory.plan(id, [
    { node: '1', task: 'my-task' },
    { node: '1', task: 'rel-only' },
  ]);
  return created;
}

describe('executing graphs', () => {
  it('leaves no run behind when Temporal is unreachable', async () => {
    expect(await execute({ graphs: [{ type: 'custom' }] })).toMatchObject({
      status: 503,
      body: { code: 'temporal-unreachable' },
    });
    expect((await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body).toEqual([]);
  });

  it('is refused for the shape of its request before Temporal is asked', async () => {
    const both = await execute({ graphs: [{ type: 'custom' }], dry_run: true, noop_run: true });
    expect(both).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/exclude each other/) } });
  });
});

it('says which system it is: its store, since when, its Temporal, and whether it has anything', async () => {
  const { status, body } = await ask('GET', `${api}/system`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ store: expect.stringMatching(/^(sqlite|postgres) at ./), empty: false });
  const { applied } = await rig.store.status();
  expect(body.since).toBe(applied.map(({ appliedAt }) => appliedAt).toSorted()[0]);
});

describe('a run', () => {
  it('is named by its id, its number or its workflow, and an unknown one is an error with the next step', async () => {
    const id = `named${made}`;
    const { number } = await rig.store.runs.put({
      ...{ id, sequence: 1, kind: 'deploy_site', phase: 'finished', outcome: 'success', site: 'dc1' },
      ...{ workflowId: `deploy_site:named${made}`, startedAt: new Date(0).toISOString() },
    });
    for (const which of [id, String(number), `deploy_site:named${made}`]) {
      const { status, body } = await ask('GET', `${api}/runs/${which}/nodes`);
      expect([which, status, body]).toEqual([which, 200, { items: [] }]);
      expect((await ask('GET', `${api}/runs/${which}`)).body.id).toBe(id);
    }
    expect(await ask('GET', `${api}/runs/99999`)).toMatchObject({
      status: 404,
      body: { detail: 'there is no run 99999', hint: "'sitewright run list' shows runs, with their numbers." },
    });
  });
});

describe('an unknown name', () => {
  it('of a site, a graph or a token is an error with a suggestion', async () => {
    await rig.store.sites.create({ name: `berlin${made}` }).catch(() => undefined);
    const hintOf = async (method: 'GET' | 'DELETE', path: string) => (await ask(method, `${api}${path}`)).body.hint;
    expect(await hintOf('GET', `/sites/berlim${made}`)).toBe(`Did you mean 'berlin${made}'?`);
    const graphs = `/clusters/${env.cluster}/deployment_graphs`;
    expect(await hintOf('GET', `${graphs}/custmo`)).toBe("Did you mean 'custom'?");
  });
});

describe('the runs of a cluster', () => {
  it('are listed by the cluster’s id or name, without those of others', async () => {
    const other = await environment(rig.store, `other${made}`);
    const { name } = await rig.store.clusters.get(env.cluster);
    for (const [id, cluster] of [
      ['mine', env.cluster],
      ['theirs', other.cluster],
    ] as const)
      await rig.store.runs.put({
        ...{ id: `${id}${made}`, sequence: 1, kind: 'execute_graph', phase: 'custom: running' },
        workflowId: `execute_graph:${cluster}:${id}`,
        startedAt: new Date(0).toISOString(),
        labels: { cluster: String(cluster), team: 'x' },
      });
    for (const which of [env.cluster, encodeURIComponent(name)])
      for (const more of ['', '&label=team:x', '&kind=execute_graph']) {
        const { items } = (await ask('GET', `${api}/runs?cluster=${which}${more}`)).body;
        expect(items.map(({ id }: { id: string }) => id)).toEqual([`mine${made}`]);
      }
    expect((await ask('GET', `${api}/runs?cluster=${env.cluster}&kind=deploy_site`)).body.items).toEqual([]);
    for (const list of ['runs?cluster', 'history?cluster_id'])
      expect(await ask('GET', `${api}/${list}=99999`), list).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    expect(await ask('GET', `${api}/runs?cluster=nowhere`)).toMatchObject({
      status: 400,
      body: { detail: "there is no cluster 'nowhere'" },
    });
  });
});

describe('sequences', () => {
  const create = (body: object) => ask('POST', `${api}/sequences/`, body);

  it('are kept by release, in the shapes of the reference', async () => {
    const wanted = recorded(183, 'POST', '/sequences/');
    const { status, body } = await create({ ...(wanted.request as object), release: env.release });
    expect({ status, body }).toEqual({
      status: 201,
      body: { ...wanted.response, id: body.id, release_id: env.release },
    });
    expect(await create({ name: 's1', release: env.release, graphs: [{ type: 'custom' }] })).toMatchObject({
      status: 409,
      body: { detail: `Sequence with name "s1" already exist for release ${env.release}.` },
    });
    expect((await ask('GET', `${api}/sequences/?cluster=${env.cluster}`)).body).toEqual([body]);
    expect((await ask('GET', `${api}/sequences/${body.id}`)).body).toEqual(body);
    expect((await ask('PUT', `${api}/sequences/${body.id}/`, { name: 's1b' })).body).toEqual({ ...body, name: 's1b' });
    expect((await ask('PATCH', `${api}/sequences/${body.id}`, { graphs: [{ type: 'x' }] })).body).toMatchObject({
      name: 's1b',
      graphs: [{ type: 'x' }],
    });
    expect(await ask('DELETE', `${api}/sequences/${body.id}`)).toMatchObject({ status: 204 });
    expect(await ask('GET', `${api}/sequences/${body.id}`)).toMatchObject({
      status: 404,
      body: { detail: 'DeploymentSequence not found' },
    });
  });

  it('are refused when they name a type twice, which no run could execute', async () => {
    const graphs = [{ type: 'custom' }, { type: 'default' }, { type: 'custom' }];
    const twice = { status: 400, body: { errors: [{ path: 'body.graphs[2]', code: 'sequence.type-twice' }] } };
    const body = { name: `twice${made}`, release: env.release };
    expect(await ask('POST', `${api}/sequences/`, { ...body, graphs })).toMatchObject(twice);
    const { id } = (await ask('POST', `${api}/sequences/`, { ...body, graphs: graphs.slice(1) })).body;
    expect(await ask('PUT', `${api}/sequences/${id}`, { graphs })).toMatchObject(twice);
    expect((await ask('GET', `${api}/sequences/${id}`)).body.graphs).toEqual(graphs.slice(1));
  });

  it('are refused without graphs, without release, and without a cluster', async () => {
    expect(await create({ name: 's', release: env.release, graphs: [] })).toMatchObject({ status: 400 });
    expect(await create({ name: 's', release: 9999, graphs: [{ type: 'a' }] })).toMatchObject({ status: 404 });
    const { id } = (await create({ name: 's', release: env.release, graphs: [{ type: 'custom' }] })).body;
    expect(await ask('POST', `${api}/sequences/${id}/execute/`, {})).toMatchObject({ status: 400 });
    expect(await ask('POST', `${api}/sequences/9999/execute/`, { cluster: env.cluster })).toMatchObject({
      status: 404,
      body: { detail: 'DeploymentSequence not found' },
    });
  });
});

describe('transactions', () => {
  it('have the shape and the terms of the reference, with live progress', async () => {
    const { run, graphs } = await runningRun();
    const record = (node: string, task: string, status: 'success' | 'running') =>
      rig.store.taskHistory.record(graphs[0]!.id, [{ node, task, status, attempt: 1, sequence: 1 }]);
    await record('1', 'my-task', 'success');
    const listed = (await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body;
    const wanted = recorded(143, 'GET', '/transactions/?cluster_id=1').response;
    expect(listed.map((one: object) => Object.keys(one).sort())).toEqual(
      wanted.map((one: object) => [...Object.keys(one), 'mode', 'run', 'workflow_id'].sort()),
    );
    expect(listed).toMatchObject([
      { id: run.id, name: 'deploy', status: 'running', progress: 25, result: {}, dry_run: false },
      { name: 'deployment', graph_type: 'custom', status: 'running', progress: 50 },
      { name: 'deployment', graph_type: 'default', status: 'pending', progress: 0 },
    ]);
    const task = (await ask('GET', `${api}/tasks/${graphs[0]!.id}`)).body;
    expect(task.parent_id).toBe(run.id);
    await endStoredRun(rig.store, run.id, 'stopped', 'enough');
    expect((await ask('GET', `${api}/transactions/${run.id}/`)).body).toMatchObject({
      status: 'error',
      message: 'enough',
    });
    const failed = await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}&statuses=error`);
    expect(failed.body).toHaveLength(3);
  });

  it('are filtered by known values only', async () => {
    for (const [query, index] of [
      ['statuses=zz', 157],
      ['transaction_types=zz', 158],
    ] as const) {
      const { message } = recorded(index, 'GET', `/transactions/?${query}`).response;
      expect(await ask('GET', `${api}/transactions/?${query}`)).toMatchObject({
        status: 400,
        body: { detail: message },
      });
    }
    await runningRun();
    const of = `cluster_id=${env.cluster}`;
    expect((await ask('GET', `${api}/transactions/?${of}&transaction_types=deploy`)).body).toHaveLength(1);
    expect((await ask('GET', `${api}/transactions/?${of}&statuses=pending,running`)).body).toHaveLength(3);
    expect(await ask('GET', `${api}/transactions/9999`)).toMatchObject({
      status: 404,
      body: { detail: 'Transaction not found' },
    });
  });

  it("are in Fuel's words here, and in those of runs in the store and below /runs", async () => {
    const { transactions, runs } = rig.store;
    const { run, graphs } = await runningRun();
    const of = { clusterId: env.cluster, parentId: run.id };
    const made = new Map<number, string>();
    for (const status of TRANSACTION_STATUSES)
      made.set((await transactions.create({ ...of, name: 'deployment', status })).id, status);
    const path = `${api}/transactions/?cluster_id=${env.cluster}&transaction_types=deployment`;
    const shown = async (statuses: string) => {
      const { body } = await ask('GET', `${path}&statuses=${statuses}`);
      const listed = body as readonly { readonly id: number; readonly status: string }[];
      expect(new Set(listed.map(({ status }) => status))).toEqual(new Set([statuses]));
      return listed.flatMap(({ id }) => made.get(id) ?? []);
    };
    expect(await shown('pending')).toEqual(['waiting']);
    expect(await shown('running')).toEqual(['running']);
    expect(await shown('ready')).toEqual(['success', 'nothing_to_do']);
    const failed = ['failed', 'stopped', 'cancelled', 'terminated', 'lost', 'not_reached', 'refused'];
    expect(await shown('error')).toEqual(failed);
    const ours = `${api}/history?cluster_id=${env.cluster}&transaction_types=deployment`;
    const listed = (await ask('GET', ours)).body as readonly { readonly status: string }[];
    expect(listed.map(({ status }) => status)).toEqual(['running', 'waiting', ...made.values()]);
    expect((await ask('GET', `${ours}&statuses=lost,refused`)).body).toMatchObject([
      { status: 'lost', parent_id: run.id },
      { status: 'refused', graph_type: null },
    ]);
    expect(await ask('GET', `${ours}&statuses=ready`)).toMatchObject({ status: 400 });
    const { workflowId, temporalRunId: id } = run;
    const startedAt = new Date().toISOString();
    const kind = 'execute_graph';
    await runs.put({
      id: id!,
      number: run.id,
      sequence: 1,
      workflowId: workflowId!,
      kind,
      phase: 'custom: running',
      startedAt,
    });
    const counts = (await ask('GET', `${api}/runs/${id}/counts`)).body.graphs as readonly { readonly state: string }[];
    expect(counts.slice(0, graphs.length).map(({ state }) => state)).toEqual(['running', 'waiting']);
    expect(counts.slice(graphs.length).map(({ state }) => state)).toEqual([...made.values()]);
    for (const { state, ...others } of counts) {
      expect([...OUTCOMES, ...STATES]).toContain(state);
      expect(others).not.toHaveProperty('status');
    }
  });

  it('cannot be deleted while they run; ended ones are hidden from tasks, or deleted for good', async () => {
    const { run } = await runningRun();
    for (const path of ['transactions', 'tasks']) {
      expect(await ask('DELETE', `${api}/${path}/${run.id}`)).toMatchObject({
        status: 400,
        body: { detail: 'You cannot delete running task manually' },
      });
    }
    await endStoredRun(rig.store, run.id, 'success');
    expect(await ask('DELETE', `${api}/tasks/${run.id}`)).toMatchObject({ status: 204 });
    expect((await ask('GET', `${api}/tasks/?cluster_id=${env.cluster}`)).body).toEqual([]);
    expect((await ask('GET', `${api}/transactions/?cluster_id=${env.cluster}`)).body).toHaveLength(3);
    expect(await ask('DELETE', `${api}/transactions/${run.id}?force=1`)).toMatchObject({ status: 204 });
    expect(await ask('DELETE', `${api}/transactions/${run.id}?force=1`)).toMatchObject({ status: 404 });
  });

  it('keep the settings of their time, with the numbers as they were written', async () => {
    const { run, graphs } = await runningRun();
    for (const id of [run.id, graphs[0]!.id]) {
      const info = await rig.api.inject({ url: `${api}/transactions/${id}/deployment_info` });
      expect(info.payload).toBe('{"common":{"big":12345678901234567890},"nodes":{"1":{}}}');
    }
    expect(await ask('GET', `${api}/transactions/${run.id}/settings`)).toMatchObject({
      status: 404,
      body: { detail: `Transaction ${run.id} has no cluster settings` },
    });
    expect((await ask('GET', `${api}/transactions/${run.id}/plan`)).body).toEqual({ transaction: run.id, plans: [] });
  });
});

describe('the history of a transaction', () => {
  const history = (id: number, query = '', headers = {}) =>
    ask('GET', `${api}/transactions/${id}/deployment_history/${query}`, undefined, headers);

  it('has every task on its node with its definition, and those on none', async () => {
    const { run, graphs } = await runningRun();
    const id = graphs[0]!.id;
    await rig.store.taskHistory.record(id, [
      {
        node: '1',
        task: 'my-task',
        status: 'failed',
        attempt: 2,
        sequence: 5,
        timeStart: '2026-11-21T13:01:08.704Z',
        timeEnd: '2026-11-21T13:01:09.704Z',
        message: 'exit code 2',
        summary: { changed: 3 },
      },
    ]);
    const { body } = await history(id);
    expect(body).toEqual([
      {
        ...(recorded(146, 'GET', '/transactions/8/deployment_history/').response[1] as object),
        requires: ['rel-a'],
        node_id: '1',
        status: 'error',
        attempts: 2,
        message: 'exit code 2',
        time_start: '2026-11-21T13:01:08.704Z',
        time_end: '2026-11-21T13:01:09.704Z',
      },
      expect.objectContaining({
        task_name: 'rel-only',
        node_id: '1',
        status: 'pending',
        role: ['/.*/'],
        roles: ['/.*/'],
      }),
      expect.objectContaining({ task_name: 'nowhere', node_id: '-', status: 'skipped', time_start: null }),
    ]);
    expect((await history(run.id)).body).toEqual(body);
    expect((await history(id, '?include_summary=1')).body[0].summary).toEqual({ changed: 3 });
  });

  it('is filtered by nodes, statuses and tasks', async () => {
    const { graphs } = await runningRun();
    const names = async (query: string) =>
      (await history(graphs[0]!.id, `?${query}`)).body.map((one: { task_name: string }) => one.task_name);
    expect(await names('statuses=pending')).toEqual(['my-task', 'rel-only']);
    expect(await names('statuses=skipped')).toEqual(['nowhere']);
    expect(await names('nodes=1&tasks_names=rel-only,nowhere')).toEqual(['rel-only']);
    expect(await names('nodes=-')).toEqual(['nowhere']);
    expect(await names('statuses=ready')).toEqual([]);
    expect(await history(graphs[0]!.id, '?statuses=zz')).toMatchObject({
      status: 400,
      body: { detail: recorded(150, 'GET', '/transactions/8/deployment_history/?statuses=zz').response.message },
    });
    expect(await history(9999)).toMatchObject({ status: 404, body: { detail: 'Transaction not found' } });
  });

  it('has the words of runs below /tasks, for tasks that still wait in an ended graph too', async () => {
    const { run, graphs } = await runningRun();
    const id = graphs[0]!.id;
    const tasks = (query = '', of = id) => ask('GET', `${api}/transactions/${of}/tasks${query}`);
    const statuses = ({ body }: { body: readonly { status: string }[] }) => body.map(({ status }) => status);
    const write = { node: '1', task: 'rel-only', attempt: 1, sequence: 1 };
    await rig.store.taskHistory.record(id, [{ ...write, status: 'blocked', rootCause: { task: 'other', node: '2' } }]);
    expect(statuses(await tasks())).toEqual(['waiting', 'blocked', 'skipped']);
    expect((await tasks('?statuses=failed,blocked&nodes=1&tasks_names=my-task,rel-only')).body).toMatchObject([
      { task_name: 'rel-only', node_id: '1', role: ['/.*/'], root_cause: { task: 'other', node: '2' } },
    ]);
    expect((await tasks('?include_summary=1')).body[0].summary).toEqual({});
    await rig.store.transactions.update(id, { status: 'failed' });
    expect(statuses(await tasks())).toEqual(['not_reached', 'blocked', 'skipped']);
    expect(statuses(await tasks('', run.id))).toEqual(['not_reached', 'blocked', 'skipped']);
    expect((await tasks('?statuses=not_reached')).body).toMatchObject([{ task_name: 'my-task' }]);
    expect(statuses(await history(id))).toEqual(['pending', 'error', 'skipped']);
    expect(await tasks('?statuses=error')).toMatchObject({ status: 400 });
    expect(await tasks('', 9999)).toMatchObject({ status: 404 });
  });

  it('is CSV for clients that accept it', async () => {
    const { graphs } = await runningRun();
    const { headers, body } = await history(graphs[0]!.id, '', { accept: 'text/csv' });
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(body).toBe(
      [
        'task_name,node_id,status,type,time_start,time_end',
        'my-task,1,pending,puppet,,',
        'rel-only,1,pending,shell,,',
        'nowhere,-,skipped,shell,,',
        '',
      ].join('\r\n'),
    );
  });
});

describe('OpenStack configurations', () => {
  it.each([
    ['GET', '/openstack-config/?cluster_id=1'],
    ['POST', '/openstack-config/'],
    ['GET', '/openstack-config/1/'],
    ['DELETE', '/openstack-config/1'],
    ['PUT', '/openstack-config/execute/'],
  ] as const)('are refused with the alternative: %s %s', async (method, path) => {
    expect(
      await ask(method, `${api}${path}`, method === 'GET' ? undefined : { cluster_id: env.cluster }),
    ).toMatchObject({
      status: 410,
      body: { code: 'not-offered', hint: expect.stringContaining('sitewright cluster settings ID --upload FILE') },
    });
  });
});
