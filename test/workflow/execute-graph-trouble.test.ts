import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { agentGone } from '../../activities/node/task.ts';
import type { GraphRunReport, GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { startReconciler } from '../../src/runs/reconciler.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { openStore } from '../../src/store/index.ts';
import { eventually } from '../rig/agent-site.ts';
import { recordHistory } from '../rig/histories.ts';
import { type EventId, type Events, resetRun } from '../rig/reset-run.ts';
import { failed, ok, type ScriptedGraph, type ScriptedGraphOptions, scriptedGraph } from '../rig/scripted-graph.ts';
import { expectLegal } from '../rig/scripted-graph-checks.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { untilCancelled } from '../rig/scripted-site.ts';
import { causeOf } from '../rig/site-workflow.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { withHurriedChildren } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
let hurried: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
  hurried = await withHurriedChildren(rig);
});
afterAll(() => rig.close());

const node = (id: string) => ({ id, kind: 'node' as const });
const all = (ids: readonly string[], tolerance: number) => [{ name: 'all', node_ids: ids, fault_tolerance: tolerance }];

/** a then b on each of two nodes, nothing between them. */
const pair: NamedPlan = {
  nodes: [node('n1'), node('n2')],
  tasks: ['n1', 'n2'].flatMap((n) => [
    { id: 'a', node: n, type: 'shell' },
    { id: 'b', node: n, type: 'puppet' },
  ]),
  edges: [
    ['a@n1', 'b@n1'],
    ['a@n2', 'b@n2'],
  ],
};

describe('several graphs', () => {
  it('the status shows the current work of the run at any time', async () => {
    const graph = scriptedGraph({ plans: { provision: pair, deploy: pair } });
    const phases: string[] = [];
    const look = async (when: string) => {
      const { workflowId } = Context.current().info.workflowExecution!;
      const { phase } = await rig.client.workflow.getHandle(workflowId).query<GraphRunStatus>('status');
      phases.push(`${when} ${phase}`);
    };
    const taskQueue = rig.workflowId('queue');
    const activities = graph.activities(taskQueue);
    for (const name of ['open_graph_run', 'plan_graph', 'close_graph', 'close_graph_run'] as const) {
      const original = activities[name] as (request: unknown) => Promise<unknown>;
      (graph.overrides as Record<string, unknown>)[name] = async (request: unknown) => {
        await look(name);
        delete (graph.overrides as Record<string, unknown>)[name];
        return original(request);
      };
    }
    const run = await startGraphRun(rig, graph, [{ cluster: 1 }], taskQueue);
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expect(phases).toEqual([
      'open_graph_run starting',
      'plan_graph provision: planning',
      'close_graph provision: closing',
      'close_graph_run finished',
    ]);
  });

  it('each graph is planned after the previous one succeeded', async () => {
    const graph = scriptedGraph({ plans: { provision: pair, deploy: pair } });
    const seen: string[] = [];
    const run = await startGraphRun(rig, graph, [{ cluster: 1, graphs: [{ type: 'provision' }, { type: 'deploy' }] }]);
    await graph.until(() => {
      seen.push(`${graph.planned.join()}:${graph.closedGraphs.length}`);
      return graph.began.length === 8;
    });
    expect((await run.ended()).result).toMatchObject({
      outcome: 'success',
      graphs: [{ state: 'success' }, { state: 'success' }],
    });
    // The second was planned only once the first was closed.
    expect(seen.filter((line) => line.startsWith('provision,deploy:0'))).toEqual([]);
    expect(graph.requests.map(({ run: of }) => of.split('.')[0])).toEqual([
      ...Array(4).fill('11'),
      ...Array(4).fill('12'),
    ]);
    await recordHistory(run.handle, 'execute_graph--two-graphs');
  });

  it('a failed graph aborts the rest', async () => {
    const graph = scriptedGraph({ plans: { provision: pair, deploy: pair } });
    graph.ends.set('a@n1', [failed()]);
    const run = await startGraphRun(rig, graph);
    expect(causeOf((await run.ended()).failure).message).toContain('graph provision failed');
    expect(graph.planned).toEqual(['provision']);
    const report = graph.closed[0]!.report as GraphRunReport;
    expect(report.graphs.map(({ state }) => state)).toEqual(['failed', 'not_reached']);
  });

  it('a plan that is refused ends the run with all its problems', async () => {
    const graph = scriptedGraph({ plans: { default: pair } });
    graph.overrides.plan_graph = async () => ({
      ok: false,
      failure: { kind: 'plan-refused', message: 'the graph is circular', problems: ['a -> b -> a', 'c -> c'] },
    });
    const run = await startGraphRun(rig, graph);
    const cause = causeOf((await run.ended()).failure);
    expect(cause.type).toBe('PlanRefused');
    expect(cause.message).toContain('the graph is circular; a -> b -> a; c -> c');
    expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
  });

  it('a cluster that another run holds is not touched', async () => {
    const graph = scriptedGraph({ plans: { default: pair } });
    graph.overrides.open_graph_run = async () => ({
      ok: false,
      ...{ notices: false, approved_by_another: false },
      failure: { kind: 'cluster-busy', message: 'cluster 1 is busy', holder: 'execute_graph:1:7', run_id: 'other' },
    });
    const run = await startGraphRun(rig, graph);
    const cause = causeOf((await run.ended()).failure);
    expect(cause.type).toBe('ClusterBusy');
    expect(cause.message).toContain('execute_graph:1:7');
    expect(graph.closed).toEqual([]);
  });

  it('a store that refuses for good ends the run, which is still closed', async () => {
    const graph = scriptedGraph({ plans: { default: pair } });
    graph.overrides.load_graph_part = async () => {
      throw ApplicationFailure.nonRetryable('plan default is not in the store', 'PlanLost');
    };
    const run = await startGraphRun(rig, graph);
    const cause = causeOf((await run.ended()).failure);
    expect(cause.type).toBe('StepFailed');
    expect(cause.message).toContain('plan default is not in the store');
    expect(graph.closedGraphs[0]).toMatchObject({ outcome: 'failed' });
    expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
  });
});

