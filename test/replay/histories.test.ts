import { readdirSync, readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { quietRuntime } from '../rig/temporal.ts';
import { bundleProjectWorkflows } from '../rig/workflow-bundle.ts';

const folder = new URL('./histories/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

/** Situations the promise to runs in flight covers; a workflow change that breaks one needs a patch. */
const SITUATIONS = [
  'coordinate_parts--continued',
  'deploy_site--approved',
  'deploy_site--cancelled',
  'deploy_site--critical-failure',
  'deploy_site--node-retried',
  'deploy_site--node-retried-beside-another-group',
  'deploy_site--node-retried-in-its-group',
  'deploy_site--noticed',
  'deploy_site--paused-and-resumed',
  'deploy_site--permits',
  'deploy_site--permits-awaited',
  'deploy_site--rejected',
  'deploy_site--reset',
  'deploy_site--rollout',
  'deploy_site--rollout-checks',
  'deploy_site--rollout-held-and-promoted',
  'deploy_site--sliced',
  'deploy_site--slices-ended',
  'deploy_site--stopped',
  'deploy_site--stopped-while-maas-is-silent',
  'deploy_site--success',
  'deploy_site--timed-out',
  'deploy_site--with-software',
  'deploy_site--worker-killed',
  'execute_graph--approved',
  'execute_graph--approved-in-parts',
  'execute_graph--cancelled',
  'execute_graph--cancelled-in-parts',
  'execute_graph--cancelled-while-planned',
  'execute_graph--claim-lost-alone',
  'execute_graph--claim-lost-by-part',
  'execute_graph--claim-lost-parts',
  'execute_graph--coordinated-apart',
  'execute_graph--failed',
  'execute_graph--failed-in-parts',
  'execute_graph--held',
  'execute_graph--held-in-parts',
  'execute_graph--no-heartbeats-answered',
  'execute_graph--no-heartbeats-silent',
  'execute_graph--node-returned',
  'execute_graph--node-silent',
  'execute_graph--noticed',
  'execute_graph--noticed-in-parts',
  'execute_graph--part-cancelled',
  'execute_graph--part-terminated',
  'execute_graph--paused',
  'execute_graph--paused-in-parts',
  'execute_graph--paused-over-failures',
  'execute_graph--paused-over-failures-in-parts',
  'execute_graph--permits',
  'execute_graph--permits-in-parts',
  'execute_graph--reset',
  'execute_graph--reset-in-parts',
  'execute_graph--reset-then-stopped',
  'execute_graph--resumed-after-a-failure',
  'execute_graph--rollout',
  'execute_graph--rollout-checks',
  'execute_graph--rollout-checks-on-nodes',
  'execute_graph--rollout-promoted',
  'execute_graph--resumed-as-a-record-was-due',
  'execute_graph--resumed-by-another-worker',
  'execute_graph--retried',
  'execute_graph--retried-in-parts',
  'execute_graph--room-used-up',
  'execute_graph--stopped',
  'execute_graph--stopped-in-parts',
  'execute_graph--stopped-while-planned',
  'execute_graph--success',
  'execute_graph--success-in-parts',
  'execute_graph--two-graphs',
  'execute_graph--worker-killed',
  'redeploy_nodes--success',
  'run_call--cancelled',
  'run_graph_part--approved',
  'run_graph_part--continued',
  'run_graph_part--permits',
  'run_graph_part--success',
  'send_notice--delivered',
  'test_site--cancelled-while-looking',
  'test_site--paused-to-its-end',
  'test_site--stopped-while-looking',
  'test_site--success',
  'update_site--success',
  'update_site--with-software',
];

/** By file, why its replay failed. One worker for all, as one takes longer to start than to replay. */
const replayed = new Map<string, unknown>();
beforeAll(async () => {
  quietRuntime();
  const { codePath } = await bundleProjectWorkflows();
  const histories = files.map((file) => {
    const history = historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
    // Ids of children carry the parent's.
    const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? 'fake';
    return { history, workflowId };
  });
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, histories))
    replayed.set(files[replayed.size]!, error);
});

it('every situation has a recorded history', () => {
  expect(SITUATIONS.filter((name) => !files.some((file) => file.startsWith(`${name}--v`)))).toEqual([]);
});

describe('recorded histories replay with the workflows as they are now', () => {
  it.each(files)('%s', (file) => {
    expect([...replayed.keys()]).toContain(file);
    expect(replayed.get(file)).toBeUndefined();
  });
});
