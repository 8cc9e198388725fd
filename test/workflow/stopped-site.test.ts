import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SiteActivities } from '../../activities/contract.ts';
import { recordHistory } from '../rig/histories.ts';
import { group, plainNodes, scriptedSite, untilCancelled } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { STOPPED_WITHIN_MS, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const NOON = '2026-11-28T12:00:00.000Z';

interface Wait {
  /** The activity that has no end. */
  readonly on: keyof SiteActivities;
  readonly type?: string;
  readonly input?: object;
  /** MAAS does not answer, which a stop asks. */
  readonly isSilent?: true;
  /** Deployments of n0 have no end, and this limit in seconds. */
  readonly limit?: number;
}

/** What a run of a site waits for, apart from its operators and its software (stopped-graph.test.ts). */
const WAITS: Readonly<Record<string, Wait>> = {
  'the documents of a branch': { on: 'fetch_source', input: { fetch: true } },
  'its documents': { on: 'load_plan' },
  'the check of its site': { on: 'verify_site' },
  'the preparation of its site': { on: 'prepare_site' },
  'the state of its machines': { on: 'inspect_nodes', type: 'test_site' },
  'a look at a machine whose time was up': { on: 'look_at_node', limit: 1 },
  'MAAS, over a preparation': { on: 'prepare_node', isSilent: true },
  'MAAS, over a deployment': { on: 'deploy_node', isSilent: true },
  'MAAS, over a release': { on: 'release_node', isSilent: true, type: 'redeploy_nodes' },
  'MAAS, over an abort': { on: 'abort_node', isSilent: true, limit: 1 },
};

/** More of them than one workflow calls. */
const MANY = Array.from({ length: 401 }, (_unused, index) => `n${index}`);
const SHAPES = { 'in one workflow': MANY.slice(0, 2), 'in slices': MANY } as const;

const CALLS: Readonly<Record<string, string>> = {
  prepare_node: 'prepare',
  deploy_node: 'deploy',
  release_node: 'release',
};

/** @returns `waits`: resolves when the run waits for the activity */
function waitingSite(names: readonly string[], { on, limit, isSilent }: Wait) {
  const site = scriptedSite({ groups: [group('a', names)] }, plainNodes(...names));
  const { pace } = site.plan;
  if (limit !== undefined) {
    site.plan = { ...site.plan, pace: { ...pace, deploy: { interval: 1, timeout: limit } } };
    site.hold.add('deploy:n0');
  }
  if (isSilent) site.overrides.ask_maas = async () => ({ since: NOON });
  const call = CALLS[on];
  if (call !== undefined) {
    site.hold.add(`${call}:n0`);
    return { site, waits: site.heldCall(call, 'n0') };
  }
  const waits = new Promise<void>((resolve) => {
    site.overrides[on] = () => {
      resolve();
      return untilCancelled();
    };
  });
  return { site, waits };
}

describe.each(Object.entries(WAITS))('a run that waits for %s', (name, wait) => {
  const shapes = wait.isSilent ? (['in one workflow', 'in slices'] as const) : (['in one workflow'] as const);

  it.each(shapes)('ends within ten seconds of a stop, %s', async (shape) => {
    const names = SHAPES[shape];
    const { site, waits } = waitingSite(names, wait);
    const type = wait.type ?? 'deploy_site';
    const named = type === 'redeploy_nodes' ? { nodes: names } : {};
    const run = await startRun(rig, site, type, [{ site: 'dc1', ...wait.input, ...named }]);
    await waits;
    const asked = Date.now();
    await run.handle.signal('stop', { by: 'ann' });
    await run.ended();
    expect(Date.now() - asked).toBeLessThan(STOPPED_WITHIN_MS);
    const [closed] = site.closed;
    expect(closed).toMatchObject({ outcome: 'stopped' });
    if (!wait.isSilent) return;
    const { baremetal, released } = closed!.report;
    const [first] = (baremetal?.nodes ?? released ?? []).filter((node) => node.name === 'n0');
    expect(JSON.stringify(first)).toContain('12:00 UTC');
    if (name.endsWith('an abort')) await recordHistory(run.handle, `deploy_site--stopped-during-an-abort`);
  });
});