describe('a run that has lost its cluster, and that holds for its operator,', () => {
  it.each([
    ['in one piece', {}],
    ['in parts', { partOf: (id: string) => Number(id === 'n2') }],
  ])('ends by itself, and starts nothing more: %s', async (_, split) => {
    const graph = scriptedGraph({ plans: { default: pair }, ...split });
    graph.ends.set('a@n1', [failed('no disk')]);
    graph.hold.add('a@n2');
    graph.overrides.record_tasks = async () => {
      throw ApplicationFailure.nonRetryable('this run does not hold cluster 1: run 16 holds it', 'ClaimLost');
    };
    const run = await startGraphRun(rig, graph, [{ cluster: 1, hold_on_failure: true }]);
    (await graph.heldTask('a@n2')).finish();
    const { failure } = await rig.passUntil(run.ended());
    expect(causeOf(failure)).toMatchObject({ message: expect.stringContaining('does not hold cluster 1') as string });
    expect(graph.began).not.toContain('b@n1');
    // A part's proof may be older than a reset of its run: closing it shows whether it has the cluster.
    expect(graph.closed).toHaveLength('partOf' in split ? 1 : 0);
    await recordHistory(run.handle, `execute_graph--claim-lost-${'partOf' in split ? 'by-part' : 'alone'}`);
  });
});

it('a run in parts continues after a reset, with new children in place of the old ones', async () => {
  const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
  graph.hold.add('all');
  const run = await startGraphRun(rig, graph);
  await graph.until(() => graph.began.length === 2);
  const again = await resetTo(run, whenPartsStart);
  graph.hold.clear();
  expect(await again.result()).toMatchObject({ outcome: 'success', transaction: 10 });
  expect(graph.closed).toMatchObject([{ outcome: 'success', run_id: run.handle.firstExecutionRunId }]);
  // The same attempts: an agent follows those that it has.
  expect(new Set(graph.requests.map(({ generation }) => generation))).toEqual(new Set([1]));
  await recordHistory(again, 'execute_graph--reset-in-parts');
  await run.worker.stop();
});

const resetTo = ({ handle }: Awaited<ReturnType<typeof startGraphRun>>, to: (events: Events) => EventId) =>
  resetRun(rig, { workflowId: handle.workflowId, runId: handle.firstExecutionRunId }, to);

const lastTask = (events: Events): EventId =>
  events.findLast((event) => event.workflowTaskCompletedEventAttributes)!.eventId!;

/** Records wait for `goOn`: a part that is cancelled stays open until it has recorded what became of its task. */
function holdRecords(graph: ScriptedGraph) {
  let isRecording = false;
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  graph.overrides.record_tasks = async () => {
    isRecording = true;
    await gate;
  };
  return { begun: () => eventually(async () => isRecording), goOn };
}

/** The workflow task that starts the parts. */
const whenPartsStart = (events: Events): EventId =>
  events.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)!
    .startChildWorkflowExecutionInitiatedEventAttributes!.workflowTaskCompletedEventId!;

/** The workflow task with the first messages to parts. */
const whenPartsBegin = (events: Events): EventId =>
  events.find((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes)!
    .signalExternalWorkflowExecutionInitiatedEventAttributes!.workflowTaskCompletedEventId!;

/** The one after it. */
const whenPartsBegan = (events: Events): EventId => {
  const began = events.findIndex((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes);
  return events.slice(began).find((event) => event.workflowTaskCompletedEventAttributes)!.eventId!;
};

describe('a run in parts that is reset to behind their start', () => {
  async function resetBehindParts() {
    const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.began.length === 2);
    const started = (events: Events): Events =>
      events.filter((event) => event.childWorkflowExecutionStartedEventAttributes);
    await eventually(async () => started((await run.handle.fetchHistory()).events!).length === 2);
    await run.update('pause');
    const again = await resetTo(run, lastTask);
    expect(started((await again.fetchHistory()).events!)).toHaveLength(2);
    return { graph, run, again };
  }

  it('continues with the same children', async () => {
    const { graph, run, again } = await resetBehindParts();
    await again.signal('resume');
    graph.hold.clear();
    for (const task of ['a@n1', 'a@n2']) (await graph.heldTask(task)).finish();
    expect(await again.result()).toMatchObject({ outcome: 'success', transaction: 10 });
    expect(graph.began).toHaveLength(4);
    await run.worker.stop();
  });

  it('is cancelled with them', async () => {
    const { graph, run, again } = await resetBehindParts();
    await again.cancel();
    await expect(again.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as Error });
    expect(graph.closed).toMatchObject([{ outcome: 'cancelled' }]);
    for (const part of [1, 2]) {
      const { status } = await rig.client.workflow.getHandle(`${run.handle.workflowId}/11.${part}`).describe();
      expect(status.name).not.toBe('RUNNING');
    }
    await run.worker.stop();
  });
});

