import {
  ApplicationFailure,
  CancelledFailure,
  type WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeliverNotice, NoticeActivities } from '../../activities/notice-contract.ts';
import { lastErrorsActivity } from '../../activities/run/last-errors.ts';
import type { RunStatus, ShownPlan, TreeNode } from '../../src/core/contracts/site-run.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookUntil } from '../rig/look-again.ts';
import {
  failure,
  group,
  openedSite,
  plainNodes,
  type ScriptedSite,
  scriptedSite,
  untilCancelled,
} from '../rig/scripted-site.ts';
import { causeOf, reaches, startRun } from '../rig/site-workflow.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const ALL = { percent_successful_nodes: 100 };

const start = (site: ScriptedSite, type = 'deploy_site', args: unknown[] = [{ site: 'dc1' }]) =>
  startRun(rig, site, type, args);

/** A run's own search attributes, by name. */
async function attributesOf(handle: WorkflowHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe();
  return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
}

describe('deploy_site', () => {
  //  ntp* --> control* --> compute      monitoring
  const strategy = {
    groups: [
      group('control', ['c1', 'c2'], {
        critical: true,
        depends_on: ['ntp'],
        success_criteria: { minimum_successful_nodes: 2 },
      }),
      group('compute', ['w1', 'w2'], { depends_on: ['control'], success_criteria: { percent_successful_nodes: 50 } }),
      group('ntp', ['ntp'], { critical: true, success_criteria: { minimum_successful_nodes: 1 } }),
    ],
  };
  const nodes = plainNodes('c1', 'c2', 'w1', 'w2', 'ntp');

  onServer('marks the events of a group, for servers that show them together', async () => {
    // The server of the tests forgets the marks. Their labels pass through the codec like all payloads.
    const sent = new Set<string>();
    const codec: PayloadCodec = {
      async encode(payloads) {
        for (const { data } of payloads) sent.add(Buffer.from(data ?? []).toString());
        return payloads;
      },
      decode: async (payloads) => payloads,
    };
    const site = scriptedSite(strategy, nodes);
    const dataConverter = { payloadCodecs: [codec] };
    const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }], { dataConverter });
    await run.ended();
    expect([...sent].filter((text) => text.startsWith('"group '))).toEqual([
      '"group ntp"',
      '"group control"',
      '"group compute"',
    ]);
  });

  it('prepares and deploys group after group, and ends with a report', async () => {
    const site = scriptedSite(strategy, nodes);
    const run = await start(site, 'deploy_site', [{ site: 'dc1', started_by: 'nina' }]);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', revision: 1, nodes: { success: 5, failed: 0 } });
    const order = site.began.map((call) => call.replace(/\d$/, ''));
    expect(order).toEqual([
      'prepare:ntp',
      'deploy:ntp',
      'prepare:c',
      'prepare:c',
      'deploy:c',
      'deploy:c',
      'prepare:w',
      'prepare:w',
      'deploy:w',
      'deploy:w',
    ]);
    expect(site.opened[0]).toMatchObject({ kind: 'deploy_site', site: 'dc1', started_by: 'nina' });
    expect(site.closed).toHaveLength(1);
    expect(site.closed[0]).toMatchObject({ outcome: 'success', deployed_revision: 1 });
    expect(site.closed[0]!.report.phases.map((phase) => `${phase.name}:${phase.state}`)).toEqual([
      'load:success',
      'verify_site:success',
      'prepare_site:success',
      'baremetal:success',
      'software:skipped',
    ]);
    const history = await recordHistory(run.handle, 'deploy_site--success');
    const ids = (history.events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityId ?? []);
    expect(ids).toContain('prepare:control:c1');
    expect(ids).toContain('deploy:compute:w2');
    expect(await attributesOf(run.handle)).toMatchObject({
      SiteName: 'dc1',
      RunPhase: 'success',
      FailedNodes: 0,
      StartedBy: 'nina',
    });
  });

  it('halts at a critical failure with its reason; dependents fail by dependency', async () => {
    const site = scriptedSite(strategy, nodes);
    site.results.set('deploy:c1', failure('failed-deployment', 'curtin: no disk'));
    const run = await start(site);
    const { failure: error } = await run.ended();
    const cause = causeOf(error);
    expect(cause.type).toBe('CriticalGroupFailed');
    expect(cause.nonRetryable).toBe(true);
    expect(cause.message).toContain('control (after deploy: wanted at least 2 successful nodes, got 1)');
    expect(cause.message).toContain('start deploy_site again: it continues where this run stopped');
    const report = site.closed[0]!.report;
    expect(report.outcome).toBe('failed');
    expect(report.baremetal!.nodes_by_state).toEqual({
      waiting: [],
      not_reached: ['w1', 'w2'],
      prepared: [],
      success: ['c2', 'ntp'],
      failed: ['c1'],
    });
    expect(report.baremetal!.groups[1]!.reason).toMatch(/ control$/);
    expect(site.closed[0]!.deployed_revision).toBeUndefined();
    await recordHistory(run.handle, 'deploy_site--critical-failure');
  });

  it('ends with success_with_failures after a tolerated failure', async () => {
    const site = scriptedSite(strategy, nodes);
    site.results.set('prepare:w1', failure());
    const run = await start(site);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 4, failed: 1 } });
    expect(site.closed[0]).toMatchObject({ failed_nodes: 1, deployed_revision: 1 });
  });

  it('fails a node, not the run, when its activity fails for good', async () => {
    const site = scriptedSite(strategy, nodes);
    site.hold.add('deploy:w1');
    const run = await start(site);
    (await site.heldCall('deploy', 'w1')).throwError(
      ApplicationFailure.nonRetryable('MAAS refused the key', 'MaasUnauthorised'),
    );
    const { result } = await run.ended();
    expect(result).toMatchObject({
      outcome: 'success_with_failures',
      failed: [{ node: 'w1', reason: 'MAAS refused the key' }],
    });
  });

  it('retries through an outage by Temporal alone', async () => {
    const site = scriptedSite(strategy, nodes);
    let down = 2;
    const original = site.activities.deploy_node;
    site.overrides.deploy_node = async () => {
      site.overrides.deploy_node = down > 1 ? site.overrides.deploy_node! : (undefined as never);
      down -= 1;
      throw new Error('connection refused');
    };
    expect(original).toBeDefined();
    const run = await start(site);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
  });
});

