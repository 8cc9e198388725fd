import type { FastifyReply } from 'fastify';

/**
 * Aborts when no one waits for the answer any more: the client has gone, or the handler's time is over. Fastify's own signal does so
 * as soon as a request with a body is read.
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