describe('a run in parts that is reset to before most of what it has told them', () => {
  /** Tasks that wait for one another, in turn on either node: each end is a message from one part to the other. */
  const names = ['a', 'b', 'c', 'd'];
  const chain: NamedPlan = {
    nodes: [node('n1'), node('n2')],
    tasks: names.map((id, at) => ({ id, node: `n${1 + (at % 2)}`, type: 'shell' })),
    edges: names.slice(1).map((id, at) => [`${names[at]!}@n${1 + (at % 2)}`, `${id}@n${1 + ((at + 1) % 2)}`]),
  };

  async function resetWhileThirdRuns() {
    const graph = scriptedGraph({ plans: { default: chain }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    for (const task of ['a@n1', 'b@n2']) (await graph.heldTask(task)).finish();
    const third = await graph.heldTask('c@n1');
    const again = await resetTo(run, whenPartsBegan);
    return { graph, run, again, third };
  }

  it('goes on from where they are', async () => {
    const { graph, run, again, third } = await resetWhileThirdRuns();
    third.finish();
    (await graph.heldTask('d@n2')).finish();
    expect(await again.result()).toMatchObject({ outcome: 'success', transaction: 10 });
    expect(graph.began).toHaveLength(4);
    await run.worker.stop();
  });

  it('goes on when a coordinator in a workflow of its own has answered an operator', async () => {
    const partOf = (id: string) => (id === 'n1' ? 0 : 1);
    const graph = scriptedGraph({ plans: { default: chain }, partOf, apart: true });
    graph.hold.add('a@n1');
    const run = await startGraphRun(rig, graph);
    const first = await graph.heldTask('a@n1');
    await run.update('skip_task', { task: 'd', node: 'n2' });
    await run.update('pause');
    await run.update('resume');
    const again = await resetTo(run, lastTask);
    first.finish();
    expect(await again.result()).toMatchObject({ outcome: 'success', graphs: [{ counts: { success: 3 } }] });
    await run.worker.stop();
  });

  it('goes on when someone resets a part, which then forgets what it has told', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const keyOf = (id: string) => `${id}@n${1 + (names.indexOf(id) % 2)}`;
    const long: NamedPlan = {
      nodes: [node('n1'), node('n2')],
      tasks: names.map((id, at) => ({ id, node: `n${1 + (at % 2)}`, type: 'shell' })),
      edges: names.slice(1).map((id, at) => [keyOf(names[at]!), keyOf(id)]),
    };
    const graph = scriptedGraph({ plans: { default: long }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    for (const id of names.slice(0, 6)) (await graph.heldTask(keyOf(id))).finish();
    const seventh = await graph.heldTask('g@n1');
    const workflowId = `${run.handle.workflowId}/11.2`;
    const { runId } = await rig.client.workflow.getHandle(workflowId).describe();
    await resetRun(rig, { workflowId, runId }, whenPartsBegan);
    for (const id of ['b', 'd', 'f']) (await graph.heldTask(keyOf(id))).finish();
    seventh.finish();
    (await graph.heldTask('h@n2')).finish();
    expect((await run.ended()).failure).toBeNull();
    await run.worker.stop();
  });

  it('stops them', async () => {
    const { graph, run, again, third } = await resetWhileThirdRuns();
    await again.signal('stop');
    third.finish();
    expect(await again.result()).toMatchObject({ outcome: 'stopped' });
    expect(graph.began).toHaveLength(3);
    await run.worker.stop();
  });

  const reason = expect.stringMatching(/11\.[12] has ended, while its run was closed$/) as string;

  /** Someone terminates the run, and its parts end with it. */
  async function terminatedInParts(
    before: (run: Awaited<ReturnType<typeof startGraphRun>>) => Promise<void> = async () => undefined,
  ) {
    const graph = scriptedGraph({ plans: { default: chain }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await graph.heldTask('a@n1');
    await before(run);
    await run.handle.terminate('tests');
    for (const part of [1, 2]) {
      const handle = rig.client.workflow.getHandle(`${run.handle.workflowId}/11.${part}`);
      await eventually(async () => (await handle.describe()).status.name !== 'RUNNING');
    }
    return { graph, run };
  }

  /** It goes on. */
  async function resetAfterTermination() {
    const { graph, run } = await terminatedInParts();
    return { graph, run, again: await resetTo(run, lastTask) };
  }

  /** Stops it, and waits until its parts know. */
  async function stopped({ handle }: Awaited<ReturnType<typeof startGraphRun>>): Promise<void> {
    const told = async (): Promise<number> =>
      (await handle.fetchHistory()).events!.filter((event) => event.externalWorkflowExecutionSignaledEventAttributes)
        .length;
    const before = await told();
    await handle.signal('stop');
    await eventually(async () => (await told()) >= before + 2);
  }

  it('ends at a stop, at another stop, or at a cancel when they ended with it, while someone had terminated it', async () => {
    const closed = await Promise.all(
      (['stop', 'another stop', 'cancel'] as const).map(async (how) => {
        const { graph, run } = await terminatedInParts(how === 'another stop' ? stopped : undefined);
        const again = await resetTo(run, lastTask);
        await (how === 'cancel' ? again.cancel() : again.signal('stop'));
        await expect(rig.passUntil(again.result())).rejects.toThrow();
        await run.worker.stop();
        return graph.closedGraphs;
      }),
    );
    expect(closed).toMatchObject([
      [{ outcome: 'failed', reason }],
      [{ outcome: 'failed', reason }],
      [{ outcome: 'stopped', reason: expect.stringMatching(/cancelled/) }],
    ]);
  });

  it('ends at a stop when they ended with it before their nodes had answered', async () => {
    const absent = rig.workflowId('absent');
    const graph = scriptedGraph({
      ...{ plans: { default: chain }, partOf: (id) => (id === 'n1' ? 0 : 1) },
      ...{ controlOf: () => absent, offlineWaitSeconds: 600 },
    });
    const run = await startGraphRun(rig, graph);
    const part = (number: number) => rig.client.workflow.getHandle(`${run.handle.workflowId}/11.${number}`);
    const isOpen = async (number: number): Promise<boolean> =>
      (
        await part(number)
          .describe()
          .catch(() => null)
      )?.status.name === 'RUNNING';
    // Else the reset is to before the run knew of them, and starts them again.
    await eventually(async () => {
      const { events } = await run.handle.fetchHistory();
      const known = events!.slice(
        0,
        events!.findLastIndex((event) => event.workflowTaskCompletedEventAttributes),
      );
      return known.filter((event) => event.childWorkflowExecutionStartedEventAttributes).length === 2;
    });
    await run.handle.terminate('tests');
    for (const number of [1, 2]) await eventually(async () => !(await isOpen(number)));
    const again = await resetTo(run, lastTask);
    await again.signal('stop');
    await expect(rig.passUntil(again.result())).rejects.toThrow();
    await run.worker.stop();
    expect(graph.closedGraphs).toMatchObject([{ outcome: 'failed', reason }]);
  });

  it('ends when it had cancelled them, and they ended while someone had terminated it', async () => {
    const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.began.length === 2);
    const records = holdRecords(graph);
    const part = (number: number) => rig.client.workflow.getHandle(`${run.handle.workflowId}/11.${number}`);
    await part(2).terminate();
    await records.begun();
    await run.handle.terminate('tests');
    records.goOn();
    await eventually(async () => (await part(1).describe()).status.name !== 'RUNNING');
    const again = await resetTo(run, lastTask);
    expect(causeOf(await rig.passUntil(again.result()).catch((error: Error) => error)).type).toBe('GraphFailed');
    await run.worker.stop();
    expect(graph.closedGraphs).toMatchObject([{ outcome: 'failed', reason: `${part(2).workflowId} was terminated` }]);
  });

  onServer('ends at a cancel that it gets with its reset: a server takes one for what has ended', async () => {
    const { graph, run } = await terminatedInParts();
    await run.worker.stop();
    const again = await resetTo(run, whenPartsBegin);
    await again.cancel();
    const { taskQueue } = run;
    const next = await rig.runWorker({ taskQueue, activities: graph.activities(taskQueue) });
    await expect(rig.passUntil(again.result())).rejects.toThrow();
    await next.stop();
    expect(graph.closedGraphs).toMatchObject([{ outcome: 'stopped', reason: expect.stringMatching(/cancelled/) }]);
  });

  it('ends by itself when they ended with it, while someone had terminated it: the worker tells it', async () => {
    const { graph, run, again } = await resetAfterTermination();
    const store = await openStore('sqlite::memory:');
    onTestFinished(() => store.close());
    const { workflowId, firstExecutionRunId: id } = run.handle;
    await store.runs.put({
      ...{ id, sequence: 1, workflowId, temporalRunId: id, kind: 'execute_graph' },
      ...{ phase: 'default', startedAt: '2026-11-01T00:00:00Z' },
    });
    const { client } = rig;
    const missed = (run: string, child: string) => client.workflow.getHandle(run).signal('child_gone', { id: child });
    const ask = async () => undefined;
    const reconciler = startReconciler({ store, ask, missed, ...runLookups(client) }, { everyMs: 200, quietMs: 0 });
    await expect(rig.passUntil(again.result())).rejects.toThrow();
    await reconciler.stop();
    await run.worker.stop();
    expect(graph.closedGraphs).toMatchObject([{ outcome: 'failed', reason }]);
  });

  it('ends when they have ended meanwhile', async () => {
    const graph = scriptedGraph({ plans: { default: chain }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    let open = (): void => undefined;
    let reached = false;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    graph.overrides.close_graph = async () => {
      reached = true;
      await gate;
    };
    const run = await startGraphRun(rig, graph);
    await eventually(async () => reached);
    const again = await resetTo(run, whenPartsBegan);
    open();
    expect(await again.result()).toMatchObject({ outcome: 'success', transaction: 10 });
    await run.worker.stop();
  });
});

describe('a part that someone ends', () => {
  it.each([
    ['cancel', 'was cancelled'],
    ['terminate', 'was terminated'],
  ] as const)('by %s ends its run, with a report', async (action, how) => {
    const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.began.length === 2);
    const part = `${run.handle.workflowId}/11.2`;
    await rig.client.workflow.getHandle(part)[action]();
    await run.handle.signal('pause');
    await run.handle.signal('resume');
    const cause = causeOf((await run.ended()).failure);
    expect(cause.type).toBe('GraphFailed');
    expect(cause.message).toContain(`${part} ${how}`);
    expect(cause.message).toContain('sitewright graph execute --from 10');
    expect(graph.closedGraphs[0]).toMatchObject({ outcome: 'failed', reason: `${part} ${how}` });
    expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
    await recordHistory(run.handle, `execute_graph--part-${how.slice(4)}`);
  });

  it('ends its run, also if someone resets another part that is being cancelled for it', async () => {
    const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.began.length === 2);
    const records = holdRecords(graph);
    const part = (number: number) => rig.client.workflow.getHandle(`${run.handle.workflowId}/11.${number}`);
    await part(2).terminate();
    await records.begun();
    const { workflowId, runId } = await part(1).describe();
    await resetRun(rig, { workflowId, runId }, whenPartsBegan);
    records.goOn();
    expect(causeOf((await rig.passUntil(run.ended())).failure).type).toBe('GraphFailed');
    expect(graph.closedGraphs[0]).toMatchObject({ outcome: 'failed', reason: `${part(2).workflowId} was terminated` });
    await run.worker.stop();
  });

  onServer('by a time limit of its server ends its run, with a report', async () => {
    const graph = scriptedGraph({ plans: { default: pair }, partOf: (id) => (id === 'n1' ? 0 : 1) });
    graph.hold.add('all');
    const run = await startGraphRun(hurried, graph);
    const cause = causeOf((await run.ended()).failure);
    expect(cause.type).toBe('GraphFailed');
    expect(cause.message).toMatch(new RegExp(`${run.handle.workflowId}/11.[12] timed out`));
    expect(graph.closedGraphs[0]).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('timed out') as string,
    });
    expect(graph.closed[0]).toMatchObject({ outcome: 'failed' });
  });
});

it.each([
  ['stop', 'stopped'],
  ['cancel', 'cancelled'],
] as const)('%s does not wait for a graph that is being planned', async (action, outcome) => {
  const graph = scriptedGraph({ plans: { default: pair, more: pair } });
  let planning = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    planning = resolve;
  });
  graph.overrides.plan_graph = () => {
    planning();
    return untilCancelled();
  };
  const run = await startGraphRun(rig, graph);
  await asked;
  await (action === 'stop' ? run.handle.signal('stop', { by: 'nina' }) : run.handle.cancel());
  const { result } = await run.ended();
  if (action === 'stop') expect(result).toMatchObject({ outcome });
  expect(graph.closedGraphs[0]).toMatchObject({
    outcome: 'stopped',
    reason: `the run was ${outcome} before the graph was planned`,
  });
  expect(graph.closed[0]).toMatchObject({ outcome });
  expect((graph.closed[0]!.report as GraphRunReport).graphs.map(({ state }) => state)).toEqual([
    'stopped',
    'not_reached',
  ]);
  expect(graph.began).toEqual([]);
  await recordHistory(run.handle, `execute_graph--${outcome}-while-planned`);
});

