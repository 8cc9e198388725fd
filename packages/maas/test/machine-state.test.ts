import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MaasClient, machineState } from '../src/index.ts';
import { driftOf } from '../src/machine-drift.ts';

let simulator: Simulator;
let client: MaasClient;
beforeEach(async () => {
  simulator = await simulateMaas({ port: 0 });
  client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin });
});
afterEach(async () => {
  await client.close();
  await simulator.close();
});

it('knows the kernel options that tags give, of one machine as of many', async () => {
  const seed = { machines: [{ hostname: 'n1', tags: ['plain', 'quiet'] }, { hostname: 'n2' }] };
  const answer = await fetch(`${simulator.controlUrl}/seed`, { method: 'POST', body: JSON.stringify(seed) });
  const ids = (await answer.json()) as string[];
  await client.inventory.setKernelOptions('quiet', 'quiet nosmt');
  const one = await client.layouts.machine(ids[0]!);
  expect(one.kernelOptions).toEqual({ quiet: 'quiet nosmt' });
  const many = await client.layouts.machines(ids);
  expect(many.map(({ kernelOptions }) => kernelOptions)).toEqual([one.kernelOptions, {}]);
  expect(driftOf(machineState(one), machineState(many[0]!))).toEqual([]);

  await client.inventory.setKernelOptions('quiet', 'quiet');
  const [changed] = await client.layouts.machines(ids);
  expect(driftOf(machineState(one), machineState(changed!))).toEqual([
    { what: 'kernel options of tag quiet', deployed: 'quiet nosmt', now: 'quiet' },
  ]);
});
