import { afterAll, beforeAll, expect, it } from 'vitest';
import { LayoutReplay, readLayoutScenario } from './layout-recording.ts';
import { Replay, readScenarios } from './recording.ts';
import { SimulatedMaas } from './simulated-maas.ts';

// What the region API of 3.8.0 beta 6 answered to the requests that were recorded with 3.6.5.

let maas: SimulatedMaas;
beforeAll(async () => {
  maas = await SimulatedMaas.start({ version: '3.8' });
});
afterAll(() => maas.close());

const stepsOf = (differences: readonly string[]): readonly number[] =>
  differences.map((text) => Number(/^step (\d+) /.exec(text)?.[1]));

it.each(readScenarios())('$name is answered as by 3.6.5, but for its version and two rights', async (scenario) => {
  const differing: Readonly<Record<string, readonly number[]>> = { '01-auth': [1], '06-permissions': [10, 12] };
  const differences = await new Replay(maas, scenario).run();
  expect(stepsOf(differences)).toEqual(differing[scenario.name] ?? []);
});

it.each([
  ['m3-ordinary-user', [55], /'can_edit_global_entities'/],
  ['n7-bridge', [9], /at least one parent/],
  // Those from 56 on have a subnet less.
  ['n9-networks', [27, 28, 29, 32, 56, 57, 58, 67, 71], /would overlap with existing subnets/],
] as const)('%s differs where 3.8 does', async (name, steps, text) => {
  const differences = await new LayoutReplay(maas, readLayoutScenario(name)).run();
  expect(stepsOf(differences)).toEqual(steps);
  expect(differences[0]).toMatch(text);
});

it('has groups for those who may see identities, and no results of deployments yet', async () => {
  const groups = await maas.api('GET', 'groups/');
  expect(groups).toMatchObject({
    status: 200,
    json: expect.arrayContaining([expect.objectContaining({ id: 3, name: 'deployer' })]),
  });
  expect(await maas.api('GET', 'groups/3/entitlements/')).toMatchObject({
    json: [expect.objectContaining({ entitlement: 'can_edit_machines' })],
  });
  expect(await maas.operator('GET', 'groups/')).toMatchObject({ status: 403 });
  expect(await maas.api('POST', 'groups/', { name: 'night' })).toMatchObject({ status: 200, json: { name: 'night' } });
  // Of a pool, a hostname and a machine, a refusal stays without a word.
  expect(await maas.operator('POST', 'resourcepools/', { name: 'p' })).toMatchObject({ status: 403, text: '' });
  const id = await maas.machine();
  expect((await maas.api('GET', `machines/${id}/`)).json).not.toHaveProperty('current_deployment_result_id');
});
