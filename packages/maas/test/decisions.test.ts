import { describe, expect, it } from 'vitest';
import { readLayoutScenario } from '../../maas-simulator/test/layout-recording.ts';
import { decideAbort } from '../src/abort-machine.ts';
import { type DeployClaim, decideDeploy } from '../src/deploy-machine.ts';
import { deploymentFate } from '../src/deployment-fate.ts';
import { type Machine, parseMachine } from '../src/machine.ts';
import { noProgress, type Progress, type Step } from '../src/operation.ts';
import { decidePrepare } from '../src/prepare-machine.ts';
import { decideRelease } from '../src/release-machine.ts';
import type { UnmarkedUse } from '../src/unmarked-machine.ts';
import { FaultyMaas } from './rig/faulty-maas.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { maasProcess } from './rig/maas-process.ts';

const claim = { me: 'admin', site: 'dc1', run: 'r7' };
const mark = (site: string, run: string) => ({ sitewright_site: site, sitewright_node: 'n1', sitewright_run: run });
const holders = {
  free: { owner: null },
  us: { owner: 'admin' },
  ours: { owner: 'admin', owner_data: mark('dc1', 'r7') },
  'older run': { owner: 'admin', owner_data: mark('dc1', 'r6') },
  'other site': { owner: 'admin', owner_data: mark('dc2', 'r1') },
  bob: { owner: 'bob' },
  'bob, with our marker': { owner: 'bob', owner_data: mark('dc1', 'r7') },
};
type Holder = keyof typeof holders;

function machine(status: number, holder: Holder, more: Record<string, unknown> = {}): Machine {
  const parsed = parseMachine({
    system_id: 'abc123',
    hostname: 'n1',
    status,
    osystem: '',
    distro_series: '',
    ...holders[holder],
    ...more,
  });
  if (!parsed) throw new Error('not a machine');
  return parsed;
}

const progress = (more: { [K in keyof Progress]?: Progress[K] } = {}): Progress => ({ ...noProgress, ...more });
const said = (step: Step): string => {
  if (step.do === 'act') return step.action;
  if (step.do === 'fail') return `fail ${step.failure.kind}`;
  if (step.do === 'done') return ['done', ...(step.warnings ?? []).map((w) => w.code)].join(' ');
  return step.do;
};

/** What MAAS says of who uses an unmarked machine. */
const uses = {
  someone: { isOurs: false, isAllocated: true, signs: ['owner data juju-model-uuid=7'] },
  nobody: { isOurs: false, isAllocated: false, signs: [] },
  ours: { isOurs: true, isAllocated: true, signs: [] },
} satisfies Record<string, UnmarkedUse>;

const jammy = { osystem: 'ubuntu', distro_series: 'jammy' };

it('no path leads to a deployment but over the marker of the site and of this request', () => {
  const subsets = <T>(...of: readonly T[]): ReadonlySet<T>[] =>
    of.reduce<Set<T>[]>((sets, one) => sets.flatMap((set) => [set, new Set([...set, one])]), [new Set()]);
  let deployments = 0;
  const look = (seen: Machine, reached: DeployClaim['reached'], now: Progress, adopts: boolean): void => {
    const of = { ...claim, adopts, use: uses.ours, ...(reached && { reached }) };
    const step = decideDeploy(seen, of, { series: 'jammy' }, now);
    if (step.do !== 'act' || step.action !== 'deploy') return;
    deployments += 1;
    expect(seen.annotations).toEqual(mark('dc1', 'r7'));
    expect(seen.owner).toBe('admin');
  };
  const flags = [false, true];
  for (const status of Array.from({ length: 25 }, (_unused, code) => code))
    for (const holder of Object.keys(holders) as Holder[]) {
      const seen = machine(status, holder);
      for (const reached of [undefined, 'allocated', 'deployed', 'aborted'] as const)
        for (const acknowledged of subsets('allocate' as const, 'annotate' as const))
          for (const givenUp of subsets('allocate' as const, 'annotate' as const))
            for (const sent of subsets('deploy' as const, 'release' as const))
              for (const wasHeld of flags)
                for (const adopts of flags)
                  look(seen, reached, progress({ acknowledged, givenUp, sent, wasHeld, graceOver: true }), adopts);
    }
  expect(deployments).toBeGreaterThan(0);
});

