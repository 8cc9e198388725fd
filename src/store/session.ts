import { setTimeout as delay } from 'node:timers/promises';
import { CamelCasePlugin, Kysely, type Transaction } from 'kysely';
import type { Backend } from './backend.js';
import { StoreError } from './failure.js';
import type { Tables } from './tables.js';

/** A call that has ended, for metrics. */
export interface StoreCall {
  readonly kind: 'read' | 'write';
  readonly ok: boolean;
  /** Repetitions within included. */
  readonly ms: number;
}

const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 250;
const READ_TRIES = 3;

/**
 * The one way queries reach a database: repeats what others at work made fail, and turns every error of a driver into
 * a StoreError.
 */
export class Session {
  readonly backend: Backend;
  readonly #db: Kysely<Tables>;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #onCall: ((call: StoreCall) => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(backend: Backend, onCall?: (call: StoreCall) => void) {
    this.#onCall = onCall;
    this.backend = backend;
    this.#db = new Kysely<Tables>({ dialect: backend.dialect, plugins: [new CamelCasePlugin()] });
  }

  /** Runs a query that changes nothing. It may run more than once. */
  read<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#tracked('read', this.#read(query));
  }

  async #read<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.backend.patience;
    for (let tries = 1; ; tries++) {
      this.#assertOpen();
      try {
        return await query(this.#db);
      } catch (error) {
        const { failure, retry } = this.#classify(error);
        const again =
          retry === 'transaction' ? performance.now() < deadline : retry === 'connection' && tries < READ_TRIES;
        if (!again) throw new StoreError(failure, { cause: error });
      }
      await delay(pauseAfter(tries));
    }
  }

  /**
   * Runs a change as one transaction: all of it or nothing. `change` may run more than once, each time on a database
   * that shows nothing of the try before; it must use only the transaction it is handed.
   */
  write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#tracked('write', this.#write(change));
  }

  async #write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.backend.patience;
    for (let tries = 1; ; tries++) {
      this.#assertOpen();
      let begun = false;
      // A roll-back that fails too (a broken connection) must not hide why it was rolled back.
      let first: { error: unknown } | undefined;
      try {
        return await this.#db.transaction().execute(async (transaction) => {
          begun = true;
          try {
            return await change(transaction);
          } catch (error) {
            first = { error };
            throw error;
          }
        });
      } catch (thrown) {
        const error = first === undefined ? thrown : first.error;
        const { failure, retry } = this.#classify(error);
        const again =
          retry === 'transaction'
            ? performance.now() < deadline
            : retry === 'connection' && !begun && tries < READ_TRIES;
        if (!again) throw new StoreError(failure, { cause: error });
      }
      await delay(pauseAfter(tries));
    }
  }

  /**
   * Runs several calls as one transaction: `change` gets a session whose reads and writes are part of it. What `change`
   * itself throws rolls back and reaches the caller as it is.
   */
  atomically<T>(change: (within: Session) => Promise<T>): Promise<T> {
    const whole = this.write(async (transaction) => {
      const within = new TransactionSession(this.backend, transaction);
      try {
        return await change(within);
      } catch (error) {
        throw error instanceof StoreError || within.failedWith(error) ? error : new CallersError(error);
      }
    });
    return whole.catch((error: unknown) => {
      throw error instanceof CallersError ? error.error : error;
    });
  }

  /** Refuses new work at once, lets the tries under way end, and lets go of the database. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#underWay).then(() => this.#db.destroy());
    return this.#closing;
  }

  #tracked<T>(kind: StoreCall['kind'], work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const started = performance.now();
    const done = (ok: boolean): void => {
      this.#underWay.delete(work);
      this.#onCall?.({ kind, ok, ms: performance.now() - started });
    };
    work.then(
      () => done(true),
      () => done(false),
    );
    return work;
  }

  #classify(error: unknown) {
    if (error instanceof StoreError || error instanceof CallersError) throw error;
    return this.backend.classify(error);
  }

  #assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new StoreError({
      kind: 'closed',
      message: 'The store has been closed.',
      hint: 'Open it again; a service closes its store last when it stops.',
    });
  }
}

/** Thrown by who uses the store, not by the database: nothing to classify or repeat. */
class CallersError {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

class TransactionSession extends Session {
  readonly #transaction: Transaction<Tables>;
  readonly #failures = new Set<unknown>();

  constructor(backend: Backend, transaction: Transaction<Tables>) {
    super(backend);
    this.#transaction = transaction;
  }

  override read<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#noting(query(this.#transaction));
  }

  override write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#noting(change(this.#transaction));
  }

  /** Whether the error came out of the database. */
  failedWith(error: unknown): boolean {
    return this.#failures.has(error);
  }

  async #noting<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#failures.add(error);
      throw error;
    }
  }
}

/** Doubling, with half of it random so that processes do not meet again. */
function pauseAfter(tries: number): number {
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1));
  return longest / 2 + (Math.random() * longest) / 2;
}
