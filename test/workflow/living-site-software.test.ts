import { MachineStatus } from '@sitewright/maas';
import { afterEach, beforeAll, expect, it } from 'vitest';
import type { NodeControlActivities, NodeTaskActivities, RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import type { GraphRunReport, GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { Rehearsal } from '../../src/core/contracts/rehearsals.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { normaliseTask } from '../../src/graph/index.ts';
import { controlQueue, graphWorkflowId, nodeQueue } from '../../workflows/protocol.ts';
import { apiOfSite } from '../api/api-rig.ts';
import { exampleDocuments, exampleHosts, livingSite } from '../rig/living-site.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { ACTIVITIES_ALONE, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
// Workflows that the API starts are named after the site, as in other tests.
beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rig.close();
  rig = await temporalRig({ namespace: 'own' });
});

const shell = (id: string, more: object) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  parameters: { cmd: `echo ${id}`, timeout: 60 },
  ...more,
});

/** A network everywhere, then a database on the control node, then the rest; one compute node may fail. */
const library = [
  { id: 'control', type: 'group', version: '2.1.0', roles: ['control'], fault_tolerance: 0 },
  { id: 'compute', type: 'group', version: '2.1.0', roles: ['compute'], fault_tolerance: 1 },
  shell('network', { roles: ['/.*/'] }),
  shell('database', { roles: ['control'], requires: ['network'] }),
  shell('hypervisor', {
    roles: ['compute'],
    requires: ['network'],
    'cross-depends': [{ name: 'database', role: ['control'] }],
  }),
];

const [control, ...computes] = exampleHosts as [string, ...string[]];

/** The example site on a simulated MAAS, a cluster of its machines, and agents that follow `ends`. */
async function siteWithCluster() {
  const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
  const site = await livingSite(rig, { seed: { machines } });
  closing.push(() => site.close());
  await site.commit(await exampleDocuments());
  const { store } = site;
  const release = await store.releases.create({
    name: 'Newton',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { control: {}, compute: {} },
    tagsMetadata: {},
  });
  await store.graphs.put({ kind: 'release', id: release.id }, 'default', {
    tasks: library.map((task) => normaliseTask(task)),
  });
  const cluster = await store.clusters.create({ name: 'six', releaseId: release.id, site: site.name });
  for (const name of exampleHosts) {
    const { id } = await store.nodes.create({ name, hostname: name, site: site.name, status: 'discover' });
    await store.nodes.assign(cluster.id, [{ id, roles: [name === control ? 'control' : 'compute'] }]);
  }
  const ran: string[] = [];
  const ends = new Map<string, () => TaskEnd | Promise<TaskEnd>>();
  for (const node of exampleHosts) {
    const tasks: NodeTaskActivities = {
      run_task: async ({ task, node: on }: RunTask) => {
        ran.push(`${task}@${on}`);
        return (await ends.get(`${task}@${on}`)?.()) ?? { outcome: 'success' };
      },
    };
    const facts = { node, agent_version: 'test', boot_id: 'test', task_types: ['shell'], containment: 'none' };
    const answers: NodeControlActivities = {
      ping: async () => facts,
      drain: async () => ({ unfinished: [] }),
      cancel_task: async () => undefined,
    };
    for (const [taskQueue, activities] of [
      [nodeQueue(site.name, node), tasks],
      [controlQueue(nodeQueue(site.name, node)), answers],
    ] as const) {
      const worker = await rig.runWorker({
        ...ACTIVITIES_ALONE,
        taskQueue,
        activities: { ...activities },
      });
      closing.push(() => worker.stop());
    }
  }
  const start = (kind: 'deploy_site' | 'update_site' | 'test_site' = 'deploy_site') =>
    rig.client.workflow.start(kind, {
      taskQueue: site.worker.taskQueue,
      workflowId: rig.workflowId(kind),
      args: [{ site: site.name, started_by: 'nina' }],
    });
  const reportOf = async (runId: string) => (await store.runs.getReport(runId)) as unknown as RunReport;
  const statuses = async () =>
    Object.fromEntries((await store.nodes.list({ clusterId: cluster.id })).map(({ name, status }) => [name, status]));
  return { site, store, cluster: cluster.id, ran, ends, start, reportOf, statuses };
}

const all = (status: string) => Object.fromEntries(exampleHosts.map((host) => [host, status]));

