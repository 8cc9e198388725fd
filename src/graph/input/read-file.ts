import type { Diagnostic } from '../../core/diagnostic.js';
import type { PlanInput } from '../plan-graph.js';
import type { GraphProblem } from '../problem.js';
import { findInJson, readJsonText } from './json-text.js';
import { readPlanInput } from './read-input.js';

export type ReadText =
  | { readonly ok: true; readonly input: PlanInput; readonly problems: readonly Diagnostic[] }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads an input from the text of a JSON file; problems carry file, line and column. */
export function readPlanText(text: string, file: string): ReadText {
  const content = text.replace(/^\uFEFF/, '');
  const json = readJsonText(content);
  if (!json.ok) {
    const hint = 'Check the JSON there.';
    const message = `not valid JSON: ${json.message}`;
    return { ok: false, problems: [{ severity: 'error', code: 'graph.bad-json', message, hint, file, ...json.place }] };
  }
  const read = readPlanInput(json.value);
  const problems = placeInText(read.problems, content, file);
  return read.ok ? { ok: true, input: read.input, problems } : { ok: false, problems };
}

/** Adds to problems where in the text of a JSON file they are. */
export function placeInText(problems: readonly GraphProblem[], text: string, file: string): Diagnostic[] {
  return problems.map(({ at, ...problem }) => ({ ...problem, file, ...findInJson(text.replace(/^\uFEFF/, ''), at) }));
}
