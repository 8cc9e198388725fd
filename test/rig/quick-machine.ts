import { type MachineContext, MachineStatus, openMachines } from '@sitewright/maas';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';

/** A simulated MAAS with one machine, `n001`, ready, which does everything within milliseconds. */
export interface QuickMachine {
  readonly simulator: Simulator;
  readonly maas: MachineContext;
  /** Instructs the simulator what to do next. */
  control(path: string, body: unknown): Promise<void>;
  /** MAAS' number for the machine's status. */
  status(): Promise<number>;
  close(): Promise<void>;
}

export async function quickMachine(): Promise<QuickMachine> {
  const simulator = await simulateMaas({ port: 0 });
  const control = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${simulator.controlUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  await control('auto', { commission_ms: 5, deploy_ms: 5, erase_ms: 5, release_ms: 5 });
  await control('seed', { machines: [{ hostname: 'n001', status: MachineStatus.Ready, power_type: 'ipmi' }] });
  const maas = openMachines({
    url: simulator.url,
    apiKey: simulatorKeys.admin,
    pollMinSeconds: 0.005,
    pollMaxSeconds: 0.01,
    patience: { retryDelaysMs: [5], settleMs: 20, markerGraceMs: 20 },
  });
  return {
    simulator,
    maas,
    control,
    status: async () => (await maas.client.machines.list({ hostnames: ['n001'] }))[0]!.status,
    async close() {
      await maas.close();
      await simulator.close();
    },
  };
}
