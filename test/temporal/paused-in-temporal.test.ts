import { randomUUID } from 'node:crypto';
import { MachineStatus } from '@sitewright/maas';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkerVersions } from '../../src/platform/temporal/worker-versions.ts';
import { type Answer, type ApiRig, apiOfSite } from '../api/api-rig.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookUntil } from '../rig/look-again.ts';
import { isServerSince, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';

if (!isServerSince('1.30.0'))
  console.error("Temporal's pause is not tested here: `bash .ci/newest-temporal` has a server with it.");

const PAUSED = temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_PAUSED;

/** Temporal's own pause of a workflow (1.30 and later, where it is turned on), which is not `run pause`. */
describe.skipIf(!isServerSince('1.30.0'))('a run that is paused in Temporal', () => {
  let rig: TemporalRig;
  let site: LivingSite;
  let api: ApiRig;
  beforeAll(async () => {
    rig = await temporalRig({ namespace: 'own' });
    const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: null } });
    api = await apiOfSite(rig, site);
    await api.ask('POST', '/api/v1/sites/stl1/revisions', { files: await exampleDocuments() });
  });
  afterAll(async () => {
    await api?.close();
    await site?.close();
    await rig?.close();
  });

  const pauseInTemporal = (workflowId: string) =>
    rig.connection.workflowService.pauseWorkflowExecution({
      ...{ namespace: rig.namespace, workflowId, identity: 'nina@rack', reason: 'the switch is replaced' },
      requestId: randomUUID(),
    });

  it('says so in its status, refuses what it cannot answer, and goes on when it is resumed', async () => {
    const { body: run } = await api.ask('POST', '/api/v1/sites/stl1/runs', { kind: 'deploy_site', started_by: 'nina' });
    const { id, workflow_id: workflowId } = run;
    const at = (path: string): Promise<Answer> => api.ask('GET', `/api/v1/runs/${id}${path}`);
    await lookUntil(
      () => site.entered(MachineStatus.Deploying),
      (entered) => Object.keys(entered).length > 0,
    );
    await pauseInTemporal(workflowId);

    const said = new RegExp(
      `^the workflow of run \\S+ was paused in Temporal at \\S+ by nina@rack \\(the switch is replaced\\).*` +
        `\\. Resume it: sitewright run resume \\S+\\. Or with Temporal's CLI: temporal workflow unpause --workflow-id '${workflowId}'$`,
    );
    const { body: status } = await at('/status');
    expect(status.warnings).toContainEqual(expect.stringMatching(said));
    // Paused for Temporal, and not by us.
    expect(status).toMatchObject({ paused: null });
    // What only the workflow itself could answer is refused, and the reason is not a missing worker.
    const refused = await api.ask('POST', `/api/v1/runs/${id}/pause`, { reason: 'rack power' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'paused-in-temporal' } });
    // Lists and claims still have it.
    expect((await api.ask('GET', '/api/v1/runs?open=true')).body.items).toMatchObject([{ id, outcome: null }]);
    expect(await api.ask('POST', '/api/v1/sites/stl1/runs', { kind: 'test_site' })).toMatchObject({
      status: 409,
      body: { code: 'site-busy' },
    });

    await site.control('auto', { deploy_ms: 20 });
    for (const hostname of exampleHosts) await site.control(`${hostname}/deployed`, {}).catch(() => undefined);
    expect(await api.ask('POST', `/api/v1/runs/${id}/resume`, { reason: 'replaced' })).toMatchObject({ status: 200 });
    await lookUntil(
      async () => (await at('')).body,
      ({ outcome }) => outcome === 'success',
    );
    const { body: audit } = await api.ask('GET', '/api/v1/audit');
    expect(audit.items.map(({ action }: { action: string }) => action)).toContain('run.resume');
  });

  it('counts as open where workers are counted that may go', async () => {
    const [taskQueue, workflowId, version] = [rig.workflowId('queue'), rig.workflowId('sleeper'), '1.0.0+paused'];
    const versions = new WorkerVersions(rig.client, taskQueue);
    const { codePath } = await bundleTestWorkflows('test/rig/workflows/sleeper.ts');
    await rig.runWorker({
      taskQueue,
      workflowBundle: { codePath },
      workerDeploymentOptions: {
        version: { deploymentName: versions.deployment, buildId: version },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    });
    // A version is known once its worker has polled.
    await lookUntil(
      () =>
        versions.makeCurrent(version).then(
          () => true,
          () => false,
        ),
      (isCurrent) => isCurrent,
    );
    const handle = await rig.client.workflow.start('sleeper', { workflowId, taskQueue, args: [1] });
    const counted = () => versions.count(version);
    await lookUntil(counted, (count) => count === 1);
    await pauseInTemporal(workflowId);
    await lookUntil(
      async () => (await handle.describe()).raw.workflowExecutionInfo?.status,
      (status) => status === PAUSED,
    );
    // 1.30 goes on listing it as running; 1.31 does not build from its modules.
    const listed = isServerSince('1.31.0') ? 'Paused' : 'Running';
    await lookUntil(
      async () =>
        (await rig.client.workflow.count(`WorkflowId = '${workflowId}' AND ExecutionStatus = '${listed}'`)).count,
      (count) => count === 1,
    );
    expect(await counted()).toBe(1);
    await handle.terminate();
  });
});
