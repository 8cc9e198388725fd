import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { rolloutOrder } from '../../../../src/core/rollout/order.ts';
import { policyOf, type WrittenRollout } from '../../../../src/core/rollout/policy.ts';
import { cutWaves, failuresAllowed, waveSizes } from '../../../../src/core/rollout/waves.ts';
import { writtenRollouts } from './written-rollouts.ts';

const sizesOf = (written: string, total: number): number[] =>
  waveSizes(policyOf(load(written) as WrittenRollout), total);

describe('waves', () => {
  it.each([
    ['{first: 1}', 10, [1, 2, 4, 3]],
    ['{first: 1, then: all}', 10, [1, 9]],
    ['{first: 1, then: {add: 2}}', 10, [1, 3, 5, 1]],
    ['{first: 1, then: {by: 4}}', 10, [1, 4, 4, 1]],
    ['{first: 10%, then: {by: 20%}}', 200, [20, 40, 40, 40, 40, 20]],
    ['{first: 5%, then: {by: 20%}}', 10, [1, 2, 2, 2, 2, 1]],
    ['{first: 5, then: {add: 10%}}', 3, [3]],
    ['{first: 100%}', 3, [3]],
    ['{first: 1}', 0, []],
  ])('of %s to %i nodes', (written, total, sizes) => expect(sizesOf(written, total)).toEqual(sizes));

  it('of a percentage are never larger than it, unless they would be empty', () => {
    for (const total of [1, 2, 3, 7, 19, 30])
      for (let percent = 1; percent <= 100; percent++) {
        const [first = 0] = sizesOf(`first: ${percent}%`, total);
        expect(first === 1 || first * 100 <= percent * total).toBe(true);
        expect((first + 1) * 100).toBeGreaterThan(percent * total);
      }
  });

  it('have every node once, in order', () => {
    fc.assert(
      fc.property(writtenRollouts, fc.nat(300), (written, total) => {
        const nodes = Array.from({ length: total }, (_, node) => node);
        const waves = cutWaves(policyOf(written), nodes);
        expect(waves.flat()).toEqual(nodes);
        expect(waves.every((wave) => wave.length > 0)).toBe(true);
      }),
    );
  });

  it('are one of all nodes where nobody says how large the first is', () =>
    expect(sizesOf('checks: [metrics]', 7)).toEqual([7]));

  it('double, and stop at one failed node, where nothing else is written', () =>
    expect(policyOf({ first: 2, soak: '10m' })).toEqual({
      ...{ first: 2, growth: 'double', soak: 600, stop_at: { failed: 1 } },
    }));

  it.each([
    [5, 20, 1],
    [5, 21, 2],
    [5, 3, 1],
    [50, 3, 2],
    [100, 3, 3],
    [29, 100, 29],
  ])('stop at %i %% of %i nodes: at %i', (percent, total, most) =>
    expect(failuresAllowed({ percent }, total)).toBe(most),
  );
});

describe('the order of a rollout', () => {
  const nodes = [
    { name: 'n10', rack: 'r10' },
    { name: 'n2', rack: 'r2' },
    { name: 'n1', rack: null },
    { name: 'n01', rack: 'r10' },
    { name: 'n3', rack: 'r2' },
    { name: 'm9', rack: 'r10' },
  ];
  const named = (keys: Parameters<typeof rolloutOrder>[1]) =>
    rolloutOrder(nodes, keys).map((node) => nodes[node]!.name);

  it.each([
    [[], ['n10', 'n2', 'n1', 'n01', 'n3', 'm9']],
    [['name'], ['m9', 'n01', 'n1', 'n2', 'n3', 'n10']],
    [['rack'], ['n2', 'n3', 'n10', 'n01', 'm9', 'n1']],
    [
      ['rack', 'name'],
      ['n2', 'n3', 'm9', 'n01', 'n10', 'n1'],
    ],
    [['spread'], ['n2', 'n10', 'n1', 'n3', 'n01', 'm9']],
    [
      ['spread', 'name'],
      ['n2', 'm9', 'n1', 'n3', 'n01', 'n10'],
    ],
  ] as const)('by %j', (keys, names) => expect(named(keys)).toEqual(names));

  it('has every node once, and does not depend on the order of the documents', () => {
    const placed = fc.uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[a-b]{0,2}[0-9]{0,3}[a-b]{0,1}[0-9]{0,2}$/),
        rack: fc.constantFrom('r1', 'r2', 'r10', null),
      }),
      { selector: ({ name }) => name, maxLength: 20 },
    );
    const keys = fc.constantFrom(['name'] as const, ['rack', 'name'] as const, ['spread', 'name'] as const);
    fc.assert(
      fc.property(
        placed.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        keys,
        ([all, shuffled], by) => {
          const names = rolloutOrder(all, by).map((node) => all[node]!.name);
          expect([...names].sort()).toEqual(all.map(({ name }) => name).sort());
          expect(rolloutOrder(shuffled, by).map((node) => shuffled[node]!.name)).toEqual(names);
        },
      ),
    );
  });
});
