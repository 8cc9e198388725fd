import { MachineStatus } from '@sitewright/maas';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { getRun } from '../../src/ops/workflow-calls.ts';
import { closeGone } from '../../src/runs/life.ts';
import { findEnd } from '../../src/runs/run-lookups.ts';
import { recordHistory } from '../rig/histories.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain } from '../rig/look-again.ts';
import { beforeFirst, type EventId, type Events, resetRun } from '../rig/reset-run.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { temporalCli } from '../rig/temporal-cli.ts';

let rig: TemporalRig;
let site: LivingSite;

/** As the API asks: a run that a worker has read again may refuse the first time. */
const askReport = ({ workflowId }: { readonly workflowId: string }) =>
  getRun<'deploy_site'>(rig.client.workflow, workflowId).query('report');

beforeAll(async () => {
  rig = await temporalRig();
});
afterEach(() => site.close());
afterAll(() => rig.close());

type Handle = WorkflowHandleWithFirstExecutionRunId;

const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
const oneDeployEach = Object.fromEntries(exampleHosts.map((host) => [host, 1]));
const BY_KIND = { redeploy_nodes: { nodes: ['stl1r01s05'] } };

const start = (type: string, input: object = {}, workflowId = rig.workflowId(type)): Promise<Handle> =>
  rig.client.workflow.start(type, {
    taskQueue: site.worker.taskQueue,
    workflowId,
    args: [{ site: site.name, ...input }],
  });

async function done(handle: Handle): Promise<RunReport> {
  await handle.result();
  return reportOf(handle);
}

const reportOf = async ({ firstExecutionRunId }: Handle) =>
  (await site.store.runs.getReport(firstExecutionRunId)) as unknown as RunReport;

const resetTo = (handle: Handle, activity: string) => resetAt(handle, beforeFirst(activity));

const resetAt = ({ workflowId, firstExecutionRunId: runId }: Handle, to: (events: Events) => EventId) =>
  resetRun(rig, { workflowId, runId }, to);

const changes = async () => (await site.requests()).filter(({ method }) => method !== 'GET').length;
const errorOf = (result: Promise<unknown>) =>
  result.then(
    () => null,
    (error: Error) => error,
  );

/** The test's time limit is the only clock. */
async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await lookAgain();
}

async function deploying(count: number): Promise<void> {
  await until(async () => Object.keys(await site.entered(MachineStatus.Deploying)).length >= count);
}

async function finishDeployments(): Promise<void> {
  await site.control('auto', { deploy_ms: 20 });
  for (const { system_id, hostname } of await site.effects())
    if (exampleHosts.includes(hostname)) await site.control(`${system_id}/deployed`, {}).catch(() => undefined);
}

describe('a reset of a run that has ended', () => {
  /** Wherever an ended run is reset to, nothing is changed: no machine, no row, no report. */
  const isRefused = async (ended: Handle, activity: string): Promise<void> => {
    const report = await reportOf(ended);
    const row = await site.store.runs.get(ended.firstExecutionRunId);
    const before = await changes();
    const again = await resetTo(ended, activity);
    expect(await errorOf(again.result()), activity).toMatchObject({
      cause: { type: 'ClaimLost', message: expect.stringContaining('cannot be reset') },
    });
    expect(await changes()).toBe(before);
    expect(await site.store.runs.get(ended.firstExecutionRunId)).toEqual(row);
    expect(await reportOf(ended)).toEqual(report);
    expect(await askReport(again)).toMatchObject({
      outcome: 'failed',
      run_id: ended.firstExecutionRunId,
      reason: expect.stringContaining('does not hold site stl1'),
    });
  };

  // On one site: a refused reset leaves it as it was.
  it('is refused before any change, wherever it goes to', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    const deployed = await start('deploy_site');
    await done(deployed);
    for (const activity of ['open_run', 'deploy_node', 'close_run']) await isRefused(deployed, activity);
    const redeployed = await start('redeploy_nodes', BY_KIND.redeploy_nodes);
    await done(redeployed);
    for (const activity of ['release_node', 'prepare_site']) await isRefused(redeployed, activity);
    const tested = await start('test_site');
    await done(tested);
    await isRefused(tested, 'close_run');
  });

  it('update_site is refused before any change', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    const updated = await start('update_site');
    await done(updated);
    await isRefused(updated, 'record_nodes');
  });

  it('names the run that holds the site, and does not touch its machines', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    await done(await start('deploy_site'));
    const ended = await start('redeploy_nodes', BY_KIND.redeploy_nodes);
    await done(ended);
    await site.control('auto', { deploy_ms: 3_600_000 });
    const holder = await start('redeploy_nodes', { nodes: ['stl1r01s06'] });
    await until(async () => (await site.entered(MachineStatus.Deploying)).stl1r01s06 === 2);
    const again = await resetTo(ended, 'release_node');
    expect(await errorOf(again.result())).toMatchObject({
      cause: { type: 'ClaimLost', message: expect.stringContaining(`run ${holder.firstExecutionRunId}) holds it`) },
    });
    expect(await site.entered(MachineStatus.Releasing)).toEqual({ stl1r01s05: 1, stl1r01s06: 1 });
    await finishDeployments();
    expect((await done(holder)).outcome).toBe('success');
  });
});

