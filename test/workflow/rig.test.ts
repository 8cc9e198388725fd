import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TemporalRig, temporalRig } from '../rig/temporal.js';
import { bundleTestWorkflows } from '../rig/workflow-bundle.js';

describe('the shared dev server', () => {
  let rig: TemporalRig;
  beforeAll(async () => {
    rig = await temporalRig({ namespace: 'own' });
  });
  afterAll(async () => {
    await rig.close();
  });

  it('runs a workflow in a namespace of the test file’s own, with our search attributes', async () => {
    const { codePath } = await bundleTestWorkflows('test/rig/workflows/sleeper.ts');
    const worker = await rig.runWorker({ workflowBundle: { codePath } });
    const workflowId = rig.workflowId('sleeper');
    const handle = await rig.client.workflow.start('sleeper', {
      taskQueue: worker.taskQueue,
      workflowId,
      args: [0],
      searchAttributes: { SiteName: ['dc1'], FailedNodes: [3] },
    });
    expect(await handle.result()).toBe('slept 0 h');
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ SiteName: ['dc1'], FailedNodes: [3] });
    await worker.stop();
    expect(worker.worker.getState()).toBe('STOPPED');
  });
});
