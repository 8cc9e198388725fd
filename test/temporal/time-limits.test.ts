import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { asOne } from '../../worker/parts/queue-workers.ts';
import { group, openedSite, plainNodes, type ScriptedSite, scriptedSite } from '../rig/scripted-site.ts';
import { NOT_SHOWN, withSideQueues } from '../rig/temporal.ts';
import { type TimeSkipping, timeSkipping, whyNoTimeSkipping } from '../rig/time-skipping.ts';
import { bundleTestWorkflows } from '../rig/workflow-bundle.ts';

/**
 * The real limits of real configurations, hours long, on a server that skips time. It speaks an old API
 * level (no updates, no search attributes), so only time is tested here.
 */
if (whyNoTimeSkipping !== undefined) console.warn(`skipped: hours-long time limits: ${whyNoTimeSkipping}`);

describe.skipIf(whyNoTimeSkipping !== undefined)('hours-long time limits', () => {
  let skipping: TimeSkipping;
  let env: TestWorkflowEnvironment;
  let runs = 0;
  beforeAll(async () => {
    skipping = await timeSkipping();
    env = skipping.env;
  });
  afterAll(() => skipping?.close());

  it('a workflow that sleeps 51 hours ends without anyone waiting for them', async () => {
    const { codePath } = await bundleTestWorkflows('test/rig/workflows/sleeper.ts');
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: 'sleepers',
      workflowBundle: { codePath },
    });
    const before = await env.currentTimeMs();
    const result = await worker.runUntil(
      env.client.workflow.execute('sleeper', { taskQueue: 'sleepers', workflowId: 'sleeper', args: [51] }),
    );
    expect(result).toBe('slept 51 h');
    expect((await env.currentTimeMs()) - before).toBeGreaterThanOrEqual(51 * 60 * 60 * 1000);
  });

  async function run(site: ScriptedSite, meanwhile: (handle: Awaited<ReturnType<typeof start>>) => Promise<void>) {
    // A leap of the clock must not look like a dead worker.
    site.plan = { ...site.plan, pace: { ...site.plan.pace, heartbeat_seconds: 100_000 } };
    site.overrides.open_run = async () => openedSite();
    const taskQueue = `limits-${(runs += 1)}`;
    const queues = withSideQueues({
      taskQueue,
      maxHeartbeatThrottleInterval: 100,
      activities: site.activities,
      sinks: NOT_SHOWN,
      workflowBundle: { codePath: inject('workflowBundlePath') },
    });
    const connection = env.nativeConnection;
    const workers = asOne(await Promise.all(queues.map((queue) => Worker.create({ ...queue, connection }))));
    const running = workers.run();
    try {
      const handle = await start(taskQueue);
      await meanwhile(handle);
      return await handle.result();
    } finally {
      workers.shutdown();
      await running;
    }
  }
  const start = (taskQueue: string) =>
    env.client.workflow.start('deploy_site', {
      taskQueue,
      workflowId: taskQueue,
      args: [{ site: 'dc1' }],
    });

  const strategy = { groups: [group('a', ['n1', 'n2']), group('b', ['n3'])] };

  /** MAAS is unreachable for one node's deploy until the test brings it back. A call that hangs would hold the server's clock. */
  const away = (site: ScriptedSite, node: string) => {
    const state = { back: false, tries: 0 };
    site.overrides.deploy_node = async (request) => {
      if (request.node !== node || state.back) return { ok: true };
      state.tries += 1;
      throw new Error('MAAS is away');
    };
    return state;
  };

  it('an hour of deploying is an hour: not a minute less, and no more', async () => {
    const site = scriptedSite(strategy, plainNodes('n1', 'n2', 'n3'));
    const maas = away(site, 'n1');
    const result = await run(site, async () => {
      await env.sleep('59 minutes');
      expect(site.aborted).toEqual([]);
      expect(maas.tries).toBeGreaterThan(100);
      await env.sleep('2 minutes');
    });
    expect(result).toMatchObject({
      outcome: 'success_with_failures',
      groups: [
        { name: 'a', state: 'failed', reason: 'deploy timed out after 3600 s, no result from n1' },
        { name: 'b', state: 'success' },
      ],
    });
    expect(site.aborted).toEqual(['n1']);
  });

  it('a pause longer than the limit costs a call none of its time', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    const maas = away(site, 'n1');
    const result = await run(site, async (handle) => {
      await env.sleep('30 minutes');
      await handle.signal('pause');
      await env.sleep('70 minutes');
      await handle.signal('resume');
      await env.sleep('29 minutes');
      expect(site.aborted).toEqual([]);
      maas.back = true;
    });
    expect(result).toMatchObject({ outcome: 'success' });
  });

  it('a node of a dead worker is taken over by the next worker, hours later', async () => {
    const site = scriptedSite({ groups: [group('a', ['n1'])] }, plainNodes('n1'));
    let tries = 0;
    site.overrides.prepare_node = async () => {
      tries += 1;
      if (tries < 8) throw new Error('MAAS is away');
      return { ok: true };
    };
    const result = await run(site, async () => undefined);
    expect(result).toMatchObject({ outcome: 'success' });
    expect(tries).toBe(8);
  });
});
