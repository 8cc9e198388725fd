import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from '../src/telemetry/log.js';

let installed = false;

/** The SDK's own lines go into ours. Once a process, before the first worker or connection. */
export function installRuntime(log: Logger): void {
  if (installed) return;
  installed = true;
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => log[levels[level]]({ ...(meta ?? {}) }, message)),
    shutdownSignals: [],
  });
}
