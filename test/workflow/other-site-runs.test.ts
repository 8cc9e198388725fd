import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeSilence } from '../../src/core/run/late-text.ts';
import { recordHistory } from '../rig/histories.ts';
import { lookAgain } from '../rig/look-again.ts';
import { failure, group, plainNodes, type ScriptedSite, scriptedSite, untilCancelled } from '../rig/scripted-site.ts';
import { causeOf, reaches, startRun } from '../rig/site-workflow.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { withHurriedChildren } from '../rig/workflow-bundle.ts';

let rig: TemporalRig;
let hurried: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
  hurried = await withHurriedChildren(rig);
});
afterAll(() => rig.close());

const run = (site: ScriptedSite, type: string, input: object) => startRun(rig, site, type, [input]);

describe('update_site', () => {
  const strategy = {
    groups: [group('all', ['n1', 'n2', 'n3'], { critical: true, success_criteria: { percent_successful_nodes: 100 } })],
  };

  it('does not touch unchanged nodes, and reports removed ones', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2', 'n3'), { done: [0, 1], removed: ['old1'] });
    const started = await run(site, 'update_site', { site: 'dc1' });
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success', nodes: { success: 3 } });
    expect(site.began).toEqual(['prepare:n3', 'deploy:n3']);
    const report = site.closed[0]!.report;
    expect(report.removed_nodes).toEqual(['old1']);
    expect(report.phases.find((phase) => phase.name === 'release_removed')).toMatchObject({ state: 'skipped' });
    await recordHistory(started.handle, 'update_site--success');
  });

  it('releases removed nodes only on request', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2', 'n3'), { removed: ['old1', 'old2'] });
    site.results.set('release:old2', failure('not-ours', 'belongs to somebody else'));
    const started = await run(site, 'update_site', { site: 'dc1', release_removed: true });
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures' });
    expect(site.began.slice(-2).sort()).toEqual(['release:old1', 'release:old2']);
    expect(site.closed[0]!.report.released).toMatchObject([
      { name: 'old1', state: 'success' },
      { name: 'old2', state: 'failed', reason: 'belongs to somebody else' },
    ]);
  });
});

describe('redeploy_nodes', () => {
  const strategy = {
    groups: [
      group('target-group', ['n1', 'n2'], { critical: true, success_criteria: { percent_successful_nodes: 100 } }),
    ],
  };

  it('releases, then deploys the named nodes as one critical group', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
    const started = await run(site, 'redeploy_nodes', { site: 'dc1', nodes: ['n1', 'n2'], erase: true });
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(site.began.map((call) => call.split(':')[0])).toEqual([
      'release',
      'release',
      'prepare',
      'prepare',
      'deploy',
      'deploy',
    ]);
    expect(site.closed[0]!.deployed_revision).toBeUndefined();
    await recordHistory(started.handle, 'redeploy_nodes--success');
  });

  it('deploys nothing unless every node was released', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
    site.results.set('release:n2', failure('locked', 'the machine is locked'));
    const started = await run(site, 'redeploy_nodes', { site: 'dc1', nodes: ['n1', 'n2'] });
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('ReleaseFailed');
    expect(causeOf(error).message).toContain('nothing was deployed because these nodes could not be released: n2');
    expect(site.began).not.toContain('prepare:n1');
    expect(site.closed[0]).toMatchObject({ outcome: 'failed' });
  });

  it('that fails names only the nodes still out of service in its next step', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
    site.results.set('deploy:n2', failure('deployment-failed', 'no disk'));
    const started = await run(site, 'redeploy_nodes', { site: 'dc1', nodes: ['n1', 'n2'] });
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('CriticalGroupFailed');
    const { next_step } = site.closed[0]!.report;
    expect(next_step).toContain('sitewright site redeploy dc1 n2,');
    expect(next_step).not.toContain('n1');
  });

  it('that ends between release and deployment shows machines as bare', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
    site.hold.add('prepare:n2');
    const started = await run(site, 'redeploy_nodes', { site: 'dc1', nodes: ['n1', 'n2'] });
    await site.heldCall('prepare', 'n2');
    await reaches(started, ({ current }) => current?.call === 'prepare' && String(current.running) === 'n2');
    await started.handle.cancel();
    await started.ended();
    const { report } = site.closed[0]!;
    expect(report.outcome).toBe('cancelled');
    expect(report.released).toMatchObject([
      { name: 'n1', state: 'failed', reason: expect.stringContaining('still bare') },
      {
        name: 'n2',
        state: 'failed',
        failure_kind: 'not-redeployed',
        hint: 'deploy it: sitewright site redeploy dc1 n2',
      },
    ]);
    // Rows of nodes are what lists and pages show.
    expect(site.records.flatMap(({ nodes }) => nodes).filter(({ report }) => report.state === 'success')).toEqual([]);
  });

  it('needs names', async () => {
    const started = await run(scriptedSite(strategy, []), 'redeploy_nodes', { site: 'dc1', nodes: [] });
    const { failure: error } = await started.ended();
    expect(causeOf(error).message).toContain("field 'nodes' must be a list of at least one node name");
  });
});

