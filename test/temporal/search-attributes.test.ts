import { afterAll, beforeAll, expect, it } from 'vitest';
import { keepSearchAttributes } from '../../src/platform/temporal/search-attributes.ts';
import { lookUntil } from '../rig/look-again.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { causeOf, startRun } from '../rig/site-workflow.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { temporalCli } from '../rig/temporal-cli.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
});
afterAll(() => rig.close());

const strategy = { groups: [group('first', ['n1'], { critical: true }), group('second', ['n2'])] };

async function deploying() {
  const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
  site.hold.add('deploy:n1');
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  const call = await site.heldCall('deploy', 'n1');
  return { site, run, call };
}

const found = async (query: string): Promise<string[]> => {
  const listed = JSON.parse(await temporalCli(rig, 'workflow', 'list', '--query', query, '-o', 'json')) as {
    execution: { workflowId: string };
  }[];
  return listed.map(({ execution }) => execution.workflowId);
};

it('a paused run is found in Temporal by its phase, until it is resumed', async () => {
  const { run, call } = await deploying();
  const { workflowId } = run.handle;
  await temporalCli(rig, 'workflow', 'signal', '--workflow-id', workflowId, '--name', 'pause');
  await lookUntil(
    () => found("RunPhase='paused'"),
    (ids) => ids.includes(workflowId),
  );
  await temporalCli(rig, 'workflow', 'signal', '--workflow-id', workflowId, '--name', 'resume');
  await lookUntil(
    () => found("RunPhase='baremetal'"),
    (ids) => ids.includes(workflowId),
  );
  call.finish();
  expect((await run.ended()).failure).toBeNull();
});

it('a search attribute that is removed during a run does not stop it', async () => {
  const warnings: object[] = [];
  const kept = await keepSearchAttributes(
    rig.connection,
    rig.namespace,
    { warn: (fields: object) => warnings.push(fields) } as never,
    500,
  );
  const { run, call } = await deploying();
  await temporalCli(
    rig,
    'operator',
    'search-attribute',
    'remove',
    '--name',
    'RunPhase',
    '--name',
    'FailedNodes',
    '--yes',
  );
  call.finish();
  expect((await run.ended()).failure).toBeNull();
  kept.stop();
  expect(warnings).toContainEqual({ added: expect.arrayContaining(['RunPhase']) });
});

it('a name that no site can have is refused, however the run is started', async () => {
  const site = scriptedSite(strategy, plainNodes('n1', 'n2'));
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'x'.repeat(1000) }]);
  const { failure } = await run.ended();
  expect(causeOf(failure)).toMatchObject({
    type: 'InvalidInput',
    message: expect.stringContaining('at most 63 characters'),
  });
  expect(site.opened).toEqual([]);
});
