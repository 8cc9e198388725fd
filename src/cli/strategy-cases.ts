import {
  type SimulatedOutcome,
  type SimulationInput,
  type SimulationResult,
  type SiteNode,
  simulateStrategy,
} from '../core/deployment/index.js';
import { isMapping } from '../core/plain-value.js';
import { parseStrategyData } from '../documents/parse-strategy-data.js';

/** One line that `strategy simulate` prints. */
export type SimulatedCase = { readonly id: string | number | null } & SimulationResult;

export interface SimulatedCases {
  /** In the order of the input, one for every case, refused or not. */
  readonly results: readonly SimulatedCase[];
  /** Number of lines that are not JSON; `results` has them as rejected. */
  readonly unreadable: number;
}

const STEPS = ['prepare', 'deploy'] as const;
const OUTCOMES: readonly SimulatedOutcome[] = ['success', 'failure', 'timeout', 'no_join'];

/**
 * Runs every case of a text: one JSON object (over any number of lines), a JSON list of cases, or JSON
 * Lines. An invalid case is rejected with all reasons; the others run.
 */
export function simulateCases(text: string): SimulatedCases {
  const whole = parseJson(text.replace(/^\uFEFF/, ''));
  if (whole.ok) {
    const cases = Array.isArray(whole.value) ? whole.value : [whole.value];
    return { results: cases.map(simulateCase), unreadable: 0 };
  }
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const read = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    return [{ number: index + 1, parsed: parseJson(line) }];
  });
  // No line is JSON: treat the text as one case and report its error.
  if (!read.some(({ parsed }) => parsed.ok)) {
    const reason = read.length === 0 ? 'there is no case in the input' : `not JSON: ${whole.problem}`;
    return { results: [{ id: null, rejected: [reason] }], unreadable: 1 };
  }
  const results = read.map(({ number, parsed }): SimulatedCase => {
    return parsed.ok
      ? simulateCase(parsed.value)
      : { id: null, rejected: [`line ${number} is not JSON: ${parsed.problem}`] };
  });
  return { results, unreadable: read.filter(({ parsed }) => !parsed.ok).length };
}

/** Runs one case: `{id, input: {strategy, nodes, outcomes?, target_nodes?}}`. Never throws for invalid input. */
export function simulateCase(raw: unknown): SimulatedCase {
  if (!isMapping(raw)) return { id: null, rejected: ['a case must be a JSON object with id and input'] };
  const id = typeof raw.id === 'string' || typeof raw.id === 'number' ? raw.id : null;
  // Other fields of a case (title, expected …) are ignored; without `input`, its fields are expected here.
  const input = Object.hasOwn(raw, 'input') ? raw.input : raw;
  if (!isMapping(input)) return { id, rejected: ['input must be a JSON object with strategy and nodes'] };
  const reasons: string[] = [];
  const checked = readInput(input, (reason) => reasons.push(reason));
  return reasons.length > 0 ? { id, rejected: reasons } : { id, ...simulateStrategy(checked) };
}

type Report = (reason: string) => void;

function readInput(input: Record<string, unknown>, report: Report): SimulationInput {
  const nodes = readNodes(input.nodes, report);
  const outcomes = readOutcomes(input.outcomes, report);
  const targets = input.target_nodes ?? undefined;
  if (targets !== undefined && !isTexts(targets)) report('target_nodes must be a list of node names');
  return {
    strategy: readStrategy(input.strategy, report),
    nodes,
    outcomes,
    ...(isTexts(targets) ? { target_nodes: targets } : {}),
  };
}

function readStrategy(data: unknown, report: Report): SimulationInput['strategy'] {
  if (data === null || data === undefined) return null;
  const parsed = parseStrategyData(data);
  if (parsed.ok) return parsed.strategy;
  for (const { message } of parsed.problems) report(`strategy: ${message}`);
  return null;
}

/** Rack, tags and labels may be missing: such a node matches only by name. */
function readNodes(raw: unknown, report: Report): SiteNode[] {
  if (!Array.isArray(raw)) {
    report(raw === undefined ? 'nodes is missing: a list of nodes' : 'nodes must be a list');
    return [];
  }
  const seen = new Set<string>();
  return raw.flatMap((node: unknown, index): SiteNode[] => {
    const at = `nodes[${index}]`;
    if (!isMapping(node)) {
      report(`${at} must be an object with name, rack, tags and labels`);
      return [];
    }
    const { name, rack = null, tags, labels } = node;
    if (typeof name !== 'string' || name === '') {
      report(`${at}.name must be non-empty text`);
      return [];
    }
    if (seen.has(name)) report(`${at}.name: node ${name} is in the list twice`);
    seen.add(name);
    if (rack !== null && typeof rack !== 'string') report(`${at}.rack must be a text or null`);
    if (tags !== null && tags !== undefined && !isTexts(tags)) report(`${at}.tags must be a list of texts`);
    return [
      {
        name,
        rack: typeof rack === 'string' ? rack : null,
        tags: isTexts(tags) ? tags : [],
        labels: readLabels(labels, `${at}.labels`, report),
      },
    ];
  });
}

function readLabels(raw: unknown, at: string, report: Report): Record<string, string> {
  if (raw === null || raw === undefined) return {};
  if (!isMapping(raw)) {
    report(`${at} must be an object of texts`);
    return {};
  }
  const entries = Object.entries(raw).flatMap(([key, value]): [string, string][] => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return [[key, String(value)]];
    report(`${at}.${key} must be a text`);
    return [];
  });
  return Object.fromEntries(entries);
}

function readOutcomes(raw: unknown, report: Report): NonNullable<SimulationInput['outcomes']> {
  if (raw === null || raw === undefined) return {};
  if (!isMapping(raw)) {
    report('outcomes must be an object: node name to {prepare, deploy}');
    return {};
  }
  const entries = Object.entries(raw).map(([node, steps]) => {
    const at = `outcomes.${node}`;
    if (!isMapping(steps)) {
      report(`${at} must be an object with prepare and deploy`);
      return [node, {}] as const;
    }
    const read: Record<string, SimulatedOutcome> = {};
    for (const [step, outcome] of Object.entries(steps)) {
      if (outcome === null) continue;
      if (!STEPS.some((known) => known === step)) report(`${at}.${step}: a step is one of ${STEPS.join(', ')}`);
      else if (!OUTCOMES.some((known) => known === outcome))
        report(`${at}.${step}: an outcome is one of ${OUTCOMES.join(', ')}`);
      else read[step] = outcome as SimulatedOutcome;
    }
    return [node, read] as const;
  });
  return Object.fromEntries(entries);
}

type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
