import { CompleteAsyncError } from '@temporalio/activity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordHistory } from '../rig/histories.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

it('a run continues with another worker, from the start of the interrupted call', async () => {
  const strategy = {
    groups: [group('a', ['n1', 'n2'], { critical: true, success_criteria: { percent_successful_nodes: 100 } })],
  };
  const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
  site.plan = { ...site.plan, pace: { ...site.plan.pace, heartbeat_seconds: 1 } };
  site.hold.add('deploy:n2');
  const taskQueue = rig.workflowId('queue');
  const first = await rig.runWorker({ taskQueue, activities: site.activities });
  const handle = await rig.client.workflow.start('deploy_site', {
    taskQueue,
    workflowId: rig.workflowId('deploy_site'),
    args: [{ site: 'dc1' }],
  });
  // As the server sees a kill: the call was taken, and no heartbeat follows.
  (await site.heldCall('deploy', 'n2')).throwError(new CompleteAsyncError());
  await first.stop();
  site.hold.clear();
  const second = await rig.runWorker({ taskQueue, activities: site.activities });
  expect(await handle.result()).toMatchObject({ outcome: 'success' });
  expect(site.began.filter((call) => call === 'deploy:n2').length).toBeGreaterThanOrEqual(2);
  expect(site.began.filter((call) => call === 'deploy:n1')).toHaveLength(1);
  await recordHistory(handle, 'deploy_site--worker-killed');
  await second.stop();
});
