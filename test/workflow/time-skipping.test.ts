import { randomUUID } from 'node:crypto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, it } from 'vitest';
import { findTimeSkippingServer, type TimeSkippingServer } from '../../src/platform/temporal/time-skipping-server.js';
import { quietRuntime } from '../rig/temporal.js';
import { bundleTestWorkflows } from '../rig/workflow-bundle.js';

let server: TimeSkippingServer;
// The first time on a machine it is downloaded.
beforeAll(async () => {
  server = await findTimeSkippingServer();
}, 600_000);

it('ends a workflow that sleeps 51 hours without waiting for them', async (context) => {
  if (server.status === 'missing') return context.skip(server.reason);
  quietRuntime();
  const executable = { type: 'existing-path', path: server.path } as const;
  const environment = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  try {
    const { codePath } = await bundleTestWorkflows('test/rig/workflows/sleeper.ts');
    const taskQueue = randomUUID();
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue,
      workflowBundle: { codePath },
    });
    const before = await environment.currentTimeMs();
    const result = await worker.runUntil(
      environment.client.workflow.execute('sleeper', { taskQueue, workflowId: randomUUID(), args: [51] }),
    );
    expect(result).toBe('slept 51 h');
    expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(51 * 60 * 60 * 1000);
  } finally {
    await environment.teardown();
  }
});