describe('operators', () => {
  const strategy = {
    groups: [
      group('a', ['n1', 'n2', 'n3'], { critical: true, success_criteria: ALL }),
      group('b', ['n4'], { depends_on: ['a'] }),
    ],
  };
  const nodes = plainNodes('n1', 'n2', 'n3', 'n4');

  it('while paused, running work finishes and nothing starts; resume continues; both are idempotent', async () => {
    const site = scriptedSite(strategy, nodes);
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 1 } };
    for (const node of ['n1', 'n2', 'n3']) site.hold.add(`prepare:${node}`);
    const run = await start(site);
    const first = await site.heldCall('prepare', 'n1');
    await run.handle.signal('pause');
    await run.handle.signal('pause', { reason: 'again', by: 'otto' });
    const paused = await reaches(run, (status) => status.paused !== null);
    expect(paused.current).toMatchObject({ group: 'a', call: 'prepare', running: ['n1'], waiting: 2 });
    first.finish();
    await reaches(run, (status) => status.counts.prepared === 1 && status.current?.running.length === 0);
    expect(site.began).toEqual(['prepare:n1']);
    await run.handle.signal('resume');
    await run.handle.signal('resume');
    (await site.heldCall('prepare', 'n2')).finish();
    (await site.heldCall('prepare', 'n3')).finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(site.closed[0]!.report.operator.map(({ action }) => action)).toEqual(['pause', 'resume']);
    await recordHistory(run.handle, 'deploy_site--paused-and-resumed');
  });

  it('a pause of a run that has ended and writes its report is refused', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    let close = (): void => undefined;
    site.overrides.close_run = () =>
      new Promise((resolve) => {
        close = () => resolve(undefined);
      });
    const run = await start(site);
    await reaches(run, ({ outcome }) => outcome === 'success');
    await expect(run.handle.executeUpdate('pause', { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'PauseRefused' },
    });
    await run.handle.signal('pause');
    const told = await reaches(run, ({ warnings }) => warnings.some((text) => text.includes("'pause'")));
    expect(told.paused).toBeNull();
    close();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
  });

  it('pause and resume as updates answer with the new state', async () => {
    const site = scriptedSite(strategy, nodes);
    site.hold.add('prepare:n1');
    const run = await start(site);
    const call = await site.heldCall('prepare', 'n1');
    const paused = await run.handle.executeUpdate<RunStatus, [unknown]>('pause', {
      args: [{ reason: 'night', by: 'nina' }],
    });
    expect(paused.paused).toMatchObject({ reason: 'night', by: 'nina' });
    const resumed = await run.handle.executeUpdate<RunStatus, []>('resume');
    expect(resumed.paused).toBeNull();
    call.finish();
    await run.ended();
  });

  describe('with hold_before', () => {
    const two = { groups: [group('a', ['n1']), group('b', ['n2']), group('c', ['n3'], { depends_on: ['b'] })] };
    const three = plainNodes('n1', 'n2', 'n3');
    const made = (site: ScriptedSite) => site.began.filter((call) => call.startsWith('deploy'));

    it('holds a group and its dependents until an operator approves; the rest continues', async () => {
      const site = scriptedSite(two, three);
      const run = await start(site, 'deploy_site', [{ site: 'dc1', started_by: 'nina', hold_before: ['b', 'c'] }]);
      await reaches(run, (status) => status.counts.success === 1 && status.current === null);
      const waiting = await run.status();
      expect(waiting.awaiting_approval).toEqual([{ before: 'b', since: expect.any(String) }]);
      const tree = await run.handle.query<TreeNode>('tree');
      expect(tree).toMatchObject({ state: 'awaiting_approval', detail: 'before b' });
      const groups = tree.children!.find(({ name }) => name === 'baremetal')!.children!;
      expect(groups.map(({ name, detail }) => name === 'b' && detail?.includes('approval'))).toContain(true);
      expect(waiting.groups[1]).toMatchObject({ name: 'b', state: 'waiting', reason: 'waits for approval' });
      expect(made(site)).toEqual(['deploy:n1']);
      const refusal = (request: object) =>
        run.handle.executeUpdate('approve', { args: [request] }).then(
          () => '',
          (error: WorkflowUpdateFailedError) => error.cause?.message,
        );
      expect(await refusal({ before: 'bb' })).toContain("Did you mean 'b'");
      // Groups approved in advance do not wait; a pause holds both.
      await run.handle.signal('approve', { before: 'c', by: 'otto' });
      await run.handle.signal('pause');
      await run.handle.executeUpdate('approve', { args: [{ by: 'eve', reason: 'looked at it' }] });
      expect((await run.status()).awaiting_approval).toBeUndefined();
      expect(await refusal({})).toBe('nothing can be approved now');
      expect(made(site)).toEqual(['deploy:n1']);
      await run.handle.signal('approve', { by: 'mallory' });
      await run.handle.signal('resume');
      const { result } = await run.ended();
      expect(result).toMatchObject({ outcome: 'success', nodes: { success: 3 } });
      expect(made(site)).toEqual(['deploy:n1', 'deploy:n2', 'deploy:n3']);
      const { report } = site.closed[0]!;
      expect(report.holds).toEqual([
        expect.objectContaining({ before: 'b', since: waiting.awaiting_approval![0]!.since, by: 'eve' }),
        { before: 'c', decision: 'approved', decided_at: expect.any(String), by: 'otto' },
      ]);
      expect(report.operator).toContainEqual({
        action: 'approve',
        at: expect.any(String),
        before: 'b',
        by: 'eve',
        reason: 'looked at it',
      });
      expect(report.warnings).toEqual(["signal 'approve': nothing can be approved now; it had no effect"]);
      await recordHistory(run.handle, 'deploy_site--approved');
    });

    it('ends as stopped when it is rejected, with the person and reason', async () => {
      const site = scriptedSite(two, three);
      const run = await start(site, 'deploy_site', [{ site: 'dc1', hold_before: ['*'] }]);
      await reaches(run, (status) => status.awaiting_approval !== undefined);
      expect((await run.status()).phase).toBe('verify_site');
      const status = await run.handle.executeUpdate<RunStatus, [unknown]>('reject', {
        args: [{ by: 'otto', reason: 'not tonight' }],
      });
      expect(status).toMatchObject({ stopping: true });
      const { result } = await run.ended();
      expect(result).toMatchObject({ outcome: 'stopped' });
      expect(site.began).toEqual([]);
      const { holds, operator, phases, reason } = site.closed[0]!.report;
      expect(reason).toBe('rejected before any change by otto: not tonight');
      expect(holds).toEqual([
        expect.objectContaining({ before: '*', decision: 'rejected', by: 'otto', reason: 'not tonight' }),
      ]);
      expect(operator.map(({ action }) => action)).toEqual(['reject']);
      expect(phases.map(({ name }) => name)).toEqual(['load', 'verify_site']);
      await recordHistory(run.handle, 'deploy_site--rejected');
    });

    it('can be stopped, cancelled and repaired while it waits; another person may be required', async () => {
      const site = scriptedSite(two, three);
      site.overrides.open_run = async () => openedSite({ approved_by_another: true });
      site.results.set('deploy:n1', failure());
      const run = await start(site, 'deploy_site', [{ site: 'dc1', started_by: 'nina', hold_before: ['b'] }]);
      await reaches(run, (status) => status.counts.failed === 1 && status.awaiting_approval !== undefined);
      await expect(run.handle.executeUpdate('approve', { args: [{ by: 'nina' }] })).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/^nina /) },
      });
      site.results.delete('deploy:n1');
      await run.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] });
      await reaches(run, (status) => status.counts.success === 1);
      expect((await run.status()).awaiting_approval).toHaveLength(1);
      await run.handle.cancel();
      const { failure: end } = await run.ended();
      expect(causeOf(end)).toBeInstanceOf(CancelledFailure);
      expect(site.closed[0]).toMatchObject({ outcome: 'cancelled', report: { holds: [{ before: 'b' }] } });
    });
  });

  it('stop ends gracefully with a report', async () => {
    const site = scriptedSite(strategy, nodes);
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 1 } };
    site.hold.add('prepare');
    const run = await start(site);
    const call = await site.heldCall('prepare', 'n1');
    await run.handle.signal('stop', { reason: 'change of plans' });
    await reaches(run, (status) => status.stopping);
    call.finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'stopped', nodes: { prepared: 1, not_reached: 3 } });
    expect(site.began).toEqual(['prepare:n1']);
    const report = site.closed[0]!.report;
    expect(report.baremetal!.groups[0]!.reason).toBe('the run was stopped during prepare');
    expect(report.operator).toMatchObject([{ action: 'stop', reason: 'change of plans' }]);
    await recordHistory(run.handle, 'deploy_site--stopped');
  });

  it('cancel aborts running work, and still closes the run', async () => {
    const site = scriptedSite(strategy, nodes);
    site.hold.add('deploy');
    const run = await start(site);
    await site.heldCall('deploy', 'n1');
    await site.heldCall('deploy', 'n2');
    await site.heldCall('deploy', 'n3');
    await run.handle.cancel();
    const { failure: error } = await run.ended();
    expect((error as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    expect([...site.aborted].sort()).toEqual(['n1', 'n2', 'n3']);
    expect(site.closed[0]).toMatchObject({ outcome: 'cancelled' });
    expect(site.closed[0]!.report.baremetal!.nodes_by_state.failed).toEqual(['n1', 'n2', 'n3']);
    await recordHistory(run.handle, 'deploy_site--cancelled');
  });

  it('neither aborts nor other runs wait for a slot behind calls to machines', async () => {
    const site = scriptedSite(strategy, nodes);
    site.hold.add('all');
    const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }], { maxConcurrentActivityTaskExecutions: 3 });
    await site.count(3);
    const other = await rig.client.workflow.start('deploy_site', {
      taskQueue: run.worker.taskQueue,
      workflowId: rig.workflowId('deploy_site'),
      args: [{ site: 'dc2' }],
    });
    const waiting = async () => (await other.describe()).raw.pendingActivities?.map(({ state }) => state);
    await expect.poll(waiting).toEqual([1, 1, 1]);
    // They take the slots that the cancelled calls leave.
    await run.handle.cancel();
    await expect(run.handle.result()).rejects.toThrow();
    expect([...site.aborted].sort()).toEqual(['n1', 'n2', 'n3']);
    expect(site.closed.map(({ site, outcome }) => [site, outcome])).toEqual([['dc1', 'cancelled']]);
    await site.count(6);
    await other.cancel();
    await expect(other.result()).rejects.toThrow();
    await run.ended();
  });

  it('a repaired node is retried, and its dependents run', async () => {
    const site = scriptedSite({ groups: [...strategy.groups, group('c', ['n5'], { depends_on: [] })] }, [
      ...nodes,
      ...plainNodes('n5'),
    ]);
    site.results.set('deploy:n2', failure());
    site.hold.add('prepare:n5');
    const run = await start(site);
    const last = await site.heldCall('prepare', 'n5');
    const refused = run.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] });
    await expect(refused).rejects.toMatchObject({ cause: { message: 'node n1 has not failed: it is success' } });
    site.results.delete('deploy:n2');
    await run.handle.executeUpdate('retry_node', { args: [{ node: 'n2', reason: 'disk replaced', by: 'otto' }] });
    site.hold.clear();
    last.finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    expect(site.began.filter((call) => call === 'deploy:n2')).toHaveLength(2);
    expect(site.closed[0]!.report.operator).toMatchObject([
      { action: 'retry_node', node: 'n2', by: 'otto', reason: 'disk replaced' },
    ]);
    await recordHistory(run.handle, 'deploy_site--node-retried');
  });

  // Found by the simulated sites: the workflow task failed, and with it every later one.
  it('is cancelled while a retry waits for the end of a pause', async () => {
    const site = scriptedSite(strategy, nodes);
    site.hold.add('deploy:n1');
    site.results.set('deploy:n2', { ok: false, failure: { kind: 'deployment-failed', message: 'disk' } });
    const run = await start(site);
    await site.heldCall('deploy', 'n1');
    await reaches(run, (status) => status.counts.failed === 1);
    await run.handle.signal('pause');
    await run.handle.executeUpdate('retry_node', { args: [{ node: 'n2' }] });
    await run.handle.cancel();
    const { failure: end } = await run.ended();
    expect(causeOf(end)).toBeInstanceOf(CancelledFailure);
    expect(site.closed[0]).toMatchObject({ outcome: 'cancelled' });
    expect(site.began.filter((call) => call === 'deploy:n2')).toHaveLength(1);
  });
});

