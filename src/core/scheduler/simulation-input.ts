import { given } from '../data/given.ts';
import { isMapping, kindOf, type Mapping, printPath } from '../data/plain-value.ts';
import { checkShape, type Shape, valueThat } from '../data/shape.ts';
import type { Diagnostic } from '../problems/diagnostic.ts';
import { GRAPH_RUN_MODES } from '../words.ts';
import type { NamedPlan } from './named-plan.ts';
import type { Simulation } from './simulate.ts';
import { amountOf } from './strategy.ts';
import { tolerated } from './tolerance.ts';

type ReadSimulation =
  | { readonly ok: true; readonly simulation: Simulation }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/**
 * Checks the shape of a simulation input. It does not resolve names: unknown names refuse the run later. Ignores unknown
 * fields (recorded cases have an `about`).
 */
export function readSimulation(value: unknown): ReadSimulation {
  const read = checkShape(simulation, value);
  if (read.ok) return { ok: true, simulation: normalised(read.value) };
  const problems = read.problems.map(({ path, message, hint }): Diagnostic => {
    const place = printPath(path);
    return {
      severity: 'error',
      code: 'simulation.bad-input',
      message,
      ...given({ hint }),
      ...(place === '' ? {} : { path: place }),
    };
  });
  return { ok: false, problems };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Null counts as absent. */
const optional = <T>(shape: Shape<T>): Shape<T> => ({
  problems: (value, path) => (isGiven(value) ? shape.problems(value, path) : []),
});

const mustBe = (wanted: string) => (value: unknown) => `must be ${wanted}, is ${kindOf(value)}`;
const mustBeValue = (wanted: string) => (value: unknown) =>
  `must be ${wanted}, is ${value === undefined ? 'missing' : JSON.stringify(value)}`;

const text = valueThat((value) => typeof value === 'string', mustBe('text'), 'Put it into double quotes.');
const flag = valueThat((value) => typeof value === 'boolean', mustBe('true or false'), 'Write true or false.');
const count = valueThat(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  mustBeValue('a whole number of 0 or more'),
  'Omit it for the default.',
);
/** Equals the same strategy on each task of the name: accepts text as there, and refuses negative amounts. */
const amount = valueThat(
  (value) => Number.isInteger(value) || typeof value === 'string',
  () => 'must be a whole number',
  'Use 0 for no limit.',
);
const edge = valueThat(
  (value) => Array.isArray(value) && value.length === 2 && value.every((end) => typeof end === 'string'),
  'an edge is a pair of tasks',
  'Write ["name@node", "name@node"].',
);
const word = (...words: readonly string[]) =>
  valueThat(
    (value) => words.some((one) => one === value),
    mustBeValue(`one of ${words.join(', ')}`),
    `Write "${words[0]}".`,
  );

const mapping = valueThat<Mapping>(isMapping, mustBe('an object'), 'Write {"…": …}.');

const fields = <T = Mapping>(shapes: { readonly [Key in keyof T]?: Shape<unknown> }): Shape<T> => ({
  problems: (value, path) =>
    isMapping(value)
      ? Object.entries<Shape<unknown> | undefined>(shapes).flatMap(
          ([name, shape]) => shape?.problems(value[name], [...path, name]) ?? [],
        )
      : mapping.problems(value, path),
});

const each = (item: Shape<unknown>): Shape<readonly unknown[]> => ({
  problems: (value, path) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => item.problems(one, [...path, index]))
      : [{ kind: 'wrong', path, message: mustBe('a list')(value), hint: 'Write […]; empty is [].' }],
});

const valuesOf = (item: Shape<unknown>): Shape<Mapping> => ({
  problems: (value, path) =>
    isMapping(value)
      ? Object.entries(value).flatMap(([name, one]) => item.problems(one, [...path, name]))
      : mapping.problems(value, path),
});

const texts = each(text);

const simulation = fields<Simulation>({
  id: text,
  nodes: each(fields({ id: text, kind: optional(word('node', 'sync')) })),
  tasks: each(
    fields({
      id: text,
      node: text,
      type: optional(text),
      fail_on_error: optional(flag),
      strategy: optional(mapping),
      retry: optional(fields({ count, interval: count })),
    }),
  ),
  edges: optional(each(edge)),
  joins: optional(each(fields({ before: texts, after: texts }))),
  limits: optional(fields({ max_nodes: optional(count), per_task: optional(valuesOf(amount)) })),
  fault_tolerance_groups: optional(each(fields({ name: text, node_ids: texts }))),
  subgraphs: optional(each(fields({ start: optional(texts), end: optional(texts) }))),
  outcomes: optional(valuesOf(word('fail', 'fail_at_start'))),
  offline: optional(texts),
  only: optional(texts),
  stop_after: optional(count),
  mode: optional(word(...GRAPH_RUN_MODES)),
});

/** Drops nulls, so that null means absent, and computes limits and tolerances. */
function normalised(input: Simulation): Simulation {
  // Waves take time, which a simulation does not have.
  const { rollouts: _, ...plan } = withoutNulls<Simulation & Pick<NamedPlan, 'rollouts'>>(input);
  const groups = plan.fault_tolerance_groups ?? [];
  const perTask = Object.entries(plan.limits?.per_task ?? {});
  return {
    ...plan,
    limits: {
      ...withoutNulls(plan.limits ?? {}),
      per_task: Object.fromEntries(perTask.map(([name, amount]) => [name, amountOf({ type: 'parallel', amount })])),
    },
    edges: plan.edges ?? [],
    tasks: plan.tasks.map((task) => withoutNulls(task)),
    fault_tolerance_groups: groups.map((group) => ({
      ...group,
      fault_tolerance: tolerated(group.fault_tolerance, group.node_ids.length),
    })),
  };
}

const withoutNulls = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value))) as T;
