import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/platform/telemetry/log.js';

let installed = false;

/** The SDK logs this for every agent, where it is intended. */
const NOISE = 'No workflows registered, not polling for workflow tasks';

/**
 * Routes the SDK's log lines into ours. Takes effect once per process, before the first worker or connection.
 *
 * @param announces whether workers send the server a heartbeat every minute. A process of a thousand agents would send
 *   a thousand, and pings give the same information
 */
export function installRuntime(log: Logger, announces = true): void {
  if (installed) return;
  installed = true;
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (message === NOISE) return;
      // Our log expects errors in `err`: elsewhere they would be logged as empty objects.
      const { error, ...known } = (meta ?? {}) as Record<string, unknown>;
      log[levels[level]]({ ...known, ...(error === undefined ? {} : { err: error }) }, message);
    }),
    shutdownSignals: [],
    ...(announces ? {} : { workerHeartbeatInterval: 0 }),
  });
}