describe('time limits', () => {
  const strategy = {
    groups: [group('a', ['n1', 'n2']), group('b', ['n3'], { depends_on: ['a'] }), group('c', ['n4'])],
  };
  const nodes = plainNodes('n1', 'n2', 'n3', 'n4');

  it('a call that takes too long fails its group, aborts its nodes and records late results', async () => {
    const site = scriptedSite(strategy, nodes);
    site.plan = { ...site.plan, pace: { ...site.plan.pace, deploy: { interval: 1, timeout: 1 } } };
    site.hold.add('deploy:n1');
    site.overrides.abort_node = async () => ({ found: 'running', message: 'MAAS could not abort' });
    site.overrides.look_at_node = async () => ({ found: 'deployed', message: 'deployed' });
    const run = await start(site);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures' });
    const { groups, nodes: reports } = site.closed[0]!.report.baremetal!;
    expect(groups.map((one) => one.state)).toEqual(['failed', 'failed', 'success']);
    expect(groups[0]!.reason).toBe('deploy timed out after 1 s, no result from n1');
    expect(reports[0]).toMatchObject({ state: 'failed', failure_kind: 'timeout', late: { call: 'deploy', ok: true } });
    await recordHistory(run.handle, 'deploy_site--timed-out');
  });

  it.each([
    ['MAAS cannot abort it', async () => ({ found: 'running', message: 'MAAS could not abort' }) as const],
    [
      'its abort fails',
      async () => {
        throw ApplicationFailure.nonRetryable('MAAS could not abort', 'Unreachable');
      },
    ],
  ])('the report says of a node that its deployment may continue: %s', async (_, abort) => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, deploy: { interval: 1, timeout: 1 } } };
    site.hold.add('deploy:n1');
    site.overrides.abort_node = abort;
    site.overrides.look_at_node = async () => ({ found: 'running', message: 'deploying' });
    await (await start(site)).ended();
    expect(site.closed[0]!.report.baremetal!.nodes[0]).toMatchObject({
      state: 'failed',
      late: { ok: false, message: 'its deploy was not aborted and may continue: MAAS could not abort' },
    });
  });

  it('a node whose attempts fail until the time limit says the last error, and that its abort is under way', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, deploy: { interval: 1, timeout: 2 } } };
    site.overrides.deploy_node = async () => {
      throw ApplicationFailure.retryable('MAAS GET machines/n1/: 503: no region here', 'MaasUnavailable');
    };
    site.overrides.last_errors = lastErrorsActivity(runLookups(rig.client)).last_errors;
    let goOn = (): void => undefined;
    const allowed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    site.overrides.abort_node = async () => {
      await allowed;
      return { found: 'aborted', message: 'aborted' };
    };
    const run = await start(site);
    await reaches(run, ({ current }) => current?.call === 'abort' && current.running.includes('n1'));
    const tree = JSON.stringify(await run.handle.query<TreeNode>('tree'));
    expect(tree).toContain('"name":"n1","kind":"node","state":"running","detail":"abort · no result');
    goOn();
    await run.ended();
    const [node] = site.closed[0]!.report.baremetal!.nodes;
    expect(node).toMatchObject({ failure_kind: 'timeout', late: { message: 'aborted' } });
    expect(node?.reason).toMatch(
      / time limit of 2 s; the last attempt failed: MAAS GET machines\/n1\/: 503: no region here$/,
    );
    expect(node?.running).toBeUndefined();
  });

  it.each([
    ['running', 'Deploying', 'MAAS did it after all, and goes on: Deploying'],
    ['nothing', 'Ready', 'MAAS has not done it: Ready'],
  ] as const)(
    'a change on its way at the time limit is told of, and the next look corrects it: %s',
    async (found, state, said) => {
      const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
      site.plan = { ...site.plan, pace: { ...site.plan.pace, deploy: { interval: 1, timeout: 1 } } };
      site.overrides.deploy_node = () =>
        untilCancelled().catch(() => ({
          ok: false,
          failure: { kind: 'in-flight', message: 'MAAS had not answered POST machines/n1/?op=deploy' },
        }));
      site.overrides.abort_node = async () => ({ found: 'nothing', message: 'Allocated' });
      site.overrides.look_at_node = async () => ({ found, message: state });
      await (await start(site)).ended();
      const told = site.records.flatMap(({ nodes }) => nodes).flatMap(({ report }) => report.late ?? []);
      expect(told[0]).toMatchObject({ ok: false, open: true });
      expect(told[0]?.message).toContain('op=deploy when its time was up, and may still do it');
      const { late } = site.closed[0]!.report.baremetal!.nodes[0]!;
      expect(late).toMatchObject({ ok: false, message: said });
      expect(late?.open).toBeUndefined();
    },
  );

  it('a node whose worker died is aborted too at the time limit', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    site.plan = {
      ...site.plan,
      // The time limit passes first, and the missing heartbeat is noticed after that.
      pace: { ...site.plan.pace, heartbeat_seconds: 3, deploy: { interval: 1, timeout: 1 } },
    };
    let wakeUp = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    // No heartbeat and deaf to its cancellation: the remains of an activity whose process died.
    site.overrides.deploy_node = async () => {
      await asleep;
      return { ok: true };
    };
    const run = await start(site);
    // Also when the workflow forgets to abort: otherwise the deaf activity would hold the worker forever.
    const { result } = await run.handle.result().finally(wakeUp).then(run.ended);
    expect(result).toMatchObject({ outcome: 'success_with_failures' });
    expect(site.aborted).toEqual(['n1']);
    expect(site.closed[0]!.report.baremetal!.nodes[0]).toMatchObject({ failure_kind: 'timeout', late: { ok: false } });
  });

  it('a node whose last attempt failed before it heard of the time limit is aborted too', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, deploy: { interval: 1, timeout: 1 } } };
    let wakeUp = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wakeUp = resolve;
    });
    site.overrides.deploy_node = async () => {
      await asleep;
      throw ApplicationFailure.retryable('MAAS GET events/: no connection', 'MaasConnectionLost');
    };
    const run = await start(site);
    await lookUntil(
      () => run.handle.fetchHistory(),
      ({ events }) => events!.some((event) => event.activityTaskCancelRequestedEventAttributes),
    );
    wakeUp();
    await run.ended();
    expect(site.aborted).toEqual(['n1']);
    expect(site.closed[0]!.report.baremetal!.nodes[0]).toMatchObject({ failure_kind: 'timeout', late: { ok: false } });
  });

  it('the clock of a call stops while the run is paused', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, prepare: { interval: 1, timeout: 600 } } };
    site.hold.add('prepare');
    const run = await start(site);
    const call = await site.heldCall('prepare', 'n1');
    await run.handle.signal('pause');
    await reaches(run, (status) => status.paused !== null);
    await run.handle.signal('resume');
    await reaches(run, (status) => status.paused === null);
    call.finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    const { events } = await run.handle.fetchHistory();
    const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes);
    const cancelled = (events ?? []).filter((event) => event.timerCanceledEventAttributes);
    // One for prepare, one more after the pause, one for deploy; none of them fired.
    expect([timers.length, cancelled.length]).toEqual([3, 3]);
  });
});