describe('a reset of a run in flight', () => {
  it.each(['open_run', 'load_plan', 'prepare_node', 'deploy_node'])(
    'before %s continues as the same run, and does nothing twice',
    async (activity) => {
      site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
      await site.commit(await exampleDocuments());
      const first = await start('deploy_site');
      await deploying(3);
      const again = await resetTo(first, activity);
      await until(async () => (await site.store.claims.holder({ site: site.name }))?.generation === 2);
      expect(await site.store.claims.holder({ site: site.name })).toMatchObject({
        runId: first.firstExecutionRunId,
        executionId: again.executionId,
      });
      await finishDeployments();
      expect(await again.result()).toMatchObject({ outcome: 'success' });
      expect(await reportOf(first)).toMatchObject({ outcome: 'success', run_id: first.firstExecutionRunId });
      expect(await site.store.runs.get(first.firstExecutionRunId)).toMatchObject({ outcome: 'success' });
      const rows = await site.store.runs.listNodes(first.firstExecutionRunId);
      expect(new Set(rows.map(({ report }) => report.state))).toEqual(new Set(['success']));
      expect(await site.store.claims.holder({ site: site.name })).toBeNull();
      expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
      if (activity === 'deploy_node') await recordHistory(again, 'deploy_site--reset');
    },
  );
});