describe('test_site', () => {
  it('verifies and inspects, and changes nothing', async () => {
    const site = scriptedSite({ groups: [] }, plainNodes('n1'));
    site.overrides.inspect_nodes = async () => ({
      counts: { Deployed: 1, Ready: 1 },
      problems: [{ node: 'n2', problem: 'is Ready, not Deployed' }],
    });
    const started = await run(site, 'test_site', { site: 'dc1' });
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success' });
    expect(site.began).toEqual([]);
    const report = site.closed[0]!.report;
    expect(report.warnings).toEqual(['n2: is Ready, not Deployed']);
    expect(report.phases.map((phase) => phase.name)).toEqual(['load', 'verify_site', 'inspect_nodes']);
    await recordHistory(started.handle, 'test_site--success');
  });

  it('asks the checks of the site, and has failures when one is not well', async () => {
    const site = scriptedSite({ groups: [] }, plainNodes('n1', 'n2'), {
      checks: [
        { name: 'gateway', each: 'wave', seconds: 60 },
        { name: 'metrics', each: 'node', seconds: 60 },
        { name: 'errors', each: 'wave', seconds: 60 },
      ],
    });
    site.overrides.run_check = async ({ check, nodes }) => {
      if (check === 'gateway') return { unwell: [] };
      if (check === 'errors') throw ApplicationFailure.nonRetryable('nobody asks');
      expect(nodes).toEqual(['n1', 'n2']);
      return { unwell: [{ verdict: 'failed', text: 'connection refused', nodes: [1] }] };
    };
    const started = await run(site, 'test_site', { site: 'dc1', checks: ['gateway', 'metrics', 'errors'] });
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures' });
    const { report } = site.closed[0]!;
    expect(report.phases.at(-1)).toMatchObject({ name: 'checks', state: 'failed' });
    expect(report.checks).toEqual([
      { name: 'gateway', verdict: 'well' },
      {
        ...{ name: 'metrics', verdict: 'failed', nodes: 1, text: 'connection refused' },
        unwell: [{ node: 'n2', verdict: 'failed', text: 'connection refused' }],
      },
      { name: 'errors', verdict: 'unknown', text: 'nobody asks' },
    ]);
  });

  it('a site that cannot be verified fails with every problem', async () => {
    const site = scriptedSite({ groups: [] }, []);
    site.overrides.verify_site = async () => ({
      ok: false,
      problems: ['MAAS refused the key', 'no image for noble/amd64'],
      warnings: [],
    });
    const started = await run(site, 'test_site', { site: 'dc1' });
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('VerifySiteFailed');
    expect(causeOf(error).message).toContain('MAAS refused the key; no image for noble/amd64');
  });

  it('a paused run does not end by itself when its work has ended', async () => {
    const site = scriptedSite({ groups: [] }, []);
    const failed = { ok: false, problems: ['MAAS refused the key'], warnings: [] };
    let begin = (_fail: () => void): void => undefined;
    const underWay = new Promise<() => void>((resolve) => {
      begin = resolve;
    });
    site.overrides.verify_site = () => new Promise((resolve) => begin(() => resolve(failed)));
    const started = await run(site, 'test_site', { site: 'dc1' });
    const fail = await underWay;
    await reaches(started, ({ phase }) => phase === 'verify_site');
    await started.handle.executeUpdate('pause', { args: [{ by: 'nina' }] });
    fail();
    while ((await started.report()).phases.at(-1)?.state !== 'failed') await lookAgain();
    await started.handle.executeUpdate('resume');
    expect(causeOf((await started.ended()).failure).type).toBe('VerifySiteFailed');
    expect(site.closed[0]!.report.operator.map(({ action }) => action)).toEqual(['pause', 'resume']);
    await recordHistory(started.handle, 'test_site--paused-to-its-end');
  });

  it('a step that cannot even start ends the run with a report', async () => {
    const site = scriptedSite({ groups: [] }, []);
    site.overrides.verify_site = async () => {
      throw ApplicationFailure.nonRetryable('no MAAS here', 'MaasNotConfigured');
    };
    const started = await run(site, 'test_site', { site: 'dc1' });
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('StepFailed');
    expect(causeOf(error).message).toContain('verify_site: no MAAS here');
    expect(site.closed[0]).toMatchObject({ outcome: 'failed' });
    expect(site.closed[0]!.report.phases.at(-1)).toMatchObject({ name: 'verify_site', state: 'failed' });
  });

  it.each([
    ['cancel', 'verify_site'],
    ['cancel', 'inspect_nodes'],
    ['stop', 'inspect_nodes'],
  ] as const)('%s interrupts %s that hangs', async (action, activity) => {
    const site = scriptedSite({ groups: [] }, []);
    let entered = (): void => undefined;
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    site.overrides[activity] = () => {
      entered();
      return untilCancelled();
    };
    const started = await run(site, 'test_site', { site: 'dc1' });
    await inside;
    // The worker's reports meanwhile.
    const since = '2026-11-22T11:42:07.000Z';
    const details = async () => JSON.stringify((await started.handle.query('__temporal_workflow_metadata')) as object);
    await started.handle.signal('maas_silence', { since });
    await reaches(started, (now) => now.maas_silent_since === since);
    expect(await details()).toContain(describeSilence(since));
    await started.handle.signal('maas_silence', { since: null });
    await reaches(started, (now) => now.maas_silent_since === undefined);
    expect(await details()).not.toContain('MAAS has not answered');
    await (action === 'stop' ? started.handle.signal('stop') : started.handle.cancel());
    await started.ended();
    expect(site.closed[0]).toMatchObject({ outcome: action === 'stop' ? 'stopped' : 'cancelled' });
  });
});

