import { Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parseStrategyData, parseYaml } from '../../src/documents/index.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { sdkLogger } from '../../worker/parts/runtime.ts';
import { failure, group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { spec } from '../unit/specification/spec.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

/** What operators read of a run in the log of their worker, whose level is `info`: here `info` of the SDK must come through. */
function workerLog() {
  const messages: string[] = [];
  const ours = sdkLogger(
    createLogger({ level: 'info', format: 'json' }, 'worker', (line) => void messages.push(JSON.parse(line).msg)),
  );
  const { logger } = Runtime.instance();
  const spies = [
    vi.spyOn(logger, 'log').mockImplementation((level, message, meta) => ours.log(level, message, meta)),
    vi.spyOn(logger, 'info').mockImplementation((message, meta) => ours.info(message, meta)),
  ];
  return {
    messages,
    end: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

/* docs/explain/design.md#spec-5, "Process" 3. */
it('the worker logs the success of groups and the state of each node when the bare-metal step ends, before software', async () => {
  const { messages, end } = workerLog();
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
  end();
  const said = messages
    .filter((text) => text.includes('bare metal'))
    .map((text) => text.replace('dc1, bare metal: ', ''));
  expect(said).toEqual([
    'group control (critical): success, 1 of 1 nodes succeeded',
    expect.stringMatching(/^group compute: failed, 1 of 2 nodes succeeded: after deploy: wanted 100 % .*got 50 %/),
    expect.stringMatching(/^group late: failed, 0 of 1 nodes succeeded: .*compute/),
    'nodes not_reached: n4',
    'nodes success: n1, n2',
    'nodes failed: n3',
  ]);
});

it('the strategy of the specification, with a failure in deploying compute-nodes-2, is logged group by group', async () => {
  const { messages, end } = workerLog();
  const read = parseStrategyData(
    (parseYaml(spec('deployment-strategy.yaml')).documents[0]!.value as { data: unknown }).data,
  );
  if (!read.ok) throw new Error(JSON.stringify(read));
  const at = { rack: 'rack01', labels: {}, tags: [] as readonly string[] };
  const site = scriptedSite(read.strategy, [
    { ...at, name: 'ntp01', rack: 'rack04' },
    ...[1, 2, 3].map((one) => ({ ...at, name: `ctl0${one}`, rack: 'rack03', tags: ['control'] })),
    { ...at, name: 'cmp11', tags: ['compute'] },
    { ...at, name: 'cmp21', rack: 'rack02', tags: ['compute'] },
    { ...at, name: 'mon01', tags: ['monitoring'] },
  ]);
  site.results.set('deploy:cmp21', failure());
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  const { failure: failed } = await run.ended();
  end();
  // "Finish (success with some nodes/groups failed)"
  expect(failed).toBeNull();
  const shown = [...spec('compute-nodes-2-fails.txt').matchAll(/^\| deploy (\S+) +<(\w+)>$/gm)];
  const said = messages.filter((text) => text.includes('bare metal'));
  expect(shown).toHaveLength(5);
  for (const [, group, state] of shown) {
    const word = state === 'FAILED' ? 'failed' : 'success';
    expect(said.filter((text) => new RegExp(`group ${group}(?: \\(critical\\))?: ${word}`).test(text))).toHaveLength(1);
  }
  expect(said.find((text) => text.includes('nodes failed'))).toContain('cmp21');
});
