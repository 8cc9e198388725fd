import { setTimeout as delay } from 'node:timers/promises';
import { CamelCasePlugin, Kysely, type Transaction } from 'kysely';
import { retryPauses } from '../core/retry-pauses.ts';
import type { Backend } from './backend.ts';
import { StoreError } from './failure.ts';
import type { Tables } from './tables.ts';

/** A finished call, for metrics. */
export interface StoreCall {
  readonly kind: 'read' | 'write';
  readonly ok: boolean;
  /** Including retries. */
  readonly ms: number;
}

const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 250;
const READ_ATTEMPTS = 3;

/**
 * Runs all queries: retries those that failed because of concurrent work, and turns every driver error into a
 * StoreError.
 */
export class Session {
  readonly backend: Backend;
  readonly #db: Kysely<Tables>;
  readonly #pending = new Set<Promise<unknown>>();
  readonly #onCall: ((call: StoreCall) => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(backend: Backend, onCall?: (call: StoreCall) => void) {
    this.#onCall = onCall;
    this.backend = backend;
    this.#db = new Kysely<Tables>({ dialect: backend.dialect, plugins: [new CamelCasePlugin()] });
  }

  /** Runs a read-only query, possibly more than once. */
  read<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.#tracked('read', this.#read(query));
  }

  async #read<T>(query: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.backend.patience;
    const nextPause = retryPauses(FIRST_PAUSE, LONGEST_PAUSE);
    for (let attempts = 1; ; attempts++) {
      this.#assertOpen();
      try {
        return await query(this.#db);
      } catch (error) {
        const { failure, retry } = this.#classify(error);
        const again =
          retry === 'transaction' ? performance.now() < deadline : retry === 'connection' && attempts < READ_ATTEMPTS;
        if (!again) throw new StoreError(failure, { cause: error });
      }
      await delay(nextPause());
    }
  }

  /**
   * Runs a change as one transaction, all or nothing. `change` may run more than once, each time without the effects of
   * the previous attempt. It must use only the transaction it receives.
   */
  write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#tracked('write', this.#write(change));
  }

  async #write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.backend.patience;
    const nextPause = retryPauses(FIRST_PAUSE, LONGEST_PAUSE);
    for (let attempts = 1; ; attempts++) {
      this.#assertOpen();
      let started = false;
      // If the rollback fails too (a broken connection), it must not hide its cause.
      let first: { error: unknown } | undefined;
      try {
        return await this.#db.transaction().execute(async (transaction) => {
          started = true;
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
            : retry === 'connection' && !started && attempts < READ_ATTEMPTS;
        if (!again) throw new StoreError(failure, { cause: error });
      }
      await delay(nextPause());
    }
  }

  /**
   * Runs several calls as one transaction: `change` gets a session whose reads and writes are part of it. An error that
   * `change` throws rolls back and reaches the caller unchanged.
   */
  atomically<T>(change: (within: Session) => Promise<T>): Promise<T> {
    const whole = this.write(async (transaction) => {
      const within = new TransactionSession(this.backend, transaction);
      try {
        return await change(within);
      } catch (error) {
        throw error instanceof StoreError || within.failedWith(error) ? error : new CallerError(error);
      }
    });
    return whole.catch((error: unknown) => {
      throw error instanceof CallerError ? error.error : error;
    });
  }

  /** Refuses new work immediately, waits for running attempts, and closes the database. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#pending).then(() => this.#db.destroy());
    return this.#closing;
  }

  #tracked<T>(kind: StoreCall['kind'], work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const started = performance.now();
    const done = (ok: boolean): void => {
      this.#pending.delete(work);
      this.#onCall?.({ kind, ok, ms: performance.now() - started });
    };
    work.then(
      () => done(true),
      () => done(false),
    );
    return work;
  }

  #classify(error: unknown) {
    if (error instanceof StoreError || error instanceof CallerError) throw error;
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

/** Thrown by the store's caller, not by the database: neither classified nor retried. */
class CallerError {
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
    return this.#recorded(query(this.#transaction));
  }

  override write<T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#recorded(change(this.#transaction));
  }

  /** Whether the error came from the database. */
  failedWith(error: unknown): boolean {
    return this.#failures.has(error);
  }

  async #recorded<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#failures.add(error);
      throw error;
    }
  }
}
