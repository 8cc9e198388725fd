import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { withoutPasswords } from '../../core/text/secrets.ts';
import { asProblem } from '../../ops/index.ts';
import { type HttpProblem, problemBody, statusOf } from './http-problem.ts';
import { transportProblem } from './transport-problem.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** Answers with a problem. Nothing is checked on the way: an error must get out. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): FastifyReply {
  const status = statusOf(problem);
  // A proxy or client may retry temporary failures by itself.
  if (status === 503) void reply.header('retry-after', '5');
  // Nothing more of a body that is too large is read.
  if (status === 413) void reply.header('connection', 'close');
  return (
    reply
      .code(status)
      // Errors of the router come before the hook that does this for all others.
      .header('x-request-id', request.id)
      .type(PROBLEM_TYPE)
      .send(withoutPasswords(JSON.stringify(problemBody(problem, pathOf(request.url), request.id))))
  );
}

/**
 * The one error handler. Refusals of use cases keep their words; those of the transport get ours; unexpected
 * errors are logged in full and answered without internals.
 */
export function answerProblem(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = transportProblem(error, request) ?? asProblem(error);
  if (problem.code === 'unexpected') {
    request.log.error(
      { err: error, url: shortAddress(request.url), method: request.method },
      'a request failed unexpectedly',
    );
    return sendProblem(request, reply, {
      code: 'unexpected',
      message: `internal error; see the log of the API, request ${request.id}`,
      hint: 'This is a defect: please report it with those lines of the log.',
    });
  }
  if (statusOf(problem) >= 500)
    request.log.warn({ code: problem.code, url: shortAddress(request.url) }, problem.message);
  return sendProblem(request, reply, problem);
}

/** The path alone: a query may hold anything. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/';

const LONGEST = 1_000;

/** An address as logs show it: whoever asks chooses its length. */
export const shortAddress = (url: string): string => (url.length <= LONGEST ? url : `${url.slice(0, LONGEST)}…`);
