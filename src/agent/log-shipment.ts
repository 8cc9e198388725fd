import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionKey } from '../core/task-on-node.ts';
import { type LogChunk, OrderRefused, type OrderSource } from './order-source.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Ships one chunk to the log store, with retries while the store is unavailable.
 * @returns why it gave up; undefined when the chunk is stored (or no one needs it any more)
 */
export async function shipLog(
  orders: OrderSource,
  key: ExecutionKey,
  chunk: LogChunk,
  { patienceMs, leave }: { readonly patienceMs: number; readonly leave: AbortSignal },
): Promise<string | undefined> {
  const giveUpAt = performance.now() + patienceMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await orders.ship(key, chunk);
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof OrderRefused || performance.now() >= giveUpAt) return reason;
    }
    await delay(pauseMs, undefined, { signal: leave }).catch(() => undefined);
    if (leave.aborted) return undefined;
  }
}