it('a noop run runs the harmless variant and cannot fail, a dry run runs nothing', async () => {
  const noop = scriptedGraph({ plans: { default: { ...pair, mode: 'noop_run' } } });
  noop.ends.set('a@n1', [failed()]);
  const first = await startGraphRun(rig, noop, [{ cluster: 1, mode: 'noop_run', debug: true }]);
  expect((await first.ended()).result).toMatchObject({
    outcome: 'success',
    graphs: [{ counts: { ignored: 1, success: 3 } }],
  });
  expect(new Set(noop.requests.map(({ mode, debug }) => `${mode} ${debug}`))).toEqual(new Set(['noop true']));
  for (const partOf of [undefined, (id: string) => (id === 'n1' ? 0 : 1)]) {
    const dry = scriptedGraph({ plans: { default: { ...pair, mode: 'dry_run' } }, ...(partOf ? { partOf } : {}) });
    const second = await startGraphRun(rig, dry, [{ cluster: 1, mode: 'dry_run' }]);
    expect((await second.ended()).result).toMatchObject({ outcome: 'success', graphs: [{ counts: { skipped: 4 } }] });
    expect([dry.began, dry.pinged]).toEqual([[], []]);
  }
});

it.each([
  [[], /input must be one JSON object/],
  [['x'], /input must be one JSON object/],
  [[{}], /missing field 'cluster'/],
  [[{ cluster: 0, color: 'red', mode: 'x' }], /'cluster' must be.*unknown field 'color'.*'mode' must be/],
  [
    [{ cluster: 1, graphs: [{ nodes: [] }] }],
    /missing field 'graphs\[0\].type'.*'graphs\[0\].nodes' must have at least 1/,
  ],
  [
    [{ cluster: 1, graphs: [{ type: 'a' }], from: 3, sequence: 2 }],
    /'graphs' and 'sequence' and 'from' exclude each other/,
  ],
])('bad input %j ends the run with each problem', async (args, message) => {
  const run = await startGraphRun(rig, scriptedGraph({ plans: { default: pair } }), args as unknown[]);
  const cause = causeOf((await run.ended()).failure);
  expect(cause.type).toBe('InvalidInput');
  expect(cause.nonRetryable).toBe(true);
  expect(cause.message).toMatch(message);
});

