import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { CREATE_TOKEN, continueRun, reportOfRun, runAgain, showTasks, watchRun } from '../../src/core/next-steps.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { lookAgain } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';
import type { Answer } from './api-rig.ts';
import { type Environment, environment } from './fuel-graphs-rig.ts';

let rig: TemporalRig;
let system: LivingCluster;
let env: Environment;

beforeAll(async () => {
  // Workflow ids contain cluster ids: a separate namespace keeps the runs of other suites from colliding.
  rig = await temporalRig({ namespace: 'own' });
});
beforeEach(async () => {
  // On a busy machine the nodes' workers take their time to come up.
  system = await livingCluster(rig, { offlineWaitSeconds: 60 });
  await system.store.migrate();
  env = await environment(system.store, 'env');
});
afterEach(async () => {
  for (const { workflow_id, id } of (await system.ask('GET', `${api}/runs`)).body.items) {
    const handle = rig.client.workflow.getHandle(workflow_id, id);
    await handle.terminate('the test is over').catch(() => undefined);
  }
  await system.close();
});
afterAll(() => rig.close());

const api = '/api/v1';
const serve = (task?: (request: RunTask) => Promise<TaskEnd>) =>
  system.serveNodes(`cluster-${env.cluster}`, env.nodes.map(String), task);
const graph = (tasks: readonly object[]) =>
  system.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, { tasks });
const execute = (body: object) =>
  system.ask('POST', `${api}/graphs/execute/`, { cluster: env.cluster, graphs: [{ type: 'custom' }], ...body });

const TASKS = [
  { id: 'first', type: 'shell', version: '2.1.0', role: ['controller'], parameters: { cmd: 'true' } },
  {
    id: 'second',
    type: 'shell',
    version: '2.1.0',
    role: ['compute'],
    'cross-depends': [{ name: 'first', role: 'controller' }],
    parameters: { cmd: 'true' },
  },
];

