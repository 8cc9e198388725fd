import type { MaasClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import { isMaasFailure, MaasError, retryAfterSeconds } from './failure.ts';
import type { Machine } from './machine.ts';
import { listChunk } from './machine-calls.ts';

interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Give up at this time, ms since 1970. */
  readonly deadline?: number | undefined;
  /** Longest poll interval for this machine; default: the watcher's. */
  readonly maxIntervalMs?: number | undefined;
  /** Called before and after every poll, failed ones included, e.g. for an activity's heartbeat. */
  readonly onPoll?: ((latest: Machine | undefined) => void) | undefined;
}

type WatchOutcome =
  | { readonly kind: 'reached'; readonly machine: Machine }
  /** MAAS no longer has the machine. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'deadline'; readonly machine: Machine | undefined };

interface WatcherOptions {
  /** Time to the first poll, and between polls while a machine's state changes; default 5 s. */
  readonly minIntervalMs?: number;
  /** Longest time between polls of a machine in a steady state; default 15 s. */
  readonly maxIntervalMs?: number;
  /** Growth of the interval from poll to poll; default 1.5. */
  readonly factor?: number;
  readonly clock?: Clock;
  /** Concurrent list requests; default 2, which is enough for one region. */
  readonly concurrency?: number;
}

interface Watch {
  readonly systemId: string;
  readonly until: (machine: Machine) => boolean;
  readonly options: WatchOptions;
  readonly settle: (outcome: WatchOutcome) => void;
  readonly fail: (error: unknown) => void;
  latest: Machine | undefined;
  interval: number;
  due: number;
}

/**
 * Waits for machines to change, for a whole process: machines whose poll
 * is due are read by one list request per 100. Each machine has its own growing interval, with some
 * jitter; failed polls are tolerated, because MAAS may be down for a while during a
 * deployment. Only a failure that waiting cannot fix (a refused key) ends the waits.
 */
export class MachineWatcher {
  readonly #client: MaasClient;
  readonly #clock: Clock;
  readonly #min: number;
  readonly #max: number;
  readonly #factor: number;
  readonly #concurrency: number;
  readonly #watches = new Set<Watch>();
  #running = false;
  #wake = new AbortController();

  constructor(client: MaasClient, options: WatcherOptions = {}) {
    this.#client = client;
    this.#clock = options.clock ?? systemClock;
    this.#min = Math.max(1, options.minIntervalMs ?? 5_000);
    this.#max = Math.max(this.#min, options.maxIntervalMs ?? 15_000);
    this.#factor = Math.max(1, options.factor ?? 1.5);
    this.#concurrency = Math.max(1, options.concurrency ?? 2);
  }

