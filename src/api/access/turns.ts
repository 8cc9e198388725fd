import type { FastifyInstance } from 'fastify';
import { TURN_MS } from '../../core/contracts/budget.ts';
import { callerOfRequest } from './caller.ts';

/**
 * Lets the handlers of requests begin one after the other, and one caller after the other, so that who sends a thousand
 * requests keeps no one else waiting for more than a turn. A turn ends when the answer is made, or after a moment: who waits for
 * Temporal or a thread needs none. Bodies are read before a turn, and answers sent after it, since both take the time of
 * whoever asks.
 */
export function takeTurns(app: FastifyInstance): void {
  const turns = new Turns();
  const endings = new WeakMap<object, () => void>();
  app.addHook('preHandler', (request, reply, done) => {
    turns.take(callerOfRequest(request), (end) => {
      if (reply.raw.destroyed) return end();
      const timer = setTimeout(end, TURN_MS);
      endings.set(request, () => {
        clearTimeout(timer);
        end();
      });
      done();
    });
  });
  app.addHook('onSend', async (request) => endings.get(request)?.());
}

type Turn = (end: () => void) => void;

/** Those who wait, by caller: whoever had a turn is last in line. */
export class Turns {
  readonly #waiting = new Map<string, Turn[]>();
  #isTaken = false;

  /** @param turn gets the function that ends it; ending it again does nothing */
  take(caller: string, turn: Turn): void {
    const line = this.#waiting.get(caller);
    if (line === undefined) this.#waiting.set(caller, [turn]);
    else line.push(turn);
    if (!this.#isTaken) this.#next();
  }

  #next(): void {
    const [first] = this.#waiting;
    this.#isTaken = first !== undefined;
    if (first === undefined) return;
    const [caller, line] = first;
    const turn = line.shift()!;
    this.#waiting.delete(caller);
    if (line.length > 0) this.#waiting.set(caller, line);
    let isOver = false;
    turn(() => {
      if (isOver) return;
      isOver = true;
      // SQLite answers synchronously: messages received meanwhile are read first.
      setImmediate(() => this.#next());
    });
  }
}
