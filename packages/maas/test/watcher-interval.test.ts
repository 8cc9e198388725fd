import { expect, it } from 'vitest';
import type { MaasClient } from '../src/client.ts';
import type { Machine } from '../src/machine.ts';
import { MachineWatcher } from '../src/machine-watcher.ts';
import { MachineStatus } from '../src/status.ts';
import { LeapingClock } from './rig/leaping-clock.ts';

const machine = (systemId: string, status: number) => ({ systemId, status }) as Machine;

it('a wait is looked at no less often than it asks for, whatever the others ask', async () => {
  const clock = new LeapingClock();
  const polls: number[] = [];
  const began = clock.now();
  const client = {
    machines: {
      list: async ({ systemIds }: { systemIds: string[] }) => {
        if (systemIds.includes('often')) polls.push(clock.now() - began);
        return systemIds.map((id) =>
          machine(id, polls.length >= 12 ? MachineStatus.Deployed : MachineStatus.Deploying),
        );
      },
    },
  } as unknown as MaasClient;
  const watcher = new MachineWatcher(client, { clock, minIntervalMs: 1_000, maxIntervalMs: 60_000 });
  const reached = (found: Machine) => found.status === MachineStatus.Deployed;
  await Promise.all([watcher.waitFor('often', reached, { maxIntervalMs: 4_000 }), watcher.waitFor('rarely', reached)]);
  const pauses = polls.slice(1).map((at, index) => at - polls[index]!);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(4_400);
  expect(polls).toHaveLength(12);
});