describe('input', () => {
  const site = () => scriptedSite({ groups: [] }, []);

  it.each([
    [[], 'input must be one JSON object, e.g. {"site":"dc1"}'],
    [
      [{ sit: 'dc1', revision: -1 }],
      "missing field 'site'; unknown field 'sit' (known: site, revision, started_by, responsible, reason, title, description, labels, fetch, hold_before, adopt, override_limits). Did you mean 'site'?; field 'revision' must be a revision number, a hash or \"latest\"",
    ],
    [[{ site: 'dc1' }, 2], 'input must be one JSON object'],
  ])('%j is refused, naming each bad field', async (args, message) => {
    const run = await start(site(), 'deploy_site', args as unknown[]);
    const { failure: error } = await run.ended();
    expect(causeOf(error).type).toBe('InvalidInput');
    expect(causeOf(error).message).toContain(message);
  });

  it('a busy site is refused with the id of the run that holds it', async () => {
    const busy = site();
    busy.overrides.open_run = async () => ({
      ok: false,
      ...{ notices: false, approved_by_another: false },
      failure: { kind: 'site-busy', site: 'dc1', workflow_id: 'update_site:dc1', run_id: 'r-1' },
    });
    const run = await start(busy);
    const { failure: error } = await run.ended();
    expect(causeOf(error).type).toBe('SiteBusy');
    expect(causeOf(error).message).toContain('site dc1 is busy with update_site:dc1 (run r-1)');
    expect(busy.closed).toHaveLength(0);
  });

  it('the details have the description of the run, and the plan has the names of the nodes of each group', async () => {
    const input = { site: 'dc1', title: 'Racks 1–4', description: 'More *space*.', labels: { team: 'storage' } };
    const groups = [group('control', ['c1', 'c2']), group('ntp', ['ntp'])];
    const run = await start(scriptedSite({ groups }, plainNodes('c1', 'ntp', 'c2')), 'deploy_site', [input]);
    await run.handle.result();
    const { currentDetails } = await run.handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toMatch(/^Racks 1–4 · `team:storage`\n\n\*\*success\*\* · /);
    expect(currentDetails).toMatch(/\n\nMore \*space\*\.$/);
    const plan = await run.handle.query<ShownPlan>('plan');
    expect(Object.fromEntries(plan.groups.map(({ name, nodes, total }) => [name, [total, ...nodes]]))).toEqual({
      control: [2, 'c1', 'c2'],
      ntp: [1, 'ntp'],
    });
    await run.ended();
  });

  it('search attributes that the server lacks are not set', async () => {
    const plain = site();
    plain.overrides.open_run = async () => openedSite();
    const run = await start(plain);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(await attributesOf(run.handle)).not.toHaveProperty('SiteName');
  });
});

