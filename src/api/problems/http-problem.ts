import type { ProblemBody } from '../../core/contracts/problem.ts';
import { given } from '../../core/data/given.ts';
import type { Refusal } from '../../core/problems/refusal.ts';
import { listSome } from '../../core/run/failure.ts';
import { withoutEnd } from '../../core/text/text.ts';
import { PROBLEM_CODES, type ProblemCode } from '../../ops/index.ts';

/** Refusals specific to HTTP. */
const HTTP_CODES = {
  unauthenticated: { status: 401, title: 'Authentication required' },
  forbidden: { status: 403, title: 'Forbidden' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-offered': { status: 410, title: 'Not supported by Sitewright' },
  timeout: { status: 408, title: 'Request timeout' },
  'too-large': { status: 413, title: 'Content too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'expectation-failed': { status: 417, title: 'Expectation failed' },
  busy: { status: 503, title: 'Too many requests in progress' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'Request header fields too large' },
} as const;

type HttpCode = keyof typeof HTTP_CODES;

/** A problem of a use case, or one of HTTP itself. */
export type HttpProblem = Refusal<ProblemCode | HttpCode>;

const describe = (code: ProblemCode | HttpCode): { readonly status: number; readonly title: string } =>
  code in HTTP_CODES ? HTTP_CODES[code as HttpCode] : PROBLEM_CODES[code as ProblemCode];

export const statusOf = (problem: HttpProblem): number => describe(problem.code).status;

/** The body of an answer with an error status: RFC 9457. */
export function problemBody(problem: HttpProblem, instance: string, requestId: string): ProblemBody {
  const { status, title } = describe(problem.code);
  const { code, message, hint, errors, run } = problem;
  return {
    type: `urn:sitewright:problem:${code}`,
    title,
    status,
    detail: message,
    instance,
    code,
    ...given({ hint }),
    errors: errors ?? [],
    ...given({ run }),
    request_id: requestId,
    message: wholeMessage(problem),
  };
}

/** Findings that one message lists. */
const MOST_FINDINGS = 10;

/** The problem, the findings that it does not name, and the next step: Fuel's clients print nothing else of an answer. */
function wholeMessage({ message, hint = '', errors = [] }: HttpProblem): string {
  const unnamed = errors.filter((one) => one.severity === 'error' && !message.includes(one.message));
  const findings = listSome([...new Set(unnamed.map((one) => one.message))], MOST_FINDINGS, '; ');
  const next = message.includes(withoutEnd(hint, '.')) ? '' : hint;
  return [message, findings, next]
    .filter((text) => text !== '')
    .map((text, at, all) => (at === all.length - 1 || /[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ');
}
