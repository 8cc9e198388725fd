import { given } from '../../core/data/given.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { problem } from '../problem.ts';
import { sameJson } from './json-object.ts';

/** @throws `invalid` with all findings, if there are any */
export function refuseIfAny(errors: readonly Diagnostic[]): void {
  if (errors.length === 0) return;
  const hint = errors.find((one) => one.hint !== undefined)?.hint;
  throw problem('invalid', errors.map((one) => one.message).join('; '), {
    errors,
    ...given({ hint }),
  });
}

export const finding = (code: string, path: string, message: string, hint: string): Diagnostic => ({
  severity: 'error',
  code,
  message,
  hint,
  path,
});

/**
 * Read-only fields may be sent back unchanged. Other values are refused, because ignoring them would look like a
 * change.
 */
export function unchangeable(
  sent: Readonly<Record<string, unknown>>,
  shown: Readonly<Record<string, unknown>>,
  fields: readonly string[],
  at = 'body',
): readonly Diagnostic[] {
  return fields
    .filter((field) => sent[field] !== undefined && !sameJson(sent[field], shown[field]))
    .map((field) =>
      finding(
        'request.read-only',
        `${at}.${field}`,
        `${field} cannot be changed here`,
        `It is ${JSON.stringify(shown[field] ?? null).slice(0, 80)}: keep this value, or omit the field.`,
      ),
    );
}
