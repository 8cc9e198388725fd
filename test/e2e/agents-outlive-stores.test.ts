import { existsSync, writeFileSync } from 'node:fs';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TaskLogs } from '../../src/agent/output/task-logs.ts';
import type { RunTask } from '../../src/core/task-on-node.ts';
import { auditedAlarms } from '../../src/gateway/index.ts';
import { environmentSecrets } from '../../src/platform/secrets/secret-provider.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { describeBy, startedLookup } from '../../src/runs/started-lookup.ts';
import { type AgentNode, type RunningAgents, startAgents } from '../../worker/parts/agent.ts';
import { storeOrderBook } from '../../worker/parts/gateway-orders.ts';
import { signingGate } from '../../worker/parts/start-gate.ts';
import { storeOrders } from '../../worker/parts/store-orders.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { AgentRig } from '../rig/agent.ts';
import { counted, obeysTemporal } from '../rig/agent-orders.ts';
import { eventually } from '../rig/agent-site.ts';
import { recordHistory } from '../rig/histories.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { supervisorProgram } from '../rig/program.ts';
import { beforeFirst, resetRun } from '../rig/reset-run.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/** Journals of agents stay, whatever happens to the store: restored from a backup, or created anew. */
const api = '/api/v1';
let rig: TemporalRig;
let files: AgentRig;
let system: LivingCluster;
let agents: RunningAgents | undefined;
let env: Environment;
/** While true, no agent gets an order. */
let ordersAreAway = false;

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
});
beforeEach(() => {
  ordersAreAway = false;
  files = new AgentRig();
});
afterEach(async () => {
  await agents?.stop();
  await system.close();
  files.tidy();
});
afterAll(() => rig.close());

async function open(database?: string, script = '', offlineWaitSeconds = 60, heartbeatSeconds = 5): Promise<void> {
  const logs = new TaskLogs({ folder: files.path('logs') });
  system = await livingCluster(rig, {
    offlineWaitSeconds,
    heartbeatSeconds,
    taskLogs: logs,
    ...(database === undefined ? {} : { database }),
  });
  await system.store.migrate();
  if (database === undefined) {
    env = await environment(system.store, 'env');
    const cmd = `mkdir -p ${files.path('counts')}; echo ran >> ${files.path('counts')}/all; echo done by $PPID; ${script}`;
    await system.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, {
      tasks: ['a', 'b', 'c'].map((id) => ({
        id,
        type: 'shell',
        version: '2.1.0',
        role: ['controller'],
        parameters: { cmd },
      })),
    });
  }
  await startAgain();
}

async function startAgain(): Promise<void> {
  const logs = new TaskLogs({ folder: files.path('logs') });
  const { store } = system;
  const gate = signingGate(store, runLookups(rig.client), startedLookup(describeBy(rig.client)));
  const stored = storeOrders({
    store,
    orders: storeOrderBook(store, gate),
    logs,
    secrets: environmentSecrets(),
    sources: { read: () => Promise.reject(new Error('none')) },
    alarms: auditedAlarms(store.audit, createLogger({ level: 'silent', format: 'json' }, 'agent')),
  });
  const ordersOf = (node: AgentNode) => {
    const own = stored(node);
    const fetch = (key: RunTask) => (ordersAreAway ? Promise.reject(new Error('orders are away')) : own.fetch(key));
    return { ...own, fetch };
  };
  const { address, namespace } = rig;
  agents = await startAgents(
    { temporal: { address, namespace } as never, agent: { state_dir: files.stateDir, keep_days: 14 } as never },
    env.nodes.map((node) => ({ site: `cluster-${env.cluster}`, node: String(node) })),
    createLogger({ level: 'silent', format: 'json' }, 'agent'),
    {
      ordersOf: (node) => ({ orders: ordersOf(node), control: obeysTemporal }),
      version: '1',
      agent: { supervisorCommand: supervisorProgram() },
    },
  );
}

async function close(): Promise<void> {
  await agents?.stop();
  agents = undefined;
  await system.close();
}

/** Runs the graph; returns the number of its transaction. */
async function run(): Promise<number> {
  const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
    cluster: env.cluster,
    graphs: [{ type: 'custom' }],
  });
  const result = await rig.client.workflow.getHandle(body.workflow_id as string, body.run as string).result();
  expect(result).toMatchObject({ outcome: 'success', transaction: body.id });
  return body.id as number;
}

const ran = (): number => counted(files.folder, 'all').length;

