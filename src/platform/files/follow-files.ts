import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../telemetry/log.ts';

const LOOK_EVERY_MS = 10_000;

/**
 * Applies the content of files whenever it changes, so that renewed credentials need no restart. While it cannot be read or
 * applied, the last one stays in use and the next poll retries.
 *
 * @param what for the log, such as `credentials for Temporal`
 * @param read throws if a file cannot be read, or does not fit the others yet
 * @returns ends it
 */
export function followFiles<T>(
  what: string,
  read: () => T,
  apply: (now: T, last: T) => unknown,
  log: Pick<Logger, 'info' | 'warn'>,
  everyMs = LOOK_EVERY_MS,
): () => void {
  let known = read();
  let isFailing = false;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const now = read();
      if (!isDeepStrictEqual(now, known)) {
        await apply(now, known);
        known = now;
        log.info(`${what} were replaced`);
      }
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, `${what} could not be replaced; the last ones stay in use`);
      isFailing = true;
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