describe('a reset of the other kinds in flight', () => {
  const inFlight = async (kind: string, input: object = {}, auto: object = { deploy_ms: 3_600_000 }) => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: kind === 'update_site' ? 3_600_000 : 20 } });
    await site.commit(await exampleDocuments());
    if (kind !== 'update_site') expect((await done(await start('deploy_site'))).outcome).toBe('success');
    await site.control('auto', auto);
    return start(kind, input);
  };
  const goesOn = async (first: Handle, activity: string) => {
    const again = await resetTo(first, activity);
    await until(async () => (await site.store.claims.holder({ site: site.name }))?.generation === 2);
    await site.control('faults', []);
    await finishDeployments();
    expect(await again.result()).toMatchObject({ outcome: 'success' });
    expect(await reportOf(first)).toMatchObject({ outcome: 'success', run_id: first.firstExecutionRunId });
    expect(await site.store.claims.holder({ site: site.name })).toBeNull();
  };

  it('lets update_site continue', async () => {
    const first = await inFlight('update_site');
    await deploying(3);
    await goesOn(first, 'deploy_node');
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
  });

  // The Web UI offers the point before `open_run` as "first workflow task".
  it.each(['open_run', 'verify_site', 'release_node', 'deploy_node'])(
    'lets redeploy_nodes before %s continue, and releases no machine twice',
    async (activity) => {
      const first = await inFlight('redeploy_nodes', BY_KIND.redeploy_nodes);
      await until(async () => (await site.entered(MachineStatus.Deploying)).stl1r01s05 === 2);
      await goesOn(first, activity);
      expect(await site.entered(MachineStatus.Releasing)).toEqual({ stl1r01s05: 1 });
      expect(await site.entered(MachineStatus.Deploying)).toEqual({ ...oneDeployEach, stl1r01s05: 2 });
    },
  );

  onServer(
    'redeploy_nodes reset twice while it deploys, as an operator does it, releases and deploys once',
    async () => {
      const first = await inFlight('redeploy_nodes', BY_KIND.redeploy_nodes);
      await until(async () => (await site.entered(MachineStatus.Deploying)).stl1r01s05 === 2);
      for (const generation of [2, 3]) {
        await temporalCli(
          rig,
          ...[
            'workflow',
            'reset',
            '--type',
            'FirstWorkflowTask',
            '--workflow-id',
            first.workflowId,
            '--reason',
            'tests',
          ],
        );
        // Not before the execution has the claim and waits for its machine, too.
        await until(async () => (await site.store.claims.holder({ site: site.name }))?.generation === generation);
        await until(async () => {
          const { raw } = await rig.client.workflow.getHandle(first.workflowId).describe();
          return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'deploy_node');
        });
      }
      await finishDeployments();
      expect(await rig.client.workflow.getHandle(first.workflowId).result()).toMatchObject({ outcome: 'success' });
      expect(await reportOf(first)).toMatchObject({ outcome: 'success', run_id: first.firstExecutionRunId });
      expect(await site.entered(MachineStatus.Releasing)).toEqual({ stl1r01s05: 1 });
      expect(await site.entered(MachineStatus.Deploying)).toEqual({ ...oneDeployEach, stl1r01s05: 2 });
    },
  );

  it.each([
    ['deployed again', 'Deploying', 'released, and not deployed again', 2],
    ['released', 'Releasing', 'its release had begun, and goes on in MAAS: the machine is bare, or soon will be', 1],
  ] as const)(
    'lets redeploy_nodes, cancelled while a machine is %s, show it as bare, not as a success',
    async (_how, status, reason, times) => {
      const first = await inFlight('redeploy_nodes', BY_KIND.redeploy_nodes, {
        deploy_ms: 3_600_000,
        ...(status === 'Releasing' && { release_ms: 3_600_000 }),
      });
      await until(async () => (await site.entered(MachineStatus[status])).stl1r01s05 === times);
      const audited = { action: 'run.cancel', target: `run/${first.firstExecutionRunId}`, reason: 'a fire' };
      await site.store.audit.append({ ...audited, actor: 'alice' });
      await first.cancel();
      await errorOf(first.result());
      const [row] = await site.store.runs.listNodes(first.firstExecutionRunId);
      expect(row).toMatchObject({ node: 'stl1r01s05', report: { state: 'failed' } });
      const next = 'sitewright site redeploy stl1 stl1r01s05';
      expect(await reportOf(first)).toMatchObject({
        outcome: 'cancelled',
        released: [{ state: 'failed', failure_kind: 'not-redeployed', reason, hint: `deploy it: ${next}` }],
        operator: [{ action: 'cancel', by: 'alice', reason: 'a fire' }],
      });
      const inventory = async () =>
        (await site.store.nodes.list({ site: site.name })).find(({ name }) => name === 'stl1r01s05');
      const { number } = await site.store.runs.get(first.firstExecutionRunId);
      expect(await inventory()).toMatchObject({
        status: 'discover',
        errorMsg: `Run ${number ?? first.firstExecutionRunId} released its machine and was cancelled by alice (a fire), before it was deployed again. Deploy it: ${next}`,
      });
      expect(await site.store.deployedMachines.get(site.name, 'stl1r01s05')).toBeUndefined();
      // The command is the way back, and takes the note away.
      await site.control('auto', { deploy_ms: 20, release_ms: 20 });
      for (const { system_id, hostname } of await site.effects())
        if (hostname === 'stl1r01s05') await site.control(`${system_id}/released`, {}).catch(() => undefined);
      expect(await done(await start('redeploy_nodes', BY_KIND.redeploy_nodes))).toMatchObject({ outcome: 'success' });
      expect(await inventory()).toMatchObject({ status: 'provisioned', errorMsg: null });
    },
  );

  it('lets test_site continue', async () => {
    const first = await inFlight('test_site');
    await done(first);
    await site.control('faults', [{ match: '.', kind: 'slow', ms: 3_600_000, times: 1_000 }]);
    const second = await start('test_site');
    await until(async () => (await second.describe()).raw.pendingActivities?.[0]?.activityType?.name === 'verify_site');
    const again = await resetTo(second, 'load_plan');
    await site.control('faults', []);
    expect(await again.result()).toMatchObject({ outcome: 'success' });
    expect(await reportOf(second)).toMatchObject({ outcome: 'success', run_id: second.firstExecutionRunId });
    expect(await site.store.claims.holder({ site: site.name })).toBeNull();
  });

  it('lets a run that was recorded as terminated continue', async () => {
    const first = await inFlight('update_site');
    await deploying(3);
    await first.terminate('tests');
    const row = await site.store.runs.get(first.firstExecutionRunId);
    await closeGone({ store: site.store, end: (id, run) => findEnd(rig.client, id, run) });
    expect(await site.store.runs.get(row.id)).toMatchObject({ outcome: 'terminated' });
    await goesOn(first, 'deploy_node');
    expect(await site.store.runs.get(row.id)).toMatchObject({ outcome: 'success' });
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
  });
});

