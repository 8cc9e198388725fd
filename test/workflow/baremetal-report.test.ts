import { Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { failure, group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/* docs/design.md#spec-5, "Process" 3. */
it('the worker logs the success of groups and the state of each node when the bare-metal step ends, before software', async () => {
  const lines: string[] = [];
  const { logger } = Runtime.instance();
  const log = vi.spyOn(logger, 'log').mockImplementation((_level, message) => void lines.push(message));
  const info = vi.spyOn(logger, 'info').mockImplementation((message) => void lines.push(message));
  const all = { success_criteria: { percent_successful_nodes: 100 } };
  const site = scriptedSite(
    {
      groups: [
        group('control', ['n1'], { critical: true }),
        group('compute', ['n2', 'n3'], all),
        group('late', ['n4'], { depends_on: ['compute'] }),
      ],
    },
    plainNodes('n1', 'n2', 'n3', 'n4'),
  );
  site.results.set('deploy:n3', failure());
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  await run.ended();
  log.mockRestore();
  info.mockRestore();
  const said = lines.filter((text) => text.includes('bare metal')).map((text) => text.replace('dc1, bare metal: ', ''));
  expect(said).toEqual([
    'group control (critical): success, 1 of 1 nodes succeeded',
    expect.stringMatching(/^group compute: failure, 1 of 2 nodes succeeded: after deploy: wanted 100 % .*got 50 %/),
    expect.stringMatching(/^group late: failure, 0 of 1 nodes succeeded: .*compute/),
    'nodes not_started: n4',
    'nodes success: n1, n2',
    'nodes failure: n3',
  ]);
});
