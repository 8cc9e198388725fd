import { MaasClient, MachineStatus } from '@sitewright/maas';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { type ApiRig, apiOfSite } from '../api/api-rig.ts';
import { type LivingSite, livingSite } from '../rig/living-site.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { CONFIGURATION, document, node } from '../unit/documents/site-files.ts';

let rig: TemporalRig;
let site: LivingSite;
let api: ApiRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterEach(async () => {
  await api.close();
  await site.close();
});
afterAll(() => rig.close());

const NODES = ['n1', 'n2', 'n3'];
const user = { 'x-sitewright-user': 'nina' };

const documents = (label: string, minimum = 1) => [
  {
    name: 'site.yaml',
    text: [
      CONFIGURATION,
      document(
        'shipyard/DeploymentStrategy/v1',
        'deployment-strategy',
        `{groups: [{name: all, critical: true, depends_on: [], selectors: [], success_criteria: {percent_successful_nodes: 100, maximum_failed_nodes: 0, minimum_successful_nodes: ${minimum}}}]}`,
      ),
      ...NODES.map((name) => node(name, `{metadata: {tags: [${name}-tag], owner_data: {level: ${label}}}}`)),
    ].join('\n'),
  },
];

async function threeMachines(): Promise<void> {
  const machines = NODES.map((hostname) => ({ hostname, status: MachineStatus.Ready, power_type: 'ipmi' }));
  site = await livingSite(rig, { seed: { machines } });
  api = await apiOfSite(rig, site);
}

async function run(type: string, input: object = {}) {
  const handle = await rig.client.workflow.start(type, {
    taskQueue: site.worker.taskQueue,
    workflowId: rig.workflowId(type),
    args: [{ site: site.name, ...input }],
  });
  const error = await handle.result().then(
    () => null,
    (thrown: Error & { cause?: Error }) => thrown.cause?.message ?? thrown.message,
  );
  const report = await site.store.runs.getReport(handle.firstExecutionRunId).catch(() => null);
  return { report: report as unknown as RunReport, error };
}

const maintenance = (node: string) => `/api/v1/sites/stl1/nodes/${node}/maintenance`;
const on = (node: string, body: object = { reason: 'a broken disk' }) => api.ask('PUT', maintenance(node), body, user);
const off = (node: string) => api.ask('DELETE', maintenance(node), undefined, user);
const called = (report: RunReport) => report.baremetal!.nodes.map(({ name }) => name);

it('a site run leaves a node in maintenance alone, counts its groups without it, and says so', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  const { status, body } = await on('n2');
  expect([status, body.maintenance]).toEqual([
    200,
    expect.objectContaining({ node: 'n2', site: 'stl1', reason: 'a broken disk', by: 'nina', locked: false }),
  ]);
  const since = `${body.maintenance.since.slice(0, 16).replace('T', ' ')} UTC`;

  const { report, error } = await run('deploy_site');
  expect(error).toBeNull();
  expect(report.outcome).toBe('success');
  expect(called(report)).toEqual(['n1', 'n3']);
  expect(report.baremetal!.groups).toMatchObject([
    { name: 'all', state: 'success', nodes: ['n1', 'n3'], criteria: expect.arrayContaining([]) },
  ]);
  expect(report.maintenance).toEqual([
    { node: 'n2', reason: 'a broken disk', by: 'nina', since: body.maintenance.since },
  ]);
  expect(report.warnings).toContain(`n2 is left out: in maintenance since ${since} (nina: a broken disk)`);
  expect(report.phases.find(({ name }) => name === 'load')!.detail).toBe(
    'revision 1, 2 nodes in 1 group, 1 more in maintenance',
  );
  // Not even its tags in MAAS.
  expect((await site.effects()).filter(({ hostname, cause }) => hostname === 'n2' && cause !== 'seed')).toEqual([]);
  const { body: machines } = await api.ask('GET', '/api/v1/sites/stl1/nodes/status');
  expect(machines.nodes).toMatchObject([
    { node: 'n1' },
    {
      node: 'n2',
      tags: [],
      maintenance: { by: 'nina' },
      deployment: { does: 'leave', why: `in maintenance since ${since} (nina: a broken disk)` },
    },
    { node: 'n3', tags: ['n3-tag'] },
  ]);
  const tested = await run('test_site');
  expect(tested.report.phases.at(-1)).toMatchObject({ name: 'inspect_nodes', detail: '2 Deployed' });
});

it('a minimum of successful nodes says how many the site needs: it stays, and the run says before that it is not met', async () => {
  await threeMachines();
  await site.commit(documents('a', 3));
  await on('n2');
  const { report, error } = await run('deploy_site');
  expect(error).toContain('critical group failed: all');
  expect(report.warnings).toContain(
    'group all will fail: it needs 3 successful nodes, and without 1 in maintenance it has 2',
  );
});

it('a redeployment that names it is refused before anything happens, with the next step', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  await run('deploy_site');
  await on('n2');
  const answer = await api.ask(
    'POST',
    '/api/v1/sites/stl1/runs',
    { kind: 'redeploy_nodes', nodes: ['n1', 'n2'] },
    user,
  );
  expect(answer).toMatchObject({
    status: 409,
    body: {
      detail: expect.stringMatching(/^n2 has been in maintenance since .* UTC \(nina: a broken disk\)$/),
      hint: expect.stringContaining('sitewright node maintenance off n2 --site stl1'),
    },
  });
  expect(await site.entered(MachineStatus.Releasing)).toEqual({});
});