  /**
   * Waits until a reading of the machine satisfies `until`.
   * Rejects with the signal's reason as soon as it is aborted, or with a `MaasError` that is not retryable.
   */
  waitFor(systemId: string, until: (machine: Machine) => boolean, options: WatchOptions = {}): Promise<WatchOutcome> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#watches.delete(watch);
        signal?.removeEventListener('abort', onAbort);
        // The loop may be sleeping only for this wait.
        if (this.#watches.size === 0) this.#wake.abort();
      };
      const onAbort = () => {
        end();
        reject(signal?.reason as Error);
      };
      const watch: Watch = {
        systemId,
        until,
        options,
        settle: (outcome) => {
          end();
          resolve(outcome);
        },
        fail: (error) => {
          end();
          reject(error as Error);
        },
        latest: undefined,
        interval: Math.min(this.#min, options.maxIntervalMs ?? this.#min),
        due: this.#clock.now() + this.#jittered(Math.min(this.#min, options.maxIntervalMs ?? this.#min)),
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#watches.add(watch);
      this.#wake.abort();
      if (!this.#running) {
        this.#running = true;
        void this.#run();
      }
    });
  }

  /** Number of pending waits. */
  get size(): number {
    return this.#watches.size;
  }

  async #run(): Promise<void> {
    while (this.#watches.size > 0) {
      const next = Math.min(
        ...[...this.#watches].map((w) => Math.min(w.due, w.options.deadline ?? Number.POSITIVE_INFINITY)),
      );
      const pause = next - this.#clock.now();
      if (pause > 0) {
        this.#wake = new AbortController();
        try {
          await this.#clock.sleep(pause, this.#wake.signal);
        } catch {
          // Woken: a wait was added or removed, so the next due time may have changed.
          continue;
        }
      }
      await this.#tick();
    }
    this.#running = false;
  }

  async #tick(): Promise<void> {
    const now = this.#clock.now();
    // Polls that are due soon are included, so that intervals align.
    const due = [...this.#watches].filter((watch) => watch.due <= now + watch.interval / 2);
    const batches: Watch[][] = [];
    const ids = [...new Set(due.map((watch) => watch.systemId))];
    for (let start = 0; start < ids.length; start += listChunk) {
      const batch = new Set(ids.slice(start, start + listChunk));
      batches.push(due.filter((watch) => batch.has(watch.systemId)));
    }
    const lane = async () => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) await this.#poll(batch);
    };
    await Promise.all(Array.from({ length: Math.min(this.#concurrency, batches.length) }, lane));
    const after = this.#clock.now();
    for (const watch of [...this.#watches]) {
      const { deadline } = watch.options;
      if (deadline !== undefined && after >= deadline) watch.settle({ kind: 'deadline', machine: watch.latest });
    }
  }

  async #poll(batch: readonly Watch[]): Promise<void> {
    for (const watch of batch) watch.options.onPoll?.(watch.latest);
    try {
      const ids = [...new Set(batch.map((watch) => watch.systemId))];
      const machines = await this.#client.machines.list({ systemIds: ids });
      const byId = new Map(machines.map((machine) => [machine.systemId, machine]));
      for (const watch of batch) await this.#judge(watch, byId.get(watch.systemId));
    } catch (error) {
      this.#tolerate(batch, error);
    }
  }

  async #judge(watch: Watch, listed: Machine | undefined): Promise<void> {
    if (!this.#watches.has(watch)) return;
    let machine = listed;
    if (machine === undefined) {
      // A machine missing from the list may still exist: the user may lack permission to see it. Read it to find out.
      try {
        machine = await this.#client.machines.read(watch.systemId);
      } catch (error) {
        if (!this.#watches.has(watch)) return;
        if (isMaasFailure(error, 'not-found')) watch.settle({ kind: 'gone' });
        else this.#tolerate([watch], error);
        return;
      }
    }
    const changed = watch.latest?.status !== machine.status;
    watch.latest = machine;
    watch.options.onPoll?.(machine);
    this.#schedule(watch, changed ? this.#min : watch.interval * this.#factor);
    try {
      if (watch.until(machine)) watch.settle({ kind: 'reached', machine });
    } catch (error) {
      watch.fail(error);
    }
  }

  #tolerate(batch: readonly Watch[], error: unknown): void {
    for (const watch of batch) {
      if (!this.#watches.has(watch)) continue;
      if (!(error instanceof MaasError) || !error.failure.retryable) {
        watch.fail(error);
        continue;
      }
      watch.options.onPoll?.(watch.latest);
      this.#schedule(watch, watch.interval * this.#factor);
      const asked = (retryAfterSeconds(error.failure) ?? 0) * 1000;
      watch.due = Math.max(watch.due, this.#clock.now() + asked);
    }
  }

  #schedule(watch: Watch, interval: number): void {
    watch.interval = Math.min(watch.options.maxIntervalMs ?? this.#max, interval);
    watch.due = this.#clock.now() + this.#jittered(watch.interval);
  }

  /** 90 to 110 %, so that several processes do not synchronise. */
  #jittered(interval: number): number {
    return interval * (0.9 + 0.2 * this.#clock.random());
  }
}