/** Asks until the answer is as wanted; the test's time limit is the only clock. */
async function until(path: string, wanted: (body: Answer['body']) => boolean): Promise<Answer['body']> {
  for (;;) {
    const { status, body } = await system.ask('GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    if (wanted(body)) return body;
    await lookAgain();
  }
}

const ended = (transaction: number) =>
  until(`${api}/transactions/${transaction}`, ({ status }) => status === 'ready' || status === 'error');

it('every next step that several parts tell is taken by the API, as it is typed', async () => {
  let works = false;
  await serve(async () => (works ? { outcome: 'success' } : { outcome: 'failed', message: 'exit code 1' }));
  await graph(TASKS);
  const { id } = (await execute({})).body;
  expect(await ended(id)).toMatchObject({ status: 'error' });
  const typed = async (step: string, ...more: string[]) => {
    const [program, ...words] = step.replace('NAME', 'nina').split(' ');
    expect(program).toBe('sitewright');
    const terminal = recordingTerminal();
    terminal.onSleep = () => lookAgain();
    const code = await runCli(['--api', `http://127.0.0.1:${system.port}`, ...words, ...more], terminal);
    return { code, ...terminal.said };
  };
  expect(await typed(watchRun(id))).toMatchObject({ code: 1, out: expect.stringContaining('failed') });
  expect(await typed(reportOfRun(id))).toMatchObject({ code: 0, out: expect.stringContaining('exit code 1') });
  expect(await typed(showTasks(id))).toMatchObject({ code: 0, out: expect.stringMatching(/first .*failed/) });
  const next = async (run: number): Promise<string> => (await system.ask('POST', `${api}/runs/${run}/pause`)).body.hint;
  expect(await next(id)).toBe(`Continue it: ${continueRun(id)}`);
  expect(await typed(CREATE_TOKEN)).toMatchObject({ code: 0, err: expect.stringContaining("the token of 'nina'") });
  works = true;
  const continued = await typed(continueRun(id), '--wait');
  expect(continued).toMatchObject({ code: 0, out: expect.stringContaining('success') });
  const whole = Number(/started run (\d+)/.exec(continued.out)![1]);
  expect(await next(whole)).toBe(`Start it again: ${runAgain(whole)}`);
  expect(await typed(continueRun(whole))).toMatchObject({
    code: 4,
    err: expect.stringMatching(new RegExp(`hint: Start it again: sitewright --api \\S+ run again ${whole}\n`)),
  });
  expect(await typed(runAgain(id), '--wait')).toMatchObject({ code: 0, out: expect.stringContaining('success') });
});

it('a graph run is shown alike by every route and command', async () => {
  await serve();
  await graph(TASKS);
  const started = await system.ask(
    'POST',
    `${api}/graphs/execute/`,
    { cluster: env.cluster, graphs: [{ type: 'custom' }], reason: 'first time' },
    { 'x-sitewright-user': 'nina' },
  );
  expect(started).toMatchObject({
    status: 202,
    body: {
      name: 'deploy',
      status: 'running',
      cluster: env.cluster,
      parent_id: null,
      graph_type: null,
      dry_run: false,
    },
  });
  const { id, run, workflow_id } = started.body;
  expect(workflow_id).toMatch(new RegExp(`^execute_graph:${env.cluster}:[0-9a-z]{11}$`));
  expect(await ended(id)).toMatchObject({ status: 'ready', progress: 100, message: null });

  const history = (await system.ask('GET', `${api}/transactions/${id}/deployment_history/`)).body;
  expect(
    history.map((one: { task_name: string; node_id: string; status: string }) => [
      one.task_name,
      one.node_id,
      one.status,
    ]),
  ).toEqual([
    ['first', String(env.nodes[0]), 'ready'],
    ['second', String(env.nodes[1]), 'ready'],
  ]);
  expect((await system.ask('GET', `${api}/transactions/${id}/deployment_info`)).body).toMatchObject({
    common: { cluster: { id: env.cluster } },
  });
  expect((await system.ask('GET', `${api}/transactions/${id}/plan`)).body).toMatchObject({
    plans: [{ graph_type: 'custom', plan: { totals: { running: 2 } } }],
  });
  const shown = await until(`${api}/runs/${run}`, ({ outcome }) => outcome !== null);
  const { temporal_url } = shown;
  expect(shown).toMatchObject({
    kind: 'execute_graph',
    outcome: 'success',
    started_by: 'nina',
    labels: { cluster: String(env.cluster) },
    cluster: env.cluster,
    number: id,
  });
  expect((await system.ask('GET', `${api}/runs/${run}/status`)).body).toMatchObject({
    done: 2,
    total: 2,
    phase: 'finished',
  });
  expect((await system.ask('GET', `${api}/runs/${run}/report`)).body).toMatchObject({
    transaction: id,
    outcome: 'success',
  });
  expect((await system.ask('GET', `${api}/runs/${run}/plan`)).body.plan).toMatchObject([{ type: 'custom' }]);
  expect((await system.ask('GET', `${api}/runs/${run}/tree`)).body).toMatchObject({
    kind: 'run',
    children: [{ name: 'custom' }],
  });
  const attempt = await system.ask('GET', `${api}/runs/${run}/nodes/${env.nodes[0]}/temporal?task=first&attempt=1`);
  const { events } = await rig.client.workflow.getHandle(workflow_id, run).fetchHistory();
  const sent = events?.find((one) => one.activityTaskScheduledEventAttributes?.activityId === `first@${env.nodes[0]}`);
  expect(attempt).toMatchObject({
    status: 303,
    headers: { location: `${temporal_url}/history/events/${sent?.eventId}` },
  });
  const audit = (await system.ask('GET', `${api}/audit?action=run.execute_graph`)).body.items;
  expect(audit).toMatchObject([
    {
      actor: 'nina',
      target: `cluster/${env.cluster}`,
      target_kind: 'cluster',
      target_id: String(env.cluster),
      reason: 'first time',
    },
  ]);
});

it('a failed task keeps a held run open until it is retried; another run is refused meanwhile', async () => {
  let broken = true;
  await serve(async ({ task }) =>
    broken && task === 'first' ? { outcome: 'failed', message: 'exit code 2' } : { outcome: 'success' },
  );
  await graph(TASKS);
  const { id, run } = (await execute({ hold_on_failure: true, started_by: 'nina' })).body;
  const status = await until(`${api}/runs/${run}/status`, ({ failed }) => failed.length > 0);
  expect(status.failed).toMatchObject([{ task: 'first', node: String(env.nodes[0]) }]);
  expect(await execute({})).toMatchObject({
    status: 409,
    body: {
      message: expect.stringMatching(
        new RegExp(
          `^Deployment already started: .* run ${id}, .*, started by nina since .*sitewright cluster stop ${env.cluster}\\b`,
        ),
      ),
      run: { id: run },
    },
  });
  expect(await system.ask('DELETE', `${api}/transactions/${id}`)).toMatchObject({ status: 400 });
  expect(await system.ask('POST', `${api}/runs/${run}/nodes/1/tasks/nothing/retry`, {})).toMatchObject({ status: 404 });
  broken = false;
  const retried = await system.ask('POST', `${api}/runs/${run}/nodes/${env.nodes[0]}/tasks/first/retry`, {
    by: 'nina',
  });
  expect(retried).toMatchObject({ status: 200, body: { cluster: env.cluster } });
  expect(await ended(id)).toMatchObject({ status: 'ready' });
});

it('shows a run in a store that has had many runs before', async () => {
  for (let run = 0; run < 150; run++) {
    const id = `earlier-${run}`;
    const startedAt = '2026-11-25T10:00:00.000Z';
    await system.store.runs.put({ id, sequence: 1, workflowId: id, kind: 'test_site', phase: 'starting', startedAt });
  }
  const broken = new Set(['first']);
  await serve(async ({ task }) => ({ outcome: broken.delete(task) ? 'failed' : 'success' }) as TaskEnd);
  await graph(TASKS);
  const { id, run } = (await execute({ hold_on_failure: true })).body;
  expect(id).toBeGreaterThan(150);
  const status = await until(`${api}/runs/${run}/status`, ({ failed }) => failed.length > 0);
  expect(status).toMatchObject({ phase: 'custom: held', as_of: expect.any(String) });
  expect(await until(`${api}/runs/${run}`, ({ held }) => held)).toMatchObject({ failed_tasks: 1, number: id });
  await system.ask('POST', `${api}/runs/${run}/nodes/${env.nodes[0]}/tasks/first/retry`, {});
  await ended(id);
});

it('a task with an @ in its name is named apart from its node by every route', async () => {
  let broken = true;
  await serve(async ({ task }) =>
    broken && task === 'a@b' ? { outcome: 'failed', message: 'exit code 2' } : { outcome: 'success' },
  );
  const [first] = TASKS;
  await graph([
    { ...first, id: 'a@b' },
    { ...first, id: 'c@d', requires: ['a@b'] },
  ]);
  const { id, run } = (await execute({ hold_on_failure: true })).body;
  const node = String(env.nodes[0]);
  const [failed, blocked] = [
    { task: 'a@b', node },
    { task: 'c@d', node },
  ];
  expect((await until(`${api}/runs/${run}/status`, ({ failed }) => failed.length > 0)).failed).toMatchObject([failed]);
  const get = async (path: string) => (await system.ask('GET', `${api}/${path}`)).body;
  await until(`${api}/runs/${run}/tasks`, ({ items }) => items[1]?.status === 'blocked');
  expect((await get(`runs/${run}/tasks`)).items).toMatchObject([failed, { ...blocked, root_cause: failed }]);
  expect(await get(`transactions/${id}/tasks`)).toMatchObject([
    { task_name: 'a@b', node_id: node, status: 'failed' },
    { task_name: 'c@d', node_id: node, status: 'blocked', root_cause: failed },
  ]);
  // Fuel's words are texts.
  expect((await get(`transactions/${id}/deployment_history/`))[1]).toMatchObject({ root_cause: `a@b@${node}` });
  const place = ({ task, node }: typeof failed) => `runs/${run}/nodes/${node}/tasks/${encodeURIComponent(task)}`;
  expect((await get(`${place(failed)}/log`)).message).toContain(`a@b@${node}`);
  broken = false;
  const note = { by: 'nina' };
  expect(await system.ask('POST', `${api}/${place(blocked)}/retry`, note)).toMatchObject({ status: 409 });
  expect(await system.ask('POST', `${api}/${place(failed)}/retry`, note)).toMatchObject({ status: 200 });
  expect(await ended(id)).toMatchObject({ status: 'ready' });
  expect((await get(`runs/${run}/report`)).operator).toMatchObject([{ action: 'retry_task', ...failed, ...note }]);
});

it('a failed run is continued', async () => {
  let broken = true;
  const ran: string[] = [];
  await serve(async ({ task }) => {
    ran.push(task);
    return broken && task === 'second' ? { outcome: 'failed', message: 'exit code 2' } : { outcome: 'success' };
  });
  await graph(TASKS);
  const { id, run } = (await execute({})).body;
  expect(await ended(id)).toMatchObject({ status: 'error', message: expect.stringContaining('second') });
  // One word for a task, whichever route is asked.
  const tasks = (await system.ask('GET', `${api}/transactions/${id}/tasks`)).body as {
    task_name: string;
    status: string;
  }[];
  expect(tasks.map(({ task_name, status }) => [task_name, status])).toEqual([
    ['first', 'success'],
    ['second', 'failed'],
  ]);
  expect((await system.ask('GET', `${api}/runs/${run}/status`)).body.counts).toMatchObject({ success: 1, failed: 1 });
  broken = false;
  ran.length = 0;
  const again = await system.ask('POST', `${api}/graphs/execute/`, { cluster: env.cluster, from: id });
  expect(again.status).toBe(202);
  expect(await ended(again.body.id)).toMatchObject({ status: 'ready' });
  expect(ran).toEqual(['second']);
});

it('a dry run answers with the plan and runs nothing', async () => {
  const ran: string[] = [];
  await serve(async ({ task }) => {
    ran.push(task);
    return { outcome: 'success' };
  });
  await graph(TASKS);
  const { status, body } = await system.ask(
    'PUT',
    `${api}/clusters/${env.cluster}/deploy/?graph_type=custom&dry_run=1&nodes=${env.nodes[0]}`,
    {},
  );
  expect([status, body.dry_run]).toEqual([202, true]);
  expect(await ended(body.id)).toMatchObject({ status: 'ready' });
  const { plans } = (await system.ask('GET', `${api}/transactions/${body.id}/plan`)).body;
  expect(plans).toMatchObject([
    { plan: { totals: { running: 1 }, left_out: [{ node: env.nodes[1], reason: 'it was not requested' }] } },
  ]);
  expect(ran).toEqual([]);
});

it("a cluster's run is stopped by its cluster, and deployed by a sequence", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await serve(async () => {
    await held;
    return { outcome: 'success' };
  });
  await graph(TASKS);
  await system.store.sequences.create({ name: 'deploy-changes', releaseId: env.release, graphs: [{ type: 'custom' }] });
  const { id, run } = (await system.ask('PUT', `${api}/clusters/${env.cluster}/changes`, {})).body;
  await until(`${api}/runs/${run}/status`, ({ running }) => running.length > 0);
  const stop = await system.ask('PUT', `${api}/clusters/${env.cluster}/stop_deployment/`, {});
  expect(stop).toMatchObject({ status: 202, body: { name: 'stop_deployment', cluster: env.cluster } });
  release();
  expect(await ended(id)).toMatchObject({ status: 'error' });
  expect(await until(`${api}/runs/${run}`, ({ outcome }) => outcome !== null)).toMatchObject({ outcome: 'stopped' });
});

