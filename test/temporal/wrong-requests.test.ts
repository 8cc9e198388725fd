import type { WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { causeOf, reaches, startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/* Input that a run does not understand: types, signals, updates, queries and payloads with mistakes in them. */
let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const strategy = { groups: [group('all', ['n1'], { critical: true })] };

async function deploying(options: Partial<WorkerOptions> = {}) {
  const site = scriptedSite(strategy, plainNodes('n1'));
  site.hold.add('deploy:n1');
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }], options);
  const call = await site.heldCall('deploy', 'n1');
  return { site, run, call };
}

/** Sends a signal with payloads as no client of ours encodes them. */
const signalRaw = (
  run: { handle: { workflowId: string } },
  signalName: string,
  data: string,
  encoding = 'json/plain',
) =>
  rig.connection.workflowService.signalWorkflowExecution({
    namespace: rig.namespace,
    workflowExecution: { workflowId: run.handle.workflowId },
    signalName,
    input: { payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }] },
  });

it('an unknown workflow type fails once, and the error lists the known ones', async () => {
  const { run, call } = await deploying();
  const typo = await rig.client.workflow.start('deploy_sites', {
    taskQueue: run.worker.taskQueue,
    workflowId: rig.workflowId('typo'),
    args: [{ site: 'dc1' }],
    retry: { maximumAttempts: 5 },
  });
  const error = await typo.result().then(
    () => null,
    (thrown: Error) => thrown,
  );
  expect(causeOf(error)).toMatchObject({
    type: 'UnknownWorkflowType',
    nonRetryable: true,
    message:
      "there is no workflow type 'deploy_sites' (known: deploy_site, update_site, redeploy_nodes, test_site, execute_graph). Did you mean 'deploy_site'?",
  });
  call.finish();
  await run.ended();
});

it('unknown and malformed signals are warnings in status, details, report and log; valid parts take effect', async () => {
  const logged: string[] = [];
  const ignored = { fn: () => undefined };
  const warn = { fn: (_run: unknown, message: string) => void logged.push(message) };
  const log = { trace: ignored, debug: ignored, info: ignored, warn, error: ignored };
  const { site, run, call } = await deploying({ sinks: { defaultWorkerLogger: log } });
  await run.handle.signal('pauze', { reason: 'x' });
  await run.handle.signal('pause', { reson: 'rack power', by: 'nina' });
  await signalRaw(run, 'pause', '{"reason":');
  await signalRaw(run, 'resume', 'AAAA', 'binary/unheard');
  await run.handle.signal('stop', 7);
  await run.handle.signal('call_progress', { slice: 1 });
  const status = await reaches(run, ({ warnings }) => warnings.length >= 6);
  expect(status.stopping).toBe(true);
  expect(status.warnings).toEqual([
    "there is no signal 'pauze' (known: pause, resume, stop, approve, reject, promote, hold, abort_rollout). Did you mean 'pause'?",
    "signal 'pause': unknown field 'reson' (known: by, reason, entry). Did you mean 'reason'?",
    "signal 'pause': the payload cannot be decoded",
    "signal 'resume': the payload cannot be decoded",
    "signal 'stop': the payload must be one JSON object",
    "signal 'call_progress': missing field 'started'; missing field 'finished'; field 'slice' must be one line of 1 to 1000 characters; it had no effect",
  ]);
  expect(await details(run)).toContain("- there is no signal 'pauze'");
  expect(logged).toEqual(status.warnings);
  call.finish();
  await run.ended();
  const { operator, warnings } = site.closed[0]!.report;
  expect(operator.map(({ action, by }) => [action, by])).toEqual([
    ['pause', 'nina'],
    ['resume', undefined],
    ['stop', undefined],
  ]);
  expect(warnings).toHaveLength(6);
});

