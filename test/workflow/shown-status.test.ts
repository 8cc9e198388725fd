import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ShownRun } from '../../activities/contract.ts';
import { type RunStatuses, statusSinks } from '../../activities/index.ts';
import { lookUntil } from '../rig/look-again.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/** What runs show to a worker, in place of the store. */
function observed() {
  const shown: { run: ShownRun & { readonly events: number }; urgent: boolean; written: boolean }[] = [];
  const statuses: Pick<RunStatuses, 'show'> = {
    async show(run, urgent) {
      const entry = { run, urgent, written: false };
      shown.push(entry);
      await new Promise((resolve) => setTimeout(resolve, 50));
      entry.written = true;
    },
  };
  return { shown, sinks: statusSinks(statuses) };
}

const waiting = () => scriptedSite({ groups: [group('first', ['n1'])] }, plainNodes('n1'));

it('an operator who gets an answer finds it in the store: the run waits for the write, and not for other news', async () => {
  const { shown, sinks } = observed();
  const site = waiting();
  site.hold.add('deploy');
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }], { sinks });
  const call = await site.heldCall('deploy', 'n1');
  await run.handle.executeUpdate('pause', { args: [{ by: 'nina' }] });
  const paused = shown.find(({ run: { status } }) => status.paused !== null);
  expect(paused).toMatchObject({ urgent: true, written: true, run: { subject: { site: 'dc1' }, kind: 'deploy_site' } });
  expect(paused!.run.events).toBeGreaterThan(10);
  const before = shown.length;
  await run.handle.query('status');
  await run.handle.query('tree');
  expect(shown).toHaveLength(before);
  await run.handle.executeUpdate('resume', { args: [{}] });
  call.finish();
  await run.ended();
  expect(shown.some(({ urgent }) => !urgent)).toBe(true);
  const events = (await run.handle.fetchHistory()).events ?? [];
  expect(events.filter(({ markerRecordedEventAttributes }) => markerRecordedEventAttributes)).toEqual([]);
});

it('runs of one worker show themselves', async () => {
  const { shown, sinks } = observed();
  const site = waiting();
  const runs = [];
  for (const name of ['dc1', 'dc2', 'dc3']) {
    const options = { sinks, taskQueue: rig.workflowId(name) };
    runs.push(await startRun(rig, site, 'deploy_site', [{ site: name }], options));
  }
  await Promise.all(runs.map((run) => run.ended()));
  for (const { run } of shown) expect(run.status).toMatchObject(run.subject);
  const last = new Map(shown.map(({ run }) => [JSON.stringify(run.subject), run.status.outcome]));
  expect([...last.values()]).toEqual(['success', 'success', 'success']);
});

it('what was lost with a worker is shown to the one that reads the run again, when the run is asked', async () => {
  const site = waiting();
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1', hold_before: ['*'] }]);
  await lookUntil(run.status, ({ awaiting_approval }) => awaiting_approval !== undefined);
  await run.worker.stop();
  const { shown, sinks } = observed();
  const next = await rig.runWorker({ taskQueue: run.worker.taskQueue, activities: site.activities, sinks });
  expect(shown).toEqual([]);
  await run.status();
  expect(shown.at(-1)?.run.status.awaiting_approval).toHaveLength(1);
  await run.handle.terminate();
  await next.stop();
});
