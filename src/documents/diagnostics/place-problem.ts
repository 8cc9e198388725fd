import { printPath, type ValuePath } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { YamlDocument } from '../yaml-document.ts';

import type { SchemaProblem } from './schema-problems.ts';

/** A finding about a document, not yet placed. */
export interface Finding {
  readonly severity?: Diagnostic['severity'];
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly path: ValuePath;
  readonly part?: 'key' | 'value';
}

/** Turns a finding about a document into a diagnostic with file, line, column and the offending text. */
export function placeProblem(document: YamlDocument, finding: Finding): Diagnostic {
  const { severity = 'error', code, message, hint, path, part = 'value' } = finding;
  const { line, column, text } = document.place(path, part);
  const { file } = document.source;
  return {
    severity,
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(file !== undefined && { file }),
    line,
    column,
    ...(text !== '' && { text }),
    ...(path.length > 0 && { path: printPath(path) }),
  };
}

/** Places a schema problem, and points out values that YAML reads differently from how they are written. */
export function placeSchemaProblem(document: YamlDocument, problem: SchemaProblem): Diagnostic {
  const placed = placeProblem(document, problem);
  const misread =
    (typeof problem.found === 'boolean' || typeof problem.found === 'number') &&
    placed.text !== undefined &&
    placed.text !== String(problem.found) &&
    problem.kind === 'wrong-type';
  if (!misread) return placed;
  return {
    ...placed,
    hint: `YAML reads ${placed.text} as ${String(problem.found)}: put it in quotes if you mean text.`,
  };
}
