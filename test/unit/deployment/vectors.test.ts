import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planGroups } from '../../../src/core/deployment/plan-groups.ts';
import { type SimulationInput, simulateStrategy } from '../../../src/core/deployment/simulate.ts';
import { parseStrategyData } from '../../../src/documents/index.ts';
import { illegalitiesOf } from '../../rig/legal-deployment.ts';

interface Vector {
  id: string;
  input: SimulationInput;
  expected: Record<string, unknown> & { rejected?: string; order?: string[] };
  expected_group_nodes?: Record<string, string[]>;
  order_dependent?: boolean;
  allowed_finals?: Record<string, unknown>[];
}

const folder = new URL('../../data/shipyard/vectors/', import.meta.url);
const vectors = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Vector);

/** The steps of the simulator command: shape first (documents), then meaning (core). */
function simulate(input: SimulationInput) {
  if (input.strategy === null) return simulateStrategy(input);
  const parsed = parseStrategyData(input.strategy);
  if (!parsed.ok) return { rejected: parsed.problems.map((problem) => problem.message) };
  return simulateStrategy({ ...input, strategy: parsed.strategy });
}

it('all recorded cases are present', () => expect(vectors.length).toBe(31));

describe.each(vectors.map((vector) => [vector.id, vector] as const))('%s', (_id, vector) => {
  const result = simulate(vector.input);

  if (vector.expected.rejected !== undefined) {
    it('is refused with a reason', () => {
      expect(result).toHaveProperty('rejected');
      expect('rejected' in result && result.rejected.length).toBeGreaterThan(0);
    });
    return;
  }
  if ('rejected' in result) throw new Error(`${vector.id}: ${result.rejected.join('; ')}`);

  it('gives the expected final stages', () => {
    const { processed, groups, nodes, halts } = result;
    const finals = vector.order_dependent ? vector.allowed_finals! : [vector.expected];
    expect(finals).toContainEqual(expect.objectContaining({ groups, nodes, halts }));
    expect([...processed].sort()).toEqual([...(vector.expected.processed as string[])].sort());
  });

  it('makes only calls the rules allow, in a legal order', () => {
    const groupNodes = vector.expected_group_nodes!;
    expect(illegalitiesOf(vector.input, groupNodes, result)).toEqual([]);
  });

  it('selects the expected nodes', () => {
    if (vector.input.target_nodes || vector.input.strategy === null) return;
    const plans = planGroups(vector.input.strategy, vector.input.nodes);
    const selected = Object.fromEntries(
      plans.map((plan) => [plan.name, plan.nodes.map((index) => vector.input.nodes[index]!.name).sort()]),
    );
    const expected = Object.fromEntries(
      Object.entries(vector.expected_group_nodes!).map(([name, nodes]) => [name, [...nodes].sort()]),
    );
    expect(selected).toEqual(expected);
  });
});
