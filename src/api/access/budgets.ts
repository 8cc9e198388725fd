import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BODIES_UNDER_WAY, BUDGETS, SMALL_BODY } from '../../core/contracts/budget.ts';
import { RequestError, readableBytes } from '../problems/transport-problem.ts';
import { callerOfRequest } from './caller.ts';

/** Counts by name; zeros are dropped. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, amount: number): void {
    const sum = this.of(name) + amount;
    if (sum === 0) this.#counts.delete(name);
    else this.#counts.set(name, sum);
  }
}

/**
 * Holds every request to the budget that its route declares, before its body is read: the caller's concurrent
 * requests, and their bytes of bodies. A request frees its share when it is answered, or its connection has closed.
 * Its time is Fastify's to watch (`handlerTimeout` in serve.ts).
 *
 * Runs after it is known who asks.
 */
export function holdToBudgets(app: FastifyInstance): void {
  const underWay = new Tally();
  const bytes = new Tally();
  app.addHook('onRequest', async (request, reply) => {
    const { budget: kind = 'light' } = request.routeOptions.config;
    const caller = callerOfRequest(request);
    const { atOnce } = BUDGETS[kind];
    const name = `${kind} ${caller}`;
    if (underWay.of(name) >= atOnce) throw tooMany(reply, atOnce);
    const size = kind === 'transfer' ? 0 : bodySize(request);
    const body = size <= SMALL_BODY ? 0 : size;
    if (body > 0) {
      if (bytes.of(caller) + body > BODIES_UNDER_WAY.ofCaller)
        throw busy('your request bodies', BODIES_UNDER_WAY.ofCaller);
      if (bytes.of(ALL) + body > BODIES_UNDER_WAY.ofAll)
        throw busy('the request bodies of all callers', BODIES_UNDER_WAY.ofAll);
    }
    const take = (sign: 1 | -1): void => {
      underWay.add(name, sign);
      bytes.add(caller, sign * body);
      bytes.add(ALL, sign * body);
    };
    take(1);
    reply.raw.once('close', () => take(-1));
  });
}

const ALL = 'all';

/** Of the body: as declared by its sender, or else the maximum of the route. A larger one is refused anyway. */
function bodySize({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0;
  const said = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : most));
  return Number.isFinite(said) ? Math.min(said, most) : most;
}

function tooMany(reply: FastifyReply, atOnce: number): RequestError {
  void reply.header('retry-after', 1);
  return new RequestError({
    code: 'too-many-requests',
    message: `you already have ${atOnce} requests of this kind in progress`,
    hint: 'Retry when one of them has been answered.',
  });
}

const busy = (whose: string, most: number): RequestError =>
  new RequestError({
    code: 'busy',
    message: `${whose} in transfer would exceed ${readableBytes(most)}`,
    hint: 'Retry in a few seconds; send large bodies one after the other.',
  });
