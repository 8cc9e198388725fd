import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_TYPE } from './answer-problem.ts';
import { type HttpProblem, problemBody } from './http-problem.ts';

/** Answers input that is not an HTTP request: there is no request object, only the connection. */
export function answerBrokenRequests(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = brokenRequest(error.code);
  const body = JSON.stringify(problemBody(problem, '', randomUUID()));
  const { status } = JSON.parse(body) as { status: number };
  socket.end(
    [
      `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}`,
      `Content-Type: ${PROBLEM_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Answers a request with a header `Expect` other than `100-continue`, which Node.js passes to no route. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const expected = String(request.headers.expect).slice(0, 100);
  const message = `the expectation '${expected}' is not supported`;
  const hint = "Omit the header Expect, or send 'Expect: 100-continue'.";
  const problem = problemBody({ code: 'expectation-failed', message, hint }, request.url ?? '', randomUUID());
  const body = JSON.stringify(problem);
  const headers = { 'content-type': PROBLEM_TYPE, 'content-length': Buffer.byteLength(body), connection: 'close' };
  response.writeHead(problem.status, headers).end(body);
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function brokenRequest(code: string | undefined): HttpProblem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { code: 'headers-too-large', message: 'the headers are too large', hint: 'Send smaller ones.' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'timeout', message: 'the request did not arrive in time', hint: 'Send it again.' };
    default:
      return { code: 'invalid', message: 'this is not an HTTP request', hint: 'Is it the right port and protocol?' };
  }
}
