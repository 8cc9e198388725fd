import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  finishCall,
  finishNode,
  type NextCall,
  nextCall,
  startBaremetal,
  startNode,
} from '../../src/core/deployment/baremetal.ts';
import { judgeCriteria, successesNeeded } from '../../src/core/deployment/criteria.ts';
import type { GroupPlan } from '../../src/core/deployment/group-plan.ts';
import { planGroups } from '../../src/core/deployment/plan-groups.ts';
import type { BaremetalState } from '../../src/core/deployment/progress.ts';
import { deployRetried, endRetry, mayDeployRetried, startRetry } from '../../src/core/deployment/retry.ts';
import { type SimulatedOutcome, simulateStrategy } from '../../src/core/deployment/simulate.ts';
import type { DeploymentStrategy, SiteNode } from '../../src/core/deployment/strategy.ts';
import { illegalitiesOf } from '../rig/legal-deployment.ts';

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

it('the number of successes a group needs is exactly where its criteria become true', () => {
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

const SMALL = ['n0', 'n1', 'n2', 'n3'];

/** Up to four groups of few nodes, some in several of them. */
const smallGroups: fc.Arbitrary<GroupPlan[]> = fc
  .array(
    fc.record({
      nodes: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
      success_criteria: fc.constantFrom({}, { minimum_successful_nodes: 1 }, { percent_successful_nodes: 100 }),
      parents: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((groups) =>
    groups.map(({ parents, ...group }, index) => ({
      ...group,
      name: `g${index}`,
      critical: false,
      depends_on: index === 0 ? [] : [...new Set(parents.map((parent) => `g${parent % index}`))],
    })),
  );

it('nodes retried in parallel with calls of groups never run twice at a time, and each group is judged with them', () => {
  const done = (ok: boolean) =>
    ok ? ({ ok } as const) : ({ ok, failure: { kind: 'failed', message: 'as drawn' } } as const);
  fc.assert(
    fc.property(
      smallGroups,
      fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 60, maxLength: 60 }),
      (groups, draws) => {
        let state: BaremetalState = startBaremetal(groups, SMALL);
        let call: NextCall | null = null;
        const waiting = new Set<number>();
        const retried = new Set<number>();
        const settle = (node: number, ok: boolean): void => {
          const { retrying } = state.nodes[node]!;
          state = finishNode(state, node, retrying?.call ?? call!.call, done(ok), 0);
          if (retrying === undefined) return void waiting.delete(node);
          if (mayDeployRetried(state, node)) {
            // No group deploys before its prepared machines meet its criteria.
            expect(call?.call === 'prepare' && call.group === retrying.group).toBe(false);
            const judged = state.groups[retrying.group]!.verdicts.findLast((one) => one.call === 'prepare');
            expect(judged?.verdicts.every(({ met }) => met)).toBe(true);
            state = startNode(deployRetried(state, node), node, 0);
          } else {
            state = endRetry(state, node);
            retried.delete(node);
          }
        };
        const step = (pick: number, ok: boolean): boolean => {
          const members = call === null ? [] : state.groups[call.group]!.plan.nodes;
          const before = state.groups.map(({ verdicts }) => verdicts.length);
          if (call !== null && waiting.size === 0 && !members.some((node) => retried.has(node))) {
            state = finishCall(state, { kind: 'complete' }, 0);
            call = null;
          }
          // An operator may be quicker than the next call.
          if (call === null && ok) {
            const next = nextCall(state, 0);
            state = next.state;
            call = next.call;
            for (const [index, group] of state.groups.entries()) {
              if (group.verdicts.length === before[index]) continue;
              expect(group.plan.nodes.some((node) => retried.has(node))).toBe(false);
            }
            for (const node of call?.nodes ?? []) {
              expect(retried.has(node)).toBe(false);
              state = startNode(state, node, 0);
              waiting.add(node);
            }
          }
          const failed = state.nodes.flatMap(({ state: now, running }, node) =>
            now === 'failed' && !running ? [node] : [],
          );
          const busy = [...waiting, ...retried];
          const all = [...busy, ...failed];
          if (all.length === 0) return false;
          const node = all[pick % all.length]!;
          if (busy.includes(node)) settle(node, ok);
          else if (draws.length > 0) {
            state = startNode(startRetry(state, SMALL[node]!), node, 0);
            retried.add(node);
          } else return busy.length > 0;
          return true;
        };
        for (let draw = draws.pop(); draw !== undefined; draw = draws.pop()) step(...draw);
        // Running work ends; nothing else is retried.
        for (let left = 0; left < 200; left += 1) {
          for (const node of [...waiting, ...retried]) settle(node, true);
          if (!step(0, true) && call === null) break;
        }
        expect({ waiting: waiting.size, retried: retried.size, call }).toEqual({ waiting: 0, retried: 0, call: null });
        for (const group of state.groups) {
          const count = group.plan.nodes.filter((node) => state.nodes[node]!.state === 'success').length;
          const met = judgeCriteria(group.plan.success_criteria, { total: group.plan.nodes.length, successful: count });
          if (group.state === 'success') expect(met.every((verdict) => verdict.met)).toBe(true);
          expect(group.state).not.toBe('waiting');
        }
      },
    ),
    { numRuns: 400 },
  );
});