describe('big sites run their calls in child workflows', () => {
  const names = Array.from({ length: 520 }, (_unused, index) => `n${index}`);
  const strategy = {
    groups: [
      group('big', names.slice(0, 515), { critical: true, success_criteria: { maximum_failed_nodes: 1 } }),
      group('small', names.slice(515), { depends_on: ['big'] }),
    ],
  };

  onServer('with the same outcome, small histories and progress on the way', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 200 } };
    site.results.set('deploy:n7', failure());
    site.hold.add('prepare:n0');
    const started = await run(site, 'deploy_site', { site: 'dc1', started_by: 'nina' });
    const first = await site.heldCall('prepare', 'n0');
    await site.count(515);
    const status = await reaches(started, (now) => now.counts.prepared > 300);
    expect(status.current).toMatchObject({ group: 'big', call: 'prepare' });
    await started.handle.signal('pause');
    await started.handle.signal('resume');
    // The child passes on the worker's reports.
    const { workflowId, firstExecutionRunId } = started.handle;
    const since = '2026-11-22T11:42:07.000Z';
    const childOfFirst = rig.client.workflow.getHandle(`${workflowId}/${firstExecutionRunId}/prepare:big:1.1`);
    await childOfFirst.signal('maas_silence', { since });
    await reaches(started, (now) => now.maas_silent_since === since);
    const { events } = await childOfFirst.fetchHistory();
    const { searchAttributes } = events![0]!.workflowExecutionStartedEventAttributes!;
    expect(Object.keys(searchAttributes!.indexedFields!).sort()).toEqual(['RunPhase', 'SiteName', 'StartedBy']);
    first.finish();
    const { result } = await started.ended();
    expect(result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 519, failed: 1 } });
    expect(new Set(site.began).size).toBe(1040);
    expect(site.began).toHaveLength(1040);
    const history = await started.handle.fetchHistory();
    expect(history.events!.length).toBeLessThan(1_000);
    const recorded = new Set(site.records.flatMap((record) => record.nodes.map(({ report }) => report.name)));
    expect(recorded.size).toBe(520);
    await recordHistory(started.handle, 'deploy_site--sliced');
  });

  it('cancel reaches the children, which abort their nodes', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.hold.add('prepare');
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    await site.count(64);
    await started.handle.cancel();
    await started.ended();
    expect(site.aborted.length).toBeGreaterThan(0);
    expect(site.closed[0]).toMatchObject({ outcome: 'cancelled' });
    expect(site.began.every((call) => call.startsWith('prepare:'))).toBe(true);
  });

  it('a child that someone ends fails its nodes, and the run continues without them', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 60 } };
    site.hold.add('deploy');
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    await site.count(515 + 60);
    const { workflowId, firstExecutionRunId } = started.handle;
    const slice = (part: number) => `${workflowId}/${firstExecutionRunId}/deploy:big:2.${part}`;
    const handleOf = (part: number) => rig.client.workflow.getHandle(slice(part));
    await handleOf(1).terminate('tests');
    await handleOf(2).cancel();
    await handleOf(3).signal('stop');
    await started.handle.signal('pause');
    await started.handle.signal('resume');
    const running = site.began.flatMap((call) => (call.startsWith('deploy:') ? [call.slice('deploy:'.length)] : []));
    const inThird = (name: string) => Number(name.slice(1)) >= 344;
    for (const node of running.filter(inThird)) (await site.heldCall('deploy', node)).finish();
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('CriticalGroupFailed');
    const recorded = new Map(site.records.flatMap(({ nodes }) => nodes.map(({ report }) => [report.name, report])));
    const reasonOf = (name: string) => recorded.get(name)?.reason;
    expect(reasonOf('n0')).toContain(`${slice(1)} was terminated`);
    expect(reasonOf('n343')).toContain(`${slice(2)} was cancelled`);
    expect(reasonOf('n514')).toContain(`${slice(3)} was stopped`);
    const good = [...recorded.values()].filter(({ state }) => state === 'success').map(({ name }) => name);
    expect(new Set(good)).toEqual(new Set(running.filter(inThird)));
    // Work that a terminated child may have left in MAAS is aborted by its parent.
    const left = running.filter((name) => !inThird(name));
    expect(left.filter((name) => !site.aborted.includes(name))).toEqual([]);
    expect(site.aborted).toEqual(expect.arrayContaining(['n0', 'n171']));
    expect(site.aborted.filter(inThird)).toEqual([]);
    await recordHistory(started.handle, 'deploy_site--slices-ended');
    await recordHistory(handleOf(2), 'run_call--cancelled');
  });

  onServer('a child that times out fails its nodes, and the run ends with a report', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.plan = { ...site.plan, pace: { ...site.plan.pace, max_parallel_nodes: 6 } };
    site.hold.add('prepare');
    const started = await startRun(hurried, site, 'deploy_site', [{ site: 'dc1' }]);
    const { failure: error } = await started.ended();
    expect(causeOf(error).type).toBe('CriticalGroupFailed');
    const { outcome, report } = site.closed[0]!;
    expect(outcome).toBe('failed');
    const reasons = report.baremetal!.nodes.flatMap(({ reason }) => reason ?? []);
    expect(reasons.filter((reason) => /\/prepare:big:1\.\d timed out$/.test(reason))).toHaveLength(reasons.length);
    expect(reasons.length).toBeGreaterThan(0);
  });

  it('a time limit holds in children too', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.plan = {
      ...site.plan,
      pace: { ...site.plan.pace, max_parallel_nodes: 600, prepare: { interval: 1, timeout: 4 } },
    };
    site.hold.add('prepare:n3');
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    const { failure: error } = await started.ended();
    // A slow machine may have more of them open by then.
    expect(causeOf(error).message).toMatch(/big \(prepare timed out after 4 s, no result from .*\bn3\b/);
    expect(site.aborted).toContain('n3');
  });

  it('the run names the machines whose work its children abort, until it is aborted', async () => {
    const site = scriptedSite(strategy, plainNodes(...names));
    site.plan = {
      ...site.plan,
      pace: { ...site.plan.pace, max_parallel_nodes: 600, deploy: { interval: 1, timeout: 4 } },
    };
    const goOn = new Map<string, () => void>();
    const allowed = new Map<string, Promise<void>>();
    for (const name of ['n3', 'n400']) {
      site.hold.add(`deploy:${name}`);
      allowed.set(name, new Promise<void>((resolve) => goOn.set(name, resolve)));
    }
    site.overrides.abort_node = async ({ node }) => {
      await allowed.get(node);
      return { found: 'aborted', message: 'aborted' };
    };
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    // The first of them, however many a slow server has not deployed by then.
    const { current } = await reaches(
      started,
      (now) => now.current?.call === 'abort' && now.current.running.includes('n3'),
    );
    expect(current).toMatchObject({ group: 'big' });
    const { baremetal } = await started.report();
    expect(baremetal!.nodes.find(({ name }) => name === 'n3')).toMatchObject({ running: 'abort' });
    goOn.get('n3')!();
    await reaches(started, (now) => now.current?.running.includes('n3') === false);
    goOn.get('n400')!();
    await started.ended();
    const [closed] = site.closed;
    expect(closed!.report.baremetal!.nodes.filter(({ running }) => running !== undefined)).toEqual([]);
  });
});

