import { describe, expect, it } from 'vitest';
import { deployMachine } from '../src/deploy-machine.ts';
import type { MachineOutcome } from '../src/machine-outcome.ts';
import type { MachineContext } from '../src/operation.ts';
import { prepareMachine } from '../src/prepare-machine.ts';
import { releaseMachine } from '../src/release-machine.ts';
import { type FakeMachine, type Fault, FaultyMaas } from './rig/faulty-maas.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { durably } from './rig/maas-process.ts';

const id = 'abc123';
const request = { systemId: id, site: 'dc1', node: 'n1', run: 'r7', distroSeries: 'jammy' };
const marked = (run: string) => ({ sitewright_site: 'dc1', sitewright_node: 'n1', sitewright_run: run });

const journeys: [
  string,
  Partial<FakeMachine>,
  (context: MachineContext) => Promise<MachineOutcome>,
  Record<string, number>,
][] = [
  ['deploy from Ready', {}, (c) => deployMachine(c, request), { allocate: 1, deploy: 1, release: 0, commission: 0 }],
  [
    'deploy over an old failure',
    { status: 11, owner: 'admin', owner_data: marked('r6') },
    (c) => deployMachine(c, request),
    { allocate: 1, deploy: 1, release: 1, commission: 0 },
  ],
  [
    'prepare from New',
    { status: 0, commissioned: false },
    (c) => prepareMachine(c, { systemId: id, site: 'dc1' }),
    { allocate: 0, deploy: 0, release: 0, commission: 1 },
  ],
  [
    'release',
    { status: 6, owner: 'admin', osystem: 'ubuntu', distro_series: 'jammy', owner_data: marked('r7') },
    (c) => releaseMachine(c, { systemId: id, site: 'dc1' }),
    { allocate: 0, deploy: 0, release: 1, commission: 0 },
  ],
];

/** Runs a journey in which the k-th request, and each further one named, meets the fault. */
async function travel(
  state: Partial<FakeMachine>,
  run: (context: MachineContext) => Promise<MachineOutcome>,
  at: ReadonlySet<number>,
  fault: Fault,
) {
  const clock = new LeapingClock();
  let asked = 0;
  const maas = new FaultyMaas({
    clock,
    deployMs: 40_000,
    commissionMs: 40_000,
    fault: () => (at.has(++asked) ? fault : undefined),
  });
  maas.start(maas.add(id, { ...state, owner_data: { ...state.owner_data } }));
  const result = await durably(maas, clock, run);
  return { maas, asked: () => asked, ...result };
}

describe('(30) a process killed at any step boundary', () => {
  it.each(journeys)(
    '%s: every single kill, before and after each request, and each pair of kills',
    async (_name, state, run, effects) => {
      const calm = await travel(state, run, new Set(), 'kill_after');
      const requests = calm.asked();
      expect(requests).toBeGreaterThan(3);
      const first = Array.from({ length: requests }, (_, i) => i + 1);
      const cases = [...first.map((k) => [k]), ...first.flatMap((k) => first.map((j) => [k, k + j]))];
      for (const at of cases) {
        for (const fault of ['kill_before', 'kill_after'] as const) {
          const { maas, outcome, kills } = await travel(state, run, new Set(at), fault);
          const where = `${fault} at request ${at.join(' and ')}`;
          expect(outcome.ok, where).toBe(true);
          // Whichever process sent it: the system is new.
          if ('isReinstalled' in outcome) expect(outcome.isReinstalled, where).toBe(true);
          expect(kills, where).toBeGreaterThanOrEqual(1);
          for (const [what, times] of Object.entries(effects)) {
            expect(maas.count(id, what as 'deploy'), `${what}: ${where}`).toBe(times);
          }
        }
      }
    },
    60_000,
  );
});