describe('updates and queries', () => {
  it('are refused with the known ones, and without stack traces', async () => {
    const { run, call } = await deploying();
    const refusal = async (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'accepted',
        (error: Error) => (error.cause instanceof Error ? error.cause.message : error.message),
      );
    const update = (name: string, ...args: [unknown, ...unknown[]]) =>
      refusal(run.handle.executeUpdate<unknown, [unknown, ...unknown[]]>(name, { args }));
    expect(await update('retry_nod', { node: 'n1' })).toBe(
      "there is no update 'retry_nod' (known: opened, pause, resume, approve, reject, promote, hold, abort_rollout, retry_node). Did you mean 'retry_node'?",
    );
    expect(await update('stop', {})).toBe(
      `'stop' is a signal, not an update: temporal workflow signal --workflow-id ${run.handle.workflowId} --name stop`,
    );
    expect(await update('pause', { reason: 'x'.repeat(2001) })).toBe(
      "update 'pause': field 'reason' must be text of 1 to 2000 characters",
    );
    expect(await update('retry_node', 'n1')).toContain("missing field 'node'");
    expect(await update('retry_node', { node: 'n1' }, { node: 'n2' })).toContain('only the first payload is used');
    expect(await refusal(run.handle.query('stats'))).toContain(
      "there is no query 'stats' (known: status, report, tree, plan). Did you mean 'status'?",
    );
    const status = await run.handle.query<RunStatus>('status');
    expect(status).toMatchObject({
      paused: null,
      warnings: [expect.stringContaining('retry_nod'), expect.stringContaining('is a signal')],
    });
    call.finish();
    await run.ended();
    const history = await run.handle.fetchHistory();
    expect(JSON.stringify(history)).not.toMatch(/\.ts:\d+|\.js:\d+/);
  });
});

it('inputs with mistakes fail immediately, with each mistake', async () => {
  const worker = await rig.runWorker({ taskQueue: rig.workflowId('queue'), activities: {} });
  const start = async (type: string, ...args: unknown[]) => {
    const handle = await rig.client.workflow.start(type, {
      taskQueue: worker.taskQueue,
      workflowId: rig.workflowId(type),
      args,
    });
    return causeOf(await handle.result().catch((error: Error) => error));
  };
  expect(await start('deploy_site', { sit: 'dc1', started_by: 'x'.repeat(201) })).toMatchObject({
    type: 'InvalidInput',
    message: expect.stringMatching(
      /missing field 'site'.*Did you mean 'site'\?.*field 'started_by' must be one line of 1 to 200/s,
    ),
  });
  const described = {
    title: 'x'.repeat(201),
    description: 'x'.repeat(10_001),
    labels: { team: 'x'.repeat(201), ['x'.repeat(64)]: '' },
  };
  for (const [type, subject] of [
    ['deploy_site', { site: 'dc1' }],
    ['execute_graph', { cluster: 1 }],
  ] as const)
    expect(await start(type, { ...subject, ...described })).toMatchObject({
      type: 'InvalidInput',
      message: expect.stringMatching(
        /'title' must be one line of 1 to 200.*'description' must be text of 1 to 10000.*at most 200 characters for 'team'.*63 at most/s,
      ),
    });
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`label${n}`, '']));
  expect((await start('test_site', { site: 'x'.repeat(1001), labels: many })).message).toMatch(
    /'site' must be the name of a site.*at most 50 labels/s,
  );
  expect(await start('execute_graph', { cluster: 1, reason: 'x'.repeat(2001) })).toMatchObject({
    message: expect.stringContaining("field 'reason' must be text of 1 to 2000 characters"),
  });
  expect((await start('test_site', 'dc1', 'dc2')).message).toContain('input must be one JSON object');
  expect(await start('drain_agent', { site: 'dc1' })).toMatchObject({
    type: 'InvalidInput',
    message: expect.stringMatching(/missing field 'node'.*missing field 'wait_ms'/),
  });
  for (const type of ['run_call', 'run_graph_part'])
    for (const input of [undefined, { site: 'dc1' }])
      expect(await start(type, input)).toMatchObject({
        type: 'StartedByRunsOnly',
        nonRetryable: true,
        message: expect.stringContaining(`only runs start ${type}, as a part of their work: start one of deploy_site,`),
      });
  await worker.stop();
});

/** The run's current details, as the Web UI shows them. */
async function details(run: { handle: { workflowId: string } }): Promise<string> {
  const handle = rig.client.workflow.getHandle(run.handle.workflowId);
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return currentDetails;
}
