import { loadavg } from 'node:os';
import type { Seen } from './bystander.ts';

/** A bystander's p99. */
const MAX_P99_MS = 250;
/** Node 24 keeps twice as much for young objects as Node 20: 673 at most; 578 with `--max-semi-space-size=16` (fuzz-results.md). */
const MAX_MEGABYTES = 750;

/** One answer to a request of an attack. */
export interface Answered {
  /** 0: the connection was cut off. */
  readonly status: number;
  readonly ms: number;
}

const HEAD = [
  'group',
  'requests',
  'answers',
  '5xx',
  'slowest, ms',
  'bystander',
  'p50',
  'p99',
  'worst, ms',
  'p99 held, ms',
  'worst held, ms',
  'failed',
  'memory, MB',
  'load',
];

/** 503 means that Temporal is unreachable, as it is in these benches. */
export const isHarm = (status: number): boolean => status >= 500 && status !== 503;

/** The table of what attacks did, a row each as it is known. */
export class HarmTable {
  /** Rows with more harm than promised. */
  harmful = 0;
  readonly #anyLatency: boolean;

  /** @param anyLatency the machine is too busy for a latency to mean anything: what is held counts alone */
  constructor(anyLatency: boolean) {
    this.#anyLatency = anyLatency;
    console.log(`| ${HEAD.join(' | ')} |\n|${' --- |'.repeat(HEAD.length)}`);
  }

  /** The machine as it is, before any attack. */
  baseline(seen: Seen): void {
    this.#row('(nothing)', [], seen);
  }

  attack(name: string, answers: readonly Answered[], seen: Seen): void {
    const { p99, held, failed, megabytes } = seen;
    const late = held.p99 > MAX_P99_MS || (p99 > MAX_P99_MS && !this.#anyLatency);
    if (late || failed > 0 || megabytes > MAX_MEGABYTES || answers.some(({ status }) => isHarm(status)))
      this.harmful += 1;
    this.#row(name, answers, seen);
  }

  #row(name: string, answers: readonly Answered[], seen: Seen): void {
    const counts = new Map<number, number>();
    let slowest = 0;
    for (const { status, ms } of answers) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      slowest = Math.max(slowest, ms);
    }
    const bad = answers.filter(({ status }) => isHarm(status)).length;
    const statuses = [...counts].sort(([a], [b]) => a - b).map(([status, n]) => `${n} × ${status || 'cut off'}`);
    const { requests, p50, p99, worst, held, failed, megabytes } = seen;
    const cells = [name, answers.length, statuses.join(', '), bad, Math.round(slowest), requests, p50, p99, worst];
    cells.push(held.p99, held.worst, failed, megabytes, Math.round(loadavg()[0]!));
    console.log(`| ${cells.join(' | ')} |`);
  }
}
