import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from './random.ts';

/** A simulated process. Whatever its code has begun ends, or waits, with it. */
export interface Host {
  readonly name: string;
  alive: boolean;
  /** Until then it does nothing, and does not know. */
  stalledUntil: number;
  /** How far the clock of its machine is off. */
  readonly clock?: { readonly skewMs: number };
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly work: () => void | Promise<void>;
  cancelled: boolean;
}

/**
 * One queue of all that will happen, and the only clock. Between two events everything that promises can do is done, so that the
 * order of the events is the order of the world.
 */
export class VirtualTime {
  readonly hosts = new AsyncLocalStorage<Host>();
  readonly start: number;
  events = 0;
  #now: number;
  #order = 0;
  readonly #heap: Event[] = [];

  constructor(start: number) {
    this.start = start;
    this.#now = start;
  }

  get now(): number {
    return this.#now;
  }

  /** Runs `work` after `ms`; the returned function cancels it. */
  after(ms: number, work: () => void | Promise<void>): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order++, work, cancelled: false };
    push(this.#heap, event);
    return () => {
      event.cancelled = true;
    };
  }

  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** The next event, and all that follows from it. False when there is none. */
  async step(): Promise<boolean> {
    for (;;) {
      const event = pop(this.#heap);
      if (event === undefined) return false;
      if (event.cancelled) continue;
      this.#now = Math.max(this.#now, event.at);
      this.events++;
      await event.work();
      await settled();
      return true;
    }
  }

  /** Runs `work` as code of the current host: not when that is dead, and later while it stalls. */
  asHost(work: () => void): () => void {
    const host = this.hosts.getStore();
    const within = AsyncLocalStorage.snapshot();
    const run = (): void => {
      if (host !== undefined && !host.alive) return;
      if (host !== undefined && host.stalledUntil > this.now) {
        this.after(host.stalledUntil - this.now, run);
        return;
      }
      try {
        within(work);
      } catch (error) {
        // It died within: no one hears of it.
        if (host === undefined || host.alive) throw error;
      }
    };
    return run;
  }
}

/** A promise that is settled from outside. */
export function deferred<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Lets all promises do what they can. Real timers and I/O have no part in the simulation. */
export const settled = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

const realImmediate = setImmediate;

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

function push(heap: Event[], event: Event): void {
  let at = heap.push(event) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}

/**
 * Gives all code of this process the virtual time and seeded chance, by the names of JavaScript and Node.
 *
 * @returns what gives the real ones back
 */
export function takeOverGlobals(time: VirtualTime, random: Random): () => void {
  const RealDate = Date;
  const now = (): number => time.now + (time.hosts.getStore()?.clock?.skewMs ?? 0);
  class VirtualDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(now());
      else super(...(args as [number]));
    }

    static override now(): number {
      return now();
    }
  }
  // The SDK knows dates by the name of their class.
  Object.defineProperty(VirtualDate, 'name', { value: 'Date' });
  const timer = (work: (...args: unknown[]) => void, ms: number, args: unknown[], repeats: boolean): VirtualTimer =>
    new VirtualTimer(time, work, Number.isFinite(ms) ? Math.max(1, ms) : 1, args, repeats);
  const given = {
    Date: VirtualDate,
    setTimeout: (work: () => void, ms = 1, ...args: unknown[]) => timer(work, ms, args, false),
    setInterval: (work: () => void, ms = 1, ...args: unknown[]) => timer(work, ms, args, true),
    clearTimeout: (one: unknown) => void (one instanceof VirtualTimer && one.stop()),
    clearInterval: (one: unknown) => void (one instanceof VirtualTimer && one.stop()),
  };
  const kept = swap(globalThis, given);
  const keptMath = swap(Math, { random: () => random.next() });
  const keptPerformance = swap(performance, { now: () => time.now - time.start });
  const keptTimers = swap(timersPromises, {
    setTimeout: <T>(ms = 1, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> => {
      const { promise, resolve, reject } = deferred<T>();
      if (signal?.aborted) return Promise.reject(abortError(signal));
      const one = timer(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve(value as T);
        },
        ms,
        [],
        false,
      );
      const onAbort = (): void => {
        one.stop();
        reject(abortError(signal!));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      return promise;
    },
  });
  const keptCrypto = swap(crypto, {
    randomUUID: () => random.uuid(),
    randomBytes: (length: number) => Buffer.from(Array.from({ length }, () => random.int(0, 255))),
  });
  const keptWebCrypto = swap(globalThis.crypto, {
    randomUUID: () => random.uuid(),
    getRandomValues: <T extends Uint8Array>(into: T): T => {
      for (let at = 0; at < into.length; at++) into[at] = random.int(0, 255);
      return into;
    },
  });
  syncBuiltinESMExports();
  return () => {
    for (const restore of [kept, keptMath, keptPerformance, keptTimers, keptCrypto, keptWebCrypto]) restore();
    syncBuiltinESMExports();
  };
}

function swap(target: object, values: Readonly<Record<string, unknown>>): () => void {
  const before = Object.entries(values).map(([name, value]) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
    return [name, descriptor] as const;
  });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
  };
}

function abortError(signal: AbortSignal): Error {
  return Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}

/** Looks like a timer of Node. */
class VirtualTimer {
  readonly #start: () => () => void;
  #cancel: () => void;

  constructor(time: VirtualTime, work: (...args: unknown[]) => void, ms: number, args: unknown[], repeats: boolean) {
    const fire = time.asHost(() => {
      if (repeats) this.#cancel = this.#start();
      work(...args);
    });
    this.#start = () => time.after(ms, () => (this.#stopped ? undefined : fire()));
    this.#cancel = this.#start();
  }

  #stopped = false;

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#start();
    return this;
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}
