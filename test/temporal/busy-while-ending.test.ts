import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OpsDependencies } from '../../src/ops/dependencies.ts';
import { refusalOf } from '../../src/ops/refusal.ts';
import { lookUntil } from '../rig/look-again.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

it('a start is refused while a run holds its site, with how to stop it, or how long to wait once it is cancelled', async () => {
  const site = scriptedSite({ groups: [group('all', ['n1'], { critical: true })] }, plainNodes('n1'));
  site.hold.add('deploy:n1');
  let aborted = (): void => undefined;
  const abort = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  const { abort_node } = site.activities;
  site.overrides.abort_node = async (request) => {
    delete site.overrides.abort_node;
    await abort;
    return abort_node(request);
  };
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  await site.heldCall('deploy', 'n1');
  const { workflowId, firstExecutionRunId: runId } = run.handle;
  const deps = {
    store: { runs: { get: async () => ({ number: 12 }) } },
    temporal: { client: rig.client, connection: rig.client.connection, address: rig.address },
  } as unknown as OpsDependencies;
  const failure = { kind: 'site-busy', site: 'dc1', workflow_id: workflowId, run_id: runId } as const;
  const refusal = async () => (await refusalOf(deps, failure, { reason: '', next_step: '' })).problem;
  expect(await refusal()).toEqual({
    code: 'site-busy',
    message: `site dc1 is busy with ${workflowId} (run 12): one run per site at a time`,
    hint: `Watch it: sitewright run show 12 --watch. Stop it: sitewright run stop 12`,
    run: { id: runId, workflow_id: workflowId },
  });
  await run.handle.cancel();
  const ending = (await lookUntil(refusal, (problem) => JSON.stringify(problem).includes('cancelled'))) as object;
  expect(ending).toMatchObject({
    code: 'site-busy',
    message: `site dc1 is busy with ${workflowId} (run 12), which is being cancelled: it ends once its machines are aborted`,
    hint: `Watch it: sitewright run show 12 --watch. Then start again`,
  });
  aborted();
  await run.ended();
});
