import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/platform/telemetry/log.js';

let installed = false;

/** Said of every worker that is an agent, and as it shall be. */
const NOISE = 'No workflows registered, not polling for workflow tasks';

/**
 * The SDK's own lines go into ours. Once a process, before the first worker or connection.
 *
 * @param announces whether workers tell the server of themselves every minute; a process of a thousand agents would
 *   send a thousand descriptions, and pings answer the same
 */
export function installRuntime(log: Logger, announces = true): void {
  if (installed) return;
  installed = true;
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (message === NOISE) return;
      // Where our log expects errors: elsewhere they would be shown as empty objects.
      const { error, ...known } = (meta ?? {}) as Record<string, unknown>;
      log[levels[level]]({ ...known, ...(error === undefined ? {} : { err: error }) }, message);
    }),
    shutdownSignals: [],
    ...(announces ? {} : { workerHeartbeatInterval: 0 }),
  });
}
