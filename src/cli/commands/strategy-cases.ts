import { z } from 'zod';
import { isMapping } from '../../core/data/plain-value.ts';
import {
  SIMULATED_OUTCOMES,
  type SimulationInput,
  type SimulationResult,
  simulateStrategy,
} from '../../core/deployment/simulate.ts';
import { checkSchema, DOCUMENT_WORDS, type SchemaWords } from '../../documents/diagnostics/schema-problems.ts';
import { parseStrategyData } from '../../documents/parse-strategy-data.ts';
import { readJsonCases } from '../shell/json-cases.ts';

/** One line that `strategy simulate` prints. */
type SimulatedCase = { readonly id: string | number | null } & SimulationResult;

interface SimulatedCases {
  /** In the order of the input, one for every case, refused or not. */
  readonly results: readonly SimulatedCase[];
  /** Number of lines that are not JSON; `results` has them as rejected. */
  readonly unreadable: number;
}

const outcome = z.enum(SIMULATED_OUTCOMES).nullish();

/** Rack, tags and labels may be missing: such a node matches only by name. */
const node = z.object({
  name: z.string().min(1),
  rack: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  labels: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
});

const caseInput = z.object({
  nodes: z.array(node),
  outcomes: z.record(z.string(), z.strictObject({ prepare: outcome, deploy: outcome })).nullish(),
  target_nodes: z.array(z.string()).nullish(),
});

const JSON_WORDS: SchemaWords = { ...DOCUMENT_WORDS, mapping: 'an object', empty: 'null', yamlHints: false };

/**
 * Runs every case of a text: one JSON object (over any number of lines), a JSON list of cases, or JSON
 * Lines. An invalid case is rejected with all reasons; the others run.
 */
export function simulateCases(text: string): SimulatedCases {
  if (text.trim() === '')
    return { results: [{ id: null, rejected: ['there is no case in the input'] }], unreadable: 1 };
  const cases = readJsonCases(text);
  const results = cases.map((one): SimulatedCase => {
    if (one.ok) return simulateCase(one.value);
    return { id: null, rejected: [`line ${one.line} is not JSON: column ${one.column}: ${one.message}`] };
  });
  return { results, unreadable: cases.filter(({ ok }) => !ok).length };
}

/** Runs one case: `{id, input: {strategy, nodes, outcomes?, target_nodes?}}`. Never throws for invalid input. */
export function simulateCase(raw: unknown): SimulatedCase {
  if (!isMapping(raw)) return { id: null, rejected: ['a case must be a JSON object with id and input'] };
  const id = typeof raw.id === 'string' || typeof raw.id === 'number' ? raw.id : null;
  // Other fields of a case (title, expected …) are ignored; without `input`, its fields are expected here.
  const input = Object.hasOwn(raw, 'input') ? raw.input : raw;
  const checked = checkSchema(caseInput, input, { words: JSON_WORDS });
  const data = isMapping(input) ? (input.strategy ?? null) : null;
  const strategy = data === null ? undefined : parseStrategyData(data);
  const reasons = [
    ...(checked.ok ? [] : checked.problems.map(({ message }) => message)),
    ...namedTwice(input).map((name) => `nodes: '${name}' is in the list twice`),
    ...(strategy?.ok === false ? strategy.problems.map(({ message }) => `strategy: ${message}`) : []),
  ];
  if (!checked.ok || strategy?.ok === false || reasons.length > 0) return { id, rejected: reasons };
  return { id, ...simulateStrategy({ strategy: strategy?.strategy ?? null, ...simulation(checked.value) }) };
}

/** A schema looks for them only in a list that is valid otherwise. */
function namedTwice(input: unknown): string[] {
  const nodes: readonly unknown[] = isMapping(input) && Array.isArray(input.nodes) ? input.nodes : [];
  const names = nodes.flatMap((one) => (isMapping(one) && typeof one.name === 'string' ? [one.name] : []));
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.size === seen.add(name).size))];
}

/** Null counts as absent. */
function simulation({ nodes, outcomes, target_nodes }: z.output<typeof caseInput>): Omit<SimulationInput, 'strategy'> {
  return {
    nodes: nodes.map(({ name, rack, tags, labels }) => ({
      name,
      rack: rack ?? null,
      tags: tags ?? [],
      labels: mapValues(labels ?? {}, String),
    })),
    outcomes: mapValues(outcomes ?? {}, ({ prepare, deploy }) => ({
      ...(prepare ? { prepare } : {}),
      ...(deploy ? { deploy } : {}),
    })),
    ...(target_nodes ? { target_nodes } : {}),
  };
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
