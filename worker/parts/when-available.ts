import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../../src/core/data/given.ts';
import { retryPauses } from '../../src/core/retry-pauses.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Why an attempt to reach a service failed, if it is worth another; undefined for an error that a user has to fix. */
type WhyAway = (error: unknown) => { readonly problem: string; readonly hint?: string } | undefined;

/**
 * Opens a connection to a service, and waits for the service while it is unreachable: a machine may be up before its
 * servers. Logs each attempt.
 *
 * @param stop ends the waiting
 * @throws the error of the last attempt
 */
export async function whenAvailable<T>(
  open: () => Promise<T>,
  whyAway: WhyAway,
  log: Logger,
  stop: AbortSignal | undefined,
): Promise<T> {
  const nextPause = retryPauses(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (;;) {
    const pauseMs = Math.round(nextPause());
    try {
      return await open();
    } catch (error) {
      const why = whyAway(error);
      if (why === undefined || stop?.aborted === true) throw error;
      const { problem, ...more } = why;
      log.warn({ ...more, retry_in_ms: pauseMs }, `${problem.replace(/\.$/, '')}; waiting for it`);
    }
    await delay(pauseMs, undefined, given({ signal: stop }));
  }
}

/** Opens a connection to Temporal's server, which may be unreachable. */
export const connectWhenAvailable = <T>(
  open: () => Promise<T>,
  address: string,
  log: Logger,
  stop: AbortSignal | undefined,
): Promise<T> =>
  whenAvailable(
    open,
    (error) => {
      const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
      // The server is there and refuses the key or the certificate.
      if (/unauthenticated|unauthorized|permission.?denied/i.test(line)) return undefined;
      return { problem: `Temporal at ${address} cannot be reached (${line})` };
    },
    log,
    stop,
  );
