import * as z from 'zod/mini';
import { given } from '../data/given.ts';
import { isMapping, kindOf, printPath } from '../data/plain-value.ts';
import { checkFields, valueThat } from '../data/schema.ts';
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
  const read = checkFields(simulation, value);
  // As it was sent: its other fields are those of cases.
  if (read.ok) return { ok: true, simulation: normalised(value as Simulation) };
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

const mustBe = (wanted: string) => (value: unknown) => `must be ${wanted}, is ${kindOf(value)}`;
const mustBeValue = (wanted: string) => (value: unknown) =>
  `must be ${wanted}, is ${value === undefined ? 'missing' : JSON.stringify(value)}`;
const worded = (message: (value: unknown) => string, hint: string) => ({
  error: ({ input }: { readonly input?: unknown }) => ({ message: message(input), hint }),
});

const text = z.string(worded(mustBe('text'), 'Put it into double quotes.'));
const flag = z.boolean(worded(mustBe('true or false'), 'Write true or false.'));
const count = valueThat<number>(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  mustBeValue('a whole number of 0 or more'),
  'Omit it for the default.',
);
/** Equals the same strategy on each task of the name: accepts text as there, and refuses negative amounts. */
const amount = valueThat(
  (value) => Number.isInteger(value) || typeof value === 'string',
  'must be a whole number',
  'Use 0 for no limit.',
);
const edge = valueThat(
  (value) => Array.isArray(value) && value.length === 2 && value.every((end) => typeof end === 'string'),
  'an edge is a pair of tasks',
  'Write ["name@node", "name@node"].',
);
const word = (...words: readonly string[]) =>
  z.enum(words, worded(mustBeValue(`one of ${words.join(', ')}`), `Write "${words[0]}".`));

const anObject = worded(mustBe('an object'), 'Write {"…": …}.');
const mapping = valueThat(isMapping, mustBe('an object'), 'Write {"…": …}.');
const fields = <F extends z.core.$ZodShape>(shape: F) => z.object(shape, anObject);
const each = <S extends z.core.$ZodType>(item: S) => z.array(item, worded(mustBe('a list'), 'Write […]; empty is [].'));
const valuesOf = <S extends z.core.$ZodType>(item: S) => z.record(z.string(), item, anObject);

const texts = each(text);

/** Null counts as absent. */
const simulation = fields({
  id: text,
  nodes: each(fields({ id: text, kind: z.nullish(word('node', 'sync')) })),
  tasks: each(
    fields({
      id: text,
      node: text,
      type: z.nullish(text),
      fail_on_error: z.nullish(flag),
      strategy: z.nullish(mapping),
      retry: z.nullish(fields({ count, interval: count })),
    }),
  ),
  edges: z.nullish(each(edge)),
  joins: z.nullish(each(fields({ before: texts, after: texts }))),
  limits: z.nullish(fields({ max_nodes: z.nullish(count), per_task: z.nullish(valuesOf(amount)) })),
  fault_tolerance_groups: z.nullish(each(fields({ name: text, node_ids: texts }))),
  subgraphs: z.nullish(each(fields({ start: z.nullish(texts), end: z.nullish(texts) }))),
  outcomes: z.nullish(valuesOf(word('fail', 'fail_at_start'))),
  offline: z.nullish(texts),
  only: z.nullish(texts),
  stop_after: z.nullish(count),
  mode: z.nullish(word(...GRAPH_RUN_MODES)),
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