it('what it missed is shown at its end, and the next update does it', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  await run('deploy_site');
  await on('n2');
  await site.commit(documents('b'));
  const meanwhile = await run('update_site');
  expect(called(meanwhile.report)).toEqual(['n1', 'n3']);
  expect((await site.store.sites.get('stl1')).lastGoodRevision).toBe(2);
  const { status, body } = await off('n2');
  expect([status, body.missed]).toEqual([
    200,
    { machine: { does: 'leave', why: 'its machine is Deployed', fields: ['labels'] }, graphs: [] },
  ]);
  const after = await run('update_site');
  const group = after.report.baremetal!.groups[0]!;
  expect(group.calls.map(({ call, nodes }) => [call, nodes])).toEqual([
    ['prepare', 1],
    ['deploy', 1],
  ]);
  // Then nothing is left to do.
  expect((await run('update_site')).report.baremetal!.groups[0]!.calls).toEqual([]);
});

it('MAAS locks its machine if wanted, and unlocks at the end only what this maintenance has locked', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  await run('deploy_site');
  const machines = async () =>
    Object.fromEntries(
      await Promise.all(
        NODES.map(async (name) => {
          const found = await site.store.deployedMachines.get('stl1', name);
          return [name, found!.systemId] as const;
        }),
      ),
    );
  const ids = await machines();
  const lockedNow = async (name: string) => {
    const { nodes } = (await api.ask('GET', '/api/v1/sites/stl1/drift')).body;
    const own = nodes.find((one: { node: string }) => one.node === name);
    return own.differences.some(({ now }: { now: string }) => now === 'locked');
  };
  const first = await on('n1', { reason: 'fans', lock: true });
  expect(first.body).toMatchObject({ maintenance: { locked: true }, notes: [] });
  expect(await lockedNow('n1')).toBe(true);
  expect((await off('n1')).body).toMatchObject({ unlocked: true });
  expect(await lockedNow('n1')).toBe(false);

  await new MaasClient({ url: site.maasUrl, apiKey: simulatorKeys.admin }).machines.lock(ids.n3!);
  expect((await on('n3', { reason: 'fans', lock: true })).body).toMatchObject({
    maintenance: { locked: false },
    notes: ['Its machine is locked in MAAS already: the end of the maintenance leaves it so.'],
  });
  expect((await off('n3')).body).toMatchObject({ unlocked: false });
  expect(await lockedNow('n3')).toBe(true);
});

it('is asked for once, by names that exist, and every step is in the audit trail', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  expect(await on('n22')).toMatchObject({
    status: 404,
    body: {
      detail: "site stl1 has no node 'n22' in its latest documents",
      hint: "Did you mean 'n2'? 'sitewright node select stl1' lists its nodes.",
    },
  });
  expect(await off('n2')).toMatchObject({ status: 409, body: { detail: 'node n2 is not in maintenance' } });
  expect((await on('n2', { reason: '' })).status).toBe(400);
  await on('n2');
  expect(await on('n2', { reason: 'fans' })).toMatchObject({
    status: 409,
    body: {
      detail: expect.stringMatching(/^node n2 has been in maintenance since .*\(nina: a broken disk\)$/),
      hint: 'To change the reason, end it first: sitewright node maintenance off n2 --site stl1',
    },
  });
  expect((await api.ask('GET', '/api/v1/maintenance')).body.items).toMatchObject([
    { node: 'n2', site: 'stl1', id: null, cluster: null, by: 'nina', reason: 'a broken disk' },
  ]);
  await off('n2');
  const { items } = (await api.ask('GET', '/api/v1/audit')).body;
  expect(
    items.map((one: { action: string; actor: string; target: string; reason: string }) => [
      one.action,
      one.actor,
      one.target,
      one.reason,
    ]),
  ).toEqual([
    ['node.maintenance-off', 'nina', 'node/stl1/n2', 'a broken disk'],
    ['node.maintenance-on', 'nina', 'node/stl1/n2', 'a broken disk'],
  ]);
});

it('a run under way keeps its plan, and is named', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  const handle = await rig.client.workflow.start('deploy_site', {
    taskQueue: site.worker.taskQueue,
    workflowId: rig.workflowId('deploy_site'),
    args: [{ site: 'stl1', hold_before: ['*'] }],
  });
  await expect
    .poll(async () => (await handle.query<RunStatus>('status')).awaiting_approval)
    .toMatchObject([{ before: '*' }]);
  const { body } = await on('n2');
  expect(body.runs).toEqual([{ id: handle.firstExecutionRunId, number: 1, kind: 'deploy_site' }]);
  await handle.executeUpdate('approve', { args: [{ by: 'eve' }] });
  await handle.result();
  const report = (await site.store.runs.getReport(handle.firstExecutionRunId)) as unknown as RunReport;
  expect(called(report)).toEqual(NODES);
});

it('begins beside a claim of no run, or of one that has no row yet', async () => {
  await threeMachines();
  await site.commit(documents('a'));
  await site.store.claims.claim({ site: site.name }, { workflowId: 'deploy_site:x', runId: 'x', executionId: 'x' });
  expect(await on('n2')).toMatchObject({ status: 200, body: { runs: [] } });
});