describe('deploy', () => {
  const cases: [
    number,
    Holder,
    string,
    {
      progress?: Progress;
      machine?: Record<string, unknown>;
      series?: string;
      reached?: DeployClaim['reached'];
      use?: UnmarkedUse;
      adopts?: true;
    }?,
  ][] = [
    [4, 'free', 'allocate'],
    [4, 'us', 'annotate'],
    [4, 'ours', 'deploy'],
    [4, 'bob', 'fail other-owner'],
    [4, 'other site', 'fail other-site'],
    [10, 'us', 'wait-for-marker'],
    [10, 'us', 'annotate', { progress: progress({ acknowledged: new Set(['allocate']) }) }],
    [10, 'us', 'find-user', { progress: progress({ graceOver: true }) }],
    [10, 'us', 'annotate', { progress: progress({ graceOver: true }), use: uses.ours }],
    [10, 'us', 'fail not-marked', { progress: progress({ graceOver: true }), use: uses.someone }],
    [10, 'us', 'fail not-marked', { progress: progress({ graceOver: true }), use: uses.nobody }],
    [10, 'us', 'annotate', { adopts: true }],
    [10, 'free', 'fail other-owner'],
    [10, 'ours', 'deploy'],
    [10, 'older run', 'annotate'],
    [10, 'other site', 'fail other-site'],
    [10, 'bob', 'fail other-owner'],
    [10, 'bob, with our marker', 'fail other-owner'],
    [9, 'ours', 'wait'],
    [9, 'older run', 'wait'],
    [9, 'us', 'find-user'],
    [9, 'us', 'fail not-marked', { use: uses.someone }],
    [9, 'us', 'wait', { adopts: true }],
    [9, 'other site', 'fail other-site'],
    [9, 'bob', 'fail other-owner'],
    [6, 'ours', 'done', { machine: jammy }],
    [6, 'ours', 'done', { machine: jammy, series: 'jammy' }],
    [6, 'older run', 'done', { machine: jammy, series: 'ubuntu/jammy' }],
    [6, 'older run', 'done', { machine: jammy, series: '22.04' }],
    [6, 'ours', 'fail other-os', { machine: jammy, series: 'noble' }],
    [6, 'ours', 'fail other-os', { machine: jammy, series: 'centos/jammy' }],
    [6, 'ours', 'fail other-os', { machine: jammy, series: '24.04' }],
    [6, 'ours', 'done os-unknown', { series: 'jammy' }],
    [6, 'ours', 'done os-unknown', { machine: jammy, series: '99.04' }],
    [6, 'ours', 'done', { machine: jammy, series: '99.04', progress: progress({ sent: new Set(['deploy']) }) }],
    [
      6,
      'ours',
      'done',
      {
        machine: { ...jammy, owner_data: { ...mark('dc1', 'r6'), sitewright_series: 'Jammy LTS' } },
        series: 'Jammy LTS',
      },
    ],
    [
      6,
      'ours',
      'fail other-os',
      { machine: { ...jammy, owner_data: { ...mark('dc1', 'r6'), sitewright_series: 'jammy' } }, series: 'noble' },
    ],
    [6, 'us', 'find-user', { machine: jammy, series: 'jammy' }],
    [6, 'us', 'fail not-marked', { machine: jammy, series: 'jammy', use: uses.someone }],
    [6, 'us', 'annotate', { machine: jammy, series: 'jammy', use: uses.ours }],
    [6, 'us', 'annotate', { machine: jammy, series: 'jammy', adopts: true }],
    [6, 'us', 'done adopted', { machine: jammy, adopts: true, progress: progress({ givenUp: new Set(['annotate']) }) }],
    [6, 'us', 'fail other-os', { machine: jammy, series: 'noble', adopts: true }],
    [6, 'other site', 'fail other-site', { machine: jammy, adopts: true }],
    [6, 'bob', 'fail other-owner', { machine: jammy, adopts: true }],
    [6, 'other site', 'fail other-site', { machine: jammy }],
    [6, 'bob', 'fail other-owner', { machine: jammy, series: 'jammy' }],
    [6, 'free', 'fail other-owner', { machine: jammy }],
    [11, 'older run', 'release'],
    [11, 'us', 'find-user'],
    [11, 'us', 'fail not-marked', { use: uses.someone }],
    [11, 'us', 'release', { use: uses.ours }],
    [11, 'ours', 'fail deployment-failed'],
    [11, 'us', 'fail deployment-failed', { progress: progress({ sent: new Set(['deploy']) }) }],
    [11, 'older run', 'fail deployment-failed', { progress: progress({ waitedOn: new Set([9]) }) }],
    [11, 'older run', 'fail locked', { machine: { locked: true } }],
    [11, 'other site', 'fail other-site'],
    [11, 'bob', 'fail other-owner'],
    ...([1, 12, 14, 19, 21] as const).map((status): [number, Holder, string] => [status, 'free', 'wait']),
    ...([0, 2, 3, 5, 7, 8, 13, 15, 16, 17, 18, 20, 22] as const).map((status): [number, Holder, string] => [
      status,
      'us',
      'fail wrong-state',
    ]),
    // Ours a moment ago, and taken by a person since.
    ...([0, 1, 2, 4, 12, 13, 14, 15, 21, 22] as const).map(
      (status): [number, Holder, string, { progress: Progress }] => [
        status,
        'free',
        'fail released-by-hand',
        { progress: progress({ wasHeld: true }) },
      ],
    ),
    [4, 'free', 'fail released-by-hand', { progress: progress({ acknowledged: new Set(['allocate']) }) }],
    ...(['allocated', 'deployed', 'aborted'] as const).map(
      (reached): [number, Holder, string, { reached: typeof reached }] => [
        4,
        'free',
        'fail released-by-hand',
        { reached },
      ],
    ),
    ...([6, 9, 10, 11] as const).flatMap((status): [number, Holder, string, { progress: Progress }][] => [
      [status, 'us', 'fail released-by-hand', { progress: progress({ wasHeld: true }) }],
      [status, 'older run', 'fail other-run', { progress: progress({ wasHeld: true }) }],
      [status, 'bob', 'fail other-owner', { progress: progress({ wasHeld: true }) }],
    ]),
    [8, 'free', 'fail wrong-state', { progress: progress({ wasHeld: true }) }],
    [10, 'ours', 'fail deployment-aborted', { progress: progress({ waitedOn: new Set([9]) }) }],
    [10, 'ours', 'fail deployment-aborted', { reached: 'aborted' }],
    [10, 'ours', 'deploy', { reached: 'deployed' }],
    // A process that died between allocating and marking.
    [10, 'us', 'wait-for-marker', { reached: 'allocated' }],
    [10, 'us', 'fail released-by-hand', { reached: 'deployed' }],
    [42, 'free', 'wait'],
    [-1, 'free', 'wait'],
  ];
  it.each(cases)('(16, 17, 29, 32) %d held by %s: %s', (status, holder, expected, more = {}) => {
    expect(
      said(
        decideDeploy(
          machine(status, holder, more.machine),
          {
            ...claim,
            adopts: more.adopts,
            ...(more.reached && { reached: more.reached }),
            ...(more.use && { use: more.use }),
          },
          { series: more.series },
          more.progress ?? noProgress,
        ),
      ),
    ).toBe(expected);
  });

  it('a failure names the owner', () => {
    const step = decideDeploy(machine(6, 'bob', jammy), claim, { series: undefined }, noProgress);
    expect(step).toMatchObject({ failure: { owner: 'bob', message: expect.stringContaining('bob') } });
  });
});

