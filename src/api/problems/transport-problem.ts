import type { FastifyError, FastifyRequest } from 'fastify';
import { given } from '../../core/data/given.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { RefusalError } from '../../core/problems/refusal.ts';
import type { HttpProblem } from './http-problem.ts';

/** Thrown while requests are read (parsers, validators, hooks), before any use case starts. */
export class RequestError extends RefusalError<HttpProblem['code']> {
  override readonly name = 'RequestError';
}

/** Carries the findings of one part of a request through Fastify's validation. */
export class InvalidPart extends Error {
  override readonly name = 'InvalidPart';
  readonly errors: readonly Diagnostic[];

  constructor(errors: readonly Diagnostic[]) {
    super(errors.map((error) => error.message).join('; '));
    this.errors = errors;
  }
}

/** Refusals of Fastify and our readers, in our words. Undefined: the error comes from further in. */
export function transportProblem(error: FastifyError, request: FastifyRequest): HttpProblem | undefined {
  if (error instanceof RequestError) return error.problem;
  if (error instanceof InvalidPart) {
    const hint = error.errors.find((one) => one.hint !== undefined)?.hint;
    return { code: 'invalid', message: error.message, errors: error.errors, ...given({ hint }) };
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        code: 'too-large',
        message: `the body is larger than ${readableBytes(request.routeOptions.bodyLimit ?? 0)}`,
        hint: 'Split the request.',
      };
    case 'FST_ERR_HANDLER_TIMEOUT':
      return {
        code: 'busy',
        message: 'the request exceeded its time limit',
        hint: 'Request less data, or try again later.',
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return {
        code: 'unsupported-media-type',
        message: `a body of type '${request.headers['content-type'] ?? 'unknown'}' is not supported`,
        hint: 'Send JSON, with the header Content-Type: application/json.',
      };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('the length of the body differs from the header Content-Length', 'Send the whole body.');
    case 'FST_ERR_BAD_URL':
      return invalid(
        `the path ${JSON.stringify(request.url.slice(0, 200))} is not well formed`,
        'Write special characters as % and two hexadecimal digits, of UTF-8.',
      );
    default:
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
        return invalid(error.message, 'Correct the request.');
      return undefined;
  }
}

const invalid = (message: string, hint: string): HttpProblem => ({ code: 'invalid', message, hint });

export const readableBytes = (bytes: number): string =>
  bytes >= 1_048_576 ? `${Math.round(bytes / 1_048_576)} MiB` : `${Math.round(bytes / 1024)} KiB`;