it('deploys the machines, then the software of the linked cluster; a critical failure is reported and repaired by another start; update_site deploys changes', async () => {
  const { site, store, cluster, ran, ends, start, reportOf, statuses } = await siteWithCluster();
  ends.set(`database@${control}`, () => ({ outcome: 'failed', message: 'no space left', exit_code: 1 }));
  const first = await start();
  const error = await first.result().catch((caught: Error) => caught);
  expect(causeOf(error as Error).type).toBe('SoftwareFailed');
  const failed = await reportOf(first.firstExecutionRunId);
  expect(failed).toMatchObject({ outcome: 'failed', failure: { kind: 'software-failed', cluster } });
  expect(failed.reason).toContain('no space left');
  // The machines are deployed all the same, and recorded so.
  expect(failed.baremetal!.groups.map(({ state }) => state)).toEqual(['success', 'success', 'success']);
  expect(failed.phases.at(-1)).toMatchObject({ name: 'software', state: 'failed' });
  expect(ran.filter((task) => task.startsWith('hypervisor'))).toEqual([]);
  expect((await statuses())[control]).toBe('error');
  const transaction = (await store.transactions.list({ clusterId: cluster })).find(
    ({ parentId }) => parentId === null,
  )!;
  expect(transaction).toMatchObject({ status: 'failed', startedBy: 'temporal, says nina' });

  ends.clear();
  ran.length = 0;
  const second = await start();
  expect(await second.result()).toMatchObject({ outcome: 'success' });
  expect(ran).toContain(`database@${control}`);
  expect([...ran].filter((task) => task.startsWith('hypervisor')).sort()).toEqual(
    computes.map((node) => `hypervisor@${node}`).sort(),
  );
  expect(await statuses()).toEqual(all('ready'));
  expect((await store.clusters.brief(cluster)).status).toBe('operational');

  // A task for this cluster only, as a user uploads it.
  await store.graphs.put({ kind: 'cluster', id: cluster }, 'default', {
    tasks: [normaliseTask(shell('patch', { roles: ['compute'] }))],
  });
  ran.length = 0;
  const update = await start('update_site');
  expect(await update.result()).toMatchObject({ outcome: 'success' });
  expect([...ran].filter((task) => task.startsWith('patch')).sort()).toEqual(
    computes.map((node) => `patch@${node}`).sort(),
  );
  expect((await reportOf(update.firstExecutionRunId)).phases.at(-1)).toMatchObject({
    name: 'software',
    state: 'success',
  });
  // No machine was touched again.
  expect(await site.entered(MachineStatus.Deploying)).toEqual(Object.fromEntries(exampleHosts.map((one) => [one, 1])));
});

it('a tolerated failure of the cluster does not fail the site; pausing the site pauses its software', async () => {
  const { cluster, ran, ends, start, reportOf, statuses } = await siteWithCluster();
  const lost = computes[0]!;
  ends.set(`hypervisor@${lost}`, () => ({ outcome: 'failed', message: 'no /dev/kvm' }));
  let started: () => void = () => undefined;
  let release: () => void = () => undefined;
  const database = new Promise<void>((resolve) => {
    started = resolve;
  });
  ends.set(`database@${control}`, async () => {
    started();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { outcome: 'success' };
  });
  const handle = await start();
  await database;
  await handle.executeUpdate('pause', { args: [{ by: 'nina' }] });
  const child = rig.client.workflow.getHandle(graphWorkflowId(cluster, handle.firstExecutionRunId));
  while ((await child.query<GraphRunStatus>('status')).paused === null);
  release();
  while ((await child.query<GraphRunStatus>('status')).counts.running! > 0);
  expect(ran.filter((task) => task.startsWith('hypervisor'))).toEqual([]);
  expect(await handle.query('status')).toMatchObject({ phase: 'software', paused: { by: 'nina' } });
  await handle.executeUpdate('resume', { args: [{ by: 'nina' }] });
  expect(await handle.result()).toMatchObject({ outcome: 'success' });
  expect((await reportOf(handle.firstExecutionRunId)).phases.at(-1)).toMatchObject({
    name: 'software',
    state: 'success',
  });
  expect(await statuses()).toEqual({ ...all('ready'), [lost]: 'error' });
});

