import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LayoutReplay, layoutScenarios, readLayoutScenario } from './layout-recording.ts';
import { SimulatedMaas } from './simulated-maas.ts';

describe('networks, storage and states of machines as commissioned', () => {
  let maas: SimulatedMaas;
  beforeAll(async () => {
    maas = await SimulatedMaas.start();
  });
  afterAll(() => maas.close());

  it('all 28 recorded scenarios are here, with their 898 steps', () => {
    const scenarios = layoutScenarios().map(readLayoutScenario);
    expect(scenarios.length).toBe(28);
    expect(scenarios.reduce((sum, { steps }) => sum + steps.length, 0)).toBe(898);
  });

  // Not m2: the simulator keeps the definition of a tag, and does not evaluate it.
  it.each(layoutScenarios().filter((name) => name !== 'm2-tags'))(
    '%s is answered as a real MAAS answered it',
    async (name) => {
      expect(await new LayoutReplay(maas, readLayoutScenario(name)).run()).toEqual([]);
    },
  );
});
