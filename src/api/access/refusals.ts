import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { REFUSALS } from '../../core/contracts/budget.ts';
import { cutOff } from '../http2.ts';
import { callerOfRequest } from './caller.ts';

/** How many callers are kept in mind; those refused longest ago are forgotten. */
const MAX_CALLERS = 20_000;
const REFUSED = new Set([401, 403, 429]);

/**
 * Makes who is refused again and again wait for the answer, so that refusing costs less than asking: so many answers a second
 * of each caller after so many without a pause. Who has more such answers waiting than a patient client is cut off.
 */
export function slowDownRefused(app: FastifyInstance): void {
  const paces = new Paces();
  app.addHook('onSend', async (request, reply) => {
    if (!REFUSED.has(reply.statusCode)) return;
    const ms = paces.wait(callerOfRequest(request), performance.now());
    if (ms === 0) return;
    if (ms === undefined) cutOff(request);
    else await delay(ms, undefined, { ref: false });
  });
}

/** A pace for each caller: when its next refusal is due, as if each had taken its time. */
export class Paces {
  readonly #dues = new Map<string, number>();

  /** Milliseconds until the refusal may be answered; undefined: too many wait already. */
  wait(caller: string, now: number): number | undefined {
    const apart = 1_000 / REFUSALS.perSecond;
    const due = Math.max(now, this.#dues.get(caller) ?? 0);
    const ms = Math.max(0, due - now - REFUSALS.atOnce * apart);
    if (ms > REFUSALS.waiting * apart) return undefined;
    this.#dues.delete(caller);
    this.#dues.set(caller, due + apart);
    const [oldest] = this.#dues.keys();
    if (this.#dues.size > MAX_CALLERS && oldest !== undefined) this.#dues.delete(oldest);
    return ms;
  }
}
