import { ApplicationFailure, type WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { Group } from '../../src/core/deployment/strategy.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { failure, group, plainNodes, type ScriptedSite, scriptedSite, untilCancelled } from '../rig/scripted-site.ts';
import { causeOf, reaches, startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5'];

/** One group of five nodes. */
function rolledOut(rollout: NonNullable<Group['rollout']>, more: Partial<Group> = {}): ScriptedSite {
  return scriptedSite({ groups: [group('workers', NAMES, { rollout, ...more })] }, plainNodes(...NAMES));
}

/** The same with the checks `gateway`, of each wave, and `metrics`, of each node. */
function checked(rollout: NonNullable<Group['rollout']>): ScriptedSite {
  const site = rolledOut({ order: ['name'], ...rollout });
  const checks = [
    { name: 'gateway', each: 'wave' as const, seconds: 60 },
    { name: 'metrics', each: 'node' as const, seconds: 60 },
  ];
  site.plan = { ...site.plan, checks };
  return site;
}

const start = (site: ScriptedSite) => startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);

const rolloutOf = (status: RunStatus) => status.groups[0]?.rollout;
const isHeld = (status: RunStatus): boolean => rolloutOf(status)?.state === 'held';

/** The nodes of each call that began, in order. */
const callsOf = ({ began }: ScriptedSite): string[] => {
  const calls: string[][] = [];
  for (const one of began) {
    const [verb, node] = one.split(':') as [string, string];
    if (calls.at(-1)?.[0] === verb) calls.at(-1)!.push(node);
    else calls.push([verb, node]);
  }
  return calls.map(([verb, ...nodes]) => `${verb} ${nodes.sort().join(' ')}`);
};

/** Resolves when a child of the first call of a run has heard that nothing may start. */
async function isTold(prefix: string, part: number): Promise<void> {
  const child = rig.client.workflow.getHandle(`${prefix}/prepare:workers:1.${part}`);
  for (;;) {
    const { events } = await child.fetchHistory();
    const signals = (events ?? []).map((one) => one.workflowExecutionSignaledEventAttributes?.signalName);
    if (signals.includes('start_no_more')) return;
    await lookAgain();
  }
}

describe('a rollout', () => {
  it('prepares and deploys wave after wave, and looks at the nodes after each soak', async () => {
    const site = rolledOut({ first: 1, soak: '1s', order: ['name'] });
    const looks: (readonly string[] | undefined)[] = [];
    site.overrides.inspect_nodes = async ({ nodes }) => {
      looks.push(nodes);
      return { counts: {}, problems: [] };
    };
    const run = await start(site);
    const soaking = rolloutOf(await reaches(run, (status) => rolloutOf(status)?.state === 'soaking'));
    expect(soaking).toMatchObject({ wave: 1, waves: 3, failed: 0, limit: 1 });
    expect(site.began).toEqual(['prepare:n1', 'deploy:n1']);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    expect(callsOf(site)).toEqual([
      ...['prepare n1', 'deploy n1', 'prepare n2 n3', 'deploy n2 n3', 'prepare n4 n5', 'deploy n4 n5'],
    ]);
    expect(looks).toEqual([['n1'], ['n1', 'n2', 'n3'], NAMES]);
    const [workers] = site.closed[0]!.report.baremetal!.groups;
    expect(workers).toMatchObject({ state: 'success', rollout: { state: 'success', wave: 3, waves: 3, failed: 0 } });
    await recordHistory(run.handle, 'deploy_site--rollout');
  });

  it('asks its checks after each wave, and opens the next one when they are well', async () => {
    const site = checked({ first: 1, checks: ['gateway', 'metrics'] });
    const asked: string[] = [];
    site.overrides.run_check = async ({ check, nodes }) => {
      asked.push(`${check} ${nodes?.join(' ') ?? 'once'} after ${site.began.length}`);
      return { unwell: [] };
    };
    const run = await start(site);
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    expect(asked.toSorted()).toEqual([
      ...['gateway once after 10', 'gateway once after 2', 'gateway once after 6'],
      ...['metrics n1 after 2', 'metrics n1 n2 n3 after 6', 'metrics n1 n2 n3 n4 n5 after 10'],
    ]);
    const [workers] = site.closed[0]!.report.baremetal!.groups;
    expect(workers!.rollout!.checks).toEqual([
      { name: 'gateway', verdict: 'well' },
      { name: 'metrics', verdict: 'well' },
    ]);
    await recordHistory(run.handle, 'deploy_site--rollout-checks');
  });

  it.each(['failed', 'unknown'] as const)(
    'is held by a check of the wave that is %s, until it is well when it is asked again, or promoted',
    async (verdict) => {
      const site = checked({ first: 1, checks: ['gateway'] });
      site.overrides.run_check = async () => ({ unwell: [{ verdict, text: 'HTTP 503 instead of 200', nodes: [] }] });
      const run = await start(site);
      expect(rolloutOf(await reaches(run, isHeld))).toMatchObject({
        ...{ wave: 1, failed: 0, why: 'checks' },
        checks: [{ name: 'gateway', verdict, text: 'HTTP 503 instead of 200' }],
      });
      expect(site.began).toEqual(['prepare:n1', 'deploy:n1']);
      let asked = 0;
      site.overrides.run_check = async () => {
        asked += 1;
        return { unwell: [{ verdict, text: 'HTTP 504 instead of 200', nodes: [] }] };
      };
      await run.handle.executeUpdate('promote', { args: [{ recheck: true, by: 'nina' }] });
      while (asked === 0) await lookAgain();
      expect(rolloutOf(await reaches(run, isHeld))?.checks).toMatchObject([{ text: 'HTTP 504 instead of 200' }]);
      site.overrides.run_check = async () => ({ unwell: [] });
      await run.handle.executeUpdate('promote', {
        args: [{ by: 'nina', ...(verdict === 'failed' && { recheck: true }) }],
      });
      const { result } = await run.ended();
      expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
    },
  );

  it.each([{ first: 3, stop_at: { failed: 3 } }, { stop_at: { percent: 100 } }])(
    'fails nodes whose checks are not well, or have no answer: %j',
    async (waves) => {
      const site = checked({ ...waves, checks: ['metrics'] });
      site.overrides.run_check = async ({ nodes = [] }) => ({
        unwell: [
          { verdict: 'failed' as const, text: 'connection refused', nodes: [nodes.indexOf('n1')] },
          { verdict: 'unknown' as const, text: 'no answer within 10 s', nodes: [nodes.indexOf('n3')] },
        ].filter(({ nodes: [at] }) => at !== -1),
      });
      const run = await start(site);
      const { result } = await run.ended();
      expect(result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 3, failed: 2 } });
      expect(result.failed).toMatchObject([
        { node: 'n1', reason: 'check metrics: connection refused' },
        { node: 'n3', reason: 'check metrics: no answer within 10 s' },
      ]);
      const { nodes } = site.closed[0]!.report.baremetal!;
      expect(nodes.map(({ failure_kind }) => failure_kind)).toEqual([
        ...['check-failed', undefined, 'check-unanswered', undefined, undefined],
      ]);
      expect(site.records.at(-1)).toBeDefined();
    },
  );

  it('is held when nobody could ask, and fails no node for it', async () => {
    const site = checked({ first: 1, checks: ['metrics'] });
    site.overrides.run_check = async () => {
      throw ApplicationFailure.nonRetryable('revision 1 has no check metrics', 'CheckNotFound');
    };
    const run = await start(site);
    const held = rolloutOf(await reaches(run, isHeld));
    expect(held).toMatchObject({ why: 'checks', failed: 0, checks: [{ name: 'metrics', verdict: 'unknown' }] });
    await run.handle.executeUpdate('abort_rollout', { args: [{ by: 'nina' }] });
    const { result } = await run.ended();
    expect(result.groups).toMatchObject([{ state: 'failed' }]);
  });

  it.each(['stop', 'promote', 'abort_rollout'] as const)('waits for no answer of a check after %s', async (action) => {
    const site = checked({ first: 4, checks: ['gateway'] });
    let hasAsked = (): void => undefined;
    const asked = new Promise<void>((resolve) => (hasAsked = resolve));
    let isFirst = true;
    site.overrides.run_check = () => {
      hasAsked();
      if (!isFirst) return Promise.resolve({ unwell: [] });
      isFirst = false;
      return untilCancelled();
    };
    const run = await start(site);
    await asked;
    expect(rolloutOf(await reaches(run, (status) => rolloutOf(status)?.state === 'checking'))).toMatchObject({
      wave: 1,
    });
    if (action === 'stop') await run.handle.signal('stop');
    else await run.handle.executeUpdate(action, { args: [{ by: 'nina' }] });
    const { result } = await run.ended();
    const outcome = { stop: 'stopped', promote: 'success', abort_rollout: 'success_with_failures' }[action];
    expect(result.outcome).toBe(outcome);
    expect(site.began).toHaveLength(action === 'promote' ? 10 : 8);
  });

  it.each(['answers', 'permits'] as const)('hears a stop that comes while the store is told of %s', async (what) => {
    const site = checked({ first: 1, checks: ['metrics'], stop_at: { failed: 1 } });
    site.overrides.run_check = async () => ({
      unwell: [{ verdict: 'failed', text: 'connection refused', nodes: [0] }],
    });
    let going = (): void => undefined;
    const goes = new Promise<void>((resolve) => (going = resolve));
    let goOn = (): void => undefined;
    const may = new Promise<void>((resolve) => (goOn = resolve));
    const isLast = (is: boolean) => async () => {
      if (!is) return;
      going();
      await may;
    };
    if (what === 'answers')
      site.overrides.record_nodes = ({ nodes }) => isLast(nodes.some(({ report }) => report.state === 'failed'))();
    else {
      site.plan = { ...site.plan, limits: { at_a_time: 5 } };
      site.results.set('deploy:n1', failure());
      site.overrides.take_permits = async ({ wants, failed = [] }) => {
        await isLast(failed.length > 0)();
        return { granted: wants, waits: [] };
      };
    }
    const run = await start(site);
    await goes;
    await run.handle.signal('stop', {});
    goOn();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'stopped', nodes: { failed: 1 } });
  });

  it('asks again when a node was retried meanwhile', async () => {
    const site = checked({ first: 3, checks: ['metrics'], stop_at: { failed: 2 } });
    site.results.set('deploy:n1', failure());
    const asked: string[] = [];
    let hasAsked = (): void => undefined;
    const first = new Promise<void>((resolve) => (hasAsked = resolve));
    site.overrides.run_check = ({ nodes = [] }) => {
      asked.push(nodes.join(' '));
      hasAsked();
      return asked.length === 1 ? untilCancelled() : Promise.resolve({ unwell: [] });
    };
    const run = await start(site);
    await first;
    site.results.delete('deploy:n1');
    await run.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(asked).toEqual(['n2 n3', 'n1 n2 n3', 'n1 n2 n3 n4 n5']);
  });

  it('starts nothing once its limit is reached, and goes on when an operator promotes it', async () => {
    const site = rolledOut({ first: 4, stop_at: { failed: 2 } });
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 2 } };
    site.hold.add('prepare');
    const run = await start(site);
    const first = await site.heldCall('prepare', 'n1');
    const second = await site.heldCall('prepare', 'n2');
    first.finish(failure());
    const third = await site.heldCall('prepare', 'n3');
    second.finish(failure());
    await reaches(run, ({ counts }) => counts.failed === 2);
    await expect(run.handle.executeUpdate('promote', { args: [{ by: 'nina' }] })).rejects.toMatchObject({
      cause: { type: 'RolloutRefused' },
    } satisfies Partial<{ cause: Partial<WorkflowUpdateFailedError> & { type: string } }>);
    third.finish();
    const held = await reaches(run, isHeld);
    expect(rolloutOf(held)).toMatchObject({ why: 'limit', wave: 1, waves: 2, failed: 2, limit: 2 });
    expect(site.began.toSorted()).toEqual(['prepare:n1', 'prepare:n2', 'prepare:n3']);

    site.hold.clear();
    const low = run.handle.executeUpdate('promote', { args: [{ limit: 2 }] });
    await expect(low).rejects.toMatchObject({ cause: { type: 'RolloutRefused' } });
    const after = await run.handle.executeUpdate<RunStatus, [object]>('promote', {
      args: [{ group: 'workers', limit: 3, by: 'nina', reason: 'two bad disks' }],
    });
    expect(rolloutOf(after)).toMatchObject({ state: 'running', limit: 3 });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 3, failed: 2 } });
    expect(callsOf(site).slice(1)).toEqual(['deploy n3 n4', 'prepare n5', 'deploy n5']);
    expect(site.closed[0]!.report.operator).toEqual([
      expect.objectContaining({ action: 'promote', group: 'workers', limit: 3, by: 'nina', reason: 'two bad disks' }),
    ]);
    await recordHistory(run.handle, 'deploy_site--rollout-held-and-promoted');
  });

  it('stops at its limit in each of the children that share a wave, and tells the others', async () => {
    const names = Array.from({ length: 501 }, (_, at) => `n${at}`);
    const many = group('workers', names, { rollout: { first: '100%', stop_at: { failed: 4 } } });
    const site = scriptedSite({ groups: [many] }, plainNodes(...names));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 6 } };
    // Three children: all of the first fails, what the others start waits for the test.
    const isBad = (name: string) => names.indexOf(name) < 167;
    for (const name of names) {
      if (isBad(name)) site.results.set(`prepare:${name}`, failure());
      else site.hold.add(`prepare:${name}`);
    }
    const run = await start(site);
    const others = await Promise.all(['n167', 'n168', 'n334', 'n335'].map((name) => site.heldCall('prepare', name)));
    const prefix = `${run.handle.workflowId}/${run.handle.firstExecutionRunId}`;
    await Promise.all([2, 3].map((part) => isTold(prefix, part)));
    await reaches(run, ({ counts: { failed } }) => failed >= 4);
    // What had started in the other children ends, and nothing follows it.
    for (const one of others) one.finish();
    const held = rolloutOf(await reaches(run, isHeld))!;
    expect(held).toMatchObject({ why: 'limit', wave: 1, waves: 1, limit: 4 });
    // The other place of the first child had started when its fourth failed.
    expect(held.failed).toBeLessThanOrEqual(5);
    expect(site.began).toHaveLength(others.length + held.failed);
    await run.handle.executeUpdate('abort_rollout', { args: [{}] });
    await run.ended();
  });

  it('goes on by itself when the failed node is retried and well', async () => {
    const site = rolledOut({ first: 2 }, { success_criteria: { percent_successful_nodes: 100 } });
    site.results.set('deploy:n2', failure());
    const run = await start(site);
    expect(rolloutOf(await reaches(run, isHeld))).toMatchObject({ why: 'limit', failed: 1 });
    site.results.delete('deploy:n2');
    await run.handle.executeUpdate('retry_node', { args: [{ node: 'n2' }] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 5 } });
  });

  it('is held by nodes that are not well after the soak, and by those that nobody could look at', async () => {
    const site = rolledOut({ first: 1, soak: '1s', stop_at: { failed: 2 } });
    const asBroken: typeof site.activities.inspect_nodes = async () => ({
      counts: {},
      problems: [
        { node: 'n1', problem: 'is Broken, not Deployed' },
        { node: 'n2', problem: 'MAAS knows no machine of this name' },
      ],
    });
    site.overrides.inspect_nodes = async () => {
      site.overrides.inspect_nodes = asBroken;
      throw ApplicationFailure.nonRetryable('the key is refused', 'MaasRefused');
    };
    const run = await start(site);
    const unseen = await reaches(run, isHeld);
    expect(rolloutOf(unseen)).toMatchObject({ why: 'unseen', unseen: 'the key is refused', wave: 1 });
    await run.handle.executeUpdate('promote', { args: [{}] });
    const held = await reaches(run, (status) => isHeld(status) && rolloutOf(status)?.wave === 2);
    expect(rolloutOf(held)).toMatchObject({ why: 'limit', failed: 2 });
    expect(held.failed.map(({ node }) => node)).toEqual(['n1', 'n2']);
    expect(site.records.at(-1)!.nodes.map(({ report }) => [report.name, report.failure_kind])).toEqual([
      ['n1', 'not-well'],
      ['n2', 'not-well'],
    ]);
    await run.handle.signal('stop', {});
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'stopped', nodes: { success: 1, failed: 2, not_reached: 2 } });
  });

  it('fails its group when an operator ends it, and holds when one asks for it', async () => {
    const site = rolledOut({ first: 1, soak: '1h' }, { critical: true });
    const run = await start(site);
    await reaches(run, (status) => rolloutOf(status)?.state === 'soaking');
    await run.handle.signal('hold', { group: 'workers', by: 'nina' });
    const asked = await reaches(run, (status) => rolloutOf(status)?.why === 'operator');
    expect(rolloutOf(asked)?.state).toBe('soaking');
    const promoted = await run.handle.executeUpdate<RunStatus, [object]>('promote', { args: [{}] });
    expect(rolloutOf(promoted)?.state).toBe('running');
    await reaches(run, (status) => rolloutOf(status)?.wave === 2 && rolloutOf(status)?.state === 'soaking');
    await run.handle.executeUpdate('abort_rollout', { args: [{ by: 'nina', reason: 'wrong revision' }] });
    const { failure: error } = await run.ended();
    expect(causeOf(error).type).toBe('CriticalGroupFailed');
    const { groups, nodes_by_state: nodes } = site.closed[0]!.report.baremetal!;
    expect(groups[0]).toMatchObject({
      state: 'failed',
      failure: { kind: 'rollout-aborted' },
      rollout: { state: 'stopped' },
    });
    expect(nodes).toMatchObject({ success: ['n1', 'n2', 'n3'], not_reached: ['n4', 'n5'] });
    expect(site.began).not.toContain('prepare:n4');
  });

  it('lets other groups go on while it is held, but not while it soaks', async () => {
    const site = scriptedSite(
      {
        groups: [
          group('workers', ['n1', 'n2'], { rollout: { first: 1 } }),
          group('others', ['n3']),
          group('after', ['n4'], { depends_on: ['workers'] }),
        ],
      },
      plainNodes('n1', 'n2', 'n3', 'n4'),
    );
    site.results.set('prepare:n1', failure());
    const run = await start(site);
    await reaches(run, (status) => isHeld(status) && status.groups[1]!.state === 'success');
    expect(site.began).toEqual(['prepare:n1', 'prepare:n3', 'deploy:n3']);
    await run.handle.executeUpdate('promote', { args: [{}] });
    const { result } = await run.ended();
    expect(result).toMatchObject({ nodes: { success: 3, failed: 1 } });
  });

  it('has no effect on a run without one', async () => {
    const site = scriptedSite({ groups: [group('workers', ['n1'])] }, plainNodes('n1'));
    site.hold.add('deploy');
    const run = await start(site);
    const call = await site.heldCall('deploy', 'n1');
    await expect(run.handle.executeUpdate('hold', { args: [{}] })).rejects.toMatchObject({
      cause: { type: 'RolloutRefused' },
    });
    await run.handle.signal('abort_rollout', {});
    await reaches(run, ({ warnings }) => warnings.some((text) => text.includes('abort_rollout')));
    call.finish();
    const { result } = await run.ended();
    expect(result).toMatchObject({ outcome: 'success' });
  });
});
