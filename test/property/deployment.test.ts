import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type DeploymentStrategy,
  judgeCriteria,
  planGroups,
  type SimulatedOutcome,
  type SiteNode,
  simulateStrategy,
  successesNeeded,
} from '../../src/core/deployment/index.js';
import { illegalitiesOf } from '../rig/legal-deployment.js';

const nodeName = fc.integer({ min: 0, max: 11 }).map((n) => `n${n}`);
const some = <T>(item: fc.Arbitrary<T>, max = 3) => fc.option(fc.array(item, { maxLength: max }), { nil: undefined });

const siteNodes: fc.Arbitrary<SiteNode[]> = fc
  .array(
    fc.record({
      rack: fc.constantFrom('r1', 'r2', null),
      tags: fc.subarray(['control', 'compute', 'storage']),
      labels: fc.dictionary(fc.constantFrom('tier', 'gpu'), fc.constantFrom('a', 'b')),
    }),
    { maxLength: 12 },
  )
  .map((nodes) => nodes.map((node, index) => ({ name: `n${index}`, ...node })));

const criteria = fc.record(
  {
    percent_successful_nodes: fc.integer({ min: 0, max: 100 }),
    minimum_successful_nodes: fc.integer({ min: 0, max: 6 }),
    maximum_failed_nodes: fc.integer({ min: 0, max: 6 }),
  },
  { requiredKeys: [] },
);

const selector = fc.record(
  {
    node_names: some(nodeName),
    node_tags: some(fc.constantFrom('control', 'compute', 'storage', 'none')),
    rack_names: some(fc.constantFrom('r1', 'r2', 'r3')),
    node_labels: some(fc.constantFrom('tier: a', 'gpu:b', 'tier:b')),
  },
  { requiredKeys: [] },
);

/** Acyclic: a group may only depend on groups that come later in a hidden ranking; document order is shuffled. */
const strategy: fc.Arbitrary<DeploymentStrategy> = fc
  .array(
    fc.record({
      critical: fc.boolean(),
      selectors: fc.array(selector, { maxLength: 2 }),
      success_criteria: fc.option(criteria, { nil: undefined }),
      parents: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    { maxLength: 7 },
  )
  .chain((groups) => {
    const named = groups.map(({ parents, ...group }, index) => ({
      ...group,
      name: `g${index}`,
      depends_on: index === 0 ? [] : [...new Set(parents.map((parent) => `g${parent % index}`))],
    }));
    return fc.shuffledSubarray(named, { minLength: named.length, maxLength: named.length });
  })
  .map((groups) => ({ groups }) as unknown as DeploymentStrategy);

const outcomes = fc.dictionary(
  nodeName,
  fc.record(
    {
      prepare: fc.constantFrom<SimulatedOutcome>('success', 'failure', 'timeout'),
      deploy: fc.constantFrom<SimulatedOutcome>('success', 'failure', 'timeout', 'no_join'),
    },
    { requiredKeys: [] },
  ),
);

// promise: 5.12 5.15 5.21 5.38 5.40
it('every simulated deployment follows the rules of the specification', () => {
  fc.assert(
    fc.property(strategy, siteNodes, outcomes, (plan, nodes, results) => {
      const input = { strategy: plan, nodes, outcomes: results };
      const result = simulateStrategy(input);
      if ('rejected' in result) throw new Error(result.rejected.join());
      const groupNodes = Object.fromEntries(
        planGroups(plan, nodes).map((group) => [group.name, group.nodes.map((index) => nodes[index]!.name)]),
      );
      expect(illegalitiesOf(input, groupNodes, result)).toEqual([]);
      for (const step of ['prepare', 'deploy']) {
        const sent = result.calls.filter((call) => call.step === step).flatMap((call) => call.nodes);
        expect(new Set(sent).size).toBe(sent.length);
      }
      expect(result.order.length).toBe(plan.groups.length);
    }),
    { numRuns: 600 },
  );
});

// promise: 5.23 5.24 5.26
it('the number of successes a group needs is exactly where its criteria turn', () => {
  fc.assert(
    fc.property(criteria, fc.integer({ min: 0, max: 40 }), (wanted, total) => {
      const needed = successesNeeded(wanted, total);
      for (let successful = 0; successful <= total; successful += 1) {
        const met = judgeCriteria(wanted, { total, successful }).every((verdict) => verdict.met);
        expect(met).toBe(needed !== null && successful >= needed);
      }
    }),
  );
});

// promise: 5.14
it('any set of dependencies with a cycle is refused and names all its members', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 4 }), (length, others) => {
      const ring = Array.from({ length }, (_, i) => ({
        name: `c${i}`,
        critical: true,
        selectors: [],
        depends_on: [`c${(i + 1) % length}`],
      }));
      const free = Array.from({ length: others }, (_, i) => ({
        name: `f${i}`,
        critical: true,
        selectors: [],
        depends_on: i ? [`f${i - 1}`] : [],
      }));
      const result = simulateStrategy({ strategy: { groups: [...free, ...ring] }, nodes: [] });
      expect(result).toEqual({ rejected: [`cycle among ${ring.map((group) => group.name).join(', ')}`] });
    }),
  );
});
