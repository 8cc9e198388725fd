import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface BystanderAnswer {
  /** Of each due request, in milliseconds; one that is still waiting counts with its wait so far. */
  readonly latencies: readonly number[];
  /** Of the same requests, the milliseconds that the API's main thread worked meanwhile: a busy machine does not count. */
  readonly held: readonly number[];
  readonly failed: number;
}

/** A request without an answer after this time counts as failed. */
const PATIENCE_MS = 60_000;

// The program of a bystander's thread: it asks at fixed times, whether or not earlier requests have been answered. It
// answers each message with what it saw since the last one.
const { url, pid, headers, everyMs } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
interface Waiting {
  readonly since: number;
  readonly worked: number;
}
const waiting = new Set<Waiting>();
let latencies: number[] = [];
let held: number[] = [];
let failed = 0;

/** Milliseconds of processor that the API's main thread has used (Linux); 0 where that is not known. */
function mainThreadMs(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return 0;
  }
}

function note({ since, worked }: Waiting): void {
  latencies.push(performance.now() - since);
  held.push(mainThreadMs() - worked);
}

function ask(due: number): void {
  const mine = { since: due, worked: mainThreadMs() };
  waiting.add(mine);
  const end = (good: boolean): void => {
    if (!waiting.delete(mine)) return;
    note(mine);
    if (!good) failed += 1;
  };
  const request = get(url, { agent, headers, timeout: PATIENCE_MS }, (response) => {
    response.resume();
    response.once('end', () => end((response.statusCode ?? 500) < 500));
    response.once('error', () => end(false));
  });
  request.once('timeout', () => request.destroy());
  request.once('error', () => end(false));
}

let due = performance.now();
function next(): void {
  ask(due);
  due += everyMs;
  setTimeout(next, Math.max(0, due - performance.now()));
}
next();

parentPort!.on('message', () => {
  for (const one of waiting) note(one);
  parentPort!.postMessage({ latencies, held, failed } satisfies BystanderAnswer);
  latencies = [];
  held = [];
  failed = 0;
});