describe('notices of a run', () => {
  const strategy = { groups: [group('a', ['n1'], { critical: true, success_criteria: ALL })] };

  it('are sent by a separate workflow, which outlives the run and its worker; unwanted ones are not sent', async () => {
    const site = scriptedSite(strategy, plainNodes('n1'));
    site.overrides.open_run = async () => openedSite({ notices: true });
    site.results.set('prepare:n1', failure());
    const tried: DeliverNotice[] = [];
    let hangs = true;
    const notices: NoticeActivities = {
      plan_notice: async () => ({ receivers: ['pager', 'gone'], give_up_seconds: 3600 }),
      deliver_notice: async (request) => {
        tried.push(request);
        if (hangs) await untilCancelled();
        if (request.receiver === 'gone') throw ApplicationFailure.retryable('it answered 500');
        return { delivered: true, status: 204, message: null };
      },
    };
    Object.assign(site.activities, notices);
    const run = await start(site, 'deploy_site', [{ site: 'dc1', started_by: 'nina', title: 'Rack 7' }]);
    // Both attempts are running when the worker stops. Work that the server gives to a worker at that moment is lost with it, and
    // noticed as missing only after a minute.
    await lookUntil(
      async () => tried.length,
      (attempts) => attempts === 2,
    );
    // The run ends as it would, whatever happens to the notice.
    const { failure: error } = await run.ended();
    expect(causeOf(error).type).toBe('CriticalGroupFailed');
    expect(site.closed[0]!.outcome).toBe('failed');
    const runId = (await run.handle.describe()).runId;
    const sent = rig.client.workflow.getHandle(`send_notice:${runId}:1`);
    expect((await sent.describe()).status.name).toBe('RUNNING');
    hangs = false;
    const worker = await rig.runWorker({ taskQueue: run.worker.taskQueue, activities: site.activities });
    await lookUntil(
      async () => tried.slice(2),
      (attempts) => attempts.some(({ receiver }) => receiver === 'pager'),
    );
    const { receiver: _, notice } = tried.find((one) => one.receiver === 'pager')!;
    // Its words are made where it is delivered, from the store.
    expect(notice).toEqual({ event: 'failed', run: { id: runId } });
    await recordHistory(sent, 'send_notice--delivered');
    await sent.terminate('enough');
    await worker.stop();
    await recordHistory(run.handle, 'deploy_site--noticed');
  });
});
