import type { ProblemBody } from '../../core/contracts/index.ts';
import type { Refusal } from '../../core/problem-error.ts';
import { PROBLEM_CODES, type ProblemCode } from '../../ops/index.ts';

/** What only a shell that speaks HTTP can refuse with. */
const HTTP_CODES = {
  unauthenticated: { status: 401, title: 'A token is needed' },
  forbidden: { status: 403, title: 'Not allowed' },
  'method-not-allowed': { status: 405, title: 'The path does not know this method' },
  'not-offered': { status: 410, title: 'Sitewright does not have this' },
  timeout: { status: 408, title: 'The request took too long to arrive' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'The type of the body is not understood' },
  'expectation-failed': { status: 417, title: 'The request expects what this service does not do' },
  busy: { status: 503, title: 'Too much of this is under way' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
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
    ...(hint === undefined ? {} : { hint }),
    errors: errors ?? [],
    ...(run === undefined ? {} : { run }),
    request_id: requestId,
    message,
  };
}
