import { defineSearchAttributeKey } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';

const SITE_NAME = defineSearchAttributeKey('SiteName', 'KEYWORD');
const FAILED_NODES = defineSearchAttributeKey('FailedNodes', 'INT');

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
      typedSearchAttributes: [
        { key: SITE_NAME, value: 'dc1' },
        { key: FAILED_NODES, value: 3 },
      ],
    });
    expect(await handle.result()).toBe('slept 0 h');
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get(SITE_NAME)).toBe('dc1');
    expect(typedSearchAttributes.get(FAILED_NODES)).toBe(3);
    await worker.stop();
  });
});
