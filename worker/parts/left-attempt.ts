import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ActivityNotFoundError, AsyncCompletionClient, type AsyncCompletionClientOptions } from '@temporalio/client';
import { agentGone } from '../../activities/node-task.ts';

/** A server that is unreachable for longer has noticed by itself that the attempt has no heartbeats. */
const MAX_TRIES = 60;

/** Takes note of the attempt that a node has, for the agent that comes next. A disk without space must not end a task. */
export function noteAttempt(file: string, token: Uint8Array): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, token, { mode: 0o600 });
  } catch {
    // The server notices missing heartbeats.
  }
}

/**
 * Gives the attempt that an earlier agent of the node had back to the server, which then reschedules it immediately, to be followed:
 * without this it waits until the limit of heartbeats is over. One that has ended, or was sent again, is not known any more.
 */
export async function returnAttempt(
  file: string,
  options: AsyncCompletionClientOptions,
  stop: AbortSignal,
): Promise<void> {
  if (!existsSync(file)) return;
  const token = readFileSync(file);
  const client = new AsyncCompletionClient(options);
  for (let tries = 1; tries <= MAX_TRIES && !stop.aborted; tries += 1) {
    try {
      return await client.fail(token, agentGone());
    } catch (error) {
      if (error instanceof ActivityNotFoundError) return;
      await delay(1_000, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
