import type { core } from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping, printPath } from '../data/plain-value.ts';
import { checkFields, type FieldProblem } from '../data/schema.ts';

/** The input of a run, or all its problems. */
export type ParsedRunInput<Input> =
  | { readonly ok: true; readonly input: Input }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks the arguments of a workflow: exactly one JSON object of the given schema. Reports every bad field. */
export function parseRunInput<S extends core.$ZodType>(
  schema: S,
  args: readonly unknown[],
  example: string,
): ParsedRunInput<Wire<S>> {
  if (args.length !== 1 || !isMapping(args[0]))
    return { ok: false, problems: [`input must be one JSON object, e.g. ${example}`] };
  const result = checkFields(schema, args[0]);
  if (result.ok) return { ok: true, input: result.value };
  return { ok: false, problems: describeFields(result.problems) };
}

/** One sentence for each problem of a JSON object that a user sent. */
export const describeFields = (problems: readonly FieldProblem[]): string[] =>
  problems.map(({ kind, path, message, hint }) => {
    const field = `field '${printPath(path)}'`;
    if (kind === 'missing') return `missing ${field}`;
    if (path.length === 0) return message;
    if (kind === 'wrong') return `${field} ${message}`;
    return `unknown ${field} ${message}${hint === undefined ? '' : `. ${hint}`}`;
  });