describe('agents', () => {
  it('a task type unknown to the agent fails its task immediately, before it is sent', async () => {
    // An hour between attempts: the run would not end if one followed.
    const tasks = pair.tasks.map((task) => ({ ...task, retry: { count: 5, interval: 3_600_000 } }));
    const plan = { ...pair, tasks, fault_tolerance_groups: all(['n1', 'n2'], 2) };
    const graph = scriptedGraph({ plans: { default: plan } });
    graph.knows.set('n1', ['shell']);
    const run = await startGraphRun(rig, graph);
    expect((await run.ended()).result).toMatchObject({ outcome: 'success', failed: [{ task: 'b', node: 'n1' }] });
    expect(graph.began).not.toContain('b@n1');
    expect(graph.rows().get('b@n1')).toMatchObject({ status: 'failed', end: { outcome: 'refused' } });
    expect(graph.rows().get('b@n1')!.end!.message).toContain('does not support tasks of type puppet (only shell)');
  });

  for (const [shape, partOf] of [
    ['in one workflow', undefined],
    ['in parts', (id: string) => (id === 'n1' ? 0 : 1)],
  ] as const) {
    const split = partOf ? { partOf } : {};

    it(`an offline node that is not critical is omitted ${shape}`, async () => {
      const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 2) };
      const absent = rig.workflowId('absent');
      const controlOf = (id: string) => (id === 'n2' ? absent : undefined);
      const graph = scriptedGraph({ plans: { default: plan }, controlOf, offlineWaitSeconds: 1, ...split });
      const run = await startGraphRun(rig, graph);
      expect((await rig.passUntil(run.ended())).result).toMatchObject({ outcome: 'success' });
      expect(graph.began).toEqual(['a@n1', 'b@n1']);
      expect(graph.rows().get('a@n2')).toMatchObject({ status: 'blocked', root_cause: { task: null, node: 'n2' } });
      expect(graph.closedGraphs[0]!.nodes).toEqual({ n1: 'success', n2: 'failed' });
    });

    it.each([[['n2']], [['n1', 'n2']]])(
      `nodes without a running agent (%j) are named in Temporal's tools while the run waits for them ${shape}`,
      async (silent) => {
        const absent = rig.workflowId('absent');
        const controlOf = (id: string) => (silent.includes(id) ? `${absent}-${id}` : undefined);
        const names = { nameOf: (id: string) => `web-${id}` };
        const graph = scriptedGraph({
          plans: { default: pair },
          controlOf,
          offlineWaitSeconds: 12,
          ...names,
          ...split,
        });
        const run = await startGraphRun(rig, graph);
        const status = await run.reaches(
          ({ phase, silent: now }) => phase === 'default: asking nodes' && now.length === silent.length,
        );
        expect(status.silent).toEqual(silent);
        // They are set by the next turn of the run.
        await eventually(async () => {
          const { currentDetails } = await run.handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
          return currentDetails.includes(`No answer from the agents of: ${silent.map((id) => `web-${id}`).join(', ')}`);
        });
        const { pendingActivities, pendingChildren } = (await run.handle.describe()).raw;
        const asking = await Promise.all(
          (pendingChildren ?? []).map(
            async ({ workflowId }) =>
              (await rig.client.workflow.getHandle(workflowId!).describe()).raw.pendingActivities,
          ),
        );
        const open = [...(pendingActivities ?? []), ...asking.flatMap((of) => of ?? [])];
        // A server has them in no order.
        expect(open.map(({ activityId }) => activityId).sort()).toEqual(silent.map((id) => `ping:web-${id}`));
        await run.handle.cancel();
        await run.ended();
      },
    );

    it(`a node whose agent leaves during the run is named in the details ${shape}`, async () => {
      const queue = rig.workflowId('node');
      const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
      const controlOf = (id: string) => (id === 'n2' ? `${queue}.ctl` : undefined);
      const options = { queueOf, controlOf, offlineWaitSeconds: 1, nameOf: (id: string) => `web-${id}` };
      const graph = scriptedGraph({ plans: { default: pair }, ...options, ...split });
      const control = await rig.runWorker({ taskQueue: `${queue}.ctl`, activities: graph.activities(queue) });
      graph.hold.add('a@n1');
      const run = await startGraphRun(rig, graph);
      await graph.until(() => graph.pinged.includes('n2'));
      await control.stop();
      await eventually(async () => {
        const { currentDetails } = await run.handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
        return currentDetails.includes('agents of: web-n2');
      });
      (await graph.heldTask('a@n1')).finish();
      await rig.passUntil(run.ended());
      expect(graph.rows().get('a@n2')!.end!.message).toContain('web-n2 did not start it');
    });

    it(`an offline node in no group fails the run, and the others run to their end ${shape}`, async () => {
      const absent = rig.workflowId('absent');
      const controlOf = (id: string) => (id === 'n2' ? absent : undefined);
      const options = { controlOf, offlineWaitSeconds: 1, nameOf: (id: string) => `web-${id}` };
      const graph = scriptedGraph({ plans: { default: pair }, ...options, ...split });
      const run = await startGraphRun(rig, graph);
      const cause = causeOf((await rig.passUntil(run.ended())).failure);
      expect(cause.type).toBe('GraphFailed');
      expect(cause.message).toContain('no answer from web-n2');
      expect(graph.began).toEqual(['a@n1', 'b@n1']);
      expect(graph.rows().get('a@n2')).toMatchObject({ status: 'blocked', root_cause: { task: null, node: 'n2' } });
      expect(graph.closedGraphs[0]!.nodes).toEqual({ n1: 'success', n2: 'failed' });
    });

    it(`an offline node of which its group misses none stops the run before anything runs ${shape}`, async () => {
      const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 0) };
      const absent = rig.workflowId('absent');
      const controlOf = (id: string) => (id === 'n2' ? absent : undefined);
      const graph = scriptedGraph({ plans: { default: plan }, controlOf, offlineWaitSeconds: 1, ...split });
      const run = await startGraphRun(rig, graph);
      const cause = causeOf((await rig.passUntil(run.ended())).failure);
      expect(cause.type).toBe('GraphFailed');
      expect(cause.message).toContain('no answer from n2');
      expect(graph.began).toEqual([]);
    });
  }

  it('a node that goes offline and returns continues with the same generation', async () => {
    const queue = rig.workflowId('node');
    const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
    const controlOf = (id: string) => (id === 'n2' ? `${queue}.ctl` : undefined);
    const graph = scriptedGraph({ plans: { default: pair }, queueOf, controlOf, offlineWaitSeconds: 3 });
    const control = await rig.runWorker({ taskQueue: `${queue}.ctl`, activities: graph.activities(queue) });
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.pinged.filter((id) => id === 'n2').length >= 2);
    const agent = await rig.runWorker({ taskQueue: queue, activities: graph.activities(queue) });
    expect((await run.ended()).result).toMatchObject({ outcome: 'success' });
    expect(
      graph.requests.filter(({ node: n }) => n === 'n2').map(({ task, generation }) => `${task} ${generation}`),
    ).toEqual(['a 1', 'b 1']);
    await recordHistory(run.handle, 'execute_graph--node-returned');
    await control.stop();
    await agent.stop();
  });

  it('a node that stays offline fails its task, with that reason', async () => {
    const queue = rig.workflowId('node');
    const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 2) };
    const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
    const controlOf = (id: string) => (id === 'n2' ? `${queue}.ctl` : undefined);
    const graph = scriptedGraph({ plans: { default: plan }, queueOf, controlOf, offlineWaitSeconds: 1 });
    const control = await rig.runWorker({ taskQueue: `${queue}.ctl`, activities: graph.activities(queue) });
    const run = await startGraphRun(rig, graph);
    await graph.until(() => graph.pinged.includes('n2'));
    await control.stop();
    expect((await rig.passUntil(run.ended())).result).toMatchObject({
      outcome: 'success',
      failed: [{ task: 'a', node: 'n2', attempts: 1 }],
    });
    expect(graph.rows().get('a@n2')).toMatchObject({
      status: 'failed',
      end: { outcome: 'failed', failure_kind: 'offline' },
    });
    await recordHistory(run.handle, 'execute_graph--node-silent');
  });

  it('cancelling does not wait for the heartbeats of an offline agent', async () => {
    const queue = rig.workflowId('node');
    const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
    const controlOf = (id: string) => (id === 'n2' ? null : undefined);
    const waits = { heartbeatSeconds: 1, agentHeartbeatSeconds: 600, offlineWaitSeconds: 700 };
    const graph = scriptedGraph({ plans: { default: pair }, queueOf, controlOf, ...waits });
    let leave: (end: TaskEnd) => void = () => undefined;
    const away = new Promise<TaskEnd>((resolve) => {
      leave = resolve;
    });
    const requests: RunTask[] = [];
    const run_task = (request: RunTask) => {
      requests.push(request);
      return away;
    };
    const agent = await rig.runWorker({ taskQueue: queue, activities: { run_task } });
    const run = await startGraphRun(rig, graph);
    await eventually(() => requests.length === 1);
    await run.handle.cancel();
    await rig.passUntil(run.ended());
    expect(graph.closed[0]!.outcome).toBe('cancelled');
    expect(graph.rows().get('a@n2')).toMatchObject({ end: { outcome: 'cancelled' } });
    expect(graph.rows().get('a@n2')!.end!.message).toContain(
      'its agent was offline: whether it had started is unknown',
    );
    leave(ok);
    await agent.stop();
  });

  it.each(['answers', 'does not answer'])('an agent without heartbeats is asked, and %s', async (how) => {
    const queue = rig.workflowId('node');
    const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
    const controlOf = (id: string) => (id === 'n2' ? `${queue}.ctl` : undefined);
    const waits = { heartbeatSeconds: 1, agentHeartbeatSeconds: 2, offlineWaitSeconds: 2 };
    const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 2) };
    const graph = scriptedGraph({ plans: { default: plan }, queueOf, controlOf, ...waits });
    const { ping } = graph.activities(queue);
    const activities = { ping, cancel_task: async () => undefined };
    const control = await rig.runWorker({ taskQueue: `${queue}.ctl`, activities });
    const sent: string[] = [];
    const run_task = async ({ task, generation }: RunTask) => {
      sent.push(`${task} ${generation}`);
      if (sent.length > 1) return ok;
      if (how === 'does not answer') await control.stop();
      // Without a heartbeat: the remains of an agent that was killed.
      return await Context.current().cancelled;
    };
    const agent = await rig.runWorker({
      ...{ taskQueue: queue, activities: { run_task } },
      shutdownGraceTime: 0,
      shutdownForceTime: '1 second',
    });
    const run = await startGraphRun(rig, graph);
    expect((await rig.passUntil(run.ended())).result).toMatchObject({ outcome: 'success' });
    const { end } = graph.rows().get('a@n2')!;
    if (how === 'answers') {
      expect([sent, end]).toEqual([['a 1', 'a 1', 'b 1'], { outcome: 'success' }]);
      await control.stop();
    } else {
      expect(sent).toEqual(['a 1']);
      expect(end).toMatchObject({
        outcome: 'lost',
        message: expect.stringContaining('its agent is offline') as string,
      });
    }
    await recordHistory(run.handle, `execute_graph--no-heartbeats-${how === 'answers' ? 'answered' : 'silent'}`);
    await agent.stop();
  });

  it.each([
    ['', false],
    [', also of a run that stops', true],
  ])(
    'a node that goes offline between two tries of an order may have started it, and its report says so%s',
    async (_, isStopped) => {
      const queue = rig.workflowId('node');
      const queueOf = (id: string) => (id === 'n2' ? queue : undefined);
      const controlOf = (id: string) => (id === 'n2' ? `${queue}.ctl` : undefined);
      const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 2) };
      const graph = scriptedGraph({
        plans: { default: plan },
        queueOf,
        controlOf,
        heartbeatSeconds: 1,
        offlineWaitSeconds: 1,
      });
      const { ping } = graph.activities(queue);
      const control = await rig.runWorker({ taskQueue: `${queue}.ctl`, activities: { ping } });
      const stopped: Promise<unknown>[] = [];
      const run_task = async () => {
        // Its last heartbeat does not arrive: all that the server has is the failure.
        stopped.push(control.stop(), agent.stop());
        if (isStopped) await run.handle.signal('stop', { by: 'ann' });
        throw agentGone();
      };
      const agent = await rig.runWorker({ taskQueue: queue, activities: { run_task } });
      const run = await startGraphRun(rig, graph);
      await rig.passUntil(run.ended());
      expect(graph.rows().get('a@n2')!.end).toMatchObject({
        outcome: 'lost',
        message: expect.stringContaining('n2 may have started it') as string,
      });
      await Promise.all(stopped);
    },
  );

  it('a task that its agent leaves while it is being cancelled has not failed: how it ended is unknown', async () => {
    const queue = rig.workflowId('node');
    const graph = scriptedGraph({ plans: { default: pair }, queueOf: (id) => (id === 'n2' ? queue : undefined) });
    const run_task = async () => {
      await run.handle.cancel();
      await eventually(async () =>
        (await run.handle.fetchHistory()).events!.some((event) => event.activityTaskCancelRequestedEventAttributes),
      );
      throw agentGone();
    };
    const agent = await rig.runWorker({ taskQueue: queue, activities: { run_task } });
    const run = await startGraphRun(rig, graph);
    await run.ended();
    expect(graph.rows().get('a@n2')!.end).toMatchObject({
      outcome: 'cancelled',
      message: expect.stringContaining('how it ended is unknown: its agent ended') as string,
    });
    await agent.stop();
  });

  it('an exception of an agent is a failed task, not a failed run', async () => {
    const plan = { ...pair, fault_tolerance_groups: all(['n1', 'n2'], 2) };
    const graph = scriptedGraph({ plans: { default: plan } });
    graph.hold.add('a@n1');
    const run = await startGraphRun(rig, graph);
    (await graph.heldTask('a@n1')).throwError(
      ApplicationFailure.nonRetryable('the order is not signed', 'OrderRefused'),
    );
    expect((await run.ended()).result).toMatchObject({
      outcome: 'success',
      failed: [{ task: 'a', node: 'n1', reason: 'OrderRefused: the order is not signed' }],
    });
  });
});

