import { afterAll, beforeAll, expect, it } from 'vitest';
import { Replay, readScenarios } from './recording.ts';
import { SimulatedMaas } from './simulated-maas.ts';

let maas: SimulatedMaas;
beforeAll(async () => {
  maas = await SimulatedMaas.start();
});
afterAll(() => maas.close());

const scenarios = readScenarios();

it('all recorded scenarios are here', () => {
  expect(scenarios.map(({ steps }) => steps.length).reduce((a, b) => a + b)).toBe(289);
});

it.each(scenarios)('$name is answered as a real MAAS answered it', async (scenario) => {
  expect(await new Replay(maas, scenario).run()).toEqual([]);
});
