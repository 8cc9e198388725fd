import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { optional, text, texts, variant, whole } from '../data/schema.ts';
import type { Diagnostic } from '../problems/diagnostic.ts';
import { pascalCase } from '../text/casing.ts';

/** The input of a run is invalid: nothing was started. */
export const invalidInput = variant('invalid-input', { problems: texts });
type InvalidInput = Wire<typeof invalidInput>;

/** Another run has the site or cluster, or the run has ended: this execution of it may change nothing. */
export const lostClaim = variant('claim-lost', { message: text });
type ClaimLost = Wire<typeof lostClaim>;

export const diagnostics: z.core.$ZodType<Diagnostic[]> = z.array(
  z.object({
    ...{ severity: z.enum(['error', 'warning', 'info']), code: text, message: text },
    ...optional({ hint: text, file: text, line: whole, column: whole, text, path: text }),
  }),
);

/** Something that the request names does not exist, or does not fit. The run has changed nothing. */
export const refusedRequest = variant('request-refused', {
  /** How the API and the command line report it. */
  code: z.enum(['invalid', 'not-found', 'conflict']),
  message: text,
  /** The next step. */
  hint: text,
  /** All findings, at most 100. */
  errors: diagnostics,
});
export type RequestRefused = Wire<typeof refusedRequest>;

const MAX_FINDINGS = 100;

/** A refusal for these findings, of which there is at least one. */
export const requestRefused = (code: RequestRefused['code'], findings: readonly Diagnostic[]): RequestRefused => ({
  kind: 'request-refused',
  code,
  message: [...new Set(findings.slice(0, MAX_FINDINGS).map(({ message }) => message))].join('; '),
  hint: findings.find(({ hint }) => hint !== undefined)?.hint ?? 'Correct the request.',
  errors: findings.slice(0, MAX_FINDINGS),
});

/** Type of the failure of a step whose run does not have its claim. */
export const CLAIM_LOST = 'ClaimLost';

/** Temporal's error of a failed activity or child workflow. */
export type StepError = { readonly type: string; readonly message: string };

/** A step that failed since the run does not have its claim. */
export const claimLost = ({ type, message }: StepError): ClaimLost | undefined =>
  type === CLAIM_LOST ? { kind: 'claim-lost', message } : undefined;

/** Failures that runs of every kind may have. `Step` is the field that names the step which failed for good. */
export type AnyRunFailure<Step extends string> =
  | InvalidInput
  | ClaimLost
  /** A setting is missing, or a service refuses for good. */
  | ({ readonly kind: 'step-failed' } & { readonly [field in Step]: string } & StepError);

/** Why the run failed, and the next step, for failures common to all kinds of runs. */
export function explainCommon(failure: InvalidInput | ClaimLost | RequestRefused): Explained {
  switch (failure.kind) {
    case 'invalid-input':
      return {
        reason: `the input is invalid: ${failure.problems.join('; ')}`,
        next_step: 'correct the named fields and start again',
      };
    case 'request-refused':
      return { reason: failure.message, next_step: failure.hint };
    case 'claim-lost':
      return {
        reason: failure.message,
        next_step:
          'check which run holds it, and start a new run: a run that has ended, or lost its claim to another run, cannot be reset',
      };
  }
}

/** The failure's type on the wire, e.g. `CriticalGroupFailed`. */
export const failureType = ({ kind }: { readonly kind: string }): string => pascalCase(kind);

/** Joins the first `shown` items and adds the number of the others. */
export function listSome(items: readonly string[], shown: number, separator: string): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(separator) + (more > 0 ? ` (and ${more} more)` : '');
}

/** A failure explained to the user: the reason and the next step. */
export interface Explained {
  readonly reason: string;
  readonly next_step: string;
}
