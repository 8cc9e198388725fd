import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';
import type { GraphRunStatus } from '../../src/core/graph-run/index.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { expectReplay } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { failed, ok, type ScriptedGraph } from '../rig/scripted-graph.ts';
import { expectLegal } from '../rig/scripted-graph-checks.ts';
import { graphWithAgents } from '../rig/scripted-graph-run.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { choices } from '../unit/scheduler/drive.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/** More when somebody looks for trouble; CHAOS_SEED repeats a finding. */
const RUNS = Number(process.env.CHAOS_RUNS ?? 2);
const SEED = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e9));

/** This many disturbances happen to a run before it is left in peace. */
const BLOWS = 20;

/** Chains on some nodes with edges between them, with or without retries and tolerated errors. */
function randomPlan(pick: (below: number) => number): NamedPlan {
  const ids = Array.from({ length: 2 + pick(3) }, (_, n) => `n${n}`);
  const tasks = ids.flatMap((node) =>
    Array.from({ length: 2 + pick(4) }, (_, t) => ({
      id: `t${t}`,
      node,
      type: pick(6) === 0 ? 'noop' : 'shell',
      ...(pick(3) === 0 ? { retry: { count: 1, interval: 20 } } : {}),
      ...(pick(6) === 0 ? { fail_on_error: false } : {}),
    })),
  );
  const keys = tasks.map(({ id, node }) => `${id}@${node}`);
  const edges = Array.from({ length: 8 }, () => [pick(keys.length), pick(keys.length)] as const)
    .filter(([from, to]) => from < to)
    .map(([from, to]) => [keys[from]!, keys[to]!] as const);
  return {
    nodes: ids.map((id) => ({ id, kind: 'node' })),
    tasks,
    edges,
    limits: { max_nodes: pick(3), per_task: { t1: 1 + pick(2) } },
    fault_tolerance_groups: [{ name: 'all', node_ids: ids, fault_tolerance: pick(2) === 0 ? 1 : ids.length }],
  };
}

/** Tasks that have started on a node and not ended. */
function runningOf({ events }: ScriptedGraph): string[] {
  const open = new Set<string>();
  for (const { what, task, node } of events) {
    if (what === 'start') open.add(`${task}@${node}`);
    else open.delete(`${task}@${node}`);
  }
  return [...open];
}

async function livesThrough(seed: number): Promise<void> {
  const pick = choices(seed);
  const plan = randomPlan(pick);
  const inParts = pick(2) === 0;
  const { graph, agents, activities } = await graphWithAgents(rig, {
    plans: { default: plan },
    ...(inParts ? { partOf: (id: string) => Number(id.slice(1)) % 2 } : {}),
  });
  const taskQueue = rig.workflowId('queue');
  // Half of the workers remember no workflow: whatever happens there is a replay from its first event.
  const work = () =>
    rig.runWorker({
      taskQueue,
      activities,
      maxCachedWorkflows: pick(2) === 0 ? 0 : 50,
      stickyQueueScheduleToStartTimeout: 200,
    });
  let worker = await work();
  const handle = await rig.client.workflow.start('execute_graph', {
    taskQueue,
    workflowId: rig.workflowId('execute_graph'),
    args: [{ cluster: 1, hold_on_failure: true }],
  });
  /** A query to a worker that has just been stopped is lost, and one at the wrong moment is refused. */
  const status = async (): Promise<GraphRunStatus> => {
    for (;;) {
      const answer = await handle.query<GraphRunStatus>('status').catch((error: unknown) => {
        // No worker can continue the run, however often it is asked.
        if (String(error).includes('TMPRL1100')) throw error;
        return null;
      });
      if (answer !== null) return answer;
      await lookAgain();
    }
  };
  /** Refused or too late, as happens to operators. */
  const ask = (name: string, payload: object) =>
    handle.executeUpdate(name, { args: [payload] }).then(
      () => true,
      () => false,
    );
  let accepted = 0;
  for (let blow = 0; ; blow++) {
    const now = await status();
    if (now.outcome !== undefined) break;
    const isPeace = blow > BLOWS;
    const running = runningOf(graph);
    const task = running[pick(Math.max(1, running.length))];
    const dice = pick(10);
    if (!isPeace && dice === 0) {
      await worker.stop();
      worker = await work();
    } else if (!isPeace && dice === 1) {
      await ask(now.paused === null ? 'pause' : 'resume', { by: 'nina' });
    } else if (!isPeace && dice === 2) {
      const { id, node } = plan.tasks[pick(plan.tasks.length)]!;
      if (await ask('skip_task', { task: id, node })) accepted++;
    } else if (task !== undefined) {
      const end = !isPeace && pick(3) === 0 ? failed() : ok;
      (await graph.heldTask(task)).finish(end);
    } else if (now.paused !== null) {
      await ask('resume', {});
    } else if (now.graphs[0]?.state === 'held' && now.failed.length > 0) {
      const lost = now.failed[pick(now.failed.length)]!;
      if (await ask(pick(3) === 0 ? 'skip_task' : 'retry_task', { task: lost.task, node: lost.node })) accepted++;
    }
  }
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'success' });
  expectLegal(plan, graph.events);
  expect(runningOf(graph)).toEqual([]);
  const rows = graph.rows();
  // Tasks without work have the rows that their plan wrote.
  const working = plan.tasks.filter(({ type }) => type !== 'noop');
  expect([...rows.keys()].sort()).toEqual(working.map(({ id, node }) => `${id}@${node}`).sort());
  for (const [key, { status: end, attempt }] of rows) {
    expect(['success', 'skipped', 'ignored'], key).toContain(end);
    // Every counted attempt was made, and no other.
    expect(
      graph.began.filter((one) => one === key),
      key,
    ).toHaveLength(attempt);
  }
  expect(graph.closedGraphs.map(({ outcome: how }) => how)).toEqual(['success']);
  const [closed, ...again] = graph.closed;
  expect(again).toEqual([]);
  const { operator } = closed!.report as { operator: readonly { action: string }[] };
  expect(operator.filter(({ action }) => action.endsWith('_task')).length).toBeGreaterThanOrEqual(accepted);
  const ids = [handle.workflowId, ...(inParts ? [1, 2].map((part) => `${handle.workflowId}/11.${part}`) : [])];
  const histories = await Promise.all(
    ids.map(async (workflowId) => ({
      workflowId,
      history: await rig.client.workflow.getHandle(workflowId).fetchHistory(),
    })),
  );
  await expectReplay(histories);
  await worker.stop();
  await agents.stop();
}

it('no task is lost or done twice, whatever happens to workers, tasks and operators', async () => {
  // A test that takes too long reports nothing else.
  onTestFailed(() => console.error(`CHAOS_SEED=${SEED}`));
  const seeds = fc.sample(fc.nat(), { numRuns: RUNS, seed: SEED });
  // They mostly wait for the server, so they do it together.
  const ends = await Promise.allSettled(seeds.map((seed) => livesThrough(seed)));
  const broken = ends.flatMap((end, at) => (end.status === 'rejected' ? [{ seed: seeds[at], why: end.reason }] : []));
  if (broken.length > 0) throw new Error(`CHAOS_SEED=${SEED}, of it ${broken[0]!.seed}`, { cause: broken[0]!.why });
  // Work that is given to a worker as it stops is retried after a minute, and each life has several such moments.
}, 400_000);
