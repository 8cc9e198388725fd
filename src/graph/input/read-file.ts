import type { Diagnostic } from '../../core/diagnostic.js';
import type { ValuePath } from '../../core/plain-value.js';
import type { PlanInput } from '../plan-graph.js';
import type { GraphProblem } from '../problem.js';
import { findInJson, readJsonText, type TextPlace } from './json-text.js';
import { readPlanInput } from './read-input.js';
import { readYamlText } from './yaml-text.js';

/** What a file holds, and where in its text. */
export interface GraphSource {
  readonly file: string;
  readonly value: unknown;
  /** What is odd about the text itself, e.g. a key that stands twice. */
  readonly warnings: readonly Diagnostic[];
  place(path: ValuePath): TextPlace | undefined;
}

export type ReadSource =
  | { readonly ok: true; readonly source: GraphSource }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads JSON or YAML: JSON when the text begins like it and the file is not called `.yaml` or `.yml`. */
export function readSource(text: string, file: string): ReadSource {
  const content = text.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(content) && !/\.ya?ml$/i.test(file)) return readJsonSource(content, file);
  const yaml = readYamlText(content, file);
  if (!yaml.ok) return yaml;
  return { ok: true, source: { file, value: yaml.value, warnings: yaml.warnings, place: yaml.place } };
}

function readJsonSource(content: string, file: string): ReadSource {
  const json = readJsonText(content);
  if (!json.ok) {
    const hint = 'Check the JSON there.';
    const message = `not valid JSON: ${json.message}`;
    return { ok: false, problems: [{ severity: 'error', code: 'graph.bad-json', message, hint, file, ...json.place }] };
  }
  const place = (path: ValuePath) => findInJson(content, path);
  return { ok: true, source: { file, value: json.value, warnings: [], place } };
}

export type ReadText =
  | {
      readonly ok: true;
      readonly input: PlanInput;
      readonly problems: readonly Diagnostic[];
      readonly source: GraphSource;
    }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads an input from the text of a JSON or YAML file; problems carry file, line and column. */
export function readPlanText(text: string, file: string): ReadText {
  const read = readSource(text, file);
  if (!read.ok) return read;
  const { source } = read;
  const input = readPlanInput(source.value);
  const problems = [...source.warnings, ...placeInSource(input.problems, source)];
  return input.ok ? { ok: true, input: input.input, problems, source } : { ok: false, problems };
}

/** Adds to problems where in the text they are. */
export function placeInSource(problems: readonly GraphProblem[], source: GraphSource): Diagnostic[] {
  return problems.map(({ at, ...problem }) => ({ ...problem, file: source.file, ...source.place(at) }));
}
