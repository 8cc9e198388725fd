import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface BystanderAnswer {
  /** Of each request that was due, in milliseconds; one still waiting counts with what it has waited. */
  readonly latencies: readonly number[];
  readonly failed: number;
}

/** A request without an answer after this time counts as failed. */
const PATIENCE_MS = 60_000;

// The program of a bystander's thread: it asks at fixed times, whether or not earlier requests have been answered. It
// answers each message with what it saw since the last one.
const { url, headers, everyMs } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
const waiting = new Set<number>();
let latencies: number[] = [];
let failed = 0;

function ask(due: number): void {
  waiting.add(due);
  const end = (good: boolean): void => {
    if (!waiting.delete(due)) return;
    latencies.push(performance.now() - due);
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
  const now = performance.now();
  const seen = { latencies: [...latencies, ...[...waiting].map((since) => now - since)], failed };
  latencies = [];
  failed = 0;
  parentPort!.postMessage(seen satisfies BystanderAnswer);
});
