import { MaasClient } from '../../src/client.ts';
import { MaasError } from '../../src/failure.ts';
import { HostnameLookup } from '../../src/hostname-lookup.ts';
import type { MachineOutcome } from '../../src/machine-outcome.ts';
import { MachineWatcher } from '../../src/machine-watcher.ts';
import type { MachineContext, Patience } from '../../src/operation.ts';
import type { Transport } from '../../src/transport.ts';
import type { FaultyMaas } from './faulty-maas.ts';
import type { LeapingClock } from './leaping-clock.ts';

export const testKey = 'consumerkeyadmin01:tokenkeyadmin00001:tokensecretadmin0000000000000001';

/** The resources of one orchestrator process: its own client, watcher and memory. */
export function maasProcess(
  maas: FaultyMaas,
  clock: LeapingClock,
  options: {
    readonly onKill?: () => void;
    readonly patience?: Partial<Patience>;
    readonly transport?: Transport;
  } = {},
): MachineContext {
  const client = new MaasClient({
    url: 'http://maas.test/MAAS',
    apiKey: testKey,
    clock,
    transport: options.transport ?? maas.transport(options.onKill),
  });
  return {
    client,
    clock,
    watcher: new MachineWatcher(client, { clock }),
    lookup: new HostnameLookup(client, { clock }),
    ...(options.patience ? { patience: options.patience } : {}),
  };
}

export interface DurableResult {
  readonly outcome: MachineOutcome;
  readonly attempts: number;
  readonly kills: number;
}

/**
 * Runs an operation as Temporal would: a process that dies is replaced and the operation starts from
 * scratch, and so it does after a retryable failure.
 */
export async function durably(
  maas: FaultyMaas,
  clock: LeapingClock,
  operation: (context: MachineContext) => Promise<MachineOutcome>,
  maxAttempts = 200,
): Promise<DurableResult> {
  let kills = 0;
  for (let attempts = 1; attempts <= maxAttempts; attempts++) {
    let onKill: () => void = () => {};
    const killed = new Promise<'killed'>((resolve) => {
      onKill = () => resolve('killed');
    });
    try {
      const ended = await Promise.race([operation(maasProcess(maas, clock, { onKill })), killed]);
      if (ended !== 'killed') return { outcome: ended, attempts, kills };
      kills++;
    } catch (error) {
      if (!(error instanceof MaasError) || !error.failure.retryable) throw error;
    }
    await clock.sleep(2_000);
  }
  throw new Error(`no end after ${maxAttempts} attempts`);
}