it('a run continues with another worker after the first has died', async () => {
  const graph = scriptedGraph({ plans: { default: pair }, heartbeatSeconds: 1 });
  graph.hold.add('a@n2');
  const taskQueue = rig.workflowId('queue');
  const activities = graph.activities(taskQueue);
  const first = await rig.runWorker({ taskQueue, activities, shutdownGraceTime: 0 });
  const handle = await rig.client.workflow.start('execute_graph', {
    taskQueue,
    workflowId: rig.workflowId('execute_graph'),
    args: [{ cluster: 1 }],
  });
  await graph.heldTask('a@n2');
  await graph.until(() => graph.events.some(({ task, what }) => task === 'b' && what === 'end'));
  // In one process the nearest thing to a kill that leaves no poller behind: its activity is cut off and requested again.
  await first.stop();
  graph.hold.clear();
  const second = await rig.runWorker({ taskQueue, activities });
  expect(await handle.result()).toMatchObject({ outcome: 'success' });
  expect(
    graph.requests
      .filter(({ task, node: n }) => task === 'a' && n === 'n2')
      .every(({ generation }) => generation === 1),
  ).toBe(true);
  expect(graph.began.filter((key) => key === 'a@n1')).toHaveLength(1);
  await recordHistory(handle, 'execute_graph--worker-killed');
  await second.stop();
});