describe('retry_node', () => {
  const strategy = {
    groups: [
      group('a', ['n1', 'n2'], { critical: true, success_criteria: { percent_successful_nodes: 100 } }),
      group('after', ['n3'], { depends_on: ['a'] }),
      group('other', ['n4']),
    ],
  };
  const nodes = plainNodes('n1', 'n2', 'n3', 'n4');
  const begin = async (held: readonly string[], failing?: string) => {
    const site = scriptedSite(strategy, nodes);
    for (const call of held) site.hold.add(call);
    if (failing) site.results.set(failing, failure());
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    const retry = async (node: string, holding?: string) => {
      await reaches(started, ({ failed }) => failed.some((one) => one.node === node));
      if (failing) site.results.delete(failing);
      if (holding) site.hold.add(holding);
      return started.handle.executeUpdate('retry_node', { args: [{ node }] });
    };
    return { site, started, retry };
  };
  const calls = ({ began }: ScriptedSite, node: string) => began.filter((call) => call.endsWith(`:${node}`));

  it('starts immediately, in parallel with the call of another group; dependents of its group follow', async () => {
    const { site, started, retry } = await begin(['prepare:n4'], 'deploy:n2');
    const other = await site.heldCall('prepare', 'n4');
    await retry('n2');
    await reaches(started, ({ counts }) => counts.success === 2);
    expect(calls(site, 'n2')).toEqual(['prepare:n2', 'deploy:n2', 'prepare:n2', 'deploy:n2']);
    expect(calls(site, 'n3')).toEqual([]);
    other.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 4 } });
    expect(site.closed[0]!.report.baremetal!.nodes[1]).toMatchObject({ name: 'n2', state: 'success', attempts: 2 });
    expect(
      site.records
        .flatMap((record) => record.nodes.map(({ report }) => report))
        .filter(({ name }) => name === 'n2')
        .at(-1),
    ).toMatchObject({
      state: 'success',
    });
    await recordHistory(started.handle, 'deploy_site--node-retried-beside-another-group');
  });

  it('during a call of its own group counts for that group', async () => {
    const { site, started, retry } = await begin(['deploy:n1'], 'deploy:n2');
    const last = await site.heldCall('deploy', 'n1');
    await retry('n2', 'deploy:n2');
    const retried = await site.heldCall('deploy', 'n2');
    last.finish();
    await reaches(started, ({ counts }) => counts.success === 1);
    expect((await started.status()).groups[0]).toMatchObject({ name: 'a', state: 'prepared' });
    retried.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 4 } });
    const { calls: made, state } = site.closed[0]!.report.baremetal!.groups[0]!;
    expect({ state, made: made.map(({ call, nodes: count }) => [call, count]) }).toEqual({
      state: 'success',
      made: [
        ['prepare', 2],
        ['deploy', 2],
      ],
    });
    await recordHistory(started.handle, 'deploy_site--node-retried-in-its-group');
  });

  it('after a failed preparation, is prepared and deployed while its group is', async () => {
    const site = scriptedSite(
      { groups: [group('a', ['n1', 'n2'], { critical: true, success_criteria: { minimum_successful_nodes: 1 } })] },
      nodes,
    );
    site.results.set('prepare:n2', failure());
    site.hold.add('deploy:n1');
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    const last = await site.heldCall('deploy', 'n1');
    site.results.clear();
    site.hold.add('deploy:n2');
    await started.handle.executeUpdate('retry_node', { args: [{ node: 'n2' }] });
    const retried = await site.heldCall('deploy', 'n2');
    last.fail();
    await reaches(started, ({ counts }) => counts.failed === 1);
    expect((await started.status()).groups[0]).toMatchObject({ name: 'a', state: 'prepared' });
    retried.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success_with_failures', nodes: { success: 1 } });
  });

  it('is deployed with its group when that is still being prepared', async () => {
    const { site, started, retry } = await begin(['prepare:n1'], 'prepare:n2');
    const last = await site.heldCall('prepare', 'n1');
    await retry('n2');
    await reaches(started, ({ counts }) => counts.prepared === 1);
    expect(calls(site, 'n2')).toEqual(['prepare:n2', 'prepare:n2']);
    last.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 4 } });
    expect(calls(site, 'n2')).toEqual(['prepare:n2', 'prepare:n2', 'deploy:n2']);
  });

  it('waits while the run is paused, and for the abort of a call whose time was up', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1']), group('other', ['n2'])] }, nodes);
    site.plan = { ...site.plan, pace: { ...site.plan.pace, prepare: { interval: 1, timeout: 1 } } };
    site.hold.add('prepare:n1');
    let abort = (): void => undefined;
    const aborting = new Promise<void>((resolve) => {
      abort = resolve;
    });
    site.overrides.abort_node = async () => {
      await aborting;
      return { found: 'aborted', message: 'aborted' };
    };
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    await reaches(started, ({ counts }) => counts.failed === 1);
    await started.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] });
    await expect(started.handle.executeUpdate('retry_node', { args: [{ node: 'n1' }] })).rejects.toMatchObject({
      cause: { message: 'a retry of node n1 is already pending' },
    });
    await started.handle.executeUpdate('pause', { args: [{}] });
    site.hold.clear();
    abort();
    await reaches(started, ({ paused, current }) => paused !== null && current === null);
    expect(calls(site, 'n1')).toEqual(['prepare:n1']);
    await started.handle.executeUpdate('resume', { args: [{}] });
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 2 } });
    expect(calls(site, 'n1')).toEqual(['prepare:n1', 'prepare:n1', 'deploy:n1']);
  });

  it('of a paused run starts when that is resumed, and its group does not end before', async () => {
    const { site, started } = await begin(['deploy:n1', 'deploy:n2']);
    const [one, two] = [await site.heldCall('deploy', 'n1'), await site.heldCall('deploy', 'n2')];
    await started.handle.executeUpdate('pause', { args: [{}] });
    two.fail();
    one.finish();
    await reaches(started, ({ current, counts }) => current === null && counts.success === 1);
    await started.handle.executeUpdate('retry_node', { args: [{ node: 'n2' }] });
    await started.handle.executeUpdate('resume', { args: [{}] });
    const again = await site.heldCall('deploy', 'n2');
    expect((await started.status()).counts.failed).toBe(0);
    // Pages show nodes in their recorded state.
    const recorded = () =>
      site.records
        .toSorted((one, other) => one.sequence - other.sequence)
        .flatMap((record) => record.nodes.map(({ report }) => report))
        .filter(({ name }) => name === 'n2');
    while (recorded().length < 4) await lookAgain();
    expect(recorded().map(({ state }) => state)).toEqual(['prepared', 'failed', 'waiting', 'prepared']);
    again.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 4 } });
  });

  it('is aborted when the run is cancelled, and finishes when it is stopped', async () => {
    for (const how of ['cancel', 'stop'] as const) {
      const { site, started, retry } = await begin(['prepare:n4'], 'deploy:n2');
      const other = await site.heldCall('prepare', 'n4');
      await retry('n2', 'deploy:n2');
      const retried = await site.heldCall('deploy', 'n2');
      if (how === 'cancel') await started.handle.cancel();
      else await started.handle.signal('stop', {});
      if (how === 'stop') for (const call of [other, retried]) call.finish();
      await started.ended();
      const { outcome, report } = site.closed[0]!;
      const state = report.baremetal!.nodes[1]!;
      if (how === 'cancel') {
        expect({ outcome, aborted: [...site.aborted].sort() }).toEqual({ outcome: 'cancelled', aborted: ['n2', 'n4'] });
        expect(state).toMatchObject({ state: 'failed', failure_kind: 'cancelled', attempts: 2 });
      } else
        expect({ outcome, state: state.state, aborted: site.aborted }).toEqual({
          outcome: 'stopped',
          state: 'success',
          aborted: [],
        });
    }
  });

  it('of a slice of many nodes starts before the slice has ended', async () => {
    const names = Array.from({ length: 401 }, (_unused, n) => `m${n}`);
    const site = scriptedSite({ groups: [group('all', names)] }, plainNodes(...names));
    site.results.set('prepare:m7', failure());
    site.hold.add('prepare:m400');
    const started = await run(site, 'deploy_site', { site: 'dc1' });
    const last = await site.heldCall('prepare', 'm400');
    await reaches(started, ({ counts }) => counts.failed === 1);
    site.results.delete('prepare:m7');
    await started.handle.executeUpdate('retry_node', { args: [{ node: 'm7' }] });
    await reaches(started, ({ counts }) => counts.failed === 0);
    last.finish();
    expect((await started.ended()).result).toMatchObject({ outcome: 'success', nodes: { success: 401 } });
    expect(calls(site, 'm7')).toEqual(['prepare:m7', 'prepare:m7', 'deploy:m7']);
  });
});

it('many machines are released in slices, too', async () => {
  const names = Array.from({ length: 401 }, (_unused, n) => `m${n}`);
  const site = scriptedSite({ groups: [group('target-group', names)] }, plainNodes(...names));
  site.results.set('release:m7', failure('not-ours', 'belongs to somebody else'));
  const started = await run(site, 'redeploy_nodes', { site: 'dc1', nodes: names });
  await started.ended();
  expect(site.closed[0]!.report.released!.filter(({ state }) => state === 'success')).toHaveLength(400);
  const { events } = await started.handle.fetchHistory();
  expect(events!.filter((event) => event.childWorkflowExecutionCompletedEventAttributes)).toHaveLength(2);
  expect(events!.length).toBeLessThan(200);
});