describe('what a deployment would do', () => {
  const cases: [number, Holder, string, string, Record<string, unknown>?][] = [
    [0, 'free', 'deploy', 'its machine is New'],
    [4, 'free', 'deploy', 'its machine is Ready'],
    [11, 'older run', 'deploy', 'its machine is Failed deployment'],
    [6, 'older run', 'leave', 'its machine is Deployed'],
    [6, 'us', 'refuse', 'n1 (abc123) is Deployed under our MAAS user, but not by this site'],
    [10, 'us', 'refuse', 'n1 (abc123) is Allocated under our MAAS user, but not by this site'],
    [6, 'bob', 'refuse', 'belongs to the MAAS user bob: ask its owner to release it'],
    [4, 'bob', 'refuse', 'belongs to the MAAS user bob'],
    [6, 'other site', 'refuse', 'is Deployed for site dc2'],
    [6, 'older run', 'refuse', 'is Deployed with ubuntu/jammy, not with noble', { series: 'noble' }],
    [7, 'free', 'refuse', 'is Retired, it cannot be prepared'],
  ];
  it.each(cases)('%d held by %s: %s, as %s', async (status, holder, does, why, { series } = {}) => {
    const { client } = maasProcess(new FaultyMaas({ clock: new LeapingClock() }), new LeapingClock());
    const target = { site: 'dc1', ...(series === undefined ? {} : { distroSeries: String(series) }) };
    expect(await deploymentFate(client, machine(status, holder, jammy), 'admin', target)).toEqual({
      does,
      why: expect.stringContaining(why),
    });
  });
});