describe('a reset of a run that was terminated, after another one had its site', () => {
  it('is refused, unless it is to its very start', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const first = await start('deploy_site');
    await deploying(3);
    await first.terminate('tests');
    const next = await start('deploy_site');
    // It takes the site over. The row of the previous run is closed by it or, before it, by the reconciler.
    await until(async () => (await site.store.claims.holder({ site: site.name }))?.runId === next.firstExecutionRunId);
    await until(async () => (await site.store.runs.get(first.firstExecutionRunId)).outcome === 'terminated');
    const refused = async (why: string) => {
      const row = await site.store.runs.get(first.firstExecutionRunId);
      expect(await errorOf((await resetTo(first, 'deploy_node')).result())).toMatchObject({
        cause: { type: 'ClaimLost', message: expect.stringContaining(why) },
      });
      expect(await site.store.runs.get(first.firstExecutionRunId)).toEqual(row);
    };
    await refused(`run ${next.firstExecutionRunId}) holds it`);
    await finishDeployments();
    expect((await done(next)).outcome).toBe('success');
    await refused('no run holds it');
    const again = await resetTo(first, 'open_run');
    expect(await again.result()).toMatchObject({ outcome: 'success' });
    expect(await reportOf(first)).toMatchObject({ outcome: 'success', run_id: first.firstExecutionRunId });
    expect(await site.store.runs.get(first.firstExecutionRunId)).toMatchObject({ outcome: 'success' });
    expect(await site.store.claims.holder({ site: site.name })).toBeNull();
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
  });
});

