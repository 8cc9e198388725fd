import { Session } from 'node:inspector';

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** A part of a text: from the first offset up to the second. */
type Part = readonly [from: number, to: number];

/** By function, its parts that did not run. */
export type Ran = ReadonlyMap<string, readonly Part[]>;

/**
 * Which parts of the code ran, as V8 counts them: they guide the mutation of inputs. No library of npm provides that here:
 * the native part of jazzer.js 4 needs a newer C library than Debian 12 has.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #missed = new Map<string, readonly Part[]>();
  readonly #isOurs: (url: string) => boolean;

  /** @param isOurs whether a script counts */
  constructor(isOurs: (url: string) => boolean) {
    this.#isOurs = isOurs;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The code that ran since the last call. */
  take(): Ran {
    const { result } = this.#post('Profiler.takePreciseCoverage') as { readonly result: readonly ScriptCoverage[] };
    const ran = new Map<string, readonly Part[]>();
    for (const { url, functions } of result) {
      if (!this.#isOurs(url)) continue;
      for (const { ranges } of functions) {
        const [whole, ...inner] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const missed = inner
          .filter(({ count }) => count === 0)
          .map(({ startOffset, endOffset }) => [startOffset, endOffset] as const);
        ran.set(`${url}:${whole.startOffset}:${whole.endOffset}`, missed);
      }
    }
    return ran;
  }

  /** Whether anything of it had never run before. */
  isNew(ran: Ran): boolean {
    return [...ran].some(([name, missed]) => {
      const before = this.#missed.get(name);
      return before === undefined || sizeOf(shared(before, missed)) < sizeOf(before);
    });
  }

  add(ran: Ran): void {
    for (const [name, missed] of ran) {
      const before = this.#missed.get(name);
      this.#missed.set(name, before === undefined ? missed : shared(before, missed));
    }
  }

  /** How many functions ran at all. */
  get functions(): number {
    return this.#missed.size;
  }

  stop(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** The session of a thread with itself answers synchronously. */
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

const shared = (some: readonly Part[], others: readonly Part[]): Part[] =>
  some.flatMap(([from, to]) =>
    others.flatMap(([start, end]): Part[] =>
      Math.max(from, start) < Math.min(to, end) ? [[Math.max(from, start), Math.min(to, end)]] : [],
    ),
  );

const sizeOf = (parts: readonly Part[]): number => parts.reduce((sum, [from, to]) => sum + to - from, 0);
