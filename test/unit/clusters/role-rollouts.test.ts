import { describe, expect, it } from 'vitest';
import { documentsForRollouts } from '../../../src/clusters/newest-documents.ts';
import { planCluster } from '../../../src/clusters/plan-cluster.ts';
import { plannerHere } from '../../../src/clusters/planning/index.ts';
import type { OwnRollouts } from '../../../src/core/graph-run/input.ts';
import type { Fields } from '../../../src/graph/index.ts';
import { layer, node, sixNodes } from './six-nodes.ts';

const shell = (id: string, more: Fields = {}): Fields => ({
  ...{ id, type: 'shell', version: '2.1.0', roles: ['compute'], parameters: { cmd: 'true' } },
  ...more,
});

/** Four nodes of the role `compute` in two racks, and one of another role. */
const nodes = [
  ...[1, 2, 3, 4].map((id) => node(id, ['compute'], { name: `n${id}`, labels: { rack: `r${id % 2}` } })),
  node(5, ['ceph']),
];

// biome-ignore lint/suspicious/noThenProperty: the word of the document
const ALL_THEN = { then: 'all' } as const;

function sourcesWith(rollout: unknown, own?: unknown) {
  const sources = sixNodes({
    deploymentInfo: { common: {}, nodes: {} },
    ...(own === undefined ? {} : { roles: { compute: { name: 'Compute', rollout: own } } }),
  });
  const roles = { ...sources.release.roles, compute: { name: 'Compute', rollout }, ceph: { name: 'Ceph' } };
  return { ...sources, release: { ...sources.release, roles }, nodes };
}

const planned = (
  sources: ReturnType<typeof sourcesWith>,
  tasks: readonly Fields[] = [shell('get')],
  context: Parameters<typeof planCluster>[3] = {},
) => planCluster(sources, [layer('release', tasks)], { type: 'default' }, context);

const wavesIn = (sources: ReturnType<typeof sourcesWith>, context?: Parameters<typeof planCluster>[3]) => {
  const plan = planned(sources, undefined, context);
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
  const { graph } = plan;
  return graph!.rollouts?.map(({ name, waves }) => [name, waves.map((wave) => wave.map((at) => graph!.nodes[at]))]);
};