describe('prepare', () => {
  const by = {
    me: 'admin',
    site: 'dc1',
    described: [],
    failedForThisRequest: false,
    abortedForThisRequest: false,
    commissionedForThisRequest: false,
  };
  type More = {
    progress?: Progress;
    failed?: boolean;
    aborted?: boolean;
    machine?: Record<string, unknown>;
    use?: UnmarkedUse;
    adopts?: true;
  };
  const cases: [number, Holder, string, More?][] = [
    [0, 'free', 'commission'],
    [0, 'us', 'commission'],
    [0, 'free', 'fail commissioning-aborted', { progress: progress({ acknowledged: new Set(['commission']) }) }],
    [0, 'free', 'fail commissioning-aborted', { progress: progress({ waitedOn: new Set([1]) }) }],
    [0, 'free', 'fail commissioning-aborted', { aborted: true }],
    [2, 'us', 'commission'],
    [2, 'us', 'fail commissioning-failed', { progress: progress({ acknowledged: new Set(['commission']) }) }],
    [2, 'us', 'fail commissioning-failed', { progress: progress({ waitedOn: new Set([1]) }) }],
    [2, 'us', 'fail commissioning-failed', { failed: true }],
    [22, 'us', 'test'],
    [22, 'free', 'test'],
    [22, 'ours', 'test'],
    [22, 'bob', 'fail other-owner'],
    [22, 'us', 'fail testing-failed', { failed: true }],
    [22, 'us', 'fail testing-failed', { progress: progress({ acknowledged: new Set(['test']) }) }],
    [22, 'us', 'fail testing-failed', { progress: progress({ waitedOn: new Set([21]) }) }],
    [8, 'free', 'commission'],
    [8, 'ours', 'commission'],
    [8, 'bob', 'fail other-owner'],
    [8, 'other site', 'fail other-site'],
    [4, 'free', 'done'],
    [4, 'us', 'done'],
    [4, 'bob', 'fail other-owner'],
    [8, 'us', 'find-user'],
    [8, 'us', 'fail not-marked', { use: uses.someone }],
    [8, 'us', 'commission', { use: uses.nobody }],
    [11, 'us', 'fail not-marked', { use: uses.someone }],
    [13, 'us', 'release'],
    ...([6, 9, 10] as const).flatMap((status): [number, Holder, string, More][] => [
      [status, 'ours', 'done', {}],
      [status, 'us', 'find-user', { progress: progress({ graceOver: true }) }],
      [status, 'us', 'fail not-marked', { progress: progress({ graceOver: true }), use: uses.someone }],
      [status, 'us', 'done', { progress: progress({ graceOver: true }), use: uses.ours }],
      [status, 'us', 'done', { adopts: true }],
      [status, 'other site', 'fail other-site', {}],
      [status, 'bob', 'fail other-owner', {}],
    ]),
    [6, 'free', 'fail other-owner'],
    [11, 'ours', 'release'],
    [11, 'us', 'find-user'],
    [11, 'us', 'release', { use: uses.ours }],
    [11, 'bob', 'fail other-owner'],
    [11, 'other site', 'fail other-site'],
    [11, 'ours', 'fail locked', { machine: { locked: true } }],
    [13, 'us', 'release'],
    [13, 'us', 'fail release-failed', { progress: progress({ waitedOn: new Set([12]) }) }],
    [15, 'us', 'fail release-failed'],
    [15, 'bob', 'fail other-owner'],
    ...([1, 12, 14, 19, 21] as const).map((status): [number, Holder, string] => [status, 'bob', 'wait']),
    ...([3, 5, 7, 16, 17, 18, 20] as const).map((status): [number, Holder, string] => [
      status,
      'free',
      'fail wrong-state',
    ]),
    [42, 'free', 'wait'],
  ];
  it.each(cases)('(13) %d held by %s: %s', (status, holder, expected, more = {}) => {
    const asked = {
      ...by,
      adopts: more.adopts,
      use: more.use,
      described: [],
      failedForThisRequest: more.failed ?? false,
      abortedForThisRequest: more.aborted ?? false,
      commissionedForThisRequest: false,
    };
    expect(said(decidePrepare(machine(status, holder, more.machine), asked, more.progress ?? noProgress))).toBe(
      expected,
    );
  });
});

