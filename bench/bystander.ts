import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { runnableProgram } from '../src/platform/threads/runnable-program.ts';
import type { BystanderAnswer } from './bystander-main.ts';
import { residentMegabytes } from './processes.ts';

/** What a bystander of an API saw, and what its process used, since the watch or its last phase began. */
export interface Seen {
  readonly requests: number;
  /** Milliseconds from when the bystander wanted to ask, so that a stall counts for each request that it delayed. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly worst: number;
  /**
   * The same in milliseconds of processor that the API's main thread used meanwhile: what requests did to each other, without
   * what else ran on the machine.
   */
  readonly held: { readonly p99: number; readonly worst: number };
  /** Its requests that failed, or were answered with 500 or more. */
  readonly failed: number;
  /** Most memory that the process had resident. */
  readonly megabytes: number;
}

export interface Bystander {
  /** Ends a phase and begins the next one. */
  phase(): Promise<Seen>;
  stop(): Promise<void>;
}

export interface WatchOptions {
  readonly url: string;
  /** The process that answers. */
  readonly pid: number;
  /** What the bystander asks for; it reads the store. Default: the list of sites. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Between two of its requests. Default: 25. */
  readonly everyMs?: number;
}

/**
 * Asks an API the same small thing again and again while others do their worst, from a thread, so that the work of this
 * process does not count; and reads the memory of the API's process (Linux).
 */
export async function watchBystander(options: WatchOptions): Promise<Bystander> {
  const { url, pid, path = '/api/v1/sites', headers = {}, everyMs = 25 } = options;
  const thread = new Worker(runnableProgram(new URL('./bystander-main.ts', import.meta.url)), {
    workerData: { url: `${url}${path}`, pid, headers, everyMs },
  });
  const look = async (): Promise<BystanderAnswer> => {
    thread.postMessage('phase');
    const [answer] = await once(thread, 'message');
    return answer;
  };
  await look();
  await forgetPeak(pid);
  return {
    async phase() {
      const { latencies, held, failed } = await look();
      const seen = {
        requests: latencies.length,
        ...percentiles(latencies),
        held: percentiles(held),
        failed,
        megabytes: residentMegabytes(pid, 'VmHWM'),
      };
      await forgetPeak(pid);
      return seen;
    },
    async stop() {
      await thread.terminate();
    },
  };
}

function percentiles(latencies: readonly number[]): Pick<Seen, 'p50' | 'p95' | 'p99' | 'worst'> {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), worst: at(1) };
}

/** The peak begins again at what is resident now (proc(5), clear_refs). */
const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => undefined);