describe('a run whose calls are child workflows', () => {
  const first = ['m000', 'm001', 'm002'];
  const names = Array.from({ length: 401 }, (_unused, n) => `m${String(n).padStart(3, '0')}`);
  const strategy = {
    schema: 'shipyard/DeploymentStrategy/v1',
    metadata: { name: 'deployment-strategy', layeringDefinition: { layer: 'site' }, schema: 'metadata/Document/v1' },
    data: {
      groups: [
        { name: 'first', critical: true, depends_on: [], selectors: [{ node_names: first }] },
        { name: 'rest', critical: true, depends_on: ['first'], selectors: [{ node_names: names.slice(3) }] },
      ],
    },
  };
  const configuration = {
    schema: 'shipyard/DeploymentConfiguration/v1',
    metadata: {
      name: 'deployment-configuration',
      layeringDefinition: { layer: 'site' },
      schema: 'metadata/Document/v1',
    },
    data: { physical_provisioner: { deployment_strategy: 'deployment-strategy' }, armada: { manifest: 'full-site' } },
  };
  const nodes = names.map((name) => ({
    schema: 'drydock/BaremetalNode/v1',
    metadata: { name, layeringDefinition: { layer: 'site' }, schema: 'metadata/Document/v1' },
    data: { metadata: { rack: 'r1' } },
  }));

  const slicesOf = async (handle: Pick<Handle, 'fetchHistory'>) =>
    (await handle.fetchHistory())
      .events!.map((event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution)
      .filter((execution) => execution !== undefined && execution !== null);
  const slicesClosed = async (executions: Awaited<ReturnType<typeof slicesOf>>) => {
    for (const { workflowId, runId } of executions) {
      await errorOf(rig.client.workflow.getHandle(workflowId!, runId!).result());
    }
  };
  const aborted = async () =>
    (await site.requests()).filter(({ url, body }) => `${url} ${body}`.includes('op=abort')).length;

  const begin = async () => {
    const hosts = names.map((hostname) => ({ hostname, status: MachineStatus.Ready, power_type: 'ipmi' }));
    site = await livingSite(rig, { seed: { machines: hosts }, auto: { deploy_ms: 3_600_000 } });
    const text = [strategy, configuration, ...nodes].map((document) => JSON.stringify(document)).join('\n---\n');
    await site.commit([{ name: 'site.yaml', text }]);
    const handle = await start('deploy_site');
    await deploying(first.length);
    return handle;
  };
  /** Deployments that the run's children have open: those of ended children are none. */
  const openCalls = async (handle: Pick<Handle, 'fetchHistory'>) => {
    const children = new Set((await slicesOf(handle)).map(({ workflowId }) => workflowId!));
    const described = await Promise.all([...children].map((id) => rig.client.workflow.getHandle(id).describe()));
    const pending = described.flatMap(({ raw }) => raw.pendingActivities ?? []);
    return pending.filter(({ activityType }) => activityType?.name === 'deploy_node').length;
  };
  const end = async (handle: Pick<Handle, 'fetchHistory' | 'signal' | 'result'>) => {
    // A stop that comes before the calls are open would leave nothing to finish.
    await until(async () => (await openCalls(handle)) >= first.length);
    await handle.signal('stop');
    for (const { system_id, hostname } of await site.effects())
      if (first.includes(hostname)) await site.control(`${system_id}/deployed`, {}).catch(() => undefined);
    expect(await handle.result()).toMatchObject({ outcome: 'stopped', nodes: { success: 3 } });
    expect(await aborted()).toBe(0);
    expect(await site.entered(MachineStatus.Deploying)).toEqual({ m000: 1, m001: 1, m002: 1 });
  };

  it('leaves no child behind that touches machines of the next run', async () => {
    const old = await begin();
    const left = await slicesOf(old);
    await old.terminate('tests');
    const next = await start('deploy_site', {}, old.workflowId);
    await until(async () => (await site.store.claims.holder({ site: site.name }))?.runId === next.firstExecutionRunId);
    await slicesClosed(left);
    await until(async () => (await slicesOf(next)).length > 0);
    expect(
      (await slicesOf(next)).filter((one) => left.some(({ workflowId }) => workflowId === one.workflowId)),
    ).toEqual([]);
    await end(next);
  });

  it.each([
    [
      'before the child that deploys',
      (events: Events) =>
        events
          .map((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)
          .find((attributes) => attributes?.workflowId?.includes('/deploy:'))!.workflowTaskCompletedEventId!,
    ],
    [
      'behind the start of the child that deploys',
      (events: Events) => {
        const started = events.findLastIndex((event) => event.childWorkflowExecutionStartedEventAttributes);
        return events.slice(started).find((event) => event.workflowTaskCompletedEventAttributes)!.eventId!;
      },
    ],
  ])('continues after a reset to %s', async (_where, eventOf) => {
    const old = await begin();
    const again = await resetAt(old, eventOf);
    await askReport(again);
    await end(again);
  });
});