it('nodes ask checks in runs of the cluster, whose outcome changes no node, and each answer is kept', async () => {
  const { site, store, cluster, ran, ends, start, reportOf, statuses } = await siteWithCluster();
  expect(await (await start()).result()).toMatchObject({ outcome: 'success' });
  const check = (name: string, data: string) => ({
    name: `checks/${name}.yaml`,
    text: `schema: sitewright/Check/v1\nmetadata: {name: ${name}}\ndata: ${data}\n`,
  });
  await site.commit([
    ...(await exampleDocuments()),
    check('disk', '{command: {cmd: df -h / | grep -q root}}'),
    check('peer', '{from: neighbour, tcp: {host: {yaql_exp: $.node.name}, port: 22}}'),
    check('health', '{graph: {type: health}}'),
    check('absent', '{graph: {type: nowhere}}'),
  ]);
  await store.graphs.put({ kind: 'cluster', id: cluster }, 'health', {
    tasks: [normaliseTask(shell('api', { roles: ['compute'], fail_on_error: false }))],
    onSuccess: {},
    onError: {},
  });
  const [bad, silent] = computes as [string, string];
  const failed = {
    outcome: 'failed',
    failure_kind: 'exit',
    started_at: new Date(Date.now() - 4_000).toISOString(),
  } as const;
  ends.set(`check-1@${bad}`, () => ({ ...failed, exit_code: 1, message: 'exit code 1: no space left', output: '91%' }));
  ends.set(`check-1@${silent}`, () => ({ ...failed, exit_code: 124, message: 'exit code 124' }));
  ran.length = 0;
  const tested = await start('test_site');
  expect(await tested.result()).toMatchObject({ outcome: 'success_with_failures' });
  const { checks } = await reportOf(tested.firstExecutionRunId);
  expect(checks).toMatchObject([
    {
      ...{ name: 'disk', verdict: 'failed', nodes: 2 },
      unwell: expect.arrayContaining([
        { node: bad, verdict: 'failed', text: 'exit code 1: no space left' },
        { node: silent, verdict: 'unknown', text: 'exit code 124' },
      ]),
    },
    { name: 'peer' },
    { name: 'health', verdict: 'unknown', nodes: 1, unwell: [{ node: control }] },
    { name: 'absent', verdict: 'unknown' },
  ]);
  expect(ran.filter((one) => one.startsWith('check-1')).sort()).toEqual(
    exampleHosts.map((one) => `check-1@${one}`).sort(),
  );
  expect(ran.filter((one) => one.startsWith('api')).sort()).toEqual(computes.map((one) => `api@${one}`).sort());
  const kept = await store.checkResults.list(site.name, { name: 'disk', node: bad });
  expect(kept).toMatchObject([{ verdict: 'failed', text: 'exit code 1: no space left', output: '91%' }]);
  expect(kept[0]!.ms).toBeGreaterThanOrEqual(4_000);
  expect(await statuses()).toEqual(all('ready'));
  expect((await store.clusters.brief(cluster)).status).toBe('operational');
  const asked = (await store.transactions.list({ clusterId: cluster })).filter(({ mode }) => mode === 'check');
  expect(asked.length).toBeGreaterThan(0);

  // The same after the waves of a run of graphs, which has the cluster itself.
  const rollout = { first: '100%', checks: ['disk', 'health'], stop_at: { failed: 3 } };
  const rolled = await rig.client.workflow.start('execute_graph', {
    taskQueue: site.worker.taskQueue,
    workflowId: rig.workflowId('execute_graph'),
    args: [{ cluster, force: true, rollouts: { compute: rollout } }],
  });
  expect(await rolled.result()).toMatchObject({ outcome: 'success', graphs: [{ type: 'default' }] });
  const ofRun = (await store.transactions.findRun(rolled.workflowId, rolled.firstExecutionRunId))!;
  expect(ofRun.graphs.map(({ graphType }) => graphType)).toEqual(['default']);
  expect(new Set(ofRun.asking.map(({ graphType, status }) => `${graphType} ${status}`))).toEqual(
    new Set(['checks success', 'health success']),
  );
  const results = await store.checkResults.list(site.name, { runId: rolled.firstExecutionRunId, newest: true });
  expect(results.map(({ name, node, verdict }) => `${name} ${node} ${verdict}`)).toEqual(
    expect.arrayContaining([`disk ${bad} failed`, `disk ${silent} unknown`, `health ${silent} well`]),
  );
  expect(await statuses()).toEqual({ ...all('ready'), [bad]: 'error', [silent]: 'error' });
});

