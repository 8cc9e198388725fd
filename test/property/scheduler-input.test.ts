import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Simulation } from '../../src/core/scheduler/simulate.ts';
import { simulate } from '../../src/core/scheduler/simulate.ts';
import { readSimulation } from '../../src/core/scheduler/simulation-input.ts';
import { certainEnds } from '../unit/scheduler/certain-ends.ts';
import { Model, observed, violations } from '../unit/scheduler/invariants.ts';
import { type RawInput, randomInputs } from '../unit/scheduler/random-inputs.ts';

/** Number of cases; many more to look for trouble (SIMULATED_CASES=20000). */
const numRuns = Number(process.env.SIMULATED_CASES ?? 250);
const PATIENCE_MS = Math.max(60_000, numRuns * 50);

/** As a line of a file: through JSON, and through the checks of `graph simulate`. */
function read(input: RawInput): Simulation {
  const answer = readSimulation(JSON.parse(JSON.stringify(input)));
  if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
  return answer.simulation;
}

/** Why the plan must be refused, by plain definitions, in the order in which the reference looks; undefined: it runs. */
function refusal(plan: Simulation): string | undefined {
  if (plan.nodes.length === 0) return 'empty_graph';
  const ids = plan.nodes.map(({ id }) => id);
  const keys = plan.tasks.map(({ id, node }) => `${id}@${node}`);
  if (new Set(keys).size < keys.length) return 'bad_reference';
  if (plan.edges.flat().some((key) => !keys.includes(key))) return 'bad_reference';
  const groups = plan.fault_tolerance_groups ?? [];
  const isCritical = (id: string): boolean => {
    const own = groups.filter(({ node_ids }) => node_ids.includes(id));
    const isSync = plan.nodes.find((node) => node.id === id)!.kind === 'sync';
    return own.length === 0 ? !isSync : own.some(({ fault_tolerance }) => fault_tolerance === 0);
  };
  if (plan.offline?.some((id) => ids.includes(id) && isCritical(id))) return 'offline_critical';
  const perTask = plan.limits?.per_task ?? {};
  const isNegative = ({ id, strategy }: Simulation['tasks'][number]): boolean =>
    Object.hasOwn(perTask, id)
      ? perTask[id]! < 0
      : strategy?.type === 'parallel' && Number.parseInt(String(strategy.amount), 10) < 0;
  if (plan.tasks.some(isNegative)) return 'bad_strategy';
  const left = new Set(keys);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const key of left) {
      if (!plan.edges.some(([from, to]) => to === key && from !== key && left.has(from))) left.delete(key);
    }
  }
  if (left.size > 0) return 'cycle';
  const names = (plan.subgraphs ?? []).flatMap(({ start = [], end = [] }) => [...start, ...end]);
  const isMet = (entry: string): boolean => {
    const [name, nodes = ''] = entry.split('/');
    const wanted = nodes.split(',').flatMap((part) => {
      const [low, high] = part.split('-').map(Number) as [number, number | undefined];
      return high === undefined ? [part] : ids.filter((id) => low <= Number(id) && Number(id) <= high);
    });
    return plan.tasks.some(({ id, node }) => id === name && (nodes === '' || wanted.includes(node)));
  };
  return names.every(isMet) ? undefined : 'bad_subgraph';
}

describe('graph simulate, for lines as anybody may write them', () => {
  it(
    'refuses an impossible run with its reason, and keeps every invariant of a possible one',
    () => {
      fc.assert(
        fc.property(randomInputs(), (input) => {
          const plan = read(input);
          const run = simulate(plan);
          const why = refusal(plan);
          expect(run.reason).toBe(why);
          if (why === undefined) expect(violations(plan, observed(plan, run))).toEqual([]);
          else expect(run).toMatchObject({ result: 'refused', tasks: {}, nodes: {}, trace: [] });
        }),
        { numRuns },
      );
    },
    PATIENCE_MS,
  );

  it('is exercised with every kind of end', () => {
    const ends = fc.sample(randomInputs(), { numRuns: 1_000, seed: 6 }).map((input) => {
      const { reason, why, result } = simulate(read(input));
      return reason ?? why ?? result;
    });
    expect([...new Set(ends)].sort()).toEqual([
      'bad_reference',
      'bad_strategy',
      'bad_subgraph',
      'critical',
      'cycle',
      'empty_graph',
      'offline_critical',
      'stopped',
      'success',
      'tolerance',
    ]);
  });

  it(
    'weighs tasks by every path, beyond the range of numbers',
    () => {
      fc.assert(
        fc.property(randomInputs({ sound: true }), (input) => {
          const plan = read(input);
          const model = new Model(plan);
          const { weights } = simulate(plan);
          expect(Object.keys(weights)).toHaveLength(plan.tasks.length);
          for (const [task, weight] of Object.entries(weights)) expect(weight).toBe(String(model.weight(task)));
        }),
        { numRuns },
      );
    },
    PATIENCE_MS,
  );

  it(
    'ends as expected where nothing depends on timing',
    () => {
      fc.assert(
        fc.property(randomInputs({ sound: true, unstoppable: true }), (input) => {
          const plan = read(input);
          const run = simulate(plan);
          expect(run.result).toBe('success');
          for (const [task, end] of certainEnds(plan)) expect([task, run.tasks[task]]).toEqual([task, end]);
        }),
        { numRuns },
      );
    },
    PATIENCE_MS,
  );
});