it('after a restore of an older backup the next run executes its tasks, and uses no result of the run with the same number', {
  timeout: 180_000,
}, async () => {
  await open();
  const first = await run();
  expect(ran()).toBe(3);
  const backup = files.path('backup.db');
  system.backUp(backup);
  const lost = await run();
  expect([lost > first, ran()]).toEqual([true, 6]);
  await close();
  await open(backup);
  const again = await run();
  expect([again, ran()]).toEqual([lost, 9]);
  // It has a separate log, though both runs have the number.
  const { body } = await system.ask('GET', `${api}/runs/${again}/nodes/${env.nodes[0]}/tasks/a/log`);
  expect(String(body).match(/done by/g)).toHaveLength(1);
});

it('on a new store the first run executes its tasks, though the agents have the journals of another first run', async () => {
  await open();
  const first = await run();
  await close();
  await open();
  expect([await run(), ran()]).toEqual([first, 6]);
});

const transactionOf = async (id: number) => {
  const { run: one, graphs } = await system.store.transactions.getRun(id);
  return { status: one.status, graphs: graphs.map((graph) => graph.id) };
};

/** A run's record of its task `a`. */
async function messageOf(id: number): Promise<string | null | undefined> {
  const { graphs } = await system.store.transactions.getRun(id);
  return (await system.store.taskHistory.list(graphs[0]!.id, { tasks: ['a'] }))[0]?.message;
}

it('a task that ended while its agent was offline is unknown until then, and neither a retry nor --from repeats it', async () => {
  const gate = files.path('gate');
  await open(undefined, `until [ -e ${gate} ]; do sleep 0.05; done; touch ${gate}.passed`, 2);
  const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
    cluster: env.cluster,
    graphs: [{ type: 'custom', tasks: ['a'] }],
  });
  const first = rig.client.workflow.getHandle(body.workflow_id as string, body.run as string);
  await eventually(() => ran() === 1);
  await first.signal('stop');
  await agents!.stop();
  writeFileSync(gate, '');
  await eventually(() => existsSync(`${gate}.passed`));
  expect(await first.result().catch((error: unknown) => error)).toBeDefined();
  expect(await messageOf(body.id as number)).toContain(
    'its agent is offline: a retry, or a run --from this one, reads the result',
  );
  await startAgain();
  const { body: next } = await system.ask('POST', `${api}/graphs/execute/`, { cluster: env.cluster, from: body.id });
  const second = rig.client.workflow.getHandle(next.workflow_id as string, next.run as string);
  expect(await second.result()).toMatchObject({ outcome: 'success' });
  expect(ran()).toBe(1);
  expect(await messageOf(next.id as number)).toContain('not repeated: attempt 1 of run');
});

describe('a task that its node has not started when operators act', () => {
  const lastFailure = async (run: WorkflowHandle): Promise<string | null | undefined> =>
    (await run.describe()).raw.pendingActivities?.[0]?.lastFailure?.message;

  /** A run whose first task is with its node, which then disappears without having started it. */
  async function taken(): Promise<{ readonly id: number; readonly run: WorkflowHandle }> {
    await open();
    ordersAreAway = true;
    const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
      cluster: env.cluster,
      graphs: [{ type: 'custom' }],
    });
    const run = rig.client.workflow.getHandle(body.workflow_id as string, body.run as string);
    await eventually(async () => (await lastFailure(run)) === 'orders are away');
    await agents!.stop();
    return { id: body.id as number, run };
  }

  it('does not start while the run is paused, and starts when it continues', async () => {
    const { run } = await taken();
    await run.executeUpdate('pause');
    ordersAreAway = false;
    await startAgain();
    await eventually(async () => (await lastFailure(run))?.startsWith('the run is paused since') === true);
    expect(ran()).toBe(0);
    await run.executeUpdate('resume');
    expect(await run.result()).toMatchObject({ outcome: 'success' });
    expect(ran()).toBe(3);
  });

  it('does not start when the run is stopped', async () => {
    const { id, run } = await taken();
    await run.signal('stop');
    ordersAreAway = false;
    await startAgain();
    expect(await run.result()).toMatchObject({ outcome: 'stopped', failed: [] });
    expect(ran()).toBe(0);
    const { status, graphs } = await transactionOf(id);
    const rows = await system.store.taskHistory.list(graphs[0]!, {});
    expect([status, ...rows.map((row) => row.status)]).toEqual(['stopped', ...rows.map(() => 'not_reached')]);
  });
});