it('random plans split into parts end as they do unsplit', async () => {
  const plans = fc.sample(
    fc.record({
      nodes: fc.integer({ min: 2, max: 5 }),
      perNode: fc.integer({ min: 1, max: 4 }),
      links: fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 25 }),
      fails: fc.array(fc.nat(19), { maxLength: 3 }),
      limited: fc.boolean(),
      parts: fc.integer({ min: 2, max: 3 }),
    }),
    { numRuns: 4, seed: 20261121 },
  );
  const check = async ({ nodes, perNode, links, fails, limited, parts }: (typeof plans)[number]): Promise<void> => {
    const ids = Array.from({ length: nodes }, (_, n) => `n${n}`);
    const tasks = Array.from({ length: perNode }, (_, t) =>
      ids.map((id) => ({ id: `t${t}`, node: id, type: 'shell' })),
    ).flat();
    const keys = tasks.map((task) => `${task.id}@${task.node}`);
    // Always from an earlier task to a later one: never a cycle.
    const edges = links
      .map(([a, b]) => [a % keys.length, b % keys.length] as const)
      .filter(([a, b]) => a < b)
      .map(([a, b]) => [keys[a]!, keys[b]!] as const);
    const plan: NamedPlan = {
      nodes: ids.map(node),
      tasks,
      edges,
      limits: limited ? { max_nodes: 2, per_task: { t0: 1 } } : {},
      fault_tolerance_groups: all(ids, nodes),
    };
    const runAs = async (split: Pick<ScriptedGraphOptions, 'partOf'>) => {
      const graph = scriptedGraph({ plans: { default: plan }, ...split });
      for (const at of fails) graph.ends.set(keys[at % keys.length]!, [failed()]);
      const run = await startGraphRun(rig, graph);
      const { result } = await run.ended();
      expectLegal(plan, graph.events);
      const rows = [...graph.rows()].map(([key, { status }]) => `${key} ${status}`).sort();
      return { result, rows, nodes: graph.closedGraphs[0]!.nodes };
    };
    const inParts = runAs({ partOf: (id) => Number(id.slice(1)) % Math.min(parts, nodes) });
    const [whole, split] = await Promise.all([runAs({}), inParts]);
    // The losses of a failure on its own node depend on the tasks that had run by then; all else must be equal.
    if (fails.length === 0) expect(split.rows).toEqual(whole.rows);
    expect(split.nodes).toEqual(whole.nodes);
  };
  // They mostly wait for the server, so they do it together.
  await Promise.all(plans.map(check));
});