describe('the rollout of a role', () => {
  it('has the nodes of the role in waves, in its order', () => {
    expect(wavesIn(sourcesWith({ first: 1 }))).toEqual([['compute', [['1'], ['2', '3'], ['4']]]]);
    expect(wavesIn(sourcesWith({ first: 2, ...ALL_THEN, order: ['rack', 'name'] }))).toEqual([
      [
        'compute',
        [
          ['2', '4'],
          ['1', '3'],
        ],
      ],
    ]);
    expect(wavesIn(sourcesWith(undefined))).toBeUndefined();
  });

  it('takes racks from the documents of the site before labels of nodes', () => {
    const racks = { n1: 'r1', n2: 'r1', n3: 'r2' };
    expect(wavesIn(sourcesWith({ first: 2, ...ALL_THEN, order: ['spread', 'name'] }), { racks })).toEqual([
      [
        'compute',
        [
          ['4', '1'],
          ['3', '2'],
        ],
      ],
    ]);
  });

  it('is that of the cluster where it has a copy of the role, also none', () => {
    expect(wavesIn(sourcesWith({ first: 1 }, { first: 3 }))).toEqual([['compute', [['1', '2', '3'], ['4']]]]);
    expect(wavesIn(sourcesWith({ first: 1 }, null))).toBeUndefined();
  });

  it('is what the run was asked for, also none', async () => {
    const waves = (rollouts: OwnRollouts) => {
      const request = { type: 'default', rollouts };
      const plan = planCluster(sourcesWith({ first: 1 }, { first: 3 }), [layer('release', [shell('get')])], request);
      return plan.ok ? plan.graph!.rollouts?.map((one) => one.waves.length) : plan.problems.map(({ at }) => at);
    };
    expect(waves({})).toEqual([2]);
    expect(waves({ compute: { first: 1, ...ALL_THEN } })).toEqual([2]);
    expect(waves({ compute: null })).toBeUndefined();
    expect(waves({ compute: null, ceph: { first: 1 } })).toBeUndefined();
    expect(waves({ compute: { first: 1, soak: 'long' } })).toEqual([['rollouts', 'compute']]);
  });

  it('is refused where it is no rollout, at its place', () =>
    expect(planned(sourcesWith({ first: 0, soak: 'long' }))).toMatchObject({
      ok: false,
      problems: [
        { code: 'rollout.invalid', at: ['roles', 'compute', 'rollout'] },
        { code: 'rollout.invalid', at: ['roles', 'compute', 'rollout'] },
      ],
    }));

  it('has the checks of the site of its cluster, whoever asks', () => {
    const known = [
      { name: 'metrics', each: 'node', seconds: 30 },
      { name: 'service', each: 'node', seconds: 30, on_nodes: 'together' },
    ] as const;
    const withChecks = (...checks: readonly string[]) => sourcesWith({ first: 1, checks });
    const plan = planned(withChecks('metrics', 'service'), undefined, { checks: known });
    expect(plan).toMatchObject({ ok: true, graph: { rollouts: [{ policy: { checks: ['metrics', 'service'] } }] } });
    expect(planned(withChecks('metrik', 'service'), undefined, { checks: known })).toMatchObject({
      ok: false,
      problems: [{ code: 'rollout.unknown-check', at: ['roles', 'compute', 'rollout', 'checks', 0] }],
    });
    expect(planned(withChecks('metrics'))).toMatchObject({ ok: false, problems: [{ code: 'rollout.no-checks' }] });
  });

  it('has the checks of packages and of the site, which replaces theirs', async () => {
    const sources = sourcesWith({ first: 1, checks: ['serves'] });
    const check = (name: string, kind: object) => ({
      ...{ schema: 'sitewright/Check/v1', metadata: { name }, data: kind },
    });
    const own = { command: { cmd: 'true' } };
    const withPackages = {
      ...sources,
      cluster: { ...sources.cluster, site: 'dc1' },
      release: { ...sources.release, checks: [check('serves', own), check('up', own)] },
    };
    const tcp = { kind: 'tcp', host: 'gw', port: 1 } as const;
    const ofSite = [{ name: 'up', probe: tcp, within: 0, every: 5, failures: 2, timeout: 10 }];
    const load = async () => ({ record: { number: 3 }, site: { nodes: [], checks: ofSite } }) as never;
    const { checks } = await documentsForRollouts(load, withPackages);
    expect(checks).toMatchObject({
      ...{ site: 'dc1', revision: 3 },
      checks: [
        { name: 'serves', on_nodes: 'together' },
        { name: 'up', each: 'wave' },
      ],
    });
  });

  it('is refused where an earlier wave needs a later one, with both tasks', () => {
    const use = shell('use', { cross_depends: [{ name: 'get', role: ['compute'] }] });
    const plan = planned(sourcesWith({ first: 1 }), [shell('get'), use]);
    expect(plan).toMatchObject({ ok: false, problems: [{ code: 'rollout.later-wave-needed' }] });
    expect(plan.problems[0]!.message).toMatch(/'use@n\d'.*'get@n\d'/);
  });

  it('is refused where the graph has too many tasks for one workflow, with what to do', async () => {
    const tasks = Array.from({ length: 10 }, (_, at) => shell(`task-${at}`));
    const work = { sources: sourcesWith({ first: 1 }), layers: [layer('release', tasks)] };
    const request = { type: 'default' };
    const plan = (capacity: number) =>
      plannerHere().plan('run', { ...work, request, surroundings: {}, capacity } as never);
    expect(await plan(1_000)).toMatchObject({ ok: true });
    expect(await plan(30)).toMatchObject({
      ok: false,
      problems: [{ code: 'rollout.graph-too-large', hint: expect.stringContaining('sitewright graph execute') }],
    });
  });

  it('is shown with its waves before anything runs', async () => {
    const work = { sources: sourcesWith({ first: 1 }), layers: [layer('release', [shell('get')])] };
    const answer = await plannerHere().plan('explanation', { ...work, request: { type: 'default' }, surroundings: {} });
    expect(answer).toMatchObject({ value: { rollouts: [{ role: 'compute', waves: [['1'], ['2', '3'], ['4']] }] } });
  });
});
