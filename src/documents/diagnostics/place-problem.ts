import { printPath, type ValuePath, valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { isSecretKey, namesSecret } from '../../core/text/secrets.ts';
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
  const own = document.origin?.([]).yaml ?? document;
  const from = document.origin?.(path).yaml ?? document;
  const { file } = from.source;
  return {
    severity,
    code,
    message: from === own ? message : `${message} (${inheritance(own, from)})`,
    ...(hint !== undefined && { hint }),
    ...(file !== undefined && { file }),
    line,
    column,
    ...(text !== '' && !isSecretPlace(path, text) && { text }),
    ...(path.length > 0 && { path: printPath(path) }),
  };
}

const isSecretPlace = (path: ValuePath, text: string): boolean =>
  namesSecret(text) || path.some((step) => typeof step === 'string' && isSecretKey(step));

/** Of a value that layering or a substitution has put there: the document that has it, and the one that it comes from. */
function inheritance(document: YamlDocument, from: YamlDocument): string {
  const { name } = headOf(document);
  const source = headOf(from);
  const given = `from ${source.schema} '${source.name}'${source.layer === undefined ? '' : ` of layer ${source.layer}`}`;
  return source.name === name && source.schema === headOf(document).schema ? given : `in '${name}', ${given}`;
}

function headOf({ value }: YamlDocument): { readonly schema: string; readonly name: string; readonly layer?: string } {
  const layer = valueAt(value, ['metadata', 'layeringDefinition', 'layer']);
  return {
    schema: String(valueAt(value, ['schema'])),
    name: String(valueAt(value, ['metadata', 'name'])),
    ...(typeof layer === 'string' && { layer }),
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