it.each([
  [0, 'commissioned', 'n1 was New; it was commissioned', {}],
  [2, 'commissioned', 'n1 was Failed commissioning; it was commissioned again', {}],
  [22, 'tested', 'n1 was Failed testing; the tests that had failed ran again', {}],
  [8, 'was-broken', 'n1 was marked broken ("fan"); it was commissioned again', { error_description: 'fan' }],
] as const)('a machine found at %d is commissioned with a note on that', (status, code, message, more) => {
  const by = {
    me: 'admin',
    site: 'dc1',
    described: [],
    failedForThisRequest: false,
    abortedForThisRequest: false,
    commissionedForThisRequest: false,
  };
  expect(decidePrepare(machine(status, 'free', more), by, noProgress)).toMatchObject({
    do: 'act',
    warnings: [{ code, message }],
  });
});

// The other side: a MAAS 3.6.5, s9-restore of its recording.
describe('a Ready machine that MAAS would not deploy as it is configured', () => {
  const by = {
    me: 'admin',
    site: 'dc1',
    failedForThisRequest: false,
    abortedForThisRequest: false,
    commissionedForThisRequest: false,
  };
  const step = (step: number, described: ('root' | 'network')[], progress = noProgress) => {
    const found = parseMachine(readLayoutScenario('s9-restore').steps[step]?.response?.json)!;
    const decided = decidePrepare(
      { ...found, status: 4, owner: null, annotations: {} },
      { ...by, described },
      progress,
    );
    return decided.do === 'act' ? `${decided.action}: ${decided.warnings?.[0]?.message}` : decided.do;
  };

  it('is commissioned again, once, unless the documents configure what it lacks', () => {
    const commission = 'commission: node01 had no root filesystem; it was commissioned again';
    expect(step(6, [])).toBe(commission);
    expect(step(6, ['network'])).toBe(commission);
    expect(step(6, ['root'])).toBe('done');
    expect(step(6, [], { ...noProgress, acknowledged: new Set(['commission']) })).toBe('done');
    expect(step(14, ['root'])).toBe('commission: node01 had no interface with an address; it was commissioned again');
    expect(step(10, [])).toBe('done');
  });
});

// The other side: a MAAS 3.6.5, m1-owner-data of its recording.
it('a machine that we allocated is ours, whatever annotations it kept when it was marked fixed', () => {
  const old = { sitewright_site: 'dc9', sitewright_node: 'n9', sitewright_run: 'r9' };
  const allocated = parseMachine(readLayoutScenario('m1-owner-data').steps[10]?.response?.json)!;
  expect([allocated.status, allocated.annotations.site]).toEqual([10, 'one']);
  const marked = { ...allocated, annotations: old };
  const claim = { me: 'admin', site: 'dc1', run: 'r1' };
  const next = (progress: Progress, more = {}) =>
    decideDeploy(marked, { ...claim, ...more }, { series: undefined }, progress);
  expect(next(noProgress)).toMatchObject({ failure: { kind: 'other-site' } });
  const annotate = { do: 'act', action: 'annotate' };
  expect(next({ ...noProgress, acknowledged: new Set(['allocate']) })).toEqual(annotate);
  // After a crash the log of MAAS tells who allocated it last.
  expect(next(noProgress, { reached: 'allocated', isAllocated: true })).toEqual(annotate);
  expect(next(noProgress, { reached: 'allocated', isAllocated: false })).toMatchObject({ do: 'fail' });
});

// The other side: a MAAS 3.6.5, m1-machine of its recording.
it('a machine of someone else that was marked broken with its power on is not commissioned', () => {
  const broken = parseMachine(readLayoutScenario('m1-machine').steps[42]?.response?.json)!;
  expect([broken.status, broken.owner]).toEqual([8, 'admin']);
  const by = {
    me: 'sitewright',
    site: 'dc1',
    described: [],
    failedForThisRequest: false,
    abortedForThisRequest: false,
    commissionedForThisRequest: false,
  };
  expect(said(decidePrepare(broken, by, noProgress))).toBe('fail other-owner');
});

