import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lookAgain } from '../rig/look-again.ts';
import { scriptedGraph } from '../rig/scripted-graph.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { group, plainNodes, scriptedSite, untilCancelled } from '../rig/scripted-site.ts';
import { causeOf, startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { temporalCli } from '../rig/temporal-cli.ts';

/* Steps that an operator ends with Temporal's own command line, with arbitrary results. */
let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/** At each place, which has a contract of its own; what is no object is refused before any contract is asked. */
const NO_OBJECTS = ['"ok"', 'null', '[]'];

const complete = ({ handle }: { handle: { workflowId: string } }, activity: string, result: string) =>
  temporalCli(
    rig,
    'activity',
    'complete',
    '--workflow-id',
    handle.workflowId,
    '--activity-id',
    activity,
    '--result',
    result,
  );

const strategy = {
  groups: [group('all', ['n1'], { critical: true, success_criteria: { percent_successful_nodes: 100 } })],
};

/** Id of the running activity of a type. */
async function openActivity({ handle }: { handle: { workflowId: string } }, type: string): Promise<string> {
  for (;;) {
    const { raw } = await rig.client.workflow.getHandle(handle.workflowId).describe();
    const found = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
    if (found) return found.activityId!;
    await lookAgain();
  }
}

async function failsTheRun(name: 'load_plan' | 'verify_site', result: string): Promise<void> {
  const site = scriptedSite(strategy, plainNodes('n1'));
  site.overrides = { [name]: untilCancelled };
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  await complete(run, await openActivity(run, name), result);
  const { failure } = await run.ended();
  expect(causeOf(failure)).toMatchObject({ type: 'StepFailed' });
  const message = expect.stringContaining(`the result of ${name} is not an answer`);
  expect(site.closed[0]!.report.failure).toMatchObject({ kind: 'step-failed', type: 'InvalidAnswer', message });
}

describe('an activity completed by hand with {}', () => {
  const result = '{}';

  it('fails the node of a call, with the reason, and the run ends with a report', async () => {
    const site = scriptedSite(strategy, plainNodes('n1'));
    site.hold.add('deploy:n1');
    const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
    await site.heldCall('deploy', 'n1');
    await complete(run, await openActivity(run, 'deploy_node'), result);
    const { failure } = await run.ended();
    expect(causeOf(failure)).toMatchObject({ type: 'CriticalGroupFailed' });
    const [node] = site.closed[0]!.report.baremetal!.nodes;
    expect(node).toMatchObject({ name: 'n1', state: 'failed', failure_kind: 'InvalidAnswer' });
    expect(node!.reason).toMatch(/deploy_node.*not an answer of this activity/);
  });

  it.each(['load_plan', 'verify_site'] as const)('fails the run when it was %s', (name) => failsTheRun(name, result));

  it('fails the task of a graph, with the reason', async () => {
    const graph = scriptedGraph({
      plans: {
        default: {
          nodes: [{ id: '1', kind: 'node' }],
          tasks: [{ id: 't', node: '1', type: 'shell' }],
          edges: [],
        },
      },
    });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await complete(run, await openActivity(run, 'run_task'), result);
    await run.ended();
    expect(JSON.stringify(graph.closed[0]!.report)).toContain('the result of run_task is not an answer');
  });
});

it.each(NO_OBJECTS)('an activity completed by hand with %s fails the run when it was load_plan', async (result) => {
  await failsTheRun('load_plan', result);
});

it('a step failed by hand has the operator’s reason', async () => {
  const site = scriptedSite(strategy, plainNodes('n1'));
  site.hold.add('deploy:n1');
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  await site.heldCall('deploy', 'n1');
  const activity = await openActivity(run, 'deploy_node');
  await temporalCli(
    rig,
    ...['activity', 'fail', '--workflow-id', run.handle.workflowId, '--activity-id', activity],
    ...['--reason', 'the cable is cut', '--detail', '"rack 7"'],
  );
  const { failure } = await run.ended();
  expect(causeOf(failure)).toMatchObject({ type: 'CriticalGroupFailed' });
  expect(site.closed[0]!.report.baremetal!.nodes[0]!.reason).toContain('the cable is cut');
});

describe('the end of a run, completed by hand with {}', () => {
  const result = '{}';

  it('has failed, and is repeated: the report notes that, and the claim of the site is released', async () => {
    const site = scriptedSite(strategy, plainNodes('n1'));
    site.overrides.close_run = async () => {
      delete site.overrides.close_run;
      return untilCancelled();
    };
    const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
    await complete(run, await openActivity(run, 'close_run'), result);
    const { failure } = await run.ended();
    const message = expect.stringContaining('the result of close_run is not an answer');
    expect(causeOf(failure)).toMatchObject({ type: 'StepFailed', message });
    // The activity itself writes the report and releases the claim: it has run, after the result that a person typed.
    expect(site.closed).toMatchObject([{ outcome: 'failed', report: { failure: { kind: 'step-failed', message } } }]);
  });

  it('has failed, and is repeated, for a graph', async () => {
    const graph = scriptedGraph({
      plans: {
        default: { nodes: [{ id: '1', kind: 'node' }], tasks: [{ id: 't', node: '1', type: 'shell' }], edges: [] },
      },
    });
    graph.overrides.close_graph_run = async () => {
      delete graph.overrides.close_graph_run;
      return untilCancelled();
    };
    const run = await startGraphRun(rig, graph);
    await complete(run, await openActivity(run, 'close_graph_run'), result);
    await run.ended();
    expect(graph.closed).toHaveLength(1);
    expect(graph.closed[0]).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('the result of close_graph_run is not an answer'),
    });
  });
});

it('a run whose end is repeatedly completed by hand ends, and its failure notes that', async () => {
  const site = scriptedSite(strategy, plainNodes('n1'));
  site.overrides.close_run = untilCancelled;
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  const first = await openActivity(run, 'close_run');
  await complete(run, first, '{}');
  let second = first;
  while (second === first) second = await openActivity(run, 'close_run');
  await complete(run, second, '{}');
  const { failure } = await run.ended();
  expect(causeOf(failure)).toMatchObject({ type: 'StepFailed', message: expect.stringContaining('close_run') });
});

it('a run started with Temporal’s own tool has a pointer to help in its memo', async () => {
  const site = scriptedSite(strategy, plainNodes('n1'));
  site.hold.add('deploy:n1');
  const worker = await rig.runWorker({ taskQueue: rig.workflowId('queue'), activities: site.activities });
  const workflowId = rig.workflowId('deploy_site');
  await temporalCli(
    rig,
    ...['workflow', 'start', '--type', 'deploy_site', '--task-queue', worker.taskQueue, '--workflow-id', workflowId],
    ...['--input', '{"site":"dc1"}'],
  );
  const call = await site.heldCall('deploy', 'n1');
  const described = JSON.parse(
    await temporalCli(rig, 'workflow', 'describe', '--workflow-id', workflowId, '-o', 'json'),
  );
  expect(JSON.stringify(described.workflowExecutionInfo.memo)).toContain('docs/reference/troubleshooting.md');
  call.finish();
  await rig.client.workflow.getHandle(workflowId).result();
  await worker.stop();
});
