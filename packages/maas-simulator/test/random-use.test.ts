import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inProgressStatuses, isMachineStatus, MachineStatus as S } from '@sitewright/maas/status';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rackEvents, simulatorKeys } from '../src/index.ts';
import { transitions } from '../src/transitions.ts';
import { SimulatedMaas } from './simulated-maas.ts';

const operations = [
  'abort',
  'commission',
  'deploy',
  'exit_rescue_mode',
  'lock',
  'mark_broken',
  'mark_fixed',
  'override_failed_testing',
  'power_off',
  'power_on',
  'release',
  'rescue_mode',
  'set_storage_layout',
  'set_workload_annotations',
  'test',
  'unlock',
] as const;

/** One thing that somebody does to one of three machines, or to all. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constantFrom(...operations),
      on: fc.nat(2),
      asOperator: fc.boolean(),
      erase: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ allocate: fc.nat(2), asOperator: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ event: fc.constantFrom(...rackEvents), on: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ rack: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ wait: fc.constantFrom(50, 150, 1000) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(maas: SimulatedMaas, ids: readonly string[], given: Step): Promise<void> {
  if ('op' in given) {
    const fields = {
      erase: String(given.erase),
      storage_layout: 'flat',
      testing_scripts: 'none',
      run: 'r',
      comment: 'c',
    };
    const key = given.asOperator ? simulatorKeys.operator : simulatorKeys.admin;
    const reply = await maas.api('POST', `machines/${ids[given.on]}/?op=${given.op}`, fields, key);
    if (reply.status === 500) expect(reply.text).toContain('Error determining BMC task queue');
    else expect([200, 400, 403, 409, 503]).toContain(reply.status);
  } else if ('allocate' in given) {
    const key = given.asOperator ? simulatorKeys.operator : simulatorKeys.admin;
    const reply = await maas.api('POST', 'machines/?op=allocate', { system_id: ids[given.allocate] ?? '' }, key);
    expect([200, 409]).toContain(reply.status);
  } else if ('event' in given) {
    const reply = await maas.control('POST', `${ids[given.on]}/${given.event}`, { comment: 'why' });
    expect([reply.status, reply.text]).toEqual([200, expect.anything()]);
  } else if ('rack' in given) {
    await maas.control('POST', 'rack', { up: given.rack });
  } else if ('wait' in given) {
    maas.clock.advance(given.wait);
  }
}

/** Invariants of a region. */
async function check(maas: SimulatedMaas): Promise<void> {
  const { json: machines } = await maas.api('GET', 'machines/');
  const { json: effects } = await maas.control('GET', 'effects');
  const addresses = machines.flatMap(({ ip_addresses }: { ip_addresses: string[] }) => ip_addresses);
  expect(new Set(addresses).size).toBe(addresses.length);
  for (const machine of machines) {
    let state: number | null = null;
    for (const { system_id, from, to } of effects) {
      if (system_id !== machine.system_id) continue;
      expect(from).toBe(state);
      if (from !== null && isMachineStatus(from) && from !== to) expect(transitions[from]).toContain(to);
      state = to;
    }
    expect(machine.status).toBe(state);
    if (machine.status === S.Deployed || machine.status === S.Allocated) expect(machine.owner).not.toBeNull();
    if (machine.owner === null) expect([machine.owner_data, machine.locked]).toEqual([{}, false]);
  }
}

it('whatever is done, each machine moves as MAAS allows and restarts change nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
      const folder = mkdtempSync(join(tmpdir(), 'maas-simulator-'));
      const stateFile = join(folder, 'state');
      let maas = await SimulatedMaas.start({ stateFile });
      try {
        const auto = {
          commission_ms: 100,
          deploy_ms: 100,
          erase_ms: 100,
          release_ms: 100,
          rescue_ms: 100,
          test_ms: 100,
        };
        await maas.control('POST', 'auto', { ...auto, fail_times: { deploy: { a: 1 } } });
        const { json: ids } = await maas.control('POST', 'seed', {
          machines: [
            { hostname: 'a' },
            { hostname: 'b', power_type: 'ipmi' },
            { hostname: 'c', status: 0, power_type: 'ipmi' },
          ],
        });
        for (const each of steps) {
          if ('restart' in each) {
            const before = (await maas.api('GET', 'machines/')).json;
            const late = maas.clock.now();
            await maas.close();
            maas = await SimulatedMaas.start({ stateFile });
            maas.clock.advance(Math.max(0, late - maas.clock.now() - 1));
            const after = (await maas.api('GET', 'machines/')).json;
            expect(after).toEqual(before);
          } else await take(maas, ids, each);
        }
        await check(maas);
        // Nothing hangs: with racks in reach, all that runs comes to an end by itself.
        await maas.control('POST', 'rack', { up: true });
        maas.clock.advance(100_000);
        await check(maas);
        for (const { status } of (await maas.api('GET', 'machines/')).json)
          expect(inProgressStatuses.has(status)).toBe(false);
      } finally {
        await maas.close();
        rmSync(folder, { recursive: true });
      }
    }),
    { numRuns: 40 },
  );
});
