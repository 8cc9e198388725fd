import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from '../problems/transport-problem.ts';
import { callerOfRequest } from './caller.ts';

const MINUTE_MS = 60_000;
/** How many callers are kept in mind; the longest idle are forgotten. */
const MAX_CALLERS = 20_000;

/**
 * Counts requests of each token, or of each address without one, and refuses those beyond the limit for the rest of
 * the minute. The liveness answer is never refused: a refusal would get the process restarted.
 *
 * @param perMinute 0: no limit
 */
export async function limitRates(
  app: FastifyInstance,
  perMinute: number,
): Promise<(request: FastifyRequest, reply: FastifyReply) => Promise<void>> {
  if (perMinute === 0) return async () => undefined;
  await app.register(rateLimit, { global: false, cache: MAX_CALLERS });
  const count = app.createRateLimit({
    max: perMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: callerOfRequest,
  });
  return async (request, reply) => {
    if (/\/health\/live$/.test(request.routeOptions.url ?? '')) return;
    const state = await count(request);
    if (state.isAllowed) return;
    void reply
      .header('ratelimit-limit', state.max)
      .header('ratelimit-remaining', state.remaining)
      .header('ratelimit-reset', state.ttlInSeconds);
    if (!state.isExceeded) return;
    void reply.header('retry-after', Math.max(1, state.ttlInSeconds));
    throw new RequestError({
      code: 'too-many-requests',
      message: `more than ${perMinute} requests within a minute`,
      hint: `Retry in ${Math.max(1, state.ttlInSeconds)} s; the setting api.rate_limit_per_minute is the limit.`,
    });
  };
}