it('tasks of a terminated run continue; after a reset they are followed, and unstarted ones start', async () => {
  const gate = files.path('gate');
  await open(undefined, `until [ -e ${gate} ]; do sleep 0.05; done; touch ${gate}.passed`);
  const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
    cluster: env.cluster,
    graphs: [{ type: 'custom' }],
  });
  const id = body.id as number;
  const [workflowId, runId] = [body.workflow_id as string, body.run as string];
  const runNow = async () => (await system.ask('GET', `${api}/runs/${runId}`)).body;
  await eventually(() => ran() === 1);
  await rig.client.workflow.getHandle(workflowId, runId).terminate('tests');
  expect((await runNow()).outcome).toBe('terminated');
  // A worker closes its record, of which the transaction is a view.
  await eventually(async () => (await transactionOf(id)).status === 'terminated');
  const { body: report } = await system.ask('GET', `${api}/runs/${runId}/report`);
  const warnings = [expect.stringContaining('terminated')];
  expect(report).toMatchObject({ outcome: 'terminated', reason: 'tests', warnings });
  expect(report.graphs).toMatchObject([{ type: 'custom', state: 'stopped', counts: { running: 1, not_reached: 2 } }]);
  writeFileSync(gate, '');
  await eventually(() => existsSync(`${gate}.passed`));
  const again = await resetRun(rig, { workflowId, runId }, beforeFirst('run_task'));
  expect(await again.result()).toMatchObject({ outcome: 'success', transaction: id });
  expect([(await runNow()).outcome, (await transactionOf(id)).status, ran()]).toEqual(['success', 'success', 3]);
});

describe('after a reset, long before the next heartbeat of the attempt that it made obsolete', () => {
  /** A run that was reset while its first task waits for `gate`, and the wait for an attempt to be taken is short. */
  async function resetMidTask() {
    const gate = files.path('gate');
    await open(undefined, `until [ -e ${gate} ]; do sleep 0.05; done; touch ${gate}.passed`, 3, 300);
    const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
      cluster: env.cluster,
      graphs: [{ type: 'custom' }],
    });
    await eventually(() => ran() === 1);
    const again = await resetRun(
      rig,
      { workflowId: body.workflow_id as string, runId: body.run as string },
      beforeFirst('run_task'),
    );
    const attempt = async () =>
      (await again.describe()).raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'run_task');
    // The earlier part is for a run that has not ordered anything.
    await eventually(async () => (await attempt()) !== undefined);
    const isFollowed = async (): Promise<boolean> => (await attempt())?.lastStartedTime != null;
    return { id: body.id as number, gate, again, isFollowed };
  }

  it('the agent learns of the next attempt and follows it', async () => {
    const { gate, again, isFollowed } = await resetMidTask();
    await eventually(isFollowed);
    writeFileSync(gate, '');
    expect(await again.result()).toMatchObject({ outcome: 'success' });
    expect(ran()).toBe(3);
  });

  it('a stop does not report a running task as not started', async () => {
    const { id, gate, again, isFollowed } = await resetMidTask();
    await again.signal('stop');
    await eventually(isFollowed);
    writeFileSync(gate, '');
    expect(await again.result()).toMatchObject({ outcome: 'stopped', failed: [] });
    const [graph] = (await transactionOf(id)).graphs;
    const [row] = await system.store.taskHistory.list(graph!, { tasks: ['a'] });
    expect([row?.status, ran()]).toEqual(['success', 1]);
    await recordHistory(again, 'execute_graph--reset-then-stopped');
  });
});

it('a cancellation reaches running tasks by the control queue, long before their next heartbeat', async () => {
  await open(undefined, 'sleep 600', 60, 300);
  const { body } = await system.ask('POST', `${api}/graphs/execute/`, {
    cluster: env.cluster,
    graphs: [{ type: 'custom' }],
  });
  await eventually(() => ran() === 1);
  const run = rig.client.workflow.getHandle(body.workflow_id as string, body.run as string);
  await run.cancel();
  await eventually(async () => (await system.store.transactions.get(body.id as number)).status === 'cancelled');
  const { events } = await run.fetchHistory();
  const secondOf = (fits: (event: NonNullable<typeof events>[number]) => unknown): number =>
    Number(events?.findLast(fits)?.eventTime?.seconds);
  const asked = secondOf((event) => event.workflowExecutionCancelRequestedEventAttributes);
  const over = secondOf(
    (event) => event.activityTaskCompletedEventAttributes ?? event.activityTaskCanceledEventAttributes,
  );
  expect(over - asked).toBeLessThanOrEqual(10);
  expect(await messageOf(body.id as number)).toContain('was cancelled');
});