it('the API answers as described about a run of a site with a cluster, while it runs and after it ended', async () => {
  const { site, cluster, ends } = await siteWithCluster();
  const api = await apiOfSite(rig, site);
  closing.push(() => api.close());
  let databaseStarted: () => void = () => undefined;
  let release: () => void = () => undefined;
  const database = new Promise<void>((resolve) => {
    databaseStarted = resolve;
  });
  ends.set(`database@${control}`, async () => {
    databaseStarted();
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { outcome: 'success' };
  });
  closing.push(async () => release());
  const started = await api.ask('POST', `/api/v1/sites/${site.name}/runs`, { kind: 'deploy_site' });
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  const { id, workflow_id } = started.body;
  // An answer that the OpenAPI description does not allow is a failure of the API.
  const read = async (part: string) => {
    const { status, body } = await api.ask('GET', `/api/v1/runs/${id}${part}`);
    expect(status, `${part}: ${JSON.stringify(body)}`).toBe(200);
    return body;
  };
  const everything = async () => ({
    run: await read(''),
    plan: await read('/plan'),
    status: await read('/status'),
    report: await read('/report'),
    tree: await read('/tree'),
    nodes: await read('/nodes'),
  });
  await database;
  expect(await everything()).toMatchObject({
    run: { kind: 'deploy_site', outcome: null },
    plan: { plan: { cluster } },
    status: { phase: 'software' },
    report: { baremetal: { groups: [{}, {}, {}] } },
    tree: { kind: 'run' },
    nodes: { items: exampleHosts.map((name) => ({ name })) },
  });
  release();
  await rig.client.workflow.getHandle(workflow_id, id).result();
  expect(await everything()).toMatchObject({
    run: { outcome: 'success', phase: 'finished' },
    plan: { plan: { cluster } },
    status: { phase: 'finished', outcome: 'success' },
    report: { outcome: 'success' },
  });
});

/** What a report says of a run, without times and ids. */
const saidBy = ({ outcome, phases, baremetal, failure }: RunReport) => ({
  outcome,
  failure: failure?.kind,
  phases: phases.map(({ name, state }) => `${name} ${state}`),
  groups: baremetal?.groups.map(({ name, state, counts, criteria }) => ({
    name,
    state,
    counts,
    criteria: criteria.map(({ call, text, met }) => ({ call, text, met })),
  })),
  nodes: baremetal?.nodes.map(({ name, state, group, attempts, failed_in, failure_kind }) => ({
    ...{ name, state, group, attempts },
    ...{ failed_in, failure_kind },
  })),
});

const saidOfGraphs = ({ outcome, graphs }: GraphRunReport) => ({
  outcome,
  graphs: graphs.map(({ type, state, done, total, counts, failed_tasks, failed_nodes }) => ({
    ...{ type, state, done, total, counts },
    failed: failed_tasks.map(({ task, node, attempts }) => `${task}@${node} ${attempts}`).sort(),
    nodes: failed_nodes.map(({ node, lost_tasks }) => `${node} ${lost_tasks}`).sort(),
  })),
});

it('a rehearsal says before what the run then does: the same nodes, states, tasks and order; also where a machine and a task fail, and where all is done', async () => {
  const { site, store, ran, ends, start, reportOf } = await siteWithCluster();
  const [, , , , lost] = exampleHosts as [string, string, string, string, string];
  const api = await apiOfSite(rig, site);
  closing.push(() => api.close());
  const rehearsed = async (body: object): Promise<Rehearsal> => {
    const answer = await api.ask('POST', `/api/v1/sites/${site.name}/rehearsals`, body);
    expect(answer.status).toBe(200);
    return answer.body as Rehearsal;
  };
  const lived = async () => {
    const run = await start();
    await run.result().catch(() => undefined);
    const child = (await store.runs.list({ kind: 'execute_graph', limit: 1 })).items[0];
    const graphs = child && ((await store.runs.getReport(child.id)) as unknown as GraphRunReport);
    return { report: await reportOf(run.firstExecutionRunId), graphs };
  };
  /** What runs before a task, wherever both run. */
  const promised = (task: string): string[] => {
    const [name, node] = task.split('@');
    return name === 'network' ? [] : [`network@${node}`, ...(name === 'hypervisor' ? [`database@${control}`] : [])];
  };
  const compare = async (before: Rehearsal): Promise<void> => {
    const { report, graphs } = await lived();
    expect(saidBy(before.report as RunReport)).toEqual(saidBy(report));
    expect(saidOfGraphs(before.software!)).toEqual(saidOfGraphs(graphs!));
    const tasks = before.steps.filter(({ graph }) => graph !== null);
    expect(tasks.map(({ what, node }) => `${what}@${node}`).sort()).toEqual([...ran].sort());
    const began = tasks.toSorted((one, other) => one.from - other.from).map(({ what, node }) => `${what}@${node}`);
    for (const order of [began, ran])
      expect(order.filter((task, at) => promised(task).some((first) => order.indexOf(first) > at))).toEqual([]);
    ran.length = 0;
  };

  await site.control('auto', { fail_times: { deploy: { [lost]: 1 } } });
  ends.set(`database@${control}`, () => ({ outcome: 'failed', message: 'no space left', exit_code: 1 }));
  await compare(await rehearsed({ fail_nodes: [lost], fail_tasks: [{ task: 'database', node: control }] }));

  // The next one continues where that one stopped; the third finds everything done.
  ends.clear();
  await compare(await rehearsed({}));
  await compare(await rehearsed({}));
});