describe('release', () => {
  type More = { progress?: Progress; machine?: Record<string, unknown>; erase?: boolean; use?: UnmarkedUse };
  const cases: [number, Holder, string, More?][] = [
    [4, 'free', 'done'],
    [0, 'free', 'done'],
    [4, 'bob', 'done'],
    [6, 'ours', 'release', { machine: jammy }],
    [6, 'older run', 'release', { machine: jammy }],
    [6, 'us', 'find-user', { machine: jammy }],
    [6, 'us', 'fail not-marked', { machine: jammy, use: uses.someone }],
    [6, 'us', 'fail not-marked', { use: uses.nobody }],
    [6, 'us', 'release', { use: uses.ours }],
    [6, 'other site', 'fail other-site', { machine: jammy }],
    [6, 'bob', 'fail other-owner', { machine: jammy }],
    [6, 'bob, with our marker', 'fail other-owner', { machine: jammy }],
    [6, 'ours', 'fail locked', { machine: { ...jammy, locked: true } }],
    [9, 'ours', 'release'],
    [9, 'us', 'fail not-marked', { use: uses.someone }],
    ...([5, 10, 11] as const).flatMap((status): [number, Holder, string, More][] => [
      [status, 'us', 'fail not-marked', { use: uses.someone, progress: progress({ graceOver: true }) }],
      [status, 'us', 'release', { use: uses.ours, progress: progress({ graceOver: true }) }],
    ]),
    [10, 'us', 'wait-for-marker'],
    [10, 'ours', 'release'],
    [11, 'ours', 'release'],
    [12, 'us', 'wait'],
    [12, 'bob', 'wait'],
    [14, 'ours', 'wait'],
    [13, 'us', 'release'],
    [15, 'ours', 'release'],
    [13, 'us', 'fail release-failed', { progress: progress({ waitedOn: new Set([12]) }) }],
    [15, 'ours', 'fail release-failed', { progress: progress({ acknowledged: new Set(['release']) }) }],
    [15, 'bob', 'fail other-owner'],
    ...([1, 2, 3, 7, 8, 21, 22] as const).map((status): [number, Holder, string] => [
      status,
      'free',
      'done nothing-to-release',
    ]),
    ...([16, 17, 18, 19, 20] as const).map((status): [number, Holder, string] => [status, 'ours', 'fail wrong-state']),
    [4, 'free', 'done erase-not-applied', { erase: true, progress: progress({ waitedOn: new Set([12]) }) }],
    [
      4,
      'free',
      'done',
      { erase: true, progress: progress({ waitedOn: new Set([14]), acknowledged: new Set(['release']) }) },
    ],
    [42, 'ours', 'wait'],
  ];
  it.each(cases)('(24, 25) %d held by %s: %s', (status, holder, expected, more = {}) => {
    const wanted = { erase: more.erase ?? false, use: more.use };
    expect(said(decideRelease(machine(status, holder, more.machine), claim, wanted, more.progress ?? noProgress))).toBe(
      expected,
    );
  });
});

describe('abort', () => {
  const cases: [number, Holder, string, { progress?: Progress; run?: string }?][] = [
    [9, 'ours', 'abort'],
    [9, 'older run', 'abort'],
    [9, 'ours', 'abort', { run: 'r7' }],
    [9, 'older run', 'fail other-run', { run: 'r7' }],
    [9, 'ours', 'wait', { progress: progress({ acknowledged: new Set(['abort']) }) }],
    [9, 'us', 'fail not-marked'],
    [9, 'other site', 'fail other-site'],
    [9, 'bob', 'fail other-owner'],
    [1, 'us', 'abort'],
    [1, 'bob', 'fail other-owner'],
    [21, 'free', 'abort'],
    ...([0, 4, 6, 10, 11, 12, 14, 42] as const).map((status): [number, Holder, string] => [status, 'ours', 'done']),
    [6, 'bob', 'done'],
  ];
  it.each(cases)('(23, 28) %d held by %s: %s', (status, holder, expected, more = {}) => {
    const asked = { me: 'admin', site: 'dc1', ...(more.run === undefined ? {} : { run: more.run }) };
    expect(said(decideAbort(machine(status, holder), asked, more.progress ?? noProgress))).toBe(expected);
  });
});
