import { MaasClient } from './client.ts';
import type { MaasConnectionConfig } from './connection.ts';
import { HostnameLookup } from './hostname-lookup.ts';
import { MachineWatcher } from './machine-watcher.ts';
import type { MachineContext, Patience } from './operation.ts';

export interface MachinesConfig extends MaasConnectionConfig {
  readonly pollMinSeconds: number;
  readonly pollMaxSeconds: number;
  /** For tests: shorter pauses than a real MAAS needs. */
  readonly patience?: Partial<Patience>;
}

/** Opens the resources of a process for machines: one shared client, watcher and look-up. */
export function openMachines(config: MachinesConfig): MachineContext & { close(): Promise<void> } {
  const client = new MaasClient(config);
  return {
    client,
    watcher: new MachineWatcher(client, {
      minIntervalMs: config.pollMinSeconds * 1000,
      maxIntervalMs: config.pollMaxSeconds * 1000,
    }),
    lookup: new HostnameLookup(client),
    ...(config.patience ? { patience: config.patience } : {}),
    close: () => client.close(),
  };
}