it('"Deploy changes" runs provisioning for new nodes, by either of its names, and then default', async () => {
  await serve();
  const { store } = system;
  await store.nodes.update(env.nodes[0], { status: 'discover', pendingAddition: true });
  const owner = { kind: 'release', id: env.release } as const;
  const types = async (id: number) => (await store.transactions.getRun(id)).graphs.map(({ graphType }) => graphType);
  const deploy = async () => (await system.ask('PUT', `${api}/clusters/${env.cluster}/changes`, {})).body.id;
  await system.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/provision`, {
    node_filter: '$.pending_addition',
    on_success: { node_attributes: {} },
    tasks: TASKS.slice(0, 1),
  });
  await store.graphs.put(owner, 'default', { tasks: TASKS.slice(1) });
  const first = await deploy();
  expect(await types(first)).toEqual(['provision', 'default']);
  expect(await ended(first)).toMatchObject({ status: 'ready' });
  await store.graphs.put(owner, 'provisioning', { tasks: TASKS.slice(0, 1) });
  const second = await deploy();
  expect(await types(second)).toEqual(['provisioning', 'default']);
  await ended(second);
});

it('a run without work reports the reasons; forced, it fails', async () => {
  await serve();
  await graph([{ ...TASKS[0], condition: { yaql_exp: 'false' } }]);
  const { id, run } = (await execute({})).body;
  expect(await ended(id)).toMatchObject({ status: 'ready' });
  expect(await until(`${api}/runs/${run}`, ({ outcome }) => outcome !== null)).toMatchObject({
    outcome: 'nothing_to_do',
  });
  expect((await system.ask('GET', `${api}/runs/${run}/report`)).body).toMatchObject({
    outcome: 'nothing_to_do',
    graphs: [
      {
        state: 'nothing_to_do',
        reason: 'task skipped: its condition is false (1)',
        nothing_to_do: [{ reason: 'task skipped: its condition is false', count: 1 }],
      },
    ],
  });
  for (const node of env.nodes) await system.store.nodes.update(node, { status: 'discover', pendingAddition: true });
  const forced = (await execute({ force: true })).body;
  expect(await ended(forced.id)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('nothing can be forced: nodes 1, 2 are not provisioned'),
  });
});

it('a run whose workflow was terminated does not keep its cluster', async () => {
  await serve(() => new Promise(() => undefined));
  await graph(TASKS);
  const { id, workflow_id } = (await execute({})).body;
  await rig.client.workflow.getHandle(workflow_id).terminate('gone');
  const again = await execute({});
  expect(again.status).toBe(202);
  expect((await system.ask('GET', `${api}/transactions/${id}`)).body).toMatchObject({
    status: 'error',
    message: 'gone',
  });
  // With force, even a run in progress is deleted, workflow included.
  expect(await system.ask('DELETE', `${api}/transactions/${again.body.id}?force=1`)).toMatchObject({ status: 204 });
  const described = await rig.client.workflow.getHandle(again.body.workflow_id).describe();
  expect(described.status.name).toBe('TERMINATED');
});
